import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import type { GathererConfig } from '../../protocols/config/index.js';
import { UsageError } from '../../protocols/errors.js';
import { configFromRoots } from '../../servers/all-in-one/index.js';
import { gatherdFiles } from '../../servers/gatherd/index.js';
import {
  type DocumentEvent,
  documentChannel,
  Gatherer,
  type GatherReport,
  logDocuments,
  writeGathererScripts,
} from '../../servers/gatherer/index.js';
import {
  createDebug,
  createLogger,
  type Debug,
  DebugFlags,
  runningProcess,
} from '../../servers/host/index.js';
import type { PublishedReferences } from '../../storage/references/index.js';
import { writeExportFiles } from './db/export-files.js';
import { EXIT } from './exit.js';
import { GatherProgress } from './progress.js';
import { HARVEST_PROGRAM, startGatherd } from './start-gatherd.js';

const HELP = `
FILE is a Gatherer's configuration file. Its documents are gathered once, the summaries are published, and gatherd is
started in the background on Gatherer-Port, unless one is running (it serves the new summaries by itself) or Gatherd-Inetd
is set. The links that were found are published beside them, for "harvest refererd --data DIR" (unless FILE says References: off).
An interrupted run is finished by the next one; documents whose Refresh-Rate is not over are left alone.

In Top-Directory (default: FILE's directory) it writes log.gatherer, log.errors, and the scripts RunGatherer, for cron, and
RunGatherd, for the boot file; a script that was changed (its "Written by" line is gone) is left as it is.

Debugging: -Dsection,level, Debug-Options in FILE, or $HARVEST_DEBUG. -D62,1 shows each document, and gatherd gets the flags
too. What is shown goes to log.gatherer.

Examples:
  harvest gatherer sample.cf
  harvest gatherer -force sample.cf        look at documents again whose Refresh-Rate is not over
  harvest gatherer --no-daemon sample.cf   gather and publish only
  harvest kill-gatherd -d data             stops the gatherd that was started

Exit status: 0 done; 1 failure; 2 usage or configuration; 130 stopped while gathering.
`;

const LOOPBACK = '127.0.0.1';

interface GathererCliOptions {
  readonly force: boolean;
  readonly data?: string;
  readonly daemon: boolean;
  readonly host: string;
  readonly json: boolean;
  readonly debug: readonly string[];
}

/** What was published. */
interface Published {
  readonly generation: number;
  readonly objects: number;
  /** Undefined when no link changed. */
  readonly references: PublishedReferences | undefined;
}

/** The gatherd that serves what was gathered. */
interface Daemon {
  readonly address: string;
  readonly pid: number;
  /** False when it was running already. */
  readonly started: boolean;
}

