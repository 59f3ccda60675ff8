import { type CrawlEvent, crawlChannel, type DocumentEvent, documentChannel } from '../../crawler/events.js';
import type { GatherReport } from '../../gatherer/gatherer.js';
import type { PublishedElsewhere } from '../../gatherer/publish-elsewhere.js';
import type { Logger } from '../../host/logger.js';
import { writeMessage } from '../output/printable.js';
import { Progress } from '../output/progress.js';

const PHASES = { gather: 'Gathering', publish: 'Publishing', collect: 'Collecting' } as const;

/**
 * Shows a run of a Gatherer on standard error: a bar on a terminal, a line every five seconds elsewhere, or
 * JSON lines of `log`. It subscribes to the Gatherer's diagnostics channel.
 */
export class GatherProgress implements Disposable {
  readonly #progress: Progress;
  #done = 0;
  #failed = 0;
  #queued = 0;
  #host = '';
  readonly #log: Logger | undefined;

  constructor(log?: Logger) {
    this.#log = log;
    this.#progress = new Progress({
      format: '{bar} {value} done, {queued} queued, {failed} failed, {rate}/s  {host}',
      delayMs: 0,
      onLine: () => this.#line(),
      terminal: log === undefined ? undefined : false,
    });
    documentChannel.subscribe(this.#onDocument);
    crawlChannel.subscribe(this.#onCrawl);
  }

  /** Shows that a phase of the run begins. */
  showPhase(phase: keyof typeof PHASES): void {
    if (phase === 'gather' && this.#progress.terminal) {
      this.#show();
      return;
    }
    this.#progress.clear();
    this.#progress.flushLine();
    if (this.#log === undefined) process.stderr.write(`${PHASES[phase]} ...\n`);
    else this.#log.info(PHASES[phase]);
  }

  [Symbol.dispose](): void {
    documentChannel.unsubscribe(this.#onDocument);
    crawlChannel.unsubscribe(this.#onCrawl);
    this.#progress[Symbol.dispose]();
  }

  /** Alerts are shown as they come: a crawl that pauses shows no progress. */
  readonly #onCrawl = (message: unknown): void => {
    const { text, alert } = message as CrawlEvent;
    if (!alert) return;
    this.#progress.clear();
    this.#progress.flushLine();
    if (this.#log === undefined) writeMessage(text);
    else this.#log.warn(text);
  };

  readonly #onDocument = (message: unknown): void => {
    const { disposition, frontier, url } = message as DocumentEvent;
    this.#queued = frontier.queued;
    this.#host = /^[a-z]+:\/\/([^/]*)/.exec(url)?.[1] || 'local files';
    if (disposition !== 'retry') this.#done++;
    if (disposition === 'failed') this.#failed++;
    this.#show();
  };

  #show(): void {
    const [queued, failed, host] = [this.#queued, this.#failed, this.#host];
    this.#progress.update(this.#done, this.#done + queued, { queued, failed, host });
  }

  #line(): void {
    const [done, queued, failed, host] = [this.#done, this.#queued, this.#failed, this.#host];
    const rate = Number(this.#progress.rate(done));
    if (this.#log !== undefined) this.#log.info({ done, queued, failed, rate, host }, 'progress');
    else writeMessage(`${done} done, ${queued} queued, ${failed} failed, ${rate}/s  ${host}`);
  }
}

/** Formats what was published for other machines as lines for people. */
export function elsewhereText({ place, generations, references }: PublishedElsewhere): string {
  const parts = Object.entries({ generation: generations, references });
  const texts = parts.flatMap(([name, published]) => {
    if (published === undefined) return [];
    const { number, isNew, sentFiles, sentBytes } = published;
    return [
      `${name} ${number}${isNew ? ` (${sentFiles} files sent, ${sentBytes} bytes)` : ' is there already'}`,
    ];
  });
  return `Published at ${place}: ${texts.join(', ')}`;
}

type Gathered = Pick<GatherReport, 'counts' | 'seconds' | 'resumed'>;

/** Formats the counts of a run as one line for people. */
export function gatheredText({ counts, seconds, resumed }: Gathered): string {
  const { summarized, unchanged, kept, rejected, failed } = counts;
  return `${resumed ? 'Continued' : 'Gathered'}: ${summarized} summarized, ${unchanged} unchanged, ${kept} kept, ${rejected} rejected, ${failed} failed in ${seconds.toFixed(1)} s`;
}
