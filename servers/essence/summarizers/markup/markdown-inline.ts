import { decodeReferences } from '../../html/character-references.js';
import { bareUrl, isBlank, isWord, type Outline } from './outline.js';

/** Maximum number of open brackets, and of open marks of emphasis of one kind. */
const MAX_OPEN = 1000;
/** Maximum length of the destination of a link with its title, in characters. */
const MAX_DESTINATION = 2000;
/** Maximum length of a label, as in CommonMark. */
const MAX_LABEL = 999;
/** Depth of parentheses in a destination, as in CommonMark. */
const MAX_PARENTHESES = 32;
/** Maximum length of a heading that is written as HTML over several paragraphs. */
const MAX_HEADING = 500;
/** Parts of the text of a link: links can be nested, and the text of each is joined. */
const MAX_LINK_PARTS = 50;

const SPECIAL = /[\\!`*_~[\]<]|https?:\/\/[^\s<>"\]]+/g;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const AUTOLINK = /<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]{1,200}@[\w.-]{1,200})>/y;
const TAG = /<(\/?)([A-Za-z][\w:-]{0,40})((?:[\s/][^<>]*)?)>/y;

interface Bracket {
  readonly part: number;
  readonly isImage: boolean;
  /** Index after the bracket. */
  readonly start: number;
}

/**
 * Reads the text within blocks of Markdown: links, code, emphasis, HTML. Takes linear time, whatever is left
 * open.
 */
export class MarkdownInline {
  readonly #outline: Outline;
  readonly #definitions: ReadonlyMap<string, string>;
  /** An HTML heading that is still open; level 0 if absent. */
  #headingLevel = 0;
  #headingText = '';

  /** @param definitions destinations by normalized label */
  constructor(outline: Outline, definitions: ReadonlyMap<string, string>) {
    this.#outline = outline;
    this.#definitions = definitions;
  }

  /** Returns the plain text, and whether it has words that are neither a link nor a picture. */
  read(source: string): { readonly text: string; readonly isProse: boolean } {
    const out: string[] = [];
    const brackets: Bracket[] = [];
    const marks = new Map<string, number[]>();
    const spans = new CodeSpans(source);
    let commentsEnd = -1;
    let headingStart = 0;
    let isProse = false;
    let last = 0;
    const push = (text: string) => {
      if (text === '') return;
      out.push(text);
      if (!isProse && brackets.length === 0) isProse = /\p{L}{3}/u.test(text);
    };
    SPECIAL.lastIndex = 0;
    for (let at = nextSpecial(source, 0); at !== undefined; at = nextSpecial(source, last)) {
      const { index } = at;
      push(decoded(source.slice(last, index)));
      const character = source[index]!;
      last = index + 1;
      if (character === 'h') {
        const url = bareUrl(at[0]);
        this.#outline.link(url);
        out.push(url);
        last = index + url.length;
      } else if (character === '\\') {
        const next = source[last] ?? '';
        if (PUNCTUATION.test(next)) {
          out.push(next);
          last++;
        } else if (next !== '\n') out.push('\\');
      } else if (character === '`') {
        const span = spans.at(index);
        push(span.text);
        last = span.end;
      } else if (character === '*' || character === '_' || character === '~') {
        let end = last;
        while (source[end] === character) end++;
        const mark = source.slice(index, end);
        last = end;
        out.push(mark);
        pairMarks(mark, source[index - 1] ?? ' ', source[end] ?? ' ', out, marks);
      } else if (character === '!' && source[last] !== '[') {
        out.push('!');
      } else if (character === '!' || character === '[') {
        if (character === '!') last++;
        if (brackets.length < MAX_OPEN)
          brackets.push({ part: out.length, isImage: character === '!', start: last });
        out.push(character === '!' ? '![' : '[');
      } else if (character === ']') {
        last = this.#closeBracket(source, last, brackets.pop(), out);
      } else {
        const markup = this.#markup(source, index, commentsEnd);
        if (markup === undefined) out.push('<');
        else if (markup.isComment) {
          // Without an end, a comment is text, and so are all later ones.
          if (markup.end < 0) {
            commentsEnd = source.length;
            out.push('<');
          } else last = markup.end;
        } else {
          last = markup.end;
          if (markup.text !== '') push(markup.text);
          const level = headingLevel(markup.tag);
          if (level > 0 && !markup.isEnd) {
            this.#headingLevel = level;
            this.#headingText = '';
            headingStart = out.length;
          } else if (level > 0) {
            this.#addHeadingText(out, headingStart);
            this.#outline.heading(this.#headingText, this.#headingLevel || level);
            this.#headingLevel = 0;
          }
        }
      }
    }
    push(decoded(source.slice(last)));
    if (this.#headingLevel > 0) {
      this.#addHeadingText(out, headingStart);
      if (this.#headingText.length > MAX_HEADING) this.#headingLevel = 0;
    }
    return { text: out.join(''), isProse };
  }

  #addHeadingText(out: readonly string[], from: number): void {
    if (this.#headingLevel === 0) return;
    for (let i = from; i < out.length && this.#headingText.length <= MAX_HEADING; i++)
      this.#headingText += out[i];
    this.#headingText += ' ';
  }

  /** Ends a link or picture, if its bracket and its destination exist. Returns the index after it. */
  #closeBracket(source: string, from: number, bracket: Bracket | undefined, out: string[]): number {
    if (bracket === undefined) {
      out.push(']');
      return from;
    }
    const inline = source[from] === '(' ? destinationAt(source, from + 1) : undefined;
    let { destination, end } = inline ?? { destination: undefined, end: from };
    if (destination === undefined) {
      const label = source[from] === '[' ? /\[([^[\]]{0,999})\]/y : undefined;
      if (label !== undefined) label.lastIndex = from;
      const found = label?.exec(source);
      const written = found?.[1];
      // The label is compared as written, with its marks.
      const own = from - 1 - bracket.start > MAX_LABEL ? '' : source.slice(bracket.start, from - 1);
      const name = written === undefined || written === '' ? own : written;
      destination = this.#definitions.get(normalizedLabel(name));
      if (destination !== undefined && found !== null && found !== undefined) end = from + found[0].length;
    }
    if (destination === undefined) {
      out.push(']');
      return from;
    }
    out[bracket.part] = '';
    if (bracket.isImage) this.#outline.image(destination);
    else this.#outline.link(destination, out.slice(bracket.part, bracket.part + MAX_LINK_PARTS).join(''));
    return end;
  }

  #markup(source: string, index: number, commentsEnd: number): Markup | undefined {
    if (source.startsWith('<!--', index)) {
      if (commentsEnd >= 0) return undefined;
      const end = source.indexOf('-->', index + 4);
      return { ...NO_MARKUP, end: end < 0 ? -1 : end + 3, isComment: true };
    }
    AUTOLINK.lastIndex = index;
    const autolink = AUTOLINK.exec(source);
    if (autolink !== null) {
      const target = autolink[1]!;
      if (target.includes(':')) this.#outline.link(target);
      return { ...NO_MARKUP, end: AUTOLINK.lastIndex, text: target };
    }
    TAG.lastIndex = index;
    const found = TAG.exec(source);
    if (found === null) return undefined;
    const [, slash, name, attributes] = found;
    const tag = name!.toLowerCase();
    const value =
      tag === 'a' || tag === 'img' ? referenceOf(attributes!, tag === 'a' ? 'href' : 'src') : undefined;
    if (value !== undefined && tag === 'a') this.#outline.link(value);
    else if (value !== undefined) this.#outline.image(value);
    return {
      end: TAG.lastIndex,
      text: tag === 'br' ? '\n' : '',
      tag,
      isEnd: slash === '/',
      isComment: false,
    };
  }
}

