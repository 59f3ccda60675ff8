import { endianness } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError } from '../../protocols/errors.js';

/*
 * A references generation is a directory of flat files (DESIGN 5). All numbers are little-endian. No file is
 * modified in place.
 *
 *     MANIFEST            JSON: counts, schemes, the size of every file
 *     NAME.keys           sorted u32 keys of a table
 *     NAME.starts         u64 for each key: the offset of its list in NAME.ids, in words; then the end of the last list
 *     NAME.ids            u32, the lists one after the other
 *     documents.ids       sorted u32; the n-th ID has the n-th record
 *     documents.records   DOCUMENT_WORDS u32 each
 *     documents.paths     the paths, in the order in which the documents were added
 *     servers.ids         sorted u32
 *     servers.records     SERVER_WORDS u32 each
 *     servers.names       the names
 *     ranks.ids           sorted u32: every known ID; present only if PageRank was computed
 *     ranks.values        f32 for each
 */

/**
 * The tables: the four link lists, the documents of each server, and the indexes of documents and servers by
 * the hash of their URL or name.
 */
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

/** The word offsets of a document record. A value that may exceed u32 has two words, the low one first. */
export const DOCUMENT = {
  server: 0,
  pathStart: 1,
  pathLength: 3,
  /** The index of the scheme in the MANIFEST, combined with {@link PORT_WRITTEN}. */
  scheme: 4,
  urlHash: 5,
  time: 6,
  checkTime: 8,
  length: 10,
} as const;
export const DOCUMENT_WORDS = 12;

/** Flag: the URL contains its port. */
export const PORT_WRITTEN = 0x100;
export const MAX_SCHEMES = 0x100;

export const SERVER = { nameStart: 0, nameLength: 2, port: 3, scheme: 4 } as const;
export const SERVER_WORDS = 5;

export const MAX_U32 = 0xffff_ffff;
const WORD_VALUES = 2 ** 32;

/** Returns the two words at `index` as one number, exact up to 2^53 - 1. */
export function readLong(words: Uint32Array, index: number): number {
  return (words[index] ?? 0) + (words[index + 1] ?? 0) * WORD_VALUES;
}

/** Writes a number from 0 to 2^53 - 1 as the two words at `index`. */
export function writeLong(words: Uint32Array, index: number, value: number): void {
  words[index] = value % WORD_VALUES;
  words[index + 1] = Math.floor(value / WORD_VALUES);
}

const size = z.number().int().nonnegative();
const manifestSchema = z.object({
  format: z.literal('harvest-references'),
  version: z.literal(1),
  documents: size,
  servers: size,
  links: size,
  repeated: size,
  /** The schemes of the URLs; records hold indexes into this list. */
  schemes: z.array(z.string().min(1)).max(MAX_SCHEMES),
  /** The size of every file in bytes. */
  files: z.record(z.string().regex(/^[a-z]+\.[a-z]+$/), size),
});

/** The contents of the MANIFEST. */
export type Manifest = z.infer<typeof manifestSchema>;

/**
 * Parses a MANIFEST. @throws StorageError if it is damaged or has another version; the message starts with
 * `path`.
 */
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

/** Returns the references generations directory of a data directory. */
export function referencesDirectory(data: string): string {
  return join(data, 'references');
}

/**
 * Checks the byte order, because files are used without conversion. @throws StorageError on a big-endian
 * machine.
 */
export function requireLittleEndian(): void {
  if (endianness() !== 'LE')
    throw new StorageError('references generations can only be used on little-endian machines');
}
