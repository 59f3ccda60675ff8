// The rounds of `harvest run`: each gathers, publishes and collects.
import { uptime } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { isDiskFull, KitError, messageOf, StorageError } from '../../../protocols/errors.js';
import { redactLogins } from '../../../protocols/visible-text.js';
import type { AllInOne, CycleReport } from '../../all-in-one/all-in-one.js';
import { type DocumentEvent, documentChannel } from '../../crawler/events.js';
import { descriptorRemedy } from '../../host/fd-limit.js';
import type { Logger } from '../../host/logger.js';
import { GatherProgress } from '../gatherer/gather-progress.js';
import { printable } from '../output/printable.js';

/** Longest wait at once: Node's timers end at 24 days, and stand still while the machine sleeps. */
const MAX_PAUSE_MS = 60_000;

export interface RoundOptions {
  readonly kit: AllInOne;
  readonly signal: AbortSignal;
  /** Whether a full disk ends the round instead of pausing it. */
  readonly once: boolean;
  /** Prints a text for the person at the terminal. */
  readonly print: (text: string) => void;
  /** Replaces the progress bar. */
  readonly jsonLog: Logger | undefined;
  /** The path of the log of errors, which {@link Round.failed} names. */
  readonly errorLog: string;
  /** Called at the beginning of each phase. */
  readonly onPhase: (phase: Parameters<GatherProgress['showPhase']>[0]) => void;
}

/** The result of a round. */
export interface Round {
  readonly report: CycleReport;
  /** Number of roots without a document and of Gatherers that could not be collected from. */
  readonly problems: number;
  /** Why documents failed; empty if none did. */
  readonly failed: string;
}

/**
 * Gathers, publishes and collects once, again if a full disk stops it, and prints what concerns a whole root.
 *
 * @throws StorageError on a full disk with `once`; the signal's reason
 */
export async function runRound(options: RoundOptions): Promise<Round> {
  const { kit, signal, once, print, jsonLog, errorLog, onPhase } = options;
  let report: CycleReport | undefined;
  using failures = new FailureNotes();
  {
    using progress = new GatherProgress(jsonLog);
    const showPhase = (phase: Parameters<GatherProgress['showPhase']>[0]): void => {
      onPhase(phase);
      progress.showPhase(phase);
    };
    while (report === undefined) {
      report = await kit.cycle(signal, showPhase, { publishesSoFar: !once }).catch((error: unknown) => {
        if (signal.aborted || !isDiskFull(error)) throw error;
        if (once) {
          const kept = 'the gathered documents are kept, and the next run continues';
          throw new StorageError(`${messageOf(error)}; ${kept}`, { cause: error });
        }
        print(`${messageOf(error)}; gathering continues when there is space.\n`);
        return undefined;
      });
      if (report === undefined) await kit.waitForSpace(signal);
    }
  }
  const { failedRoots } = report.gathered;
  for (const { url, reason } of failedRoots)
    print(`${url}: nothing was gathered from this root: ${reason}\n`);
  const incomplete = report.collected.points.filter((point) => !point.complete);
  for (const { host, port, error } of incomplete)
    print(
      `The Broker could not collect from ${host}:${port}: ${error ?? 'unknown'}; the next run collects again.\n`,
    );
  return {
    report,
    problems: failedRoots.length + incomplete.length,
    failed: failures.text(
      errorLog,
      failedRoots.map(({ url }) => url),
    ),
  };
}

/**
 * Milliseconds of a clock that cannot be set and goes on while the machine sleeps. The clock of the system decides
 * nothing here: set ahead it would begin a round at once, and set back it would put one off.
 */
export const roundClock = (): number => Math.max(uptime() * 1000, STARTED_MS + performance.now());

/** Where the system tells no time that includes its sleep, the clock of the timers goes on. */
const STARTED_MS = uptime() * 1000 - performance.now();

/**
 * Repeats rounds until it is aborted: each begins a period after the beginning of the one before, or at once if
 * that one took longer. An error of one round does not end the servers; the next round tries again.
 *
 * @param begun when the first round began, by {@link roundClock}
 * @param onRound receives each round
 */
export async function repeatRounds(
  options: RoundOptions,
  { everyMs, begun }: { readonly everyMs: number; readonly begun: number },
  onRound: (round: Round) => void,
): Promise<void> {
  const { signal, print } = options;
  for (
    let next = begun + everyMs;
    await waitUntil(next, signal);
    next = Math.max(next + everyMs, roundClock())
  ) {
    try {
      onRound(await runRound(options));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof KitError)) throw error;
      print(`${messageOf(error)}; the next round tries again.\n`);
      const remedy = descriptorRemedy(messageOf(error));
      if (remedy !== undefined) print(`${remedy}.\n`);
    }
    print(nextRoundText(next + everyMs));
  }
}

/** Says when a round begins, a time of {@link roundClock}, in the local time of the reader. */
export function nextRoundText(dueMs: number): string {
  const time = new Date();
  time.setMilliseconds(time.getMilliseconds() + Math.max(0, dueMs - roundClock()));
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `The next round begins at ${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.\n`;
}

/** Waits for a round. @returns false if it was aborted before */
async function waitUntil(dueMs: number, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const rest = dueMs - roundClock();
    if (rest <= 0) return true;
    await pause(Math.min(rest, MAX_PAUSE_MS), undefined, { signal }).catch(() => undefined);
  }
  return false;
}

/** Reasons that have advice of their own. */
const MAX_REASONS = 100;
/** Reasons that are printed. */
const SHOWN = 3;

/** Collects why documents failed, for the end of a run. It subscribes to the Gatherer's diagnostics channel. */
class FailureNotes implements Disposable {
  readonly #reasons = new Map<string, { count: number; readonly first: string }>();

  constructor() {
    documentChannel.subscribe(this.#onDocument);
  }

  /**
   * The most frequent reasons, one line each, and where the others are; nothing if no document failed.
   *
   * @param log the path of the log of errors
   * @param shownUrls documents whose reasons were printed
   */
  text(log: string, shownUrls: readonly string[]): string {
    const reasons = [...this.#reasons].sort(([, a], [, b]) => b.count - a.count);
    if (reasons.length === 0) return '';
    const shown = reasons
      .filter(([, { count, first }]) => count > 1 || !shownUrls.includes(first))
      .slice(0, SHOWN)
      .map(([reason, { count, first }]) =>
        count === 1 ? `${first}: ${reason}` : `${reason}: ${count} documents, the first is ${first}`,
      );
    return [...shown, `all failures: ${log}`].map((line) => `  ${printable(redactLogins(line))}\n`).join('');
  }

  [Symbol.dispose](): void {
    documentChannel.unsubscribe(this.#onDocument);
  }

  readonly #onDocument = (message: unknown): void => {
    const { disposition, reason, url } = message as DocumentEvent;
    if (disposition !== 'failed') return;
    const known = this.#reasons.get(reason);
    if (known !== undefined) known.count++;
    else if (this.#reasons.size < MAX_REASONS) this.#reasons.set(reason, { count: 1, first: url });
  };
}
