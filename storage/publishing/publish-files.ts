// Publishes the files of a generation for readers on other machines.
import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { isKey } from '../blobs/contract.js';
import { bytesSource, digestOfFile, fileSource, readBlob } from '../blobs/sources.js';
import { type CollectOldOptions, collectOld } from './collect-old.js';
import {
  encodeManifest,
  filesPrefix,
  listManifests,
  manifestKey,
  newestManifest,
  type PublicationManifest,
  type PublicationPlace,
  type PublishedDirectory,
  type PublishedFile,
} from './manifest.js';

export interface PublishFilesOptions extends CollectOldOptions {
  readonly signal?: AbortSignal | undefined;
  /** Publishes also what is in directories, and the permissions of all. Default false. */
  readonly tree?: boolean;
  /** Called if old generations cannot be removed; the new one is published. */
  readonly onLeftover?: (error: unknown) => void;
}

/** What was published. */
export interface PublishedFiles {
  /** The number of the generation at this place. */
  readonly number: number;
  /** False if the newest generation has the same files. */
  readonly isNew: boolean;
  /** Files that were sent, and their bytes; the others are those of the former generation. */
  readonly sentFiles: number;
  readonly sentBytes: number;
}

/** Files that are sent at the same time. */
const PARALLEL = 4;
/** Publishers that may be faster than this one. */
const MAX_LOST = 50;
/** It belongs to a process that has the directory open. */
const LEFT_OUT = 'LOCK';

/** A file with its digest. */
type LocalFile = Omit<PublishedFile, 'key'>;

/** What a directory has. */
type LocalTree = Pick<PublicationManifest, 'directories'> & { readonly files: readonly LocalFile[] };

/**
 * Publishes the files of a directory as the next generation. They must not change meanwhile. Readers see the former
 * generation until all files are there, and a manifest with the next number: of several publishers, the one that
 * writes that number first has it, and the others take the numbers after it. A crash at any point leaves the former
 * generation.
 *
 * @throws StorageError if the store fails, or replaces what it must not
 */
export async function publishFiles(
  place: PublicationPlace,
  directory: string,
  options: PublishFilesOptions = {},
): Promise<PublishedFiles> {
  const { signal } = options;
  await requirePutIfAbsent(place, signal);
  const tree = await digestFiles(directory, options);
  const { files } = tree;
  const sending = new Sending(place, directory, signal);
  for (let lost = 0; lost < MAX_LOST; lost++) {
    const newest = await newestManifest(place, 0, { signal });
    if (newest !== undefined && haveSameFiles(newest.files, files) && !sending.has(newest.id)) {
      return { number: newest.number, isNew: false, ...sending.counts };
    }
    const published = await sending.publish((newest?.number ?? 0) + 1, tree, newest);
    if (published === undefined) continue;
    await collectOld(place, options).catch((error: unknown) => options.onLeftover?.(error));
    return { number: published, isNew: true, ...sending.counts };
  }
  throw new StorageError(`${place.store.address}: other publishers are faster: is there more than one?`);
}

function haveSameFiles(a: readonly LocalFile[], b: readonly LocalFile[]): boolean {
  return (
    a.length === b.length &&
    a.every(
      ({ name, size, sha256, mode }, i) =>
        b[i]?.name === name && b[i].size === size && b[i].sha256 === sha256 && b[i].mode === mode,
    )
  );
}

/** The files of one publication, of which each is sent once, whatever the number becomes. */
class Sending {
  readonly #place: PublicationPlace;
  readonly #directory: string;
  readonly #signal: AbortSignal | undefined;
  readonly #id = randomBytes(16).toString('hex');
  /** Keys of what was sent, by digest. */
  readonly #sent = new Map<string, string>();
  counts = { sentFiles: 0, sentBytes: 0 };

  constructor(place: PublicationPlace, directory: string, signal: AbortSignal | undefined) {
    this.#place = place;
    this.#directory = directory;
    this.#signal = signal;
  }