/** `Gatherer FILE` (G-5, G-117). */
export function gathererCommand(): Command {
  return new Command('gatherer')
    .description('Gathers by a configuration file, publishes the summaries, starts gatherd.')
    .argument('<file>', 'configuration file')
    .option('--force', 'look at documents again whose Refresh-Rate is not over (-force)', false)
    .option('--data <directory>', 'where the database is kept (default: Data-Directory)')
    .option('--no-daemon', 'do not start gatherd')
    .option('--host <address>', 'address that gatherd listens on', LOOPBACK)
    .option('--json', 'print the counts as one JSON line', false)
    .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', collect, [])
    .addHelpText('after', HELP)
    .action(async (file: string, options: GathererCliOptions) => {
      process.exitCode = await gatherOnce(file, options);
    });
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

async function gatherOnce(file: string, options: GathererCliOptions): Promise<number> {
  const config = readConfiguration(file, options);
  const flags = [...config.debugOptions, ...options.debug];
  const debugFlags = DebugFlags.parse(flags, process.env.HARVEST_DEBUG);
  const level = debugFlags.any ? 'debug' : 'info';
  const log = createLogger({ program: 'essence', file: config.logFile, level });
  const errors = createLogger({ program: 'essence', file: config.errorlogFile });
  const stop = stopSignal();
  const progress = GatherProgress.start();
  let gathered: GatherReport;
  let published: Published;
  try {
    await using gatherer = await Gatherer.open({
      directory: config.dataDirectory,
      config,
      force: options.force,
    });
    using _log = logDocuments(log, errors);
    using _debug = debugDocuments(createDebug(debugFlags, log));
    progress.phase('gather');
    gathered = await gatherer.run(stop);
    progress.phase('publish');
    const generation = await gatherer.publish();
    const references = await gatherer.publishReferences(stop);
    await writeExportFiles(config.dataDirectory, Math.floor(Date.now() / 1000));
    published = { generation, objects: gatherer.store.summaries.count, references };
  } catch (error) {
    if (!stop.aborted) throw error;
    process.stderr.write('gatherer: stopped; what was gathered is kept, the next run goes on from here\n');
    return EXIT.interrupted;
  } finally {
    progress.stop();
  }
  const scripts = await writeGathererScripts({
    directory: config.topDirectory,
    configurationFile: file,
    dataDirectory: config.dataDirectory,
    // Both scripts are about the same database: what the line said of it holds for cron, too.
    gathererOptions: [
      ...(options.data === undefined ? [] : ['--data', config.dataDirectory]),
      ...(options.host === LOOPBACK ? [] : ['--host', options.host]),
    ],
    host: options.host,
    port: config.gathererPort,
    harvest: [process.execPath, HARVEST_PROGRAM],
  });
  // G-117: one that runs serves the new generation by itself; with Gatherd-Inetd none is started.
  const wanted = options.daemon && !config.gatherdInetd;
  const daemon = wanted ? await ensureGatherd(config, options.host, flags) : undefined;
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ gathered, ...published, scripts, gatherd: daemon })}\n`
      : sentence(gathered, published, daemon),
  );
  return EXIT.ok;
}

function readConfiguration(file: string, options: GathererCliOptions): GathererConfig {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new UsageError(`${file}: a configuration file is wanted, not a directory`);
  }
  const path = resolve(file);
  const { config, warnings } = configFromRoots([path], {}, options.data ?? '.');
  for (const { message } of warnings) process.stderr.write(`warning: ${message}\n`);
  return {
    ...config,
    topDirectory: resolve(config.topDirectory),
    dataDirectory: resolve(options.data ?? config.dataDirectory),
    logFile: resolve(config.logFile),
    errorlogFile: resolve(config.errorlogFile),
  };
}

function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  }
  return stop.signal;
}

/** G-150: section 62 is the main part of essence. */
function debugDocuments(debug: Debug): Disposable {
  const listen = (message: unknown): void => {
    const { url, disposition, type, status, bytes } = message as DocumentEvent;
    debug(62, 1, () => `${url}: ${disposition}, type ${type}, status ${status}, ${bytes} bytes`);
  };
  documentChannel.subscribe(listen);
  return {
    [Symbol.dispose]() {
      documentChannel.unsubscribe(listen);
    },
  };
}

async function ensureGatherd(
  { dataDirectory, gathererPort }: GathererConfig,
  host: string,
  flags: readonly string[],
): Promise<Daemon> {
  const running = await runningProcess((await gatherdFiles(dataDirectory)).pid);
  if (running !== undefined) return { address: running.address, pid: running.pid, started: false };
  const words = [
    ...flags.map((flag) => `-D${flag.replace(/^-D/, '')}`),
    '--host',
    host,
    String(gathererPort),
  ];
  return { ...(await startGatherd(dataDirectory, undefined, words)), started: true };
}

function sentence(
  { counts, seconds, resumed }: GatherReport,
  { generation, objects, references }: Published,
  daemon: Daemon | undefined,
): string {
  const { summarized, unchanged, kept, rejected, failed } = counts;
  const lines = [
    `${resumed ? 'Went on' : 'Gathered'}: ${summarized} summarized, ${unchanged} unchanged, ${kept} kept, ${rejected} rejected, ${failed} failed in ${seconds.toFixed(1)} s`,
    `Published generation ${generation}: ${objects} objects`,
  ];
  if (references !== undefined) {
    const { links, documents } = references;
    lines.push(`Published references ${references.generation}: ${links} links, ${documents} documents`);
  }
  if (daemon !== undefined) {
    const how = daemon.started ? 'started' : 'was running';
    lines.push(`gatherd ${how}: ${daemon.address}, process ${daemon.pid}`);
  }
  return `${lines.join('\n')}\n`;
}
