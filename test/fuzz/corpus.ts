// The stored inputs: one file a target with the smallest inputs that cover its code, and one file a finding.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../../protocols/errors.js';

const CORPUS = fileURLToPath(new URL('test/fuzz/corpus/', import.meta.resolve('#package.json')));

/** `coverage/TARGET.txt`: an input a line. */
export const coverageFile = (target: string): string => join(CORPUS, 'coverage', `${target}.txt`);
/** Inputs that met a defect which is repaired. */
export const findingsFolder = (target: string): string => join(CORPUS, 'findings', target);

/** The inputs of a file: a JSON string of Latin-1 a line, or `base64:` and base64. Empty without the file. */
export async function readInputs(file: string): Promise<Uint8Array[]> {
  const text = await orEmpty(readFile(file, 'utf8'), '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) =>
      line.startsWith('"')
        ? new Uint8Array(Buffer.from(String(JSON.parse(line)), 'latin1'))
        : new Uint8Array(Buffer.from(line.slice('base64:'.length), 'base64')),
    );
}

export async function writeInputs(file: string, inputs: readonly Uint8Array[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const lines = inputs.map((input) => {
    const bytes = Buffer.from(input);
    const text = JSON.stringify(bytes.toString('latin1')).replaceAll(
      /[\u007f-\u00ff]/g,
      (character) => `\\u00${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    );
    const base64 = `base64:${bytes.toString('base64')}`;
    return text.length <= base64.length * 1.2 ? text : base64;
  });
  await writeFile(
    file,
    lines
      .sort()
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** The contents of the files of a folder, in order of their names. Empty without the folder. */
export async function readFolder(folder: string): Promise<{ name: string; input: Uint8Array }[]> {
  const names = (await orEmpty(readdir(folder, { withFileTypes: true }), []))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
  return Promise.all(
    names.map(async (name) => ({ name, input: new Uint8Array(await readFile(join(folder, name))) })),
  );
}

/** The files of folders of `test/fuzz/corpus`. */
export async function readCorpus(folders: readonly string[]): Promise<Uint8Array[]> {
  const all = await Promise.all(folders.map((folder) => readFolder(join(CORPUS, folder))));
  return all.flat().map(({ input }) => input);
}

async function orEmpty<T>(reading: Promise<T>, empty: T): Promise<T> {
  return reading.catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return empty;
    throw error;
  });
}
