// Writes a whole Registry into a new file.
import {
  encodeRecordHeader,
  encodeRegistryHeader,
  FILE_HEADER_BYTES,
  type RawRecord,
  type RegistryCounts,
  type RegistryFormat,
} from '../../protocols/registry/index.js';
import type { RandomFile } from './random-access-file.js';
import { countRecord } from './walk.js';

/** Bytes of records in one write. */
const WRITE_BYTES = 256 * 1024;

/** Writes pieces to a file one after the other, in large writes. */
class FileAppender {
  readonly #file: RandomFile;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #written: number;

  constructor(file: RandomFile, start: number) {
    this.#file = file;
    this.#written = start;
  }

  async add(...pieces: readonly Uint8Array[]): Promise<void> {
    for (const piece of pieces) {
      this.#pieces.push(piece);
      this.#bytes += piece.length;
    }
    if (this.#bytes >= WRITE_BYTES) await this.flush();
  }

  /** Returns the offset after the last byte. */
  async flush(): Promise<number> {
    if (this.#bytes > 0) await this.#file.write(Buffer.concat(this.#pieces), this.#written);
    this.#written += this.#bytes;
    this.#pieces = [];
    this.#bytes = 0;
    return this.#written;
  }
}

/** A record that is written as it is. */
export type RecordToWrite = Pick<RawRecord, 'flag' | 'state' | 'data'>;

/**
 * Writes a whole Registry into a new file, the header last (REG-28), and closes it.
 *
 * @returns its length and the counts in its header
 */
export async function writeRegistry(
  file: RandomFile,
  records: AsyncIterable<RecordToWrite>,
  version: number,
  format: RegistryFormat,
): Promise<{ readonly length: number; readonly counts: RegistryCounts }> {
  try {
    const appender = new FileAppender(file, FILE_HEADER_BYTES);
    const counts = { records: 0, deleted: 0, valid: 0 };
    for await (const { flag, state, data } of records) {
      countRecord(counts, state);
      await appender.add(encodeRecordHeader(data.length, flag, format), data);
    }
    const length = await appender.flush();
    await file.write(encodeRegistryHeader({ version, ...counts }, format), 0);
    await file.sync();
    return { length, counts };
  } finally {
    await file.close();
  }
}
