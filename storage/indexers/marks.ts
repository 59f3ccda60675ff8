// Accents and other marks on letters: `résumé` and `resume` are two words of the index and one for a reader.

/** All marks but the breve of the Russian й, which is another letter. */
const MARKS = /(?<!и)\p{M}+/gu;

/** A folded word without accents and other marks. */
export function withoutMarks(word: string): string {
  return word.normalize('NFD').replace(MARKS, '').normalize('NFC');
}