interface Markup {
  readonly end: number;
  /** Text in place of the markup. */
  readonly text: string;
  readonly tag: string;
  readonly isEnd: boolean;
  readonly isComment: boolean;
}

const NO_MARKUP: Markup = { end: 0, text: '', tag: '', isEnd: false, isComment: false };

function nextSpecial(source: string, from: number): RegExpExecArray | undefined {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(source) ?? undefined;
}

function headingLevel(tag: string): number {
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : 0;
}

function referenceOf(attributes: string, name: 'href' | 'src'): string | undefined {
  const pattern =
    name === 'href'
      ? /\bhref\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
      : /\bsrc\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
  const found = pattern.exec(attributes);
  return found === null ? undefined : decoded((found[1] ?? found[2] ?? found[3])!);
}

/** Removes the mark just written and the one that it closes, or remembers it as an opening one. */
function pairMarks(
  mark: string,
  before: string,
  after: string,
  out: string[],
  marks: Map<string, number[]>,
): void {
  const stack = marks.get(mark) ?? [];
  const inWord = mark.startsWith('_') && isWord(before) && isWord(after);
  const opener = isBlank(before) || inWord ? undefined : stack.pop();
  if (opener !== undefined) {
    out[opener] = '';
    out[out.length - 1] = '';
  } else if (!isBlank(after) && !inWord && stack.length < MAX_OPEN) stack.push(out.length - 1);
  marks.set(mark, stack);
}

