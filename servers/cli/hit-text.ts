import { type BrokerHit, parseMatchedLine } from '../../protocols/broker/index.js';
import { decodeText } from '../../protocols/soif/index.js';
import { printable } from './printable.js';

/** Formats a match of a query as text: number, URL, description, attributes, matched lines. */
export function hitAsText(hit: BrokerHit, number: number): string {
  const lines = [`${number}. ${printable(hit.url)}`];
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
  return `${lines.join('\n')}\n`;
}

/** Formats a match as one line of JSON. Values of attributes are text. */
export function hitAsJson(hit: BrokerHit): string {
  const attributes = Object.fromEntries(
    Array.from(hit.attributes, ([name, value]) => [name, decodeText(value)] as const),
  );
  return `${JSON.stringify({ ...hit, attributes })}\n`;
}
