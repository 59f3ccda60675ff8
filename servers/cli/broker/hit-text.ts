import { styleText } from 'node:util';
import { type BrokerHit, parseMatchedLine } from '../../../protocols/broker/index.js';
import { decodeText, textOfUrl, urlFields } from '../../../protocols/soif/index.js';
import { printable, printableUrl, TerminalText } from '../output/printable.js';

/** How the parts of a match look on a terminal. */
export interface TextStyle {
  readonly title: (text: string) => string;
  readonly url: (bytes: Uint8Array) => string | Uint8Array;
}

/**
 * Colors for a terminal that has them and whose user has not switched them off (NO_COLOR); exact bytes for a
 * pipe or a file.
 */
export function textStyle(stream: NodeJS.WriteStream = process.stdout): TextStyle {
  if (!stream.isTTY) return { title: (text) => text, url: (bytes) => bytes };
  const colored = stream.hasColors();
  return {
    title: (text) => (colored ? styleText('bold', text) : text),
    url: (bytes) => {
      const text = new TerminalText().push(bytes);
      return colored ? styleText('green', text) : text;
    },
  };
}

/**
 * Formats a match of a query as text: number, title, URL in its own bytes (BRK-1.10), description, attributes,
 * matched lines. Without a title the URL stands in its place.
 */
export function hitAsText(hit: BrokerHit, number: number, style: TextStyle): Uint8Array {
  const title = titleOf(hit);
  const url = Buffer.from(style.url(printableUrl(hit.url)));
  const head =
    title === ''
      ? [Buffer.from(`${number}. `), url, Buffer.from('\n')]
      : [Buffer.from(`${number}. ${style.title(title)}\n   `), url, Buffer.from('\n')];
  const lines: string[] = [];
  const description = printable(hit.description ?? '').trim();
  if (description !== '' && description !== title) lines.push(`   ${description}`);
  for (const [name, value] of hit.attributes) {
    if (isTitle(name)) continue;
    lines.push(`   ${printable(name)}: ${printable(decodeText(value)).trim()}`);
  }
  for (const opaque of hit.matchedLines) {
    const line = parseMatchedLine(opaque);
    const text = line === undefined ? opaque : `${line.attribute}: ${line.text}`;
    lines.push(`     ${printable(text).trimEnd()}`);
  }
  return Buffer.concat([...head, Buffer.from(lines.map((line) => `${line}\n`).join(''))]);
}

function titleOf({ attributes }: BrokerHit): string {
  for (const [name, value] of attributes) if (isTitle(name)) return printable(decodeText(value)).trim();
  return '';
}

function isTitle(name: string): boolean {
  return name.toLowerCase() === 'title';
}

/**
 * Formats a match as one line of JSON. Values of attributes are text; a URL that is not UTF-8 is in `urlBase64`
 * too.
 */
export function hitAsJson(hit: BrokerHit): string {
  const attributes = Object.fromEntries(
    Array.from(hit.attributes, ([name, value]) => [name, decodeText(value)] as const),
  );
  const { objectUrl, homePage } = hit;
  const pages = {
    objectUrl: objectUrl === undefined ? undefined : textOfUrl(objectUrl),
    homePage: homePage === undefined ? undefined : textOfUrl(homePage),
  };
  return `${JSON.stringify({ ...hit, ...urlFields(hit.url), ...pages, attributes })}\n`;
}
