// Logins of URLs in the rows of a store, encrypted: the tables of a store are linked into generations, which
// are published (G-81).
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { adviceFor } from '../files/advice.js';
import { readRegular } from '../files/regular-file.js';
import { replaceContent } from '../files/replace-file.js';
import { syncPath } from '../files/sync-path.js';
import type { QueuedUri } from '../records/records.js';
import type { Rows } from '../rows/contract.js';

/** In the directory of the store, and nowhere else. */
const KEY_FILE = 'LOGIN-KEY';
const KEY_BYTES = 32;
/** The key with its CRC-32; earlier versions wrote none. */
const FILE_BYTES = KEY_BYTES + 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** A scheme and the login of an authority, also in JSON. */
const LOGIN = /([a-z][a-z0-9+.-]{0,20}:\/\/)([^/?#\s"<>\x01]{1,2083})@/g;
const SEALED = /\x01([\w-]{38,4096})@/g;

/** The part of {@link LoginSeal} that the rows of a store need. */
export type Sealing = Pick<LoginSeal, 'seal' | 'open' | 'sealUri' | 'openUri'>;

/**
 * Encrypts the logins of URLs before they are written into rows, and decrypts them. The key lies in the store's
 * directory, or in a database beside the rows, and is copied with a checkpoint, but never into a generation: who reads published files finds no
 * login.
 */
export class LoginSeal {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  /**
   * Reads the key of a store, before anything else of it is opened; undefined without a key.
   * @throws StorageError if it cannot be read
   */
  static async read(directory: string): Promise<LoginSeal | undefined> {
    const path = join(directory, KEY_FILE);
    try {
      const known = await readKey(path);
      return known === undefined ? undefined : new LoginSeal(known);
    } catch (cause) {
      throw new StorageError(
        `${path}, the key to the logins of URLs: ${messageOf(cause)}; ${adviceFor(directory)}`,
        { cause },
      );
    }
  }

  /**
   * Makes the key of a store that has none.
   * @throws StorageError if it cannot be written
   */
  static async create(directory: string): Promise<LoginSeal> {
    const seal = LoginSeal.of(LoginSeal.newKey());
    await seal.write(directory);
    return seal;
  }

  /** A new key, for a store that keeps it beside its rows. */
  static newKey(): Uint8Array {
    return randomBytes(KEY_BYTES);
  }

  /** The seal of a key from {@link newKey}. */
  static of(key: Uint8Array): LoginSeal {
    return new LoginSeal(key);
  }

  /** Writes the key into the directory of a copy. @throws StorageError if it cannot be written */
  async write(directory: string): Promise<void> {
    const path = join(directory, KEY_FILE);
    try {
      // A full disk may take a part of the key.
      await replaceContent(path, withSum(this.#key), 0o600);
      await syncPath(directory);
    } catch (cause) {
      throw new StorageError(`${path}, the key to the logins of URLs: ${messageOf(cause)}`, { cause });
    }
  }

  /** Makes the key that of a store in a database, in place of its own. */
  async keepIn(database: Rows): Promise<void> {
    await database.secret?.(this.#key, true);
  }

  /** Copies the key, if there is one, to a copy of the store. */
  static async copy(source: string, target: string): Promise<void> {
    const path = join(source, KEY_FILE);
    if ((await readKey(path)) === undefined) return;
    // The same bytes, also those of an earlier version: the seal of the database names them.
    await replaceContent(join(target, KEY_FILE), await readRegular(path), 0o600);
  }

  /** Returns the error of the key of a store that is not open; undefined if it can be read or is absent. */
  static async problemOf(directory: string): Promise<string | undefined> {
    try {
      await readKey(join(directory, KEY_FILE));
      return undefined;
    } catch (error) {
      return `${KEY_FILE}: ${messageOf(error)}`;
    }
  }

  /** Returns a URL or a text of URLs with its logins encrypted. */
  seal(text: string): string {
    if (!text.includes('@')) return text;
    return text.replace(LOGIN, (_, scheme: string, login: string) => `${scheme}\x01${this.#encrypt(login)}@`);
  }

  /** The reverse of {@link seal}. A login that another key encrypted is left out. */
  open(text: string): string {
    if (!text.includes('\x01')) return text;
    return text.replace(SEALED, (_, sealed: string) => {
      const login = this.#decrypt(Buffer.from(sealed, 'base64url'));
      return login === undefined ? '' : `${login}@`;
    });
  }

  sealUri(uri: QueuedUri): QueuedUri {
    return mapUrls(uri, (text) => this.seal(text));
  }

  openUri(uri: QueuedUri): QueuedUri {
    return mapUrls(uri, (text) => this.open(text));
  }

  #encrypt(login: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv);
    const text = Buffer.concat([cipher.update(login, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  }

  #decrypt(sealed: Buffer): string | undefined {
    try {
      const cipher = createDecipheriv(CIPHER, this.#key, sealed.subarray(0, IV_BYTES));
      cipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return cipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + cipher.final('utf8');
    } catch {
      return undefined;
    }
  }
}

/** Returns the URI itself if no URL changes, as nearly always. */
function mapUrls(uri: QueuedUri, map: (text: string) => string): QueuedUri {
  const url = map(uri.url);
  const via = map(uri.via);
  const sourceTag = map(uri.sourceTag);
  return url === uri.url && via === uri.via && sourceTag === uri.sourceTag
    ? uri
    : { ...uri, url, via, sourceTag };
}

function withSum(key: Uint8Array): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(key));
  return Buffer.concat([key, sum]);
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
  try {
    const file = await readRegular(path);
    const key = file.subarray(0, KEY_BYTES);
    if (file.length === KEY_BYTES || file.equals(withSum(key))) return key;
    if (file.length === FILE_BYTES) throw new StorageError('it does not match its checksum');
    throw new StorageError(`it has ${file.length} bytes, not ${FILE_BYTES}`);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
