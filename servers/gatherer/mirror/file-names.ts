// Names the files of a mirror by the URLs of its documents.
import { createHash } from 'node:crypto';
import { queryOf } from '../../../protocols/urls/parse-url.js';

/** Maximum number of bytes of a path component; file systems allow 255, and a suffix may be added. */
const MAX_COMPONENT = 200;
/** Maximum number of components and of bytes of a path below the mirror's directory. */
const MAX_DEPTH = 40;
const MAX_PATH = 1500;

/** Characters that become %XX. `%` is kept, because URLs are escaped already. */
const UNSAFE = /[^A-Za-z0-9._~%+=@,-]/gu;
/** Names of devices on some systems. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** One component of a document's path. */
export interface NamePart {
  /** A safe file name: no separator, no control character, not `.` or `..`. */
  readonly name: string;
  /** The URL or directory that has the name; parts with different owners need different names. */
  readonly owner: string;
}

/**
 * Returns the path of a document below a mirror's directory: the host, then the escaped path of its URL. A
 * final `/` becomes `/index.html`; a query is part of the name; user and password never appear. A path that is
 * too deep or too long is replaced by a hash of the URL in the directory `~long` of the host. No URL leads
 * outside the mirror. The caller resolves names that differ only in case, or are those of a file and a
 * directory.
 *
 * @param url a canonical URL
 */
export function namePartsOf(url: string): readonly NamePart[] {
  const parsed = new URL(url);
  const hostDirectory = hostDirectoryOf(parsed);
  const segments = parsed.pathname.replace(/^\//, '').split('/');
  const last = segments.pop() ?? '';
  const name = `${last === '' ? 'index.html' : last}${queryOf(parsed)}`;
  const root = {
    name: escapeName(hostDirectory.replaceAll(':', '+')).replace(/^\./, '%2E'),
    owner: hostDirectory,
  };
  const parts: NamePart[] = [root];
  let owner = hostDirectory;
  for (const segment of segments) {
    owner += `/${segment}`;
    parts.push({ name: escapeName(segment), owner });
  }
  parts.push({ name: escapeName(name), owner: url });
  const length = parts.reduce((sum, part) => sum + part.name.length + 1, 0);
  if (parts.length <= MAX_DEPTH && length <= MAX_PATH) return parts;
  const short = `${hashOf(url, 40)}${extensionOf(escapeName(name))}`;
  return [root, { name: '~long', owner: `${hostDirectory}/~long` }, { name: short, owner: url }];
}

/** Makes a name unique by a hash of its owner; the extension stays at the end. */
export function distinctName(name: string, owner: string, digits: number): string {
  const extension = extensionOf(name);
  return `${name.slice(0, name.length - extension.length)}~${hashOf(owner, digits)}${extension}`;
}

/** Returns the directory of a host; http and https share it. */
function hostDirectoryOf({ protocol, hostname, port }: URL): string {
  if (hostname === '') return protocol === 'file:' ? 'localhost' : protocol.slice(0, -1);
  return port === '' ? hostname : `${hostname}:${port}`;
}

function escapeName(text: string): string {
  let name = text.replace(UNSAFE, (character) => [...Buffer.from(character)].map(percent).join(''));
  if (name === '') name = '%2F';
  if (/^\.+$/.test(name)) name = name.replaceAll('.', '%2E');
  // Some systems drop a final dot.
  if (name.endsWith('.')) name = `${name.slice(0, -1)}%2E`;
  if (DEVICE.test(name)) name = `${percent(name.charCodeAt(0))}${name.slice(1)}`;
  if (name.length <= MAX_COMPONENT) return name;
  const extension = extensionOf(name);
  return `${name.slice(0, MAX_COMPONENT - extension.length - 17)}~${hashOf(text, 16)}${extension}`;
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/**
 * Returns an extension of at most 16 characters, e.g. `.tar.gz` or `.html`; '' if the name has no extension.
 */
function extensionOf(name: string): string {
  return /[^.](\.[A-Za-z0-9]{1,10}(?:\.[A-Za-z0-9]{1,4})?)$/.exec(name)?.[1] ?? '';
}

function hashOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/** Directory below a mirror's own: the Gatherer's data and the mirror's index. */
export const MIRROR_DATA = '.harvest';
