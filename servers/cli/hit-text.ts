import { type BrokerHit, parseMatchedLine } from '../../protocols/broker/index.js';
import { decodeText, textOfUrl, urlFields } from '../../protocols/soif/index.js';
import { printable, printableUrl } from './printable.js';

/** Formats a match of a query as text: number, URL in its own bytes (BRK-1.10), description, attributes, matched lines. */
export function hitAsText(hit: BrokerHit, number: number): Uint8Array {
  const head = Buffer.concat([Buffer.from(`${number}. `), printableUrl(hit.url), Buffer.from('\n')]);
  const lines: string[] = [];
  const description = printable(hit.description ?? '').trim();
  if (description !== '') lines.push(`   ${description}`);
  for (const [name, value] of hit.attributes) {
    lines.push(`   ${printable(name)}: ${printable(decodeText(value)).trim()}`);
  }
  for (const opaque of hit.matchedLines) {
    const line = parseMatchedLine(opaque);
    const text = line === undefined ? opaque : `${line.attribute}: ${line.text}`;
    lines.push(`     ${printable(text).trimEnd()}`);
  }
  return lines.length === 0 ? head : Buffer.concat([head, Buffer.from(`${lines.join('\n')}\n`)]);
}

/** Formats a match as one line of JSON. Values of attributes are text; a URL that is not UTF-8 is in `urlBase64` too. */
export function hitAsJson(hit: BrokerHit): string {
  const attributes = Object.fromEntries(
    Array.from(hit.attributes, ([name, value]) => [name, decodeText(value)] as const),
  );
  const { objectUrl, homePage } = hit;
  const pages = {
    ...(objectUrl === undefined ? {} : { objectUrl: textOfUrl(objectUrl) }),
    ...(homePage === undefined ? {} : { homePage: textOfUrl(homePage) }),
  };
  return `${JSON.stringify({ ...hit, ...urlFields(hit.url), ...pages, attributes })}\n`;
}
