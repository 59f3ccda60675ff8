// What was read of a document so far. The reader sends it piece by piece, so that it is kept if the reader does
// not come to the end (E-45).
import { joinHyphenated, summarizeExtracted } from './summarizers/extracted.js';
import type { DraftPiece, EmbeddedSummary, Summary } from './summary.js';

/** Returns the summary of the pieces; undefined if they say nothing. */
export function summaryOfDraft(pieces: readonly DraftPiece[]): Summary | undefined {
  const embedded: EmbeddedSummary[] = [];
  let open: DraftPiece[] = [];
  for (const piece of pieces) {
    if (piece.components !== undefined) {
      embedded.push(...piece.components);
      open = [];
    } else if (piece.part !== undefined) open.push(piece);
  }
  const [last] = open;
  const unfinished = summaryOfPieces(open);
  if (last?.part !== undefined && unfinished !== undefined)
    embedded.push({ ...last.part, summary: unfinished });
  const own = summaryOfPieces(pieces.filter(({ part }) => part === undefined));
  if (embedded.length === 0) return own;
  return { attributes: [], ...own, embedded };
}

function summaryOfPieces(pieces: readonly DraftPiece[]): Summary | undefined {
  const attributes = pieces.flatMap((piece) => piece.attributes ?? []);
  const texts = pieces.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const summary = summarizeExtracted({ attributes, text: joinHyphenated(texts.join('\n\n')) });
  return isEmpty(summary) ? undefined : summary;
}

/** Whether a summary has no value. */
export function isEmpty({ attributes, embedded = [] }: Summary): boolean {
  return embedded.length === 0 && attributes.every(([, value]) => value.trim() === '');
}
