import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProtocolError } from '../../../protocols/errors.js';
import { decodeText, type SoifAttribute, type SoifObject } from '../../../protocols/soif/index.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { bufferOf } from '../bytes.js';
import type { Summary } from '../document.js';
import type { ProgramSettings } from './limits.js';
import { runProgram } from './run.js';
import { decodeList, decodeObjects } from './soif-output.js';

/** The input document of a program. */
export interface ProgramDocument {
  readonly url: string;
  readonly body: Uint8Array;
  /** Last component of the URL's path; its suffix is kept for programs that depend on it. */
  readonly fileName: string;
  warn(message: string): void;
}

/** E-69: legal attribute names. */
const SUMMARY_NAME = /^[A-Za-z0-9._-]+$/;

/**
 * Summarizes a document by the user's `TypeName.sum` (E-60, E-61): the file name is its only argument, its
 * output a list of SOIF attributes. If the program fails, the result has a warning and the complete attributes
 * (E-70); attributes with illegal names are left out (E-69).
 */
export async function summarizeByProgram(
  document: ProgramDocument,
  program: string,
  settings: ProgramSettings,
): Promise<Summary> {
  await using scratch = await ScratchDirectory.open(settings);
  const file = await scratch.write(document.fileName, document.body);
  const result = await runProgram({ program, arguments: [file], directory: scratch.directory }, settings);
  report(document, program, result.failure, result.stderr);
  const attributes: [string, string][] = [];
  for (const { name, value } of readAttributeList(result.output, (message) => {
    // The output of a program that was stopped is expected to be incomplete.
    if (result.failure === undefined) document.warn(`${program}: ${message}`);
  })) {
    if (SUMMARY_NAME.test(name)) attributes.push([name, decodeText(value)]);
    else document.warn(`${program}: ${JSON.stringify(name.slice(0, 40))} is not an attribute name (E-69)`);
  }
  return { attributes };
}

/**
 * Explodes a document by the user's `TypeName.unnest` (E-46): the arguments are the URL and a file with the
 * data, the output one or more SOIF objects. Always returns the complete objects, at most `maxObjects`;
 * problems become warnings.
 */
export async function explodeByProgram(
  document: ProgramDocument,
  program: string,
  settings: ProgramSettings,
  maxObjects = 10_000,
): Promise<readonly SoifObject[]> {
  await using scratch = await ScratchDirectory.open(settings);
  const file = await scratch.write(document.fileName, document.body);
  const result = await runProgram(
    {
      program,
      arguments: [document.url, file],
      directory: scratch.directory,
    },
    settings,
  );
  report(document, program, result.failure, result.stderr);
  const objects = decodeObjects(result.output, (message) => document.warn(`${program}: ${message}`));
  if (objects.length === 0 && result.failure === undefined)
    document.warn(`${program} wrote no object (E-46)`);
  if (objects.length >= maxObjects) document.warn(`${program}: no more than ${maxObjects} objects (E-45)`);
  return objects.slice(0, maxObjects);
}

function report(
  document: ProgramDocument,
  program: string,
  failure: string | undefined,
  stderr: string,
): void {
  if (failure !== undefined) document.warn(`${program} failed: ${failure} (E-70)`);
  else if (stderr.trim() !== '') document.warn(`${program} says: ${stderr.trim()}`);
}

/**
 * Decodes a list of attributes as summarizers write it (SOIF-3.7). Returns the attributes before the damage if
 * the list is truncated or damaged.
 */
function readAttributeList(output: Uint8Array, warn: (message: string) => void): readonly SoifAttribute[] {
  try {
    return decodeList(output, warn);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    warn(`its output is not a list of SOIF attributes: ${error.message}`);
    return wholeAttributes(output);
  }
}

/**
 * Decodes the complete attributes at the start. Accepts only the exact layout of SOIF-2.2, because nothing
 * after it can confirm a guess.
 */
function wholeAttributes(output: Uint8Array): SoifAttribute[] {
  const bytes = bufferOf(output);
  const attributes: SoifAttribute[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const head = /^([A-Za-z0-9._<>-]{1,256})\{(\d{1,9})\}:\t/.exec(
      bytes.toString('latin1', offset, offset + 300),
    );
    if (head === null) break;
    const start = offset + head[0].length;
    const end = start + Number(head[2]);
    if (end > bytes.length) break;
    attributes.push({ name: head[1]!, value: bytes.subarray(start, end) });
    offset = bytes[end] === 0x0a ? end + 1 : end;
  }
  return attributes;
}

/** Maximum number of characters of a document's name that are kept. */
const MAX_NAME = 100;

/**
 * A private directory with the document's file for one run of a program. File names consist of letters, digits,
 * `.`, `_` and `-`, and do not begin with `.` or `-`, so that a program does not take them for options.
 */
export class ScratchDirectory implements AsyncDisposable {
  readonly #isKept: boolean;

  private constructor(
    readonly directory: string,
    isKept: boolean,
  ) {
    this.#isKept = isKept;
  }

  /** Creates it as the settings of the program say. */
  static async open({
    temporaryDirectory = tmpdir(),
    keepFiles = false,
  }: Pick<ProgramSettings, 'temporaryDirectory' | 'keepFiles'> = {}): Promise<ScratchDirectory> {
    // A directory that cannot be written must not stop the work.
    const directory = await createDirectory(temporaryDirectory)
      .then(() => mkdtemp(join(temporaryDirectory, 'essence-')))
      .catch(() => mkdtemp(join(tmpdir(), 'essence-')));
    return new ScratchDirectory(directory, keepFiles);
  }

  /** Writes a file and returns its absolute path. */
  async write(name: string, body: Uint8Array | string): Promise<string> {
    const file = join(this.directory, safeName(name));
    await writeFile(file, body, { mode: 0o600 });
    return file;
  }

  async close(): Promise<void> {
    if (!this.#isKept) await rm(this.directory, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Converts the name of a document to a harmless file name with the same suffix. */
export function safeName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(-MAX_NAME);
  return /^[A-Za-z0-9_]/.test(plain) ? plain : `document${plain}`;
}
