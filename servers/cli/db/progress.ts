import { SingleBar } from 'cli-progress';

/** How often the line is drawn, a second. */
const DRAWINGS = 8;
/** Milliseconds before anything is shown: short work has no need of it. */
const QUIET_MS = 500;

/**
 * Shows on a terminal's standard error how many objects were dealt with. How many there are is not known before the end: what
 * is read are streams.
 */
export class ObjectProgress implements Disposable {
  readonly #label: string;
  readonly #terminal: boolean;
  readonly #begin = Date.now();
  #bar: SingleBar | undefined;
  #count = 0;

  constructor(label: string, terminal = process.stderr.isTTY === true) {
    this.#label = label;
    this.#terminal = terminal;
  }

  /** One object more. */
  readonly add = (): void => {
    this.#count++;
    if (!this.#terminal) return;
    const elapsed = Date.now() - this.#begin;
    if (elapsed < QUIET_MS) return;
    this.#bar ??= this.#start();
    this.#bar.update(this.#count, { rate: Math.round((this.#count * 1000) / elapsed) });
  };

  [Symbol.dispose](): void {
    this.#bar?.stop();
  }

  #start(): SingleBar {
    const bar = new SingleBar({
      stream: process.stderr,
      format: `${this.#label}: {value} objects, {rate}/s, {duration_formatted}`,
      hideCursor: true,
      clearOnComplete: true,
      fps: DRAWINGS,
      gracefulExit: false,
    });
    bar.start(1, 0, { rate: 0 });
    return bar;
  }
}
