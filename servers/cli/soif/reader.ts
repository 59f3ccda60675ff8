import { nameOf } from '../../../clients/soif-tools/input.js';
import { readObjects, type StreamObject } from '../../../clients/soif-tools/objects.js';
import type { SoifWarning } from '../../../protocols/soif/index.js';
import { complain } from '../exit.js';
import { openFile } from './files.js';

/** Warnings that are told of one file; then only that there are more. */
const MAX_TOLD = 100;

/** Reads objects from the files of a command line, one after the other, and tells people what was not right. */
export class ObjectReader {
  /** Whether something could not be read and was left out (SOIF-4.5). */
  incomplete = false;

  /** @param command what messages begin with. @param maxObjectBytes larger objects are left out. */
  constructor(
    private readonly command: string,
    private readonly maxObjectBytes?: number,
  ) {}

  /** @throws StorageError a file cannot be read. */
  async *objects(files: readonly string[]): AsyncGenerator<StreamObject, void, undefined> {
    for (const file of files) {
      let told = 0;
      const onWarning = ({ rule, offset, message }: SoifWarning): void => {
        if (rule === 'SOIF-4.5') this.incomplete = true;
        told++;
        if (told > MAX_TOLD + 1) return;
        const sentence = told > MAX_TOLD ? 'and so on' : `${message} (${rule}, offset ${offset})`;
        complain(this.command, `${nameOf(file)}: ${sentence}`);
      };
      yield* readObjects(openFile(file), {
        onWarning,
        ...(this.maxObjectBytes === undefined ? {} : { maxObjectBytes: this.maxObjectBytes }),
      });
    }
  }
}
