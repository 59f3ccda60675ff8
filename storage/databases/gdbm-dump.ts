// Reads original GDBM files: through GNU's `gdbm_dump`, or from the text that it writes.
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { StorageError } from '../../protocols/errors.js';
import { readThrough } from '../files/program-output.js';

/** How to read GDBM files. */
export interface GdbmOptions {
  /** The program that dumps a GDBM file. Default `gdbm_dump`, found through PATH. */
  readonly gdbmDump?: string;
  /** The maximum size of a key or value in bytes. Larger records are skipped with a warning. Default 64 MiB. */
  readonly maxRecordBytes?: number;
  readonly onWarning?: ((sentence: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A record of a GDBM database. */
export interface GdbmRecord {
  readonly key: Buffer;
  readonly value: Buffer;
}

const DEFAULT_MAX_RECORD_BYTES = 64 * 1024 * 1024;

/**
 * Yields the records of an original GDBM database in no particular order. Reads the file with GNU's
 * `gdbm_dump`, because the file format is private to GDBM.
 *
 * @throws StorageError if the program is not installed or cannot read the file
 */
export async function* readGdbm(path: string, options: GdbmOptions = {}): AsyncGenerator<GdbmRecord> {
  const program = options.gdbmDump ?? 'gdbm_dump';
  const notInstalled = `${path} is a GDBM database, and ${program}, which reads it, is not installed (Debian: gdbmtool)`;
  yield* readThrough({
    path,
    programs: [program],
    args: ['--format=ascii', resolve(path)],
    notInstalled,
    read: (output) => readDump(output, path, options),
    signal: options.signal,
  });
}

/** Yields the records of a file in the text format of `gdbm_dump`. */
export async function* readGdbmDump(path: string, options: GdbmOptions = {}): AsyncGenerator<GdbmRecord> {
  yield* readDump(createReadStream(path), path, options);
}

/*
 * The text format has a header that ends with `# End of header`. A line `#:len=BYTES` and lines of base64
 * follow for each datum, key and value alternating. `#:count=RECORDS` and `# End of data` are at the end.
 */
async function* readDump(input: Readable, path: string, options: GdbmOptions): AsyncGenerator<GdbmRecord> {
  const limit = options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES;
  const damageError = (what: string): StorageError =>
    new StorageError(`the dump of ${path} is damaged: ${what}`);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  let inHeader = true;
  let complete = false;
  let records = 0;
  let datum: Datum | undefined;
  let key: Buffer | undefined | 'too-long';
  let hasKey = false;

  const finish = (): GdbmRecord | undefined => {
    if (datum === undefined) return undefined;
    const bytes = datum.bytes();
    if (bytes === undefined)
      throw damageError(`a datum does not have the ${datum.length} bytes that it declares`);
    datum = undefined;
    if (!hasKey) {
      key = bytes;
      hasKey = true;
      return undefined;
    }
    hasKey = false;
    records++;
    if (key === 'too-long' || key === undefined || bytes === 'too-long') {
      const name = key instanceof Buffer ? ` of ${key.toString()}` : '';
      options.onWarning?.(`${path}: a record${name} has more than ${limit} bytes and is skipped`);
      return undefined;
    }
    return { key, value: bytes };
  };

  try {
    for await (const line of lines) {
      options.signal?.throwIfAborted();
      if (inHeader) {
        if (line === '# End of header') inHeader = false;
        else if (!line.startsWith('#'))
          throw damageError('its header does not end; only the text format is read');
        continue;
      }
      if (complete) continue;
      if (!line.startsWith('#')) {
        if (datum === undefined) throw damageError('data without a length');
        datum.add(line);
        continue;
      }
      const record = finish();
      if (record !== undefined) yield record;
      const [, name, number] = /^#:(len|count)=(\d{1,15})$/.exec(line) ?? [];
      if (name === 'len') datum = new Datum(Number(number), limit);
      else if (name === 'count' && Number(number) !== records)
        throw damageError(`it announces ${number} records and has ${records}`);
      else if (line === '# End of data') complete = true;
    }
    if (!complete || hasKey) throw damageError('it ends too early');
  } finally {
    lines.close();
    input.destroy();
  }
}

/** A key or value while it is read. The declared length is only compared, never allocated. */
class Datum {
  readonly #limit: number;
  #parts: string[] = [];
  #characters = 0;

  constructor(
    readonly length: number,
    limit: number,
  ) {
    this.#limit = limit;
  }

  add(line: string): void {
    this.#characters += line.length;
    if (this.#tooLong) this.#parts = [];
    else this.#parts.push(line);
  }

  /** Returns the decoded bytes; undefined if their length differs from the declared length. */
  bytes(): Buffer | 'too-long' | undefined {
    if (this.#tooLong) return 'too-long';
    const bytes = Buffer.from(this.#parts.join(''), 'base64');
    return bytes.length === this.length ? bytes : undefined;
  }

  get #tooLong(): boolean {
    return (this.#characters / 4) * 3 > this.#limit + 3;
  }
}
