import { SingleBar } from 'cli-progress';
import { type DocumentEvent, documentChannel } from '../gatherer/index.js';
import type { Logger } from '../host/index.js';

/** Milliseconds between lines where there is no terminal. */
const LINE_INTERVAL_MS = 5_000;

const PHASES = { gather: 'Gathering', publish: 'Publishing', collect: 'Collecting' } as const;

/**
 * Shows a gathering on standard error: a bar on a terminal, a line now and then elsewhere, JSON lines with `log`. It only
 * listens to the gatherer's channel.
 */
export class GatherProgress {
  readonly #begin = Date.now();
  readonly #bar: SingleBar | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #done = 0;
  #failed = 0;
  #last: DocumentEvent | undefined;

  private constructor(readonly log: Logger | undefined) {
    if (log === undefined && process.stderr.isTTY) {
      this.#bar = new SingleBar({
        stream: process.stderr,
        format: '{bar} {value} done, {queued} queued, {failed} failed, {rate}/s  {host}',
        hideCursor: true,
        clearOnComplete: true,
        barsize: 24,
        fps: 8,
        gracefulExit: false,
      });
    } else {
      this.#timer = setInterval(() => this.#line(), LINE_INTERVAL_MS);
      this.#timer.unref();
    }
  }

  /** Begins to listen. */
  static start(log?: Logger): GatherProgress {
    const progress = new GatherProgress(log);
    documentChannel.subscribe(progress.#onDocument);
    return progress;
  }

  phase(phase: keyof typeof PHASES): void {
    if (phase === 'gather' && this.#bar !== undefined) {
      this.#bar.start(1, 0, { queued: 0, failed: 0, rate: '0', host: '' });
      return;
    }
    this.#bar?.stop();
    if (phase !== 'gather') this.#line();
    if (this.log === undefined) process.stderr.write(`${PHASES[phase]} ...\n`);
    else this.log.info(PHASES[phase]);
  }

  stop(): void {
    documentChannel.unsubscribe(this.#onDocument);
    clearInterval(this.#timer);
    this.#bar?.stop();
  }

  readonly #onDocument = (message: unknown): void => {
    const event = message as DocumentEvent;
    this.#last = event;
    if (event.disposition === 'retry') return;
    this.#done++;
    if (event.disposition === 'failed') this.#failed++;
    this.#bar?.setTotal(this.#done + event.frontier.queued);
    this.#bar?.update(this.#done, {
      queued: event.frontier.queued,
      failed: this.#failed,
      rate: this.#rate(),
      host: hostOf(event.url),
    });
  };

  #rate(): string {
    return (this.#done / Math.max(0.001, (Date.now() - this.#begin) / 1000)).toFixed(1);
  }

  #line(): void {
    const last = this.#last;
    if (last === undefined) return;
    this.#last = undefined;
    const counts = {
      done: this.#done,
      queued: last.frontier.queued,
      failed: this.#failed,
      rate: Number(this.#rate()),
    };
    if (this.log !== undefined) this.log.info({ ...counts, host: hostOf(last.url) }, 'progress');
    else {
      process.stderr.write(
        `${counts.done} done, ${counts.queued} queued, ${counts.failed} failed, ${counts.rate}/s  ${hostOf(last.url)}\n`,
      );
    }
  }
}

function hostOf(url: string): string {
  return /^[a-z]+:\/\/([^/]*)/.exec(url)?.[1] || 'local files';
}
