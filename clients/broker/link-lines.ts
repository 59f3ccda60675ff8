// Lines of links in a text: pagers, paths to a page, menus. They say where a page is, not what it is about.

/** `chain`: links in a row. `label`: a line that may be a link or a heading. `text`: anything else. */
type LineKind = 'text' | 'label' | 'chain';

/** Longer lines are text. */
const MAX_LINE = 300;
const MAX_LABEL_WORDS = 12;
/** Words of a line that may be an entry of a menu, and how many of them in a row are one. */
const MAX_ENTRY_WORDS = 3;
const MIN_ENTRIES = 3;
/** The share of the words of a label that begin with a large letter or a digit. */
const MIN_TITLED = 0.75;
/** Words of a label that begin with other letters, at most. */
const MAX_SMALL = MAX_LABEL_WORDS * (1 - MIN_TITLED);
/** Words of each link between separators; if there are just two links; numbers of a pager. */
const MAX_LINK_WORDS = 6;
const MAX_PAIR_WORDS = 3;
const MIN_NUMBERS = 3;

/** What links turn pages with, in the languages of most pages. */
const TURNING = new Set(
  (
    'prev previous next up home top back contents index toc first last forward backward start main menu skip ' +
    'zurück weiter vor hoch oben nach anfang ende startseite inhalt inhaltsverzeichnis vorherige nächste vorige ' +
    'précédent précédente suivant suivante accueil sommaire retour haut début fin ' +
    'anterior siguiente inicio arriba índice volver atrás contenido próximo próxima seguinte voltar topo ' +
    'precedente successivo successiva indietro avanti indice ' +
    'vorige volgende terug omhoog inhoud föregående nästa tillbaka hem innehåll forrige neste næste hjem edellinen seuraava ' +
    'poprzedni poprzednia następny następna wstecz dalej předchozí další domů zpět obsah ' +
    'назад вперед вперёд далее предыдущая следующая пред след наверх вверх главная начало содержание оглавление ' +
    'önceki sonraki προηγούμενη επόμενη السابق التالي الرئيسية הקודם הבא ' +
    '上一页 下一页 上一章 下一章 目录 首页 前へ 次へ 目次 ホーム 上へ 戻る 이전 다음 목차 홈'
  ).split(' '),
);
/** Words beside them: `Previous page`, `Chapter 9`. */
const BESIDE_TURNING = new Set(
  'page chapter section part topic seite kapitel abschnitt chapitre página capítulo pagina capitolo hoofdstuk strona rozdział kapitola страница глава раздел'.split(
    ' ',
  ),
);

