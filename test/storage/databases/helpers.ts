// Objects, update streams and database files for the tests of the database tools.
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import {
  DatabaseFile,
  loadObjects,
  openSource,
  readStream,
  type SourceObject,
  type SourceOptions,
} from '../../../storage/databases/index.js';

/** Three objects in the layout of SOIF-2.2, encoded by hand. */
export const ONE = '@FILE { http://h/1\nUpdate-Time{4}:\t1000\nTime-to-Live{2}:\t50\nTitle{3}:\tone\n}\n';
export const TWO = '@FILE { http://h/2\nUpdate-Time{4}:\t2000\nTitle{3}:\ttwo\n}\n';
export const BARE = '@FILE { http://h/bare\nTitle{4}:\tbare\n}\n';

/** Wraps objects as an update stream (SOIF-8.8). */
export function wrapped(sections: { deleted?: string; refreshed?: string; updated?: string }): string {
  const { deleted = '', refreshed = '', updated = '' } = sections;
  return `@DELETE {\n${deleted}}\n@REFRESH {\n${refreshed}}\n@UPDATE {\n${updated}}\n`;
}

/** Compresses a text as two gzip members. */
export function twoMembers(text: string): Buffer {
  const middle = Math.floor(text.length / 2);
  return Buffer.concat([gzipSync(text.slice(0, middle)), gzipSync(text.slice(middle))]);
}

/** Adds objects to a database, which is created if it does not exist. */
export async function databaseOf(path: string, ...objects: readonly string[]): Promise<void> {
  using database = DatabaseFile.open(path, { create: true });
  await loadObjects(database, readStream(Readable.from([Buffer.from(objects.join(''))]), 'test'));
}

/** Returns all objects of a database file, in URL order. */
export function contentOf(path: string): string {
  using database = DatabaseFile.open(path, { readOnly: true });
  return [...database.entries()].map(({ soif }) => Buffer.from(soif).toString('latin1')).join('');
}

/** Returns all objects of a source, in its order. */
export async function readAll(path: string, options: SourceOptions = {}): Promise<string> {
  return textOf(openSource(path, options));
}

/**
 * Returns the bytes of objects as Latin-1 text; the name of its section precedes an object that is not an
 * update.
 */
export async function textOf(objects: AsyncIterable<SourceObject>): Promise<string> {
  let text = '';
  for await (const { section, bytes } of objects) {
    text += `${section === 'update' ? '' : `${section} `}${Buffer.from(bytes).toString('latin1')}`;
  }
  return text;
}
