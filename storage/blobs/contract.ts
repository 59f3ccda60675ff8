// What the kit asks of a store of blobs, such as a bucket of S3: whole byte sequences under keys. A blob appears as a
// whole or not at all, and what a call has written is read by every later call, of any process.
import { StorageError } from '../../protocols/errors.js';

/** A blob as a listing shows it. */
export interface BlobInfo {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Seconds since it was written, by the clock of the store. */
  readonly ageSeconds: number;
}

/** The content of a blob that is written. It is read again when a request is repeated. */
export interface BlobSource {
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the content in hexadecimal digits, if it is known: the store compares what it received. */
  readonly sha256?: string | undefined;
  /** The bytes from `start` up to `end`, which is not included. */
  open(start: number, end: number): AsyncIterable<Uint8Array>;
}

export interface BlobRequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface BlobReadOptions extends BlobRequestOptions {
  /** The first byte. Default 0. */
  readonly start?: number;
  /** The byte after the last one. Default, and at most: the size. */
  readonly end?: number;
}

export interface BlobListOptions extends BlobRequestOptions {
  /** Keys up to this one are left out. */
  readonly after?: string;
}

/**
 * A store of blobs. Keys are names of letters, digits, `.`, `_` and `-`, joined by `/` ({@link requireKey}); no key is
 * a directory of another. Every method throws a StorageError with a sentence for an operator: the store does not
 * answer, refuses the login, has no room.
 */
export interface BlobStore extends AsyncDisposable {
  /** The place for messages, without a login. */
  readonly address: string;
  /** Writes a blob, in place of one that exists. Of a failed call nothing is seen. */
  put(key: string, source: BlobSource, options?: BlobRequestOptions): Promise<void>;
  /**
   * Writes a small blob unless the key exists: of any number of callers one succeeds. The content must be unique to the
   * caller, since a request whose answer is lost is decided by a look at what is stored.
   *
   * @returns whether the blob has this content now
   */
  putIfAbsent(key: string, content: Uint8Array, options?: BlobRequestOptions): Promise<boolean>;
  /**
   * The bytes of a blob, or a part of them, from one state of it.
   *
   * @throws StorageError: {@link isMissingBlob} if there is no such blob; also if the bytes end early
   */
  read(key: string, options?: BlobReadOptions): AsyncIterable<Uint8Array>;
  /** Undefined if there is no such blob. */
  head(key: string, options?: BlobRequestOptions): Promise<BlobInfo | undefined>;
  /** The blobs whose keys begin with a prefix, in pages, in the order of the bytes of their keys. */
  list(prefix: string, options?: BlobListOptions): AsyncIterable<readonly BlobInfo[]>;
  /** Does nothing if there is no such blob. */
  delete(key: string, options?: BlobRequestOptions): Promise<void>;
  /** Ends all requests. Later calls do nothing. */
  close(): Promise<void>;
}

const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/;
/** S3 accepts 1,024 bytes, the prefix included. */
const MAX_KEY = 700;

/** Whether a text can be a key. */
export function isKey(text: string): boolean {
  return text.length <= MAX_KEY && text.split('/').every((segment) => SEGMENT.test(segment));
}

/** @throws StorageError if a text cannot be a key */
export function requireKey(key: string): string {
  if (!isKey(key)) throw new StorageError(`${JSON.stringify(key)} cannot be the key of a blob`);
  return key;
}

/** The error of a blob that does not exist. */
export function missingBlob(address: string, key: string): StorageError {
  return Object.assign(new StorageError(`${address}/${key} does not exist`), { isMissing: true });
}

/** Whether an error says that a blob does not exist. */
export function isMissingBlob(error: unknown): boolean {
  return error instanceof StorageError && Reflect.get(error, 'isMissing') === true;
}