/** The destination `(<a b> "title")` or `(a "title")` of a link whose parenthesis precedes `from`. */
function destinationAt(source: string, from: number): { destination: string; end: number } | undefined {
  const limit = Math.min(source.length, from + MAX_DESTINATION);
  let i = skipBlanks(source, from, limit);
  let destination: string;
  if (source[i] === '<') {
    const start = ++i;
    // A second `<` ends the attempt: otherwise each of many would be searched for its end.
    while (i < limit && source[i] !== '>' && source[i] !== '\n' && source[i] !== '<') i++;
    if (source[i] !== '>') return undefined;
    destination = source.slice(start, i++);
  } else {
    const start = i;
    let depth = 0;
    for (; i < limit && !isBlank(source[i]!); i++) {
      if (source[i] === '\\') i++;
      else if (source[i] === '(' && ++depth > MAX_PARENTHESES) return undefined;
      else if (source[i] === ')' && depth-- === 0) break;
    }
    destination = source.slice(start, i);
  }
  i = skipBlanks(source, i, limit);
  const quote = source[i];
  if (quote === '"' || quote === "'" || quote === '(') {
    const close = quote === '(' ? ')' : quote;
    for (i++; i < limit && source[i] !== close && source[i] !== '('; i++) if (source[i] === '\\') i++;
    i = skipBlanks(source, i + 1, limit);
  }
  if (i >= limit || source[i] !== ')') return undefined;
  return { destination: decoded(destination.replace(/\\([!-/:-@[-`{-~])/g, '$1')), end: i + 1 };
}

function skipBlanks(source: string, from: number, limit: number): number {
  let i = from;
  while (i < limit && isBlank(source[i]!)) i++;
  return i;
}

/** The label of a definition without regard to case and white space. */
export function normalizedLabel(label: string): string {
  return label.replace(/\s+/g, ' ').trim().toLowerCase();
}

function decoded(text: string): string {
  const first = text.indexOf('&');
  return first < 0 ? text : decodeReferences(text, 0, text.length, first, false);
}

/** Finds the ends of code spans. A run of backquotes without a second one of its length is text. */
class CodeSpans {
  readonly #source: string;
  /** The last run of each length; computed when first needed. */
  #last: Map<number, number> | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  /** The text of the span, or the run itself, and the index after it. */
  at(index: number): { readonly text: string; readonly end: number } {
    const source = this.#source;
    let start = index;
    while (source[start] === '`') start++;
    const length = start - index;
    this.#last ??= lastRuns(source);
    if ((this.#last.get(length) ?? -1) < start) return { text: source.slice(index, start), end: start };
    const runs = /`+/g;
    runs.lastIndex = start;
    for (let found = runs.exec(source); found !== null; found = runs.exec(source)) {
      if (found[0].length === length)
        return { text: source.slice(start, found.index).trim(), end: runs.lastIndex };
    }
    return { text: source.slice(index, start), end: start };
  }
}

function lastRuns(source: string): Map<number, number> {
  const last = new Map<number, number>();
  for (const found of source.matchAll(/`+/g)) last.set(found[0].length, found.index);
  return last;
}
