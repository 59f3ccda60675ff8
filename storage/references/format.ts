import { endianness } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError } from '../../protocols/errors.js';

/*
 * A references generation is a directory of flat files, all numbers little-endian (DESIGN 5). Nothing is written in place.
 *
 *     MANIFEST            JSON: counts, schemes, every file's size
 *     NAME.keys           sorted u32 keys of a table
 *     NAME.starts         u64 for each key: where its list begins in NAME.ids; one more at the end
 *     NAME.ids            u32, the lists one behind the other
 *     documents.ids       sorted u32; the n-th has the n-th record
 *     documents.records   DOCUMENT_WORDS u32 each
 *     documents.paths     the paths, in the order in which the documents were given
 *     servers.ids         sorted u32
 *     servers.records     SERVER_WORDS u32 each
 *     servers.names       the names
 *     ranks.ids           sorted u32: every known ID; only when PageRank has run
 *     ranks.values        f32 for each
 */

/** The tables: the four answers, a server's documents, and the places of URLs and server names by their hash. */
export const TABLES = ['refs', 'hubs', 'siterefs', 'sitehubs', 'sitedocs', 'urls', 'servernames'] as const;

export type TableName = (typeof TABLES)[number];

export const TABLE_PARTS = ['keys', 'starts', 'ids'] as const;

export const FILE = {
  manifest: 'MANIFEST',
  documentIds: 'documents.ids',
  documentRecords: 'documents.records',
  documentPaths: 'documents.paths',
  serverIds: 'servers.ids',
  serverRecords: 'servers.records',
  serverNames: 'servers.names',
  rankIds: 'ranks.ids',
  rankValues: 'ranks.values',
} as const;

/** The words of a document's record. Values that may exceed u32 have two, the low one first. */
export const DOCUMENT = {
  server: 0,
  pathStart: 1,
  pathLength: 3,
  /** The place of the scheme in the MANIFEST; {@link PORT_WRITTEN} above it. */
  scheme: 4,
  urlHash: 5,
  time: 6,
  checkTime: 8,
  length: 10,
} as const;
export const DOCUMENT_WORDS = 12;

/** The URL names its port although the scheme has one. */
export const PORT_WRITTEN = 0x100;
export const MAX_SCHEMES = 0x100;

export const SERVER = { nameStart: 0, nameLength: 2, port: 3, scheme: 4 } as const;
export const SERVER_WORDS = 5;

export const MAX_U32 = 0xffff_ffff;
const WORD = 2 ** 32;

/** Two words as one number, exact up to 2^53 - 1. */
export function longAt(words: Uint32Array, at: number): number {
  return (words[at] ?? 0) + (words[at + 1] ?? 0) * WORD;
}

/** Writes a number of 0 to 2^53 - 1 as two words. */
export function putLong(words: Uint32Array, at: number, value: number): void {
  words[at] = value % WORD;
  words[at + 1] = Math.floor(value / WORD);
}

const size = z.number().int().nonnegative();
const manifestSchema = z.object({
  format: z.literal('harvest-references'),
  version: z.literal(1),
  documents: size,
  servers: size,
  links: size,
  repeated: size,
  /** Schemes of URLs; records hold places in this list. */
  schemes: z.array(z.string().min(1)).max(MAX_SCHEMES),
  /** Every file's size in bytes. */
  files: z.record(z.string().regex(/^[a-z]+\.[a-z]+$/), size),
});

/** What the MANIFEST says. */
export type Manifest = z.infer<typeof manifestSchema>;

/** @throws StorageError when it is damaged or of a newer version; the message starts with `path`. */
export function parseManifest(text: string, path: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new StorageError(`${path} is damaged: it is not JSON`, { cause });
  }
  const result = manifestSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new StorageError(
    `${path} is damaged or of another version: ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

/** The generations directory of a data directory. */
export function referencesDirectory(data: string): string {
  return join(data, 'references');
}

/** Files are used as they lie on the disk. @throws StorageError on a machine with the other byte order. */
export function requireLittleEndian(): void {
  if (endianness() !== 'LE')
    throw new StorageError('references generations can only be used on little-endian machines');
}