  /** Whether a manifest is of this publication. */
  has(id: string): boolean {
    return id === this.#id;
  }

  /** Sends what is missing, and writes the manifest. @returns undefined if another publisher was faster */
  async publish(
    number: number,
    { files, directories }: LocalTree,
    newest: PublicationManifest | undefined,
  ): Promise<number | undefined> {
    const { store, area } = this.#place;
    const options = { signal: this.#signal };
    const known = new Map(newest?.files.map(({ sha256, key }) => [sha256, key]));
    const missing = files.filter(({ sha256 }) => !known.has(sha256) && !this.#sent.has(sha256));
    await inParallel([...new Map(missing.map((file) => [file.sha256, file])).values()], (file) =>
      this.#send(file),
    );
    const listed = files.map((file): PublishedFile => {
      const key = this.#sent.get(file.sha256) ?? known.get(file.sha256) ?? '';
      return { ...file, key };
    });
    const manifest = encodeManifest({ number, id: this.#id, files: listed, directories });
    const key = manifestKey(area, number);
    if (!(await store.putIfAbsent(key, manifest, options))) return undefined;
    // A number that was removed already is free again, and what it was to share with the former one may be removed,
    // too. A store that looks before it writes may have let another publisher write it.
    const later = await listManifests(this.#place, number, options);
    const stored = await readBlob(store, key, manifest.length, options);
    return later.length === 0 && stored?.equals(manifest) === true ? number : undefined;
  }

  async #send({ name, size, sha256 }: LocalFile): Promise<void> {
    const { store, area } = this.#place;
    const key = `${filesPrefix(area, this.#id)}${isKey(name) ? name : sha256}`;
    const source = fileSource(join(this.#directory, name), size, sha256);
    await store.put(key, source, { signal: this.#signal });
    this.#sent.set(sha256, key);
    this.counts = {
      sentFiles: this.counts.sentFiles + 1,
      sentBytes: this.counts.sentBytes + size,
    };
  }
}

/** Calls `work` for all items, some at a time; the first error ends the rest. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      try {
        await work(items[next++]!);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const results = await Promise.allSettled(Array.from({ length: PARALLEL }, worker));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** The files of a directory with their digests, in the order of their names. */
async function digestFiles(
  root: string,
  { signal, tree = false }: Pick<PublishFilesOptions, 'signal' | 'tree'>,
): Promise<LocalTree> {
  const files: LocalFile[] = [];
  const directories: PublishedDirectory[] = [];
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(root, below), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      signal?.throwIfAborted();
      const name = below === '' ? entry.name : `${below}/${entry.name}`;
      const path = join(root, name);
      const mode = tree ? (await stat(path)).mode & 0o777 : undefined;
      if (entry.isFile() && entry.name !== LEFT_OUT) {
        files.push({ name, ...(await digestOfFile(path)), ...(mode === undefined ? {} : { mode }) });
      } else if (mode !== undefined && entry.isDirectory()) {
        directories.push({ name, mode });
        await walk(name);
      }
    }
  };
  try {
    await walk('');
  } catch (cause) {
    signal?.throwIfAborted();
    throw new StorageError(`${root} cannot be published: ${messageOf(cause)}`, { cause });
  }
  return { files, ...(tree ? { directories } : {}) };
}

/** Writes a marker, which must not be replaced by a second one. */
async function requirePutIfAbsent(
  { store, area }: PublicationPlace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const marker = (): Uint8Array =>
    Buffer.from(
      `${JSON.stringify({ format: 'harvest-publication', id: randomBytes(16).toString('hex') })}\n`,
    );
  const key = `${area}/FORMAT`;
  if (!(await store.putIfAbsent(key, marker(), { signal }))) return;
  if (await store.putIfAbsent(key, marker(), { signal })) {
    await store.put(key, bytesSource(marker()), { signal });
    throw new StorageError(
      `${store.address}: this store replaces blobs that exist (it does not know If-None-Match): publishers could not be told apart`,
    );
  }
}
