import type { SingleBar } from 'cli-progress';

/** Redraws of a bar per second. */
const DRAWINGS_PER_SECOND = 8;
/** Milliseconds before a bar appears, so that short work shows no bar. */
const DEFAULT_DELAY_MS = 500;
/** Milliseconds between lines where there is no terminal. */
const LINE_INTERVAL_MS = 5_000;

export interface ProgressOptions {
  /**
   * Format of cli-progress: `{bar}`, `{value}`, `{percentage}`, `{rate}` (a second), and the names of the
   * fields shown.
   */
  readonly format: string;
  /** Default: 500. */
  readonly delayMs?: number;
  /** Without a terminal: called every five seconds if anything changed. Default: nothing is shown. */
  readonly onLine?: () => void;
  /** Default: whether standard error is a terminal. */
  readonly terminal?: boolean | undefined;
}

/** Shows the progress of a task on standard error: a bar on a terminal, otherwise a line every five seconds. */
export class Progress implements Disposable {
  /** Whether a bar is drawn; otherwise {@link ProgressOptions.onLine} is called. */
  readonly terminal: boolean;
  readonly #format: string;
  readonly #delayMs: number;
  readonly #onLine: (() => void) | undefined;
  readonly #startMs = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  /** Loaded while the work begins, and only for a terminal. */
  #Bar: typeof SingleBar | undefined;
  #bar: SingleBar | undefined;
  #changed = false;

  constructor({ format, delayMs = DEFAULT_DELAY_MS, onLine, terminal }: ProgressOptions) {
    this.#format = format;
    this.#delayMs = delayMs;
    this.#onLine = onLine;
    this.terminal = terminal ?? process.stderr.isTTY === true;
    if (this.terminal) {
      void import('cli-progress').then((loaded) => {
        this.#Bar = loaded.SingleBar;
      });
    }
    if (!this.terminal && onLine !== undefined)
      this.#timer = setInterval(() => this.flushLine(), LINE_INTERVAL_MS).unref();
  }

  /** Shows that `value` of `total` is done. A total that grows may be smaller than the final one. */
  update(value: number, total: number, fields: Readonly<Record<string, string | number>> = {}): void {
    this.#changed = true;
    if (this.#Bar === undefined || performance.now() - this.#startMs < this.#delayMs) return;
    const shown = { ...fields, rate: this.rate(value) };
    if (this.#bar === undefined) {
      this.#bar = new this.#Bar({
        stream: process.stderr,
        format: this.#format,
        hideCursor: true,
        clearOnComplete: true,
        barsize: 24,
        fps: DRAWINGS_PER_SECOND,
        gracefulExit: false,
      });
      this.#bar.start(Math.max(1, total), value, shown);
      return;
    }
    this.#bar.setTotal(Math.max(1, total));
    this.#bar.update(value, shown);
  }

  /** Returns `value` per second since the beginning, with one decimal. */
  rate(value: number): string {
    return (value / Math.max(0.001, (performance.now() - this.#startMs) / 1000)).toFixed(1);
  }

  /** Removes the bar, because something else is printed; the next update draws it again. */
  clear(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  /** Writes the pending line now, if anything changed since the last one. */
  flushLine(): void {
    if (this.#changed && !this.terminal) this.#onLine?.();
    this.#changed = false;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.clear();
  }
}
