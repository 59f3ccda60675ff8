// Reads the texts of the objects of a Broker that are stored beside another one.

import { decodeText, textOfUrl } from '../../protocols/soif/index.js';
import type { BrokerClient } from './client.js';
import { TEXTS, textLines } from './passages.js';
import { q } from './query-builder.js';
import { OTHERS, type ReadBeside } from './repeated-lines.js';

/** Milliseconds and bytes for the objects beside one URL; what is read by then counts. */
const TIME_MS = 2000;
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * Returns a reader for `RepeatedLines` that asks a Broker for the objects by their URLs. A Broker that cannot answer in two
 * seconds has no objects beside the URL.
 *
 * @param signal ends the questions
 */
export function besideAtBroker(client: BrokerClient, signal: AbortSignal | undefined): ReadBeside {
  return async (url, length) => {
    const start = url.slice(0, length);
    const late = AbortSignal.timeout(TIME_MS);
    const hits = client.query(q.attribute('url').contains(start), {
      matchedLines: false,
      desc: false,
      attributes: TEXTS.flat(),
      maxFiles: OTHERS + 1,
      lifetime: TIME_MS / 1000,
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    const others: string[][] = [];
    let bytes = 0;
    try {
      for await (const hit of hits) {
        const found = textOfUrl(hit.url);
        if (found === url || !found.startsWith(start)) continue;
        const values = hit.attributes.map(({ value }) => decodeText(value));
        others.push(values.flatMap(textLines));
        bytes += values.reduce((sum, { length }) => sum + length, 0);
        if (bytes >= MAX_BYTES || others.length === OTHERS) break;
      }
    } catch {
      // What the Broker cannot tell about other objects does not keep the result from being shown.
      signal?.throwIfAborted();
    }
    return others;
  };
}
