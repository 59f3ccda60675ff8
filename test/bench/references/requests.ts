// Draws keys and encodes the requests for them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../references-graph.js';
import { encodeResp } from './processes.js';

/** Distributions of keys: uniform, or the n-th key with a probability proportional to 1/n. */
export const DISTRIBUTIONS = ['uniform', 'zipf'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

/** Number of results of a first page. */
export const PAGE_RESULTS = 100;

/** Draws a sequence of keys, equal for equal seeds. */
export function drawKeys(
  keys: Uint32Array,
  distribution: Distribution,
  count: number,
  seed: number,
): Uint32Array {
  const random = createRandom(seed);
  return Uint32Array.from({ length: count }, () => {
    const index = distribution === 'uniform' ? keys.length * random() : keys.length ** random() - 1;
    return keys[Math.floor(index)]!;
  });
}

/** Writes keys in the format of bdb-pages.c. Returns the path of the file. */
export function writeKeys(work: string, name: string, keys: Uint32Array): string {
  const path = join(work, `${name}.keys`);
  writeFileSync(path, keys);
  return path;
}

/** Writes requests in the format of load-client.c. Returns the path of the file. */
export function writeRequests(work: string, name: string, texts: readonly string[]): string {
  const lengths = Uint32Array.from([texts.length, ...texts.map(({ length }) => length)]);
  const path = join(work, `${name}.requests`);
  writeFileSync(path, Buffer.concat([Buffer.from(lengths.buffer), Buffer.from(texts.join(''), 'latin1')]));
  return path;
}

/** A request for the first page of links to a document. */
export function pageRequest(id: number): string {
  return `SSTP/1.0 082 REQ_GET_REFERERS\r\nHEADER_URI_ID: ${id}\r\nHEADER_NUMRESULTS: ${PAGE_RESULTS}\r\n\r\n`;
}

/** A request for the same page of a Redis list. */
export function listRequest(id: number): string {
  return encodeResp(['LRANGE', String(id), '0', String(PAGE_RESULTS - 1)]);
}

/** A request for a page of links to a site. */
export function sitePageRequest(serverId: number, start: number): string {
  return `SSTP/1.0 084 REQ_GET_SITEREFERERS\r\nHEADER_SERVER_ID: ${serverId}\r\nHEADER_NUMRESULTS: ${PAGE_RESULTS}\r\nHEADER_START_RESULTS: ${start}\r\n\r\n`;
}
