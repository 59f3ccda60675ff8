// Names of Cyrillic glyphs: those of the Adobe Glyph List (`afii10017`, `Becyrillic`), and those of LaTeX (`CYRB`).

const CAPITALS = 'АБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ';

/** Numbers of `afii` and the letters from there on. */
const AFII: readonly (readonly [start: number, letters: string])[] = [
  [10017, `${CAPITALS}ҐЂЃЄЅІЇЈЉЊЋЌЎ`],
  [10065, `${CAPITALS.toLowerCase()}ґђѓєѕіїјљњћќў`],
  [10145, 'ЏѢѲѴ'],
  [10193, 'џѣѳѵ'],
  [61352, '№'],
];

/** Names of the capitals in both systems; those of small letters are in lower case. */
const ADOBE = (
  'A Be Ve Ge De Ie Io Zhe Ze Ii Iishort Ka El Em En O Pe Er Es Te U Ef Kha Tse Che Sha Shcha Hardsign Yeri Softsign ' +
  'Ereversed IU IA'
).split(' ');
const LATEX =
  'A B V G D E YO ZH Z I ISHRT K L M N O P R S T U F H C CH SH SHCH HRDSN ERY SFTSN EREV YU YA'.split(' ');

/** The letters of names of glyphs. */
export const CYRILLIC_GLYPHS: ReadonlyMap<string, string> = (() => {
  const glyphs = new Map<string, string>();
  for (const [start, letters] of AFII)
    for (const [i, letter] of [...letters].entries()) glyphs.set(`afii${start + i}`, letter);
  for (const [i, letter] of [...CAPITALS].entries()) {
    const small = letter.toLowerCase();
    glyphs.set(`${ADOBE[i]}cyrillic`, letter);
    glyphs.set(`${ADOBE[i]?.toLowerCase()}cyrillic`, small);
    glyphs.set(`CYR${LATEX[i]}`, letter);
    glyphs.set(`cyr${LATEX[i]?.toLowerCase()}`, small);
  }
  return glyphs;
})();
