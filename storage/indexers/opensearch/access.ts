// How a Broker reaches its index: logins, certificates, the name of the index and that of the Broker.
import { randomUUID, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { messageOf, StorageError } from '../../../protocols/errors.js';
import { ifPresent } from '../../files/exists.js';
import { createDirectory } from '../../files/make-directory.js';
import { readRegular } from '../../files/regular-file.js';
import { replaceContent } from '../../files/replace-file.js';
import type { ClusterOptions } from './client.js';

const OWNER_FILE = 'owner';
/** What the name begins with by which the index knows a store instead of a Broker. */
const OF_STORE = 'store ';

/** The nodes, and the files with what they ask for. */
export interface AccessOptions {
  readonly nodes: readonly string[];
  readonly loginFile?: string | undefined;
  readonly authorityFile?: string | undefined;
}

/** Reads the files. @throws StorageError if one cannot be read, or is something else */
export async function readAccess({
  nodes,
  loginFile,
  authorityFile,
}: AccessOptions): Promise<Pick<ClusterOptions, 'nodes' | 'login' | 'authorities'>> {
  return {
    nodes,
    login: loginFile === undefined ? undefined : await readLogin(loginFile),
    authorities: authorityFile === undefined ? undefined : await readAuthorities(authorityFile),
  };
}

async function readAuthorities(file: string): Promise<string> {
  const text = await readText(file, 'OpenSearch-CA');
  try {
    // Of several certificates this reads the first one.
    void new X509Certificate(text);
  } catch (cause) {
    throw new StorageError(`OpenSearch-CA: ${file} has no certificate in PEM: ${messageOf(cause)}`, {
      cause,
    });
  }
  return text;
}

async function readText(file: string, variable: string): Promise<string> {
  try {
    return (await readRegular(file)).toString('utf8');
  } catch (cause) {
    throw new StorageError(`${variable}: ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/**
 * The random name by which the index knows a Broker, or the store that it shares with others; undefined before its first
 * start with such a store.
 */
export async function knownOwner(directory: string, isOfStore: boolean): Promise<string | undefined> {
  const text = (await ifPresent(readRegular(join(directory, OWNER_FILE))))?.toString('utf8').trim();
  // The Broker of a directory may have shared a store before, whose index is not its own.
  return text === undefined || text === '' || text.startsWith(OF_STORE) !== isOfStore ? undefined : text;
}

/** The name of an alias for any name: OpenSearch allows few characters. */
export function aliasOf(name: string): string {
  const alias = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[-_.]+/, '')
    .slice(0, 200);
  if (alias === '') throw new StorageError('OpenSearch-Index: must have letters a to z or digits');
  return alias;
}

async function readLogin(file: string): Promise<string> {
  const text = await readText(file, 'OpenSearch-Login');
  const [line = ''] = text.split(/\r?\n/);
  if (!line.includes(':'))
    throw new StorageError(`OpenSearch-Login: the first line of ${file} must be user:password`);
  return line;
}

/**
 * The random name by which the index knows its Broker, or the store whose Brokers share it.
 *
 * @param storeName the random name of a store that several Brokers share
 */
export async function readOwner(directory: string, storeName: string | undefined): Promise<string> {
  const file = join(directory, OWNER_FILE);
  try {
    await createDirectory(directory);
    const known = await knownOwner(directory, storeName !== undefined);
    const owner = storeName === undefined ? (known ?? randomUUID()) : OF_STORE + storeName;
    if (owner === known) return owner;
    await replaceContent(file, `${owner}\n`);
    return owner;
  } catch (cause) {
    throw new StorageError(`${file} cannot be used: ${messageOf(cause)}`, { cause });
  }
}
