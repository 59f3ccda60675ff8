import { NameDecoder } from '../charset/index.js';
import type { Chunks } from './chunks.js';

/** A component of a nested file. Read or skip it before requesting the next one. */
export interface Member {
  /** Name as in the archive; if empty, the name is derived from that of the nested file (E-57). */
  readonly name: string;
  readonly content: Chunks;
  /** A link or a device, which is not followed (E-45). Directories are not members. */
  readonly special?: string;
}

/** The content of a member without one. */
export async function* emptyContent(): Chunks {}

/** Decodes a name of an archive up to its first NUL. */
export function decodeName(bytes: Uint8Array, names: NameDecoder = new NameDecoder()): string {
  const end = bytes.indexOf(0);
  return names.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Suffixes of compressed files, and their replacements (E-57). */
const SUFFIXES: readonly (readonly [suffix: RegExp, replacement: string])[] = [
  [/\.(?:tgz|taz|tbz2?|txz|tzst)$/i, '.tar'],
  [/\.(?:gz|z|bz2|xz|zst|uue?|hqx)$/i, ''],
];

/** Returns the name without its compression suffix (E-57). */
export function unpackedName(name: string): string {
  for (const [suffix, replacement] of SUFFIXES) {
    if (suffix.test(name) && name.replace(suffix, '') !== '') return name.replace(suffix, replacement);
  }
  return name;
}

/** Whether a name is absolute or contains `..`, on any system (E-45). */
export function isUnsafe(name: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(name) || /(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name);
}

/**
 * Normalizes a safe name for an attribute's value: no `./` at the start, no double slashes, `?` for control
 * characters.
 */
export function cleanPath(name: string): string {
  return name
    .replace(/^(?:\.\/+)+/, '')
    .replace(/\/{2,}/g, '/')
    .replace(/\p{Cc}/gu, '?')
    .slice(0, 1024);
}
