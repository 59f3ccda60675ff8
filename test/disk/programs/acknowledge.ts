// How a recorded program says what it has promised: a mark in the log, in the order of the changes.
import { openSync, readFileSync, writeSync } from 'node:fs';

/** The root and the control file from the arguments. */
export function programArguments(): {
  readonly root: string;
  readonly control: Control;
  readonly options: readonly string[];
} {
  const [root = '', file = '', ...options] = process.argv.slice(2);
  return { root, control: new Control(file), options };
}

/** The control file of the shim. */
export class Control {
  readonly #fd: number;
  #last = '';

  constructor(readonly file: string) {
    this.#fd = openSync(file, 'a');
  }

  /** Everything that was promised before this call must survive every later crash. */
  mark(text: string): void {
    writeSync(this.#fd, `mark ${text}\n`);
  }

  /** From the nth change on, changes fail, until {@link ok}. */
  fail(nth: number, errno: 'ENOSPC' | 'EIO' = 'ENOSPC'): void {
    this.#last = `fail ${nth} ${errno}\n`;
    writeSync(this.#fd, this.#last);
  }

  /** The last {@link fail}, counted from here. */
  failAgain(): void {
    if (this.#last !== '') writeSync(this.#fd, this.#last);
  }

  /** The number of changes so far. */
  count(): number {
    writeSync(this.#fd, 'count\n');
    return Number(readFileSync(`${this.file}.count`, 'utf8'));
  }

  /** Changes succeed again. */
  ok(): void {
    writeSync(this.#fd, 'ok\n');
  }
}
