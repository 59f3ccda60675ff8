import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { GathererConfig } from '../../../../protocols/config/gatherer-conf.js';
import { type ConfigError, messageOf, UsageError } from '../../../../protocols/errors.js';
import { canonicalUrl } from '../../../../protocols/urls/index.js';
import type { PublishedReferences } from '../../../../storage/references/builder.js';
import { configFromRoots } from '../../../all-in-one/roots.js';
import { gatherdFiles } from '../../../gatherd/files.js';
import { Gatherer, type GatherReport } from '../../../gatherer/gatherer.js';
import { type PublishedElsewhere, publishElsewhere } from '../../../gatherer/publish-elsewhere.js';
import { RunState } from '../../../gatherer/run/run-state.js';
import { writeGathererScripts } from '../../../gatherer/scripts.js';
import { debugProcessors, followDebug } from '../../../gatherer/watch/debug.js';
import { MonitoredGatherer } from '../../../gatherer/watch/figures.js';
import { logDocuments, logRun } from '../../../gatherer/watch/log.js';
import { createDebug, DebugFlags } from '../../../host/debug-flags.js';
import { createLogger } from '../../../host/logger.js';
import { type PidRecord, runningProcess } from '../../../host/pid-file.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { Monitor } from '../../../monitor/monitor.js';
import { writeExportFiles } from '../../db/export-files.js';
import type { MonitorOption } from '../../options/connection-options.js';
import { LOOPBACK } from '../../options/option-values.js';
import { publishPlaceOf, storeUrlOf } from '../../options/place-values.js';
import { EXIT } from '../../output/exit.js';
import { writeMessage } from '../../output/printable.js';
import {
  argumentsOf,
  debugArguments,
  HARVEST_PROGRAM,
  startGatherd,
  startUnattended,
} from '../../start-program.js';
import { elsewhereText, GatherProgress, gatheredText } from '../gather-progress.js';

interface GathererCliOptions extends MonitorOption {
  readonly force: boolean;
  readonly data?: string;
  readonly store?: string;
  readonly publish?: string;
  readonly daemon: boolean;
  readonly host: string;
  readonly json: boolean;
  readonly jsonLog: boolean;
  readonly stopLimit: number;
  readonly lowDisk?: number;
  readonly only?: readonly string[];
  readonly debug: readonly string[];
  readonly background: boolean;
  readonly inBackground: boolean;
  readonly export: boolean;
  readonly manual: boolean;
  readonly debugAll: boolean;
}

/** The published generation. */
interface Published {
  readonly generation: number;
  readonly objects: number;
  /** Undefined if no link changed. */
  readonly references: PublishedReferences | undefined;
  /** Undefined without `Publish`. */
  readonly elsewhere: PublishedElsewhere | undefined;
}

/** The gatherd that serves the summaries. */
interface Daemon {
  readonly address: string;
  readonly pid: number;
  /** False if it was already running. */
  readonly started: boolean;
}

/** The action of `harvest gatherer`. */
export async function runGatherer(
  file: string,
  options: GathererCliOptions,
  command: Command,
): Promise<number> {
  return options.background ? gatherInBackground(file, options, command) : await gatherOnce(file, options);
}

/** Looks for the pid file of a daemon, and the milliseconds between them. */
const RUNNING_TRIES = 30;

const RUNNING_POLL_MS = 100;

/** G-12: the flags of `-debug`: the sections of G-150 that the Gatherer, Essence and the libraries have. */
const ALL_SECTIONS = Array.from({ length: 86 - 20 + 1 }, (_, index) => `-D${20 + index}`);

