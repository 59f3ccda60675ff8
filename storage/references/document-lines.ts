import { isUtf8 } from 'node:buffer';
import { KitError } from '../../protocols/errors.js';
import { hrefOfUrl, urlOfBytes } from '../../protocols/soif/index.js';
import { canonicalDocumentUrl } from '../../protocols/urls/index.js';
import type { DocumentInput } from './contract.js';
import { lineError, WholeLines } from './line-input.js';

const LF = 0x0a;

/**
 * A line of JSON. In one that is not UTF-8, bytes beyond ASCII are percent-encoded, so that the URL of the line
 * keeps them.
 */
function textOf(line: Buffer): string {
  return isUtf8(line) ? line.toString('utf8') : hrefOfUrl(urlOfBytes(line));
}

/**
 * Parses documents, one JSON object per line, with `id`, `url`, and optionally `time`, `checktime`, `length`
 * and `server` (the server's ID). Converts URLs to canonical form. Ignores other names and empty lines.
 */
export class DocumentLines {
  readonly #file: string;
  readonly #onDocument: (document: DocumentInput) => void;
  readonly #lines = new WholeLines();
  #line = 0;

  /** @param file the file's name, for error messages */
  constructor(file: string, onDocument: (document: DocumentInput) => void) {
    this.#file = file;
    this.#onDocument = onDocument;
  }

  /**
   * @throws StorageError if a line is malformed or `onDocument` throws; the message starts with `FILE:LINE:`
   */
  push(chunk: Uint8Array): void {
    this.#parse(this.#lines.push(chunk));
    const { problem } = this.#lines;
    if (problem !== undefined) throw lineError(this.#file, this.#line + 1, problem, 'R-16');
  }

  end(): void {
    this.#parse(this.#lines.end());
  }

  #parse(bytes: Uint8Array): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LF, start);
      this.#line++;
      const line = textOf(text.subarray(start, end)).trim();
      if (line !== '') this.#parseLine(line);
      start = end + 1;
    }
  }

  #parseLine(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw this.#error('not JSON');
    }
    if (typeof value !== 'object' || value === null) throw this.#error('expected a JSON object');
    const { id, url, time, checktime, length, server } = value as Readonly<Record<string, unknown>>;
    if (typeof id !== 'number') throw this.#error('id: expected a number');
    if (typeof url !== 'string') throw this.#error('url: expected a string');
    const serverId = this.#number('server', server);
    try {
      this.#onDocument({
        id,
        url: canonicalDocumentUrl(url),
        time: this.#number('time', time) ?? 0,
        checkTime: this.#number('checktime', checktime) ?? 0,
        length: this.#number('length', length) ?? 0,
        serverId,
      });
    } catch (error) {
      if (error instanceof KitError && !error.message.startsWith(`${this.#file}:`))
        throw this.#error(error.message);
      throw error;
    }
  }

  #number(name: string, value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw this.#error(`${name}: expected an integer from 0`);
  }

  #error(problem: string): Error {
    return lineError(this.#file, this.#line, problem, 'R-16');
  }
}
