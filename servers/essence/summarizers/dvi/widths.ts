/**
 * Advance widths of cmr10 in thousandths of its size, starting at `!`. Other roman fonts have nearly the same
 * proportions.
 */
const ROMAN = (
  '278 500 833 500 833 778 278 389 389 500 778 278 333 278 500 500 500 500 500 500 500 500 500 500 500 278 278 278 778 ' +
  '472 472 778 750 708 722 764 681 653 785 750 361 514 778 625 917 750 778 681 778 736 556 722 750 750 1028 750 750 611 ' +
  '278 500 278 500 278 278 500 556 444 556 444 306 500 556 278 306 528 278 833 556 500 556 528 392 394 389 556 528 722 ' +
  '528 528 444 500 1000 500 500'
)
  .split(' ')
  .map(Number);

/** Advance of a glyph without an entry, as a fraction of the font size. */
const DEFAULT_ADVANCE = 0.5;
/** Advance of every glyph of a typewriter font, as a fraction of the font size. */
const TYPEWRITER_ADVANCE = 0.525;

/**
 * Estimates the advance of a character as a fraction of the font size. DVI files and many PostScript files
 * contain no widths. Gaps between words are explicit moves, so an average is sufficient.
 */
export function estimateGlyphWidth(character: string, typewriter: boolean): number {
  if (typewriter) return TYPEWRITER_ADVANCE;
  let width = 0;
  for (let i = 0; i < character.length; i++) {
    const entry = ROMAN[character.charCodeAt(i) - 33];
    width += entry === undefined ? DEFAULT_ADVANCE : entry / 1000;
  }
  return width;
}