async function gatherOnce(file: string, options: GathererCliOptions): Promise<number> {
  const { config, warnings } = readConfiguration(file, options);
  const flags = [...config.debugOptions, ...(options.debugAll ? ALL_SECTIONS : []), ...options.debug];
  const debugFlags = DebugFlags.parse(flags, process.env.HARVEST_DEBUG);
  const level = debugFlags.any ? 'debug' : 'info';
  const json = options.jsonLog;
  const log = createLogger({ program: 'essence', file: config.logFile, level, json });
  const errors = createLogger({ program: 'essence', file: config.errorlogFile, json });
  for (const { message } of warnings) errors.warn(message);
  let phase = 'the start';
  using stopSignal = new StopSignal({
    limit: {
      program: 'gatherer',
      limitMs: options.stopLimit * 1000,
      report: (sentence) => errors.error(sentence),
    },
  }).waitsFor(() => [phase]);
  const stop = stopSignal.signal;
  let gathered: GatherReport | undefined;
  let published: Published;
  using phases = options.manual ? new Phases(stop) : undefined;
  try {
    using progress = options.inBackground ? undefined : new GatherProgress();
    using _debug = debugFlags.any ? followDebug(createDebug(debugFlags, log)) : undefined;
    const monitored = new MonitoredGatherer();
    await using _monitor =
      options.monitor &&
      (await Monitor.listen({ address: options.monitor, servers: [monitored], log: errors }));
    await using gatherer = await Gatherer.open({
      directory: config.dataDirectory,
      config,
      configFile: file,
      force: options.force || options.only !== undefined,
      keepTemporaryFiles: options.debugAll,
      lowDiskMiB: options.lowDisk,
      onProblem: ({ message }) => errors.warn(message),
      log,
      onControl: (control, url) => {
        monitored.crawls(control);
        if (url !== undefined) process.stderr.write(`gatherer: the crawl's console is ${url}\n`);
      },
      ...(debugFlags.any ? { processors: debugProcessors() } : {}),
    });
    monitored.watch(gatherer);
    if (options.only !== undefined) await refuseToDiscard(gatherer);
    using _log = logDocuments(log, errors);
    phase = 'the documents in progress';
    if (!options.export) {
      progress?.showPhase('gather');
      gathered = await logRun(log, errors, gatherer.config, () => gatherer.run(stop));
      if ((await phases?.confirm(gatheredText(gathered), 'publish')) === false) return EXIT.ok;
    }
    phase = 'the publication';
    progress?.showPhase('publish');
    const generation = await gatherer.publish();
    const references = await gatherer.publishReferences(stop);
    await writeExportFiles(config.dataDirectory, Math.floor(Date.now() / 1000));
    const elsewhere = await publishElsewhere(gatherer, {
      signal: stop,
      onLeftover: (error) => errors.warn(messageOf(error)),
    });
    published = { generation, objects: gatherer.store.summaries.count, references, elsewhere };
    const next = 'write the scripts and start gatherd';
    if ((await phases?.confirm(publishedText(published), next)) === false) return EXIT.ok;
  } catch (error) {
    if (!stop.aborted) throw error;
    process.stderr.write('gatherer: stopped; the gathered documents are kept, and the next run continues\n');
    return EXIT.interrupted;
  }
  const scripts = await writeGathererScripts({
    directory: config.topDirectory,
    configurationFile: file,
    dataDirectory: config.dataDirectory,
    // The scripts must use the same database as this command line.
    gathererOptions: [
      ...(options.data === undefined ? [] : ['--data', config.dataDirectory]),
      ...(options.store === undefined ? [] : ['--store', options.store]),
      ...(options.publish === undefined ? [] : ['--publish', options.publish]),
      ...(options.host === LOOPBACK ? [] : ['--host', options.host]),
    ],
    host: options.host,
    port: config.gathererPort,
    harvest: [process.execPath, HARVEST_PROGRAM],
  });
  // G-117: a running gatherd finds the new generation itself; inetd starts its own.
  const needsGatherd = options.daemon && !config.gatherdInetd;
  const daemon = needsGatherd ? await ensureGatherd(config, options.host, flags) : undefined;
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ gathered, ...published, scripts, gatherd: daemon })}\n`
      : reportText(gathered, published, daemon),
  );
  return EXIT.ok;
}

/** Checks the configuration, starts this command in the background, and returns (`-background`). */
function gatherInBackground(file: string, options: GathererCliOptions, command: Command): number {
  if (options.manual) throw new UsageError('-manual needs a terminal: it cannot be used with -background');
  const { errorlogFile } = readConfiguration(file, options).config;
  const pid = startUnattended(
    ['gatherer', '--in-background', file, ...argumentsOf(command, ['background', 'json'])],
    resolve(errorlogFile),
  );
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ background: pid })}\n`
      : `gathering in the background: process ${pid}, messages in ${errorlogFile}\n`,
  );
  return EXIT.ok;
}

/** Reads the configuration; prints its warnings, unless they go to log.errors only. */
function readConfiguration(
  file: string,
  options: GathererCliOptions,
): { readonly config: GathererConfig; readonly warnings: readonly ConfigError[] } {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new UsageError(`${file}: must be a configuration file, not a directory`);
  }
  const path = resolve(file);
  const { config, warnings } = configFromRoots([path], {});
  if (!options.inBackground) for (const { message } of warnings) writeMessage(`warning: ${message}`);
  const resolved = {
    ...(options.only === undefined ? config : withOnlyUrls(config, options.only)),
    topDirectory: resolve(config.topDirectory),
    dataDirectory: resolve(options.data ?? config.dataDirectory),
    publish: options.publish === undefined ? config.publish : publishPlaceOf(options.publish),
    storeUrl: options.store === undefined ? config.storeUrl : storeUrlOf(options.store),
    logFile: resolve(config.logFile),
    errorlogFile: resolve(config.errorlogFile),
  };
  return { config: resolved, warnings };
}

