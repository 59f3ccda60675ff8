// What a publication consists of: numbered manifests, each the list of the files of one generation.
import { z } from 'zod';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { type BlobRequestOptions, type BlobStore, isKey } from '../blobs/contract.js';
import { readBlob } from '../blobs/sources.js';

/** A file of a generation. */
export interface PublishedFile {
  /** In the generation's directory; in that of a tree a path with `/`. */
  readonly name: string;
  /** Permissions; undefined if they do not matter. */
  readonly mode?: number | undefined;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the content in hexadecimal digits. */
  readonly sha256: string;
  /** Of its blob, which an earlier generation may have, too; below that of the publication. */
  readonly key: string;
}

/** A published generation. */
export interface PublicationManifest {
  /** The highest number is the current generation. */
  readonly number: number;
  /** Random, so that no two publications are equal. */
  readonly id: string;
  /** In the order of their names. */
  readonly files: readonly PublishedFile[];
  /** Those of a tree, each before what is in it. */
  readonly directories?: readonly PublishedDirectory[] | undefined;
}

/** A directory of a tree. */
export interface PublishedDirectory {
  readonly name: string;
  /** Permissions. */
  readonly mode: number;
}

/** What is published at one place: generations of summaries, or of references. */
export interface PublicationPlace {
  readonly store: BlobStore;
  /** The first part of all keys, such as `generations`. */
  readonly area: string;
}

/** The most files of a generation. */
const MAX_FILES = 100_000;
/** More bytes than a manifest of {@link MAX_FILES} has. */
const MAX_MANIFEST_BYTES = 64 << 20;
const NUMBER_DIGITS = 15;

/** More than any path of a file has. */
const MAX_PATH = 4096;
const nameSchema = z.string().refine(isRelativePath);
const modeSchema = z.number().int().min(0).max(0o777);
const fileSchema = z.object({
  name: nameSchema,
  size: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  key: z.string().refine(isKey),
  mode: modeSchema.optional(),
});
const directorySchema = z.object({ name: nameSchema, mode: modeSchema });
const manifestSchema = z.object({
  format: z.literal('harvest-publication'),
  version: z.number().int(),
  number: z
    .number()
    .int()
    .min(1)
    .max(10 ** NUMBER_DIGITS - 1),
  id: z.string().regex(/^[0-9a-f]{32}$/),
  files: z.array(fileSchema).max(MAX_FILES),
  directories: z.array(directorySchema).max(MAX_FILES).optional(),
});
const VERSION = 1;

/** The manifest as JSON. */
export function encodeManifest({ number, id, files, directories }: PublicationManifest): Buffer {
  const value = { format: 'harvest-publication', version: VERSION, number, id, files, directories };
  return Buffer.from(`${JSON.stringify(value, undefined, 1)}\n`);
}

/**
 * Reads a manifest. What a later version adds to it is passed over.
 *
 * @throws StorageError if it is damaged, or of a later version
 */
export function decodeManifest(bytes: Uint8Array): PublicationManifest {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (error) {
    throw new StorageError(`it is no JSON: ${messageOf(error)}`, { cause: error });
  }
  const version = z.object({ version: z.number() }).safeParse(value);
  if (version.success && version.data.version > VERSION)
    throw new StorageError(
      `it is of version ${version.data.version}, and this program reads up to ${VERSION}`,
    );
  const read = manifestSchema.safeParse(value);
  if (!read.success) throw new StorageError(`its field ${read.error.issues[0]?.path.join('.')} is wrong`);
  const { number, id, files, directories } = read.data;
  if (new Set(files.map(({ name }) => name)).size !== files.length)
    throw new StorageError('it names a file twice');
  return { number, id, files, ...(directories === undefined ? {} : { directories }) };
}

/** Whether a text is a path within a directory. */
function isRelativePath(text: string): boolean {
  const segments = text.split('/');
  return text.length <= MAX_PATH && !text.includes('\0') && segments.every((name) => !/^\.{0,2}$/.test(name));
}

/** The key of a manifest: keys are in the order of the numbers. */
export function manifestKey(area: string, number: number): string {
  return `${manifestPrefix(area)}${String(number).padStart(NUMBER_DIGITS, '0')}.json`;
}

/** What the keys of all manifests begin with. */
function manifestPrefix(area: string): string {
  return `${area}/manifests/`;
}

/** What the keys of the files of one publication begin with, or of all. */
export function filesPrefix(area: string, id?: string): string {
  return id === undefined ? `${area}/files/` : `${area}/files/${id}/`;
}

/** A manifest as a listing shows it. */
export interface ListedManifest {
  readonly number: number;
  readonly key: string;
  readonly ageSeconds: number;
}

/** The manifests of a place, ascending. @param after only those with a higher number */
export async function listManifests(
  { store, area }: PublicationPlace,
  after = 0,
  options: BlobRequestOptions = {},
): Promise<ListedManifest[]> {
  const prefix = manifestPrefix(area);
  const found: ListedManifest[] = [];
  const list = store.list(prefix, { ...options, ...(after > 0 ? { after: manifestKey(area, after) } : {}) });
  for await (const page of list) {
    for (const { key, ageSeconds } of page) {
      const number = Number(/^(\d{15})\.json$/.exec(key.slice(prefix.length))?.[1] ?? 0);
      if (number > after) found.push({ number, key, ageSeconds });
    }
  }
  return found;
}

/**
 * The manifest of a number; undefined if there is no such one.
 *
 * @throws StorageError if it is damaged or of a later version; that of the store
 */
export async function readManifest(
  { store, area }: PublicationPlace,
  number: number,
  options: BlobRequestOptions = {},
): Promise<PublicationManifest | undefined> {
  const key = manifestKey(area, number);
  const bytes = await readBlob(store, key, MAX_MANIFEST_BYTES, options);
  if (bytes === undefined) return undefined;
  try {
    const manifest = decodeManifest(bytes);
    if (manifest.number !== number) throw new StorageError(`it has the number ${manifest.number}`);
    return manifest;
  } catch (cause) {
    throw new StorageError(`${store.address}/${key} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

/** Attempts to read a manifest that is removed since it was listed. */
const READ_ATTEMPTS = 10;

/** The current generation; undefined if nothing is published. @param after only if its number is higher */
export async function newestManifest(
  place: PublicationPlace,
  after = 0,
  options: BlobRequestOptions = {},
): Promise<PublicationManifest | undefined> {
  for (let attempt = 1; ; attempt++) {
    const newest = (await listManifests(place, after, options)).at(-1);
    if (newest === undefined) return undefined;
    const manifest = await readManifest(place, newest.number, options);
    if (manifest !== undefined) return manifest;
    if (attempt === READ_ATTEMPTS)
      throw new StorageError(`${place.store.address}/${newest.key} is listed, but does not exist`);
  }
}
