// Formats a match of `harvest query` as text or JSON.
import { styleText } from 'node:util';
import type { TermFinder } from '../../../../clients/broker/query-terms.js';
import { type BrokerHit, MISSING_WORDS, parseMatchedLine } from '../../../../protocols/broker/index.js';
import { decodeText, textOfUrl, urlFields } from '../../../../protocols/soif/index.js';
import { printable, printableUrl, TerminalText } from '../../output/printable.js';

/** How the parts of a match look on a terminal. */
export interface TextStyle {
  readonly title: (text: string) => string;
  /** A word of the query in a passage. */
  readonly word: (text: string) => string;
  readonly url: (bytes: Uint8Array) => string | Uint8Array;
}

/**
 * Colors for a terminal that has them and whose user has not switched them off (NO_COLOR); exact bytes for a
 * pipe or a file.
 */
export function textStyle(stream: NodeJS.WriteStream = process.stdout): TextStyle {
  if (!stream.isTTY) return { title: (text) => text, word: (text) => text, url: (bytes) => bytes };
  const colored = stream.hasColors();
  return {
    title: (text) => (colored ? styleText('bold', text) : text),
    word: (text) => (colored ? styleText(['bold', 'yellow'], text) : text),
    url: (bytes) => {
      const text = new TerminalText().push(bytes);
      return colored ? styleText('green', text) : text;
    },
  };
}

/** What is shown of a match besides its attributes. */
export interface ShownMatch {
  readonly hit: BrokerHit;
  /** In place of the description: a part of the text that has the words of the query. */
  readonly passage: string | undefined;
  /** Matched lines; undefined if they are not shown. */
  readonly lines: readonly string[] | undefined;
}

/**
 * Formats a match of a query as text: number, title, URL in its own bytes (BRK-1.10), passage or description,
 * attributes, matched lines. Without a title the URL stands in its place.
 *
 * @param terms the words of the query
 */
export function matchAsText(
  { hit, passage, lines: matched = [] }: ShownMatch,
  number: number,
  style: TextStyle,
  terms: TermFinder | undefined,
): Uint8Array {
  const title = titleOf(hit);
  const url = Buffer.from(style.url(printableUrl(hit.url)));
  const head =
    title === ''
      ? [Buffer.from(`${number}. `), url, Buffer.from('\n')]
      : [Buffer.from(`${number}. ${style.title(title)}\n   `), url, Buffer.from('\n')];
  const lines: string[] = [];
  const text = printable(passage ?? hit.description ?? '').trim();
  if (text !== '' && text !== title)
    lines.push(`   ${terms === undefined ? text : marked(text, terms, style)}`);
  for (const { name, value } of hit.attributes) {
    if (isTitle(name)) continue;
    const shown = name === MISSING_WORDS ? 'without' : printable(name);
    lines.push(`   ${shown}: ${printable(decodeText(value)).trim()}`);
  }
  for (const opaque of matched) {
    const line = parseMatchedLine(opaque);
    const shown = line === undefined ? opaque : `${line.attribute}: ${line.text}`;
    lines.push(`     ${printable(shown).trimEnd()}`);
  }
  return Buffer.concat([...head, Buffer.from(lines.map((line) => `${line}\n`).join(''))]);
}

function marked(text: string, terms: TermFinder, { word }: TextStyle): string {
  let shown = '';
  let last = 0;
  for (const { start, end } of terms.matches(text)) {
    shown += text.slice(last, start) + word(text.slice(start, end));
    last = end;
  }
  return shown + text.slice(last);
}

function titleOf(hit: BrokerHit): string {
  return printable(hit.text('title') ?? '').trim();
}

function isTitle(name: string): boolean {
  return name.toLowerCase() === 'title';
}

/**
 * Formats a match as one line of JSON: the passage before the rest, matched lines only if they are shown. Values
 * of attributes are text; a URL that is not UTF-8 is in `urlBase64` too.
 */
export function matchAsJson({ hit, passage, lines }: ShownMatch): string {
  const attributes = Object.fromEntries(
    Array.from(hit.attributes, ({ name, value }) => [name, decodeText(value)] as const),
  );
  const { url, objectUrl, homePage, description } = hit;
  const match = {
    ...urlFields(url),
    passage,
    objectUrl: objectUrl === undefined ? undefined : textOfUrl(objectUrl),
    homePage: homePage === undefined ? undefined : textOfUrl(homePage),
    description,
    matchedLines: lines,
    attributes,
  };
  return `${JSON.stringify(match)}\n`;
}
