import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Modification time of the files of a tree, in seconds since 1970. */
export const CHANGED = 784_111_777;

const NAMES = [
  'plain.txt',
  'page.html',
  'README',
  'main.c',
  'with blank.txt',
  'über.txt',
  'a+b=c&d;e.txt',
  "quo'te~1.txt",
  '(brackets).txt',
];
const PLACES = ['', 'pub/', 'pub/deep dir/', 'pub/deep dir/deeper/', 'other/'];

/**
 * Documents in nested directories, with all kinds of names that the servers and clients here agree about. The contents differ.
 *
 * @param names in each directory
 * @returns contents, by path
 */
export function fillTree(directory: string, names: readonly string[] = NAMES): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const place of PLACES) {
    mkdirSync(join(directory, place), { recursive: true });
    for (const name of names) {
      const content = contentOf(place, name);
      const path = join(directory, place, name);
      writeFileSync(path, content);
      chmodSync(path, 0o644);
      utimesSync(path, CHANGED, CHANGED);
      files.set(place + name, content);
    }
  }
  for (const place of PLACES) {
    chmodSync(join(directory, place), 0o755);
    utimesSync(join(directory, place), CHANGED, CHANGED);
  }
  return files;
}

function contentOf(place: string, name: string): Buffer {
  const what = `the document ${name} in /${place}`;
  if (name.endsWith('.html'))
    return Buffer.from(`<!DOCTYPE html><html><head><title>T</title></head><body>${what}</body></html>\n`);
  if (name.endsWith('.c')) return Buffer.from(`/* ${what} */\nint main(void) { return 0; }\n`);
  return Buffer.from(`${what}\nIt has some lines.\n`);
}

export const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');
