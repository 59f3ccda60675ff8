// Helpers for the tests of Essence: contexts with short expectations, inputs, and an independent reader of
// summary objects.
import {
  compileEssence,
  type EssenceContext,
  type EssenceInput,
  type EssenceOptions,
  type EssenceOutput,
  readEssenceSources,
} from '../../../servers/essence/index.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';

/** The options that every context needs: the Gatherer's identity and the two periods, in seconds. */
export const IDENTITY: EssenceOptions = {
  gathererName: 'Example Gatherer',
  gathererHost: 'gatherer.example',
  gathererVersion: '0.1',
  refreshRate: 604_800,
  timeToLive: 2_419_200,
};

const sources = await readEssenceSources({});

/**
 * A context of the shipped files; `keywords` and `description` are off by default, so that expectations stay
 * short.
 */
export function contextOf(options: Partial<EssenceOptions> = {}): EssenceContext {
  return compileEssence({ ...IDENTITY, keywords: false, description: false, ...options }, sources);
}

/** Returns the input of a document; a string is encoded as UTF-8. */
export function inputOf(
  url: string,
  body: string | Uint8Array,
  changes: Partial<EssenceInput> = {},
): EssenceInput {
  return {
    url,
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    lastModificationTime: 0,
    updateTime: 1_000_000_000,
    ...changes,
  };
}

/** Summarizes a document in a new context. */
export function summarize(
  url: string,
  body: string | Uint8Array,
  options: Partial<EssenceOptions> = {},
  changes: Partial<EssenceInput> = {},
): Promise<EssenceOutput> {
  return summarizeDocument(inputOf(url, body, changes), contextOf(options));
}

/** Returns the attributes of an object after `MD5`, with an independent reader; names as written. */
export function contentOf(output: EssenceOutput): Record<string, string> {
  const all = Object.entries(attributesOf(output.soif ?? new Uint8Array()));
  return Object.fromEntries(all.slice(all.findIndex(([name]) => name === 'MD5') + 1));
}

/**
 * Reads the attributes of one object in exactly the layout of SOIF-2.2, independent of the codec in protocols/.
 */
export function attributesOf(soif: Uint8Array): Record<string, string> {
  const text = Buffer.from(soif).toString('latin1');
  const attributes: Record<string, string> = {};
  let offset = text.indexOf('\n') + 1;
  while (text[offset] !== '}') {
    const found = /^([A-Za-z0-9._<>-]+)\{(\d+)\}:\t/.exec(text.slice(offset, offset + 300));
    if (found === null)
      throw new Error(`bad layout at ${offset}: ${JSON.stringify(text.slice(offset, offset + 60))}`);
    const start = offset + found[0].length;
    const end = start + Number(found[2]);
    if (text[end] !== '\n') throw new Error(`wrong size of ${found[1]}`);
    if (found[1]! in attributes) throw new Error(`${found[1]} occurs twice`);
    attributes[found[1]!] = Buffer.from(text.slice(start, end), 'latin1').toString('utf8');
    offset = end + 1;
  }
  if (text.slice(offset) !== '}\n') throw new Error('bytes after the object');
  return attributes;
}