const ARROW = /^(?:<{1,2}-?|-?>{1,2}|[«»‹›←→⇐⇒◀▶◄►▸⟨⟩|]+)$/u;
const LIKE_ARROW = /^[^\p{L}\p{N}]/u;
/** Between links: with blanks on both sides, except those that text does not have. */
const SEPARATORS = /\s*[|»›▸►→⟩]+\s*|\s+(?:>{1,2}|[/·•∙:]|::|->|–|—)\s+/u;
/** What code and sentences have, and labels do not. */
const CODE = /[=;{}$\\<>*`"]|\s-{1,2}\w|\w\(/;
const SENTENCE = /[.!?…]["'”’)\]]*$|[!?;。！？；、،؟]|\p{L}\.\s/u;
const NUMBERING = /^(?:\p{L}+\s)?(?:\d+|[A-Z])(?:\.\d+)*\.(?=\s|$)/u;
const NUMBER = /^[[(]?\p{Nd}{1,6}[\])]?$/u;
const DIGIT = /\p{Nd}/u;
const ELLIPSIS = /^(?:\.{2,}|…)$/;
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’.-][\p{L}\p{M}\p{N}]+)*/gu;
const TITLED = /^[\p{Lu}\p{Lt}\p{N}]/u;
const SMALL = /^\p{Ll}/u;
/** Scripts without blanks between words, where a line of short words is a list. */
const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** A text without its lines of links, at three strictnesses. */
interface SortedLines {
  readonly text: readonly string[];
  /** With labels. */
  readonly withLabels: readonly string[];
  readonly all: readonly string[];
}

/**
 * Leaves lines of links out of a text.
 *
 * @param lines with single blanks
 * @param areNeighbors whether the lines follow each other in the text; if not, a short line stands for a menu
 */
export function sortLines(lines: readonly string[], areNeighbors: boolean): SortedLines {
  const kinds = lines.map(kindOfLine);
  const entries = areNeighbors ? MIN_ENTRIES : 1;
  let first = 0;
  for (let i = 0; i <= lines.length; i++) {
    if (i < lines.length && (kinds[i] !== 'text' || isEntry(lines[i]!))) continue;
    if (i - first >= entries) for (let j = first; j < i; j++) if (kinds[j] === 'text') kinds[j] = 'label';
    first = i + 1;
  }
  return {
    text: lines.filter((_, i) => kinds[i] === 'text'),
    withLabels: lines.filter((_, i) => kinds[i] !== 'chain'),
    all: lines,
  };
}

/** What a line is by itself. Takes time in proportion to its length. */
export function kindOfLine(line: string): LineKind {
  if (line.length > MAX_LINE) return 'text';
  if (isPager(line) || isPath(line) || isBetweenArrows(line)) return 'chain';
  if (hasSmallWords(line)) return 'text';
  const words = wordsOf(line);
  if (isTurning(line, words)) return 'chain';
  return isLabel(line, words) ? 'label' : 'text';
}

/**
 * Whether a line has so many words with small letters that it turns no pages and is no label. Most lines of a text
 * do, and most of their words need not be looked at.
 */
function hasSmallWords(line: string): boolean {
  // `Next: Threads, Previous: Closures`
  if (line.indexOf(':') !== line.lastIndexOf(':')) return false;
  let count = 0;
  let isOther = false;
  for (const [word] of line.matchAll(WORD)) {
    if (!SMALL.test(word)) continue;
    count++;
    isOther ||= !isTurningWord(word);
    if (isOther && count > MAX_SMALL) return !IDEOGRAPHS.test(line);
  }
  return false;
}

/** `1 2 3 ... 10`, `Page 1 2 3 Next` */
function isPager(line: string): boolean {
  if (!DIGIT.test(line)) return false;
  const tokens = line.split(/[\s|,·]+/u).filter((token) => token !== '' && !ARROW.test(token));
  const numbers = tokens.filter((token) => NUMBER.test(token)).length;
  const words = tokens.filter((token) => !NUMBER.test(token) && !ELLIPSIS.test(token)).length;
  return numbers >= MIN_NUMBERS && words <= numbers;
}

/** `Home > Manual > Chapter 9`, `News | Sport | Weather`, `Previous | Next` */
function isPath(line: string): boolean {
  if (!SEPARATORS.test(line)) return false;
  const links = line.split(SEPARATORS).filter((link) => link !== '');
  if (links.length < 2) return false;
  const most = links.length === 2 ? MAX_PAIR_WORDS : MAX_LINK_WORDS;
  return links.every((link) => {
    const count = wordsOf(link).length;
    return count > 0 && count <= most && !isProse(link);
  });
}

/** `Prev Up Chapter 9 Home Next`; `Next: Threads, Previous: Closures, Up: Library` */
function isTurning(line: string, words: readonly string[]): boolean {
  const turning = words.filter((word) => TURNING.has(word.toLowerCase()));
  if (turning.length < 2) return false;
  const named = line.match(/[\p{L}\p{M}]+(?=:\s)/gu) ?? [];
  if (named.filter((word) => TURNING.has(word.toLowerCase())).length >= 2) return true;
  if (turning.length * 3 < words.length || isProse(line)) return false;
  return words.every((word) => !SMALL.test(word) || isTurningWord(word));
}

function isTurningWord(word: string): boolean {
  const folded = word.toLowerCase();
  return TURNING.has(folded) || BESIDE_TURNING.has(folded);
}

/** `<< 3. The core Up 5. Cachegrind >>` */
function isBetweenArrows(line: string): boolean {
  if (!LIKE_ARROW.test(line)) return false;
  const tokens = line.split(' ');
  return tokens.length > 2 && ARROW.test(tokens[0]!) && ARROW.test(tokens.at(-1)!);
}

/** A heading or the text of one or more links: its words begin with large letters, or it is a list of short words. */
function isLabel(line: string, words: readonly string[]): boolean {
  if (words.length === 0 || words.length > MAX_LABEL_WORDS || isProse(line)) return false;
  if (IDEOGRAPHS.test(line)) return words.length >= MIN_ENTRIES && words.every((word) => word.length <= 8);
  return words.filter((word) => TITLED.test(word)).length >= MIN_TITLED * words.length;
}

/** One short line, as in a menu with a line for each link. */
function isEntry(line: string): boolean {
  let words = 0;
  for (const _ of line.matchAll(WORD)) if (++words > MAX_ENTRY_WORDS) break;
  const isShort = words > 0 && words <= MAX_ENTRY_WORDS;
  if (!isShort && line.length > 8) return false;
  return (IDEOGRAPHS.test(line) ? line.length <= 8 : isShort) && !isProse(line);
}

/** Whether a line has what sentences or programs have. */
function isProse(line: string): boolean {
  const own = line.replace(NUMBERING, '').replaceAll(/ \d+(?:\.\d+)*\.(?= )/g, ' ');
  return SENTENCE.test(own) || CODE.test(own) || own.includes(', ');
}

function wordsOf(line: string): readonly string[] {
  return line.match(WORD) ?? [];
}
