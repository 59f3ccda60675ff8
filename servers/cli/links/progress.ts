import { statSync } from 'node:fs';
import { SingleBar } from 'cli-progress';
import type { BuildPhase } from '../../../storage/references/index.js';

/** How often the bar is drawn, a second. */
const DRAWINGS = 8;
/** Milliseconds before anything is shown: short work has no need of it. */
const QUIET_MS = 500;

const PHASES: Readonly<Record<BuildPhase, string>> = {
  documents: 'sorting documents',
  refs: 'sorting links',
  hubs: 'sorting reverse links',
  siterefs: 'links of sites',
  sitehubs: 'links to sites',
  ranks: 'numbering links',
};

/** Shows on a terminal's standard error how far a work on the link graph is. */
export class GraphProgress implements Disposable {
  readonly #label: string;
  readonly #terminal: boolean;
  readonly #begin = Date.now();
  readonly #sizes = new Map<string, number>();
  #bar: SingleBar | undefined;

  constructor(label: string, terminal = process.stderr.isTTY === true) {
    this.#label = label;
    this.#terminal = terminal;
  }

  /** Bytes read of a file. Of unpacked ones and standard input it is not known how many there will be. */
  readonly onRead = (file: string, bytes: number): void => {
    if (this.#terminal) this.show(`reading ${file}`, bytes, Math.max(bytes, this.#sizeOf(file)));
  };

  readonly onProgress = (phase: BuildPhase, done: number, total: number): void =>
    this.show(PHASES[phase], done, total);

  show(what: string, done: number, total: number): void {
    if (!this.#terminal || Date.now() - this.#begin < QUIET_MS) return;
    this.#bar ??= this.#start();
    this.#bar.setTotal(total);
    this.#bar.update(done, { what });
  }

  /** Takes the bar away: there is something to print. */
  clear(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  #sizeOf(file: string): number {
    let size = this.#sizes.get(file);
    if (size === undefined) {
      size = file === '-' ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
      this.#sizes.set(file, size);
    }
    return size;
  }

  #start(): SingleBar {
    const bar = new SingleBar({
      stream: process.stderr,
      format: `${this.#label}: {bar} {percentage}%  {what}`,
      hideCursor: true,
      clearOnComplete: true,
      barsize: 24,
      fps: DRAWINGS,
      gracefulExit: false,
    });
    bar.start(1, 0, { what: '' });
    return bar;
  }
}
