import { setTimeout } from 'node:timers/promises';
import { ConnectionError } from '../../../../protocols/errors.js';
import { RateHistory } from '../../../crawler/console/history.js';
import type { CrawlSnapshot, QueueReport } from '../../../crawler/control.js';
import type { QueueState } from '../../../crawler/states.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';
import type { ConsoleClient } from '../console-client.js';
import type { CrawlSelection } from '../crawl-options.js';
import { crawlAction, reportNoCrawl, runningCrawl } from '../find-crawl.js';
import { type Screen, screenText } from '../screen.js';
import { progressLine } from '../tables.js';

interface WatchOptions extends CrawlSelection {
  readonly json: boolean;
  readonly once: boolean;
  readonly interval?: number;
  readonly state?: QueueState;
}

/** Seconds between snapshots: on a terminal, and for lines. */
const TERMINAL_SECONDS = 1;

const LINE_SECONDS = 5;

/** Maximum number of rows to request; a screen shows fewer. */
const MAX_ROWS = 100;

/** The action of `harvest crawl watch`. */
export const watchCrawl = crawlAction(async (options: WatchOptions) => {
  using stop = new StopSignal({ limit: { program: 'harvest crawl watch' } });
  try {
    const crawl = await runningCrawl(options, stop.signal);
    if (crawl === undefined) return reportNoCrawl(options);
    const isTerminal = process.stdout.isTTY && !options.json && !options.once;
    const seconds = options.interval ?? (isTerminal ? TERMINAL_SECONDS : LINE_SECONDS);
    return isTerminal
      ? await draw(crawl, options, seconds, stop.signal)
      : await writeLines(crawl, options, seconds, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return EXIT.interrupted;
    throw error;
  }
});

async function writeLines(
  crawl: ConsoleClient,
  { json, once }: WatchOptions,
  seconds: number,
  signal: AbortSignal,
): Promise<number> {
  const output = new StandardOutput();
  return follow(seconds, signal, async () => {
    const snapshot = await crawl.snapshot();
    const text = json ? JSON.stringify(snapshot) : progressLine(snapshot);
    return { snapshot, continues: (await output.write(`${text}\n`)) && !once };
  });
}

/** Draws on the terminal's alternate screen and restores the normal one. */
async function draw(
  crawl: ConsoleClient,
  { state }: WatchOptions,
  seconds: number,
  signal: AbortSignal,
): Promise<number> {
  // The lines are printable already; the screen itself consists of control sequences.
  const output = new StandardOutput({ raw: true });
  const history = new RateHistory();
  const { samples: past } = await crawl.get('history');
  let last: Screen | undefined;
  await output.write('\x1b[?1049h\x1b[?25l');
  try {
    return await follow(seconds, signal, async () => {
      const screen = await takeScreen(crawl, state, history, past);
      last = screen;
      const { columns = 80, rows = 24 } = process.stdout;
      // Moves the cursor home, overwrites each line and clears the rest, so that nothing scrolls or flickers.
      const text = screenText(screen, columns, rows)
        .map((line) => `\x1b[2K${line}`)
        .join('\r\n');
      return { snapshot: screen.snapshot, continues: await output.write(`\x1b[H${text}\x1b[0J`) };
    });
  } finally {
    await output.write('\x1b[?25h\x1b[?1049l');
    if (last !== undefined) await output.write(`${progressLine(last.snapshot)}\n`);
  }
}

async function takeScreen(
  crawl: ConsoleClient,
  state: QueueState | undefined,
  history: RateHistory,
  past: readonly { readonly documentsPerSecond: number }[],
): Promise<Screen> {
  const snapshot = await crawl.snapshot();
  history.add(snapshot);
  const queues: QueueReport[] = [];
  for await (const page of crawl.queues({ state, limit: MAX_ROWS })) queues.push(...page);
  return {
    snapshot,
    rates: [...past, ...history.samples()].slice(-600).map(({ documentsPerSecond }) => documentsPerSecond),
    queues,
    hosts: await crawl.hosts(MAX_ROWS),
    ...(await crawl.get('workers')),
    ...(await crawl.get('errors')),
  };
}

/** Takes snapshots until the crawl ends. A console that disappears while its crawl ends is not a failure. */
async function follow(
  seconds: number,
  signal: AbortSignal,
  takeSnapshot: () => Promise<{ readonly snapshot: CrawlSnapshot; readonly continues: boolean }>,
): Promise<number> {
  let isEnding = false;
  for (;;) {
    try {
      const { snapshot, continues } = await takeSnapshot();
      isEnding = snapshot.state === 'stopping' || snapshot.queued + snapshot.inProcess === 0;
      if (!continues || snapshot.state === 'finished') return EXIT.ok;
    } catch (error) {
      if (error instanceof ConnectionError && isEnding) return EXIT.ok;
      throw error;
    }
    await setTimeout(seconds * 1000, undefined, { signal });
  }
}
