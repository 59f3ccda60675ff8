// Creates a tree of documents that servers export and crawlers find.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { scratchDirectory } from '../daemon.js';

/** Modification time of the files of a tree, in seconds since 1970. */
export const MODIFIED = 784_111_777;

const NAMES =
  "plain.txt|page.html|README|main.c|with blank.txt|über.txt|a+b=c&d;e.txt|quo'te~1.txt|(brackets).txt".split(
    '|',
  );
const DIRECTORIES = ['', 'pub/', 'pub/deep dir/', 'pub/deep dir/deeper/', 'other/'];

/**
 * Creates documents in nested directories, with all kinds of names on which the servers and clients here agree.
 * Their contents differ.
 *
 * @param names of the files of each directory
 * @returns contents by path
 */
export function createTree(root: string, names: readonly string[] = NAMES): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const directory of DIRECTORIES) {
    mkdirSync(join(root, directory), { recursive: true });
    for (const name of names) {
      const content = contentOf(directory, name);
      const path = join(root, directory, name);
      writeFileSync(path, content);
      chmodSync(path, 0o644);
      utimesSync(path, MODIFIED, MODIFIED);
      files.set(directory + name, content);
    }
  }
  for (const directory of DIRECTORIES) {
    chmodSync(join(root, directory), 0o755);
    utimesSync(join(root, directory), MODIFIED, MODIFIED);
  }
  return files;
}

/** Creates a tree that the users of the servers can read, in a directory of the test. */
export function createSite(t: Test, names?: readonly string[]) {
  const directory = scratchDirectory(t);
  chmodSync(directory, 0o755);
  const root = join(directory, 'site');
  return { directory, root, files: createTree(root, names) };
}

function contentOf(directory: string, name: string): Buffer {
  const text = `the document ${name} in /${directory}`;
  if (name.endsWith('.html'))
    return Buffer.from(`<!DOCTYPE html><html><head><title>T</title></head><body>${text}</body></html>\n`);
  if (name.endsWith('.c')) return Buffer.from(`/* ${text} */\nint main(void) { return 0; }\n`);
  return Buffer.from(`${text}\nIt has some lines.\n`);
}

export const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');
