import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomOf } from '../references-graph.js';
import { resp } from './processes.js';

/** Distribution of keys: uniform, or the n-th with a probability of 1/n (pages with most links first). */
export const DISTRIBUTIONS = ['uniform', 'zipf'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

/** Number of results of a first page. */
export const PAGE_RESULTS = 100;

/** A sequence of keys, equal for equal seeds. */
export function drawKeys(
  keys: Uint32Array,
  distribution: Distribution,
  count: number,
  seed: number,
): Uint32Array {
  const random = randomOf(seed);
  const places = keys.length;
  return Uint32Array.from({ length: count }, () => {
    const place = distribution === 'uniform' ? places * random() : places ** random() - 1;
    return keys[Math.floor(place)]!;
  });
}

export function writeKeys(work: string, name: string, keys: Uint32Array): string {
  const path = join(work, `${name}.keys`);
  writeFileSync(path, keys);
  return path;
}

/** Writes requests in the format of the load client. */
export function writeRequests(work: string, name: string, texts: readonly string[]): string {
  const lengths = Uint32Array.from([texts.length, ...texts.map(({ length }) => length)]);
  const path = join(work, `${name}.requests`);
  writeFileSync(path, Buffer.concat([Buffer.from(lengths.buffer), Buffer.from(texts.join(''), 'latin1')]));
  return path;
}

/** The first page of links to a document. */
export function pageRequest(id: number): string {
  return `SSTP/1.0 082 REQ_GET_REFERERS\r\nHEADER_URI_ID: ${id}\r\nHEADER_NUMRESULTS: ${PAGE_RESULTS}\r\n\r\n`;
}

/** The same page of a Redis list. */
export function listRequest(id: number): string {
  return resp(['LRANGE', String(id), '0', String(PAGE_RESULTS - 1)]);
}

/** A page of links to a site. */
export function sitePageRequest(serverId: number, start: number): string {
  return `SSTP/1.0 084 REQ_GET_SITEREFERERS\r\nHEADER_SERVER_ID: ${serverId}\r\nHEADER_NUMRESULTS: ${PAGE_RESULTS}\r\nHEADER_START_RESULTS: ${start}\r\n\r\n`;
}
