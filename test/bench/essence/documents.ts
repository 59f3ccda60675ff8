// Finds documents of each type on this machine.
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { TEST_DATA } from '../../run/needs.js';

/** A document in memory. */
export interface BenchDocument {
  readonly name: string;
  readonly body: Uint8Array;
}

/** A type of documents, their location, and another program that reads them. */
export interface Kind {
  /** The name of the type in Essence. */
  readonly type: string;
  /** Names of its files; `.gz` may follow. */
  readonly names: RegExp;
  readonly directories: readonly string[];
  /** The program that extracts the text of one file. */
  readonly oracle?: (file: string) => readonly [program: string, ...args: string[]];
}

/** Unpacked Debian packages, as `.ci/run` fetches them. */
const CORPUS = join(TEST_DATA, 'essence-corpus');

/** Typical web pages: the documentation of Java and of a database. */
export const HTML_DIRECTORIES = [
  '/dev/shm/corpus/usr/share/doc/openjdk-17-jre-headless/api',
  '/usr/share/doc/openjdk-17-jre-headless/api',
  '/usr/share/doc/postgresql-doc-15/html',
];

export const KINDS: readonly Kind[] = [
  {
    type: 'Pdf',
    names: /\.pdf$/,
    directories: [CORPUS, '/usr/share/doc', '/usr/share/cups'],
    oracle: (file) => ['pdftotext', '-enc', 'UTF-8', file, '-'],
  },
  {
    type: 'PostScript',
    names: /\.(?:ps|eps)$/,
    directories: [CORPUS, '/usr/share/doc'],
    oracle: (file) => ['ps2ascii', file],
  },
  {
    type: 'Dvi',
    names: /\.dvi$/,
    directories: [CORPUS, '/usr/share/doc'],
    oracle: (file) => ['catdvi', '-e', '0', file],
  },
  {
    type: 'LaTeX',
    names: /\.(?:tex|ltx)$/,
    directories: [CORPUS, '/usr/share/doc', '/usr/share/texmf', '/usr/share/texlive'],
    oracle: (file) => ['detex', '-n', '-l', file],
  },
  {
    type: 'RTF',
    names: /\.rtf$/,
    directories: [CORPUS, '/usr/share/doc', '/usr/share/perl'],
    oracle: (file) => ['unrtf', '--text', file],
  },
  {
    type: 'ManPage',
    names: /\.[1-9](?:pm|ssl|x|p)?$/,
    directories: [CORPUS, '/usr/share/man/man1', '/usr/share/man/man3', '/usr/share/man/man8'],
    oracle: (file) => ['mandoc', '-T', 'utf8', file],
  },
  { type: 'CHeader', names: /\.h$/, directories: ['/usr/include'] },
  { type: 'C', names: /\.c$/, directories: [CORPUS, '/usr/share', '/usr/src'] },
  { type: 'Perl', names: /\.p[lm]$/, directories: ['/usr/share/perl', '/usr/share/perl5'] },
  { type: 'Text', names: /\.txt$/, directories: ['/usr/share/doc', '/usr/share/perl', CORPUS] },
  { type: 'README', names: /^README[^/]*$/, directories: ['/usr/share/doc'] },
  { type: 'Mail', names: /\.(?:eml|mbox)$/, directories: [CORPUS, '/usr/share/doc', '/usr/lib/python3.11'] },
];

/** Larger files are not typical and are skipped. */
const MAX_BYTES = 8_000_000;

/** Reads up to `limit` documents, spread over the existing directories, and decompresses them. */
export async function readDocuments(
  directories: readonly string[],
  names: RegExp,
  limit: number,
): Promise<BenchDocument[]> {
  const files: string[] = [];
  for (const directory of directories) await collect(directory, names, files);
  files.sort();
  const step = Math.max(1, files.length / limit);
  const documents: BenchDocument[] = [];
  for (let i = 0; i < files.length && documents.length < limit; i += step) {
    const name = files[Math.floor(i)]!;
    const body = await readBody(name);
    if (body !== undefined) documents.push({ name: name.replace(/\.gz$/, ''), body });
  }
  return documents;
}

async function collect(directory: string, names: RegExp, files: string[]): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((): Dirent[] => []);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await collect(path, names, files);
    else if (entry.isFile() && names.test(entry.name.replace(/\.gz$/, ''))) files.push(path);
  }
}

/** Returns undefined if the file is empty, too large or broken. */
async function readBody(file: string): Promise<Uint8Array | undefined> {
  const { size } = await stat(file);
  if (size === 0 || size > MAX_BYTES) return undefined;
  const raw = await readFile(file);
  if (!file.endsWith('.gz')) return new Uint8Array(raw);
  try {
    return new Uint8Array(gunzipSync(raw, { maxOutputLength: MAX_BYTES }));
  } catch {
    return undefined;
  }
}
