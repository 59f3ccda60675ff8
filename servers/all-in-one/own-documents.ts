// The documents of this package: its READMEs, specifications and further Markdown files.
import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A Markdown document in memory. */
export interface OwnDocument {
  /** Path of its URL, e.g. `/protocols/soif/README.md`. */
  readonly path: string;
  /** Its first heading, else its path. */
  readonly title: string;
  readonly markdown: string;
  /** Strong validator (RFC 9110, 8.8.3), with its quotation marks. */
  readonly etag: string;
  readonly modified: Date;
}

/** Folders of the package whose READMEs and specifications are documents. */
const FOLDERS = ['protocols', 'storage', 'clients', 'servers', 'examples'];

/** The names of such documents. */
const NAMES: readonly string[] = ['README.md', 'specification.md'];

/** The folder all of whose Markdown files are documents. */
const PAGES = 'docs';

/** Larger files are no documentation. */
const MAX_BYTES = 1024 * 1024;

/**
 * Creates a document from a text that is in no file, e.g. the help of a command. `modified` is cut to whole
 * seconds, as in HTTP.
 */
export function createDocument(path: string, markdown: string, modified: Date): OwnDocument {
  const title = /^#\s+(.+?)\s*$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? path.slice(1);
  const digest = createHash('sha256').update(markdown).digest('base64url').slice(0, 22);
  const seconds = Math.floor(modified.getTime() / 1000);
  return { path, title, markdown, etag: `"${digest}"`, modified: new Date(seconds * 1000) };
}

/** The folder of this package, in a source tree as in `node_modules`. */
export function packageFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve('#package.json')));
}

/**
 * Reads the documents below a package's folder: Markdown files of the folder itself and of `docs`, and the READMEs
 * and specifications of its source folders. Symbolic links, hidden files and files above 1 MiB are passed over.
 */
export async function readOwnDocuments(home = packageFolder()): Promise<OwnDocument[]> {
  const top = await readdir(home, { withFileTypes: true });
  const names = markdownFiles(top);
  if (top.some((entry) => entry.isDirectory() && entry.name === PAGES)) {
    const pages = await readdir(join(home, PAGES), { withFileTypes: true });
    names.push(...markdownFiles(pages).map((name) => `${PAGES}/${name}`));
  }
  for (const folder of FOLDERS.filter((name) =>
    top.some((entry) => entry.isDirectory() && entry.name === name),
  ))
    await findDocuments(home, folder, names);
  const documents = await Promise.all(names.sort().map((name) => readDocument(home, name)));
  return documents.filter((document) => document !== undefined);
}

async function findDocuments(home: string, folder: string, found: string[]): Promise<void> {
  for (const entry of await readdir(join(home, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isFile() && NAMES.includes(entry.name)) found.push(path);
    if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
      await findDocuments(home, path, found);
  }
}

function markdownFiles(entries: readonly Dirent[]): string[] {
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md') && !entry.name.startsWith('.'))
    .map(({ name }) => name);
}

async function readDocument(home: string, name: string): Promise<OwnDocument | undefined> {
  const file = join(home, name);
  const { size, mtime } = await stat(file);
  if (size > MAX_BYTES) return undefined;
  return createDocument(`/${name}`, await readFile(file, 'utf8'), mtime);
}
