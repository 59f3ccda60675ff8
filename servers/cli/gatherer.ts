import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { GATHERER_VARIABLES, type GathererConfig, variablesText } from '../../protocols/config/index.js';
import { UsageError } from '../../protocols/errors.js';
import { canonicalUrl } from '../../protocols/urls/index.js';
import type { PublishedReferences } from '../../storage/references/index.js';
import { configFromRoots } from '../all-in-one/index.js';
import { gatherdFiles } from '../gatherd/index.js';
import {
  debugProcessors,
  followDebug,
  Gatherer,
  type GatherReport,
  logDocuments,
  logRun,
  writeGathererScripts,
} from '../gatherer/index.js';
import { RunState } from '../gatherer/run-state.js';
import { createDebug, createLogger, DebugFlags, runningProcess, StopSignal } from '../host/index.js';
import { writeExportFiles } from './db/export-files.js';
import { EXIT } from './exit.js';
import { GatherProgress } from './gather-progress.js';
import { HARVEST_PROGRAM, startGatherd } from './start-gatherd.js';

const HELP = `
FILE is a Gatherer's configuration file. Its documents are gathered once, the summaries are published, and gatherd is
started in the background on Gatherer-Port, unless one is running (it serves the new summaries by itself) or Gatherd-Inetd
is set. The links that were found are published beside them, for "harvest refererd --data DIR" (unless FILE says References: off).
An interrupted run is finished by the next one; documents whose Refresh-Rate is not over are left alone.

In Top-Directory (default: FILE's directory) it writes log.gatherer, log.errors, and the scripts RunGatherer, for cron, and
RunGatherd, for the boot file; a script that was changed (its "Written by" line is gone) is left as it is.

--only gathers just these URLs, whether their Refresh-Rate is over or not, and enumerates nothing: for programs that know what they
have changed. All other documents stay as they are.

Debugging: -Dsection,level, Debug-Options in FILE, or $HARVEST_DEBUG; a level shows those below it, too, and -Dsection alone all.
What is shown goes to log.gatherer; gatherd gets the flags, too.
  20 1,5,9  URLs: Local-Mapping (1), what is asked (5), what came (9)      60 1      documents as they came
  21 1,5,9  HTTP: requests (1), logins (5), headers (9)                    61 1      the database
  22 1,5    the disk cache                                                 62 1      what became of each document
  23 1      FTP                                                            63 1      how types are told
  24 1      Gopher                                                         64 1      summaries
  40 1,5,9  enumeration: links (1), depth (5), queue (9)                   65 1      objects that were extracted
  41 1      what is known of a URL, URLs that are none                     66 1,2,5  post-summarizing rules
  42, 43    links of HTTP and Gopher documents (1), each (5), embeds (9)   67 1      URL and MD5
  44 1,5    filters: what they deny (1), allow (5), and the line           69 1,5,9  SOIF: objects (1), attributes (5), all (9)
  45, 46 1  FTP and file listings
  48 1,5    robots.txt: what it forbids (1), allows (5)

Examples:
  harvest gatherer sample.cf
  harvest gatherer -force sample.cf        look at documents again whose Refresh-Rate is not over
  harvest gatherer --no-daemon sample.cf   gather and publish only
  harvest gatherer sample.cf --only http://www.example.org/news.html http://www.example.org/
  harvest gatherer -D20,1 sample.cf        how Local-Mapping makes file names, and why it fails
  harvest gatherer --help-variables        every variable of FILE
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
  readonly logJson: boolean;
  readonly only?: readonly string[];
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
  return (
    new Command('gatherer')
      .description('Gathers by a configuration file, publishes the summaries, starts gatherd.')
      .argument('<file>', 'configuration file')
      .option('--force', 'look at documents again whose Refresh-Rate is not over (-force)', false)
      .option('--data <directory>', 'where the database is kept (default: Data-Directory)')
      .option('--no-daemon', 'do not start gatherd')
      .option('--host <address>', 'address that gatherd listens on', LOOPBACK)
      .option('--only <url...>', 'gather these URLs and nothing else')
      .option('--json', 'print the counts as one JSON line', false)
      .option('--log-json', 'write the logs as JSON lines', false)
      .option('--help-variables', "describe the configuration file's variables")
      .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', collect, [])
      .addHelpText('after', HELP)
      // Like --help: it asks for no file.
      .on('option:help-variables', () => {
        process.stdout.write(variablesText(GATHERER_VARIABLES.describe()));
        process.exit(EXIT.ok);
      })
      .action(async (file: string, options: GathererCliOptions) => {
        process.exitCode = await gatherOnce(file, options);
      })
  );
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

async function gatherOnce(file: string, options: GathererCliOptions): Promise<number> {
  const config = readConfiguration(file, options);
  const flags = [...config.debugOptions, ...options.debug];
  const debugFlags = DebugFlags.parse(flags, process.env.HARVEST_DEBUG);
  const level = debugFlags.any ? 'debug' : 'info';
  const json = options.logJson;
  const log = createLogger({ program: 'essence', file: config.logFile, level, json });
  const errors = createLogger({ program: 'essence', file: config.errorlogFile, json });
  using stopSignal = new StopSignal();
  const stop = stopSignal.signal;
  let gathered: GatherReport;
  let published: Published;
  try {
    using progress = new GatherProgress();
    using _debug = debugFlags.any ? followDebug(createDebug(debugFlags, log)) : undefined;
    await using gatherer = await Gatherer.open({
      directory: config.dataDirectory,
      config,
      configFile: file,
      force: options.force || options.only !== undefined,
      onProblem: ({ message }) => errors.warn(message),
      log,
      onControl: (_, url) => {
        if (url !== undefined) process.stderr.write(`gatherer: the crawl's console is ${url}\n`);
      },
      ...(debugFlags.any ? { processors: debugProcessors() } : {}),
    });
    if (options.only !== undefined) await refuseToForget(gatherer);
    using _log = logDocuments(log, errors);
    progress.phase('gather');
    gathered = await logRun(log, errors, config, () => gatherer.run(stop));
    progress.phase('publish');
    const generation = await gatherer.publish();
    const references = await gatherer.publishReferences(stop);
    await writeExportFiles(config.dataDirectory, Math.floor(Date.now() / 1000));
    published = { generation, objects: gatherer.store.summaries.count, references };
  } catch (error) {
    if (!stop.aborted) throw error;
    process.stderr.write('gatherer: stopped; what was gathered is kept, the next run goes on from here\n');
    return EXIT.interrupted;
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
    ...(options.only === undefined ? config : limitedTo(config, options.only)),
    topDirectory: resolve(config.topDirectory),
    dataDirectory: resolve(options.data ?? config.dataDirectory),
    logFile: resolve(config.logFile),
    errorlogFile: resolve(config.errorlogFile),
  };
}

/** G-9: the URLs as LeafNodes, and nothing that is enumerated. */
function limitedTo(config: GathererConfig, urls: readonly string[]): GathererConfig {
  const leafNodes = urls.map((configuredUrl) => {
    const url = canonicalUrl(configuredUrl);
    if (url === undefined) throw new UsageError(`--only: ${configuredUrl} is no URL that can be gathered`);
    return { url, configuredUrl, line: 0 };
  });
  return { ...config, rootNodes: [], leafNodes };
}

/** A short run must not cost the rest of a long one that was interrupted (G-171). */
async function refuseToForget({ store, config }: Gatherer): Promise<void> {
  if ((await store.meta.get('run.state')) !== 'running') return;
  if ((await new RunState(store, config).interrupted()) !== undefined) return;
  throw new UsageError('--only: an interrupted run is to be finished first: run the Gatherer without --only');
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
