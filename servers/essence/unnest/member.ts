import type { Chunks } from './chunks.js';

/** A component of a nested file. It is to be read, or passed over, before the next one is asked for. */
export interface Member {
  /** As the archive writes it; an empty one means the name of the nested file (E-57). */
  readonly name: string;
  readonly content: Chunks;
  /** A link, a device: not followed (E-45). Directories are no members at all. */
  readonly special?: string;
}

/** No content. */
export async function* nothing(): Chunks {}

/** A name of an archive: UTF-8 if it is, else Latin-1. */
export function nameOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  const buffer = Buffer.from(end < 0 ? bytes : bytes.subarray(0, end));
  const text = buffer.toString('utf8');
  return text.includes('\ufffd') ? buffer.toString('latin1') : text;
}

/** Suffixes of compressed files, and what takes their place (E-57). */
const SUFFIXES: readonly (readonly [suffix: RegExp, instead: string])[] = [
  [/\.(?:tgz|taz|tbz2?|txz|tzst)$/i, '.tar'],
  [/\.(?:gz|z|bz2|xz|zst|uue?|hqx)$/i, ''],
];

/** E-57: the name without its compression suffix. */
export function unpackedName(name: string): string {
  for (const [suffix, instead] of SUFFIXES) {
    if (suffix.test(name) && name.replace(suffix, '') !== '') return name.replace(suffix, instead);
  }
  return name;
}

/** E-45: absolute names and names with `..` are not followed, whatever system they were written for. */
export function isUnsafe(name: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(name) || /(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name);
}

/** A safe name as an attribute's value: without `./`, doubled slashes and control characters. */
export function cleanPath(name: string): string {
  return name
    .replace(/^(?:\.\/+)+/, '')
    .replace(/\/{2,}/g, '/')
    .replace(/\p{Cc}/gu, '?')
    .slice(0, 1024);
}