/** G-9: replaces the nodes of a configuration by the URLs as LeafNodes. */
function withOnlyUrls(config: GathererConfig, urls: readonly string[]): GathererConfig {
  const leafNodes = urls.map((configuredUrl) => {
    const url = canonicalUrl(configuredUrl);
    if (url === undefined) throw new UsageError(`--only: ${configuredUrl} is not a URL that can be gathered`);
    return { url, configuredUrl, line: 0 };
  });
  return { ...config, rootNodes: [], leafNodes };
}

/** @throws UsageError if a run with `--only` would discard the rest of an interrupted run (G-171) */
async function refuseToDiscard({ store, config }: Gatherer): Promise<void> {
  if ((await store.meta.get('run.state')) !== 'running') return;
  if ((await new RunState(store, config).interrupted()) !== undefined) return;
  throw new UsageError('--only: an interrupted run must be finished first: run the Gatherer without --only');
}

async function ensureGatherd(
  { dataDirectory, gathererPort }: GathererConfig,
  host: string,
  flags: readonly string[],
): Promise<Daemon> {
  const { pid } = await gatherdFiles(dataDirectory);
  const running = await runningProcess(pid);
  if (running !== undefined) return { address: running.address, pid: running.pid, started: false };
  const args = [...debugArguments(flags), '--host', host, String(gathererPort)];
  try {
    return { ...(await startGatherd(dataDirectory, undefined, args)), started: true };
  } catch (error) {
    const found = await runningSoon(pid);
    if (found === undefined) throw error;
    return { address: found.address, pid: found.pid, started: false };
  }
}

/**
 * Waits for the pid file of a daemon whose directory was deleted while it ran, which writes the file again
 * within a second.
 */
async function runningSoon(pidFile: string): Promise<PidRecord | undefined> {
  for (let tries = 0; tries < RUNNING_TRIES; tries++) {
    const running = await runningProcess(pidFile);
    if (running !== undefined && running.address !== '') return running;
    await delay(RUNNING_POLL_MS);
  }
  return undefined;
}

function reportText(
  gathered: GatherReport | undefined,
  published: Published,
  daemon: Daemon | undefined,
): string {
  const lines = [...(gathered === undefined ? [] : [gatheredText(gathered)]), publishedText(published)];
  if (daemon !== undefined) {
    const how = daemon.started ? 'started' : 'was running';
    lines.push(`gatherd ${how}: ${daemon.address}, process ${daemon.pid}`);
  }
  return `${lines.join('\n')}\n`;
}

function publishedText({ generation, objects, references, elsewhere }: Published): string {
  const lines = [`Published generation ${generation}: ${objects} objects`];
  if (references !== undefined) {
    const { generation: number, links, documents } = references;
    lines.push(`Published references ${number}: ${links} links, ${documents} documents`);
  }
  if (elsewhere !== undefined) lines.push(elsewhereText(elsewhere));
  return lines.join('\n');
}

/** Stops a run after each of its phases, until the user presses Enter (G-12, `-manual`). */
class Phases implements Disposable {
  readonly #signal: AbortSignal;
  readonly #input: Interface;
  readonly #lines: AsyncIterator<string>;
  readonly #close = (): void => this.#input.close();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#input = createInterface({ input: process.stdin, terminal: false });
    this.#lines = this.#input[Symbol.asyncIterator]();
    signal.addEventListener('abort', this.#close, { once: true });
  }

  /**
   * Prints the finished phase and asks whether to continue: Enter does, `q` or the end of the input does not.
   *
   * @param done a report of the phase
   * @param next what follows, e.g. `publish`
   * @returns false if the user ends the run
   * @throws the signal's reason when aborted
   */
  async confirm(done: string, next: string): Promise<boolean> {
    process.stderr.write(`${done}\nNext: ${next}. Press Enter to continue, q to end here: `);
    const answer = await this.#lines.next();
    this.#signal.throwIfAborted();
    process.stderr.write('\n');
    return answer.done !== true && !/^\s*q/i.test(answer.value);
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#close);
    this.#input.close();
  }
}
