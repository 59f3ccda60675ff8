import { tmpdir } from 'node:os';
import { inputName } from '../../../clients/soif-tools/input.js';
import { readObjects, type StreamObject } from '../../../clients/soif-tools/objects.js';
import type { SoifBytes, SoifWarning } from '../../../protocols/soif/index.js';
import { SpoolFile } from '../../../storage/files/spool-file.js';
import { complain } from '../output/exit.js';
import type { StandardOutput } from '../output/standard-output.js';
import { openFile } from './files.js';

/** Bytes of an object above which it waits in a temporary file. */
const LARGE_BYTES = 4 * 1024 * 1024;

/** Maximum number of warnings to print about one file. */
const MAX_WARNINGS = 100;

/** Reads objects from the files of a command line and reports their faults on standard error. */
export class ObjectReader {
  /** Whether something unreadable was skipped (SOIF-4.5). */
  incomplete = false;
  readonly #command: string;
  readonly #maxObjectBytes: number | undefined;

  /**
   * @param command the name at the start of messages
   * @param maxObjectBytes larger objects are skipped
   */
  constructor(command: string, maxObjectBytes?: number) {
    this.#command = command;
    this.#maxObjectBytes = maxObjectBytes;
  }

  /** Reports an object that is left out of the output. Every one is named, however many there are. */
  readonly leaveOut = ({ rule, offset, message }: SoifWarning): void => {
    this.incomplete = true;
    complain(this.#command, `left out: ${message} (${rule}, offset ${offset})`);
  };

  /** @throws StorageError if a file cannot be read. */
  async *objects(files: readonly string[]): AsyncGenerator<StreamObject, void, undefined> {
    for (const file of files) {
      let warnings = 0;
      const onWarning = ({ rule, offset, message }: SoifWarning): void => {
        if (rule === 'SOIF-4.5') this.incomplete = true;
        warnings++;
        if (warnings > MAX_WARNINGS + 1) return;
        const sentence =
          warnings > MAX_WARNINGS ? 'more warnings are not shown' : `${message} (${rule}, offset ${offset})`;
        complain(this.#command, `${inputName(file)}: ${sentence}`);
      };
      yield* readObjects(openFile(file), {
        onWarning,
        large: { fromBytes: LARGE_BYTES, open: () => SpoolFile.open(tmpdir()) },
        maxObjectBytes: this.#maxObjectBytes,
      });
    }
  }
}

/** Writes bytes or a source. Returns false if the reader has closed the pipe. */
export function writeBytes(output: StandardOutput, bytes: SoifBytes): Promise<boolean> {
  return bytes instanceof Uint8Array ? output.write(bytes) : output.writeFrom(bytes.pieces());
}

/**
 * Returns a function that writes an object as a line of JSON; it returns false if the reader has closed the
 * pipe.
 */
export async function jsonWriter(output: StandardOutput): Promise<(item: JsonItem) => Promise<boolean>> {
  const { jsonLine, jsonPieces } = await import('../../../clients/soif-tools/index.js');
  return async ({ object, section, large }) => {
    if (large === undefined) return output.write(`${jsonLine(object, section)}\n`);
    return (await output.writeFrom(jsonPieces(large, section))) && (await output.write('\n'));
  };
}

type JsonItem = Pick<StreamObject, 'object' | 'section' | 'large'>;
