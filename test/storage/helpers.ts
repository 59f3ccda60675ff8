// Rows and objects for the tests of the stores.
import { SoifObject } from '../../protocols/soif/index.js';
import type {
  CollectedChange,
  DocumentRecord,
  ExportChunk,
  GathererStore,
  QueuedUri,
  Summary,
} from '../../storage/index.js';

/** Returns an object in the layout of SOIF-2.2, encoded without the code under test. */
export function soif(url: string, attributes: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(attributes).map(
    ([name, value]) => `${name}{${Buffer.byteLength(value)}}:\t${value}\n`,
  );
  return Buffer.from(`@FILE { ${url}\n${lines.join('')}}\n`);
}

/** Returns a summary whose object has an Update-Time and a title. */
export function summary(url: string, updateTime: number, title = 'a title'): Summary {
  const bytes = soif(url, { 'Update-Time': String(updateTime), Title: title });
  return { url, updateTime, timeToLive: 2_419_200, soif: bytes };
}

/** Writes summaries in one batch. */
export async function put(store: GathererStore, ...summaries: readonly Summary[]): Promise<void> {
  const batch = store.batch();
  for (const one of summaries) batch.putSummary(one);
  await batch.commit();
}

/** The attributes of a Gatherer that a Broker requires of an object, besides the Update-Time. */
export const GATHERER = { 'Gatherer-Name': 'G', 'Gatherer-Host': 'g.test', 'Gatherer-Version': '1.0' };

/** Returns a change for a Broker's store, whose bytes are in memory. */
export function changeOf(
  kind: CollectedChange['kind'],
  url: string,
  attributes: Readonly<Record<string, string>>,
): CollectedChange & { readonly bytes: Uint8Array } {
  const object = SoifObject.of('FILE', url, Object.entries(attributes));
  return { kind, object, bytes: soif(url, attributes) };
}

/** Returns a URI one hop from its seed, without attempts. */
export function queuedUri(url: string): QueuedUri {
  return {
    url,
    via: '',
    pathFromSeed: 'L',
    root: 0,
    depth: 1,
    attempts: 0,
    network: 0,
    forceFetch: false,
    isLeaf: false,
    cost: 1,
    sourceTag: '',
  };
}

/** Returns the record of a fetched HTML document without links. */
export function documentRecord(url: string, changes: Partial<DocumentRecord> = {}): DocumentRecord {
  return {
    url,
    status: 200,
    fetchTime: 1_000_000_000,
    updateTime: 0,
    refreshRate: 604_800,
    lastModificationTime: 0,
    etag: '',
    md5: '',
    type: 'HTML',
    size: 10,
    links: [],
    rulesDigest: '',
    referenced: false,
    objects: [],
    ...changes,
  };
}

/** Returns the bytes of an export and the object count of each chunk. */
export async function readExport(
  chunks: AsyncIterable<ExportChunk>,
): Promise<{ text: string; objects: number[] }> {
  const bytes: Uint8Array[] = [];
  const objects: number[] = [];
  for await (const chunk of chunks) {
    bytes.push(chunk.bytes);
    objects.push(chunk.objects);
  }
  return { text: Buffer.concat(bytes).toString('latin1'), objects };
}

/** Returns all items of an iteration. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
