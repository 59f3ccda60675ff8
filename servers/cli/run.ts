import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_DELAY } from '../../protocols/config/index.js';
import { isDiskFull, messageOf, StorageError } from '../../protocols/errors.js';
import type { PublishedReferences } from '../../storage/references/index.js';
import {
  AllInOne,
  type CycleReport,
  configFromRoots,
  DocumentsServer,
  findTrials,
  type LogName,
  readOwnDocuments,
  type Trials,
} from '../all-in-one/index.js';
import { createLogger, type Logger, StopSignal } from '../host/index.js';
import type { CommandEntry } from './command-entry.js';
import { addConfigOption } from './config-option.js';
import {
  addConnectionOptions,
  addPeerOptions,
  type ConnectionOptions,
  connectionLimits,
  stopTimes,
} from './connection-options.js';
import { EXIT } from './exit.js';
import { FailureNotes } from './failure-notes.js';
import { GatherProgress } from './gather-progress.js';
import { commandDocuments } from './help/command-documents.js';
import { countOption, integerOption, portOption, secondsOption } from './option-values.js';
import { printableJson, writeMessage } from './printable.js';
import { spelling } from './spelling.js';

interface RunOptions extends ConnectionOptions {
  readonly data: string;
  readonly host: string;
  readonly gatherdPort?: number;
  readonly brokerPort: number;
  readonly webPort: number;
  readonly referencesPort: number;
  readonly documentsPort: number;
  readonly once: boolean;
  readonly delay?: number;
  readonly depth?: number;
  readonly urls?: number;
  readonly hosts?: number;
  readonly connections: number;
  readonly force: boolean;
  readonly jsonLog: boolean;
  readonly lowDisk?: number;
}

const HELP = `
ROOT is a URL, a directory, or an original Gatherer configuration file; several may be given. Without one, run
serves the documents of the kit over HTTP and gathers them from there, so that a first look needs no network.

A URL with a login (http://user:password@host/) belongs into a configuration file: other users can see the command line.

All data is stored below --data. A second run on the same directory continues: it finishes an interrupted run, skips documents
that are not yet due (Refresh-Rate), and requests the others conditionally.

The links of http, https, ftp and gopher documents are published in gatherer/ below --data, for the references server; result
pages show the number of links to each document. harvest pagerank --data DIR/gatherer ranks them.

Examples:
  harvest run                                      try it with the kit's own documents
  harvest run http://www.example.org/              at most 250 pages of one host, one per second
  harvest run http://www.example.org/ --urls 2000 --delay 2 --depth 5
  harvest run /usr/share/doc                       a directory
  harvest run sample.cf                            an original configuration file
  harvest run --config run.json                    {"arguments": ["http://www.example.org/"], "web-port": 9080, "delay": 2}
  harvest run --once ROOT                          gather, publish, collect, print the counts as JSON, exit

Exit status: 0 done, or stopped when everything was ready; 1 failure, with --once also if nothing was gathered from a ROOT; 2 usage or configuration; 130 stopped while gathering.
`;

/**
 * `harvest run [ROOT...]`: the whole chain in one process.
 *
 * @param commands all commands, whose help is among the documents of a run without a ROOT
 */
export function runCommand(commands: readonly CommandEntry[]): Command {
  const command = new Command('run')
    .summary('gather documents, serve the summaries, search them: everything in one process')
    .description(
      'Gathers documents, exports their summaries by gatherd, collects them in a broker, serves a search page and the link graph.',
    )
    .argument('[root...]', 'URL, directory or Gatherer configuration file')
    .option('--data <dir>', 'directory for all data', './data')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option('--gatherd-port <port>', 'gatherd (default: 8500, or Gatherer-Port)').argParser(portOption),
    )
    .option('--broker-port <port>', 'broker; for every port 0 = any free port', portOption, 8501)
    .option('--web-port <port>', 'search page', portOption, 8080)
    .option('--references-port <port>', 'references server', portOption, 3324)
    .option('--documents-port <port>', "the kit's own documents, without a ROOT", portOption, 8079)
    .option('--once', 'gather, publish, collect, print the counts as one JSON line, exit', false)
    .option(
      '--delay <seconds>',
      `time between requests to a server (default: ${DEFAULT_DELAY}; local files 0)`,
      secondsOption,
    )
    .option(
      '--depth <steps>',
      'maximum number of steps from each ROOT; 0 = no limit (default: 0)',
      integerOption,
    )
    .option(
      '--urls <number>',
      'maximum number of URLs of each ROOT (default: 250; directories 100000)',
      countOption,
    )
    .option('--hosts <number>', 'maximum number of hosts of each ROOT (default: 1)', countOption)
    .option(
      '--connections <number>',
      'connections per host; more than 1 only for your own hosts',
      connectionsOption,
      1,
    )
    .option('--force', 'also gather documents that are not yet due (Refresh-Rate)', false)
    .option(
      '--low-disk <MiB>',
      'gathering pauses, with --once it ends, while less space is free; 0 = never (default: 512)',
      integerOption,
    )
    .option('--json-log', 'log as JSON lines on standard error', false);
  addConfigOption(command);
  addConnectionOptions(command, 'gatherd 2048, broker 256, search page 256, references server 8192');
  return addPeerOptions(command, '120; search page and references server 60')
    .addHelpText('after', HELP)
    .action(async (roots: string[], options: RunOptions) => {
      process.exitCode = await run(roots, options, commands);
    });
}

function connectionsOption(value: string): number {
  const number = integerOption(value);
  if (number < 1 || number > 64) throw new InvalidArgumentError('must be between 1 and 64');
  return number;
}

async function run(
  roots: readonly string[],
  options: RunOptions,
  commands: readonly CommandEntry[],
): Promise<number> {
  await using documents = roots.length === 0 ? await serveOwnDocuments(options, commands) : undefined;
  const { config, warnings } =
    documents === undefined
      ? configFromRoots(roots, options)
      : configFromRoots([documents.url], { ...options, delay: options.delay ?? 0 });
  const jsonLog = options.jsonLog ? logger('gatherer', options) : undefined;
  const print = (text: string): void => {
    if (jsonLog === undefined) process.stderr.write(text);
    else for (const line of text.trimEnd().split('\n')) jsonLog.info(line);
  };
  for (const { message } of warnings) {
    if (jsonLog === undefined) writeMessage(`warning: ${message}`);
    else jsonLog.warn(message);
  }

  let phaseName = 'the start';
  let waitingFor = (): string[] => [phaseName];
  using stop = new StopSignal({
    limit: { program: 'harvest run', limitMs: stopTimes(options).stopLimitMs },
  }).waitsFor(() => waitingFor());
  await using kit = await AllInOne.start({
    dataDirectory: options.data,
    host: options.host,
    gatherdPort: options.gatherdPort ?? config.gathererPort,
    brokerPort: options.brokerPort,
    webPort: options.webPort,
    referencesPort: options.referencesPort,
    config,
    connections: connectionLimits(options),
    graceMs: stopTimes(options).graceMs,
    gatherer: {
      queuesPerHost: options.connections,
      force: options.force,
      endOnLowDisk: options.once,
      ...(options.lowDisk === undefined ? {} : { lowDiskMiB: options.lowDisk }),
    },
    log: (name) => logger(name, options),
  });
  waitingFor = () => [phaseName, ...kit.activities];
  let report: CycleReport | undefined;
  using failures = new FailureNotes();
  try {
    using progress = new GatherProgress(jsonLog);
    const showPhase = (phase: keyof typeof PHASE_NAMES): void => {
      phaseName = PHASE_NAMES[phase];
      progress.showPhase(phase);
    };
    while (report === undefined) {
      report = await kit.cycle(stop.signal, showPhase).catch((error: unknown) => {
        if (stop.signal.aborted || !isDiskFull(error)) throw error;
        if (options.once) {
          const kept = 'the gathered documents are kept, and the next run continues';
          throw new StorageError(`${messageOf(error)}; ${kept}`, { cause: error });
        }
        print(`${messageOf(error)}; it goes on when there is space.\n`);
        return undefined;
      });
      if (report === undefined) await kit.waitForSpace(stop.signal);
    }
    phaseName = 'the end';
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    print('Stopped. The gathered documents are kept; the next run continues.\n');
    return EXIT.interrupted;
  }
  const failed = failures.text(join(options.data, LOGS.errors.file));
  const { failedRoots } = report.gathered;
  for (const { url, reason } of failedRoots)
    print(`${url}: nothing was gathered from this root: ${reason}\n`);
  const incomplete = report.collected.points.filter((point) => !point.complete);
  for (const { host, port, error } of incomplete)
    print(
      `The Broker could not collect from ${host}:${port}: ${error ?? 'unknown'}; the next run collects again.\n`,
    );
  if (options.once) {
    process.stdout.write(`${printableJson(summary(report))}\n`);
    if (failed !== '') print(failed);
    return incomplete.length + failedRoots.length === 0 ? EXIT.ok : EXIT.failure;
  }
  print(reportText(report) + failed);
  const { gatherer, refererd } = kit;
  const trials = await findTrials(gatherer.store.summaries, refererd.service.references.current);
  process.stdout.write(readyLines(kit, documents, trials));
  // An administrator may stop the broker too (BRK-5.1, #shutdown).
  await Promise.race([stop.stopped, kit.broker.shutdownRequested]);
  print('Stopping.\n');
  return EXIT.ok;
}

const PHASE_NAMES = {
  gather: 'the documents in progress',
  publish: 'the publication',
  collect: 'the collection',
} as const;

const LOGS = {
  gatherer: { program: 'essence', file: 'gatherer/log.gatherer' },
  errors: { program: 'essence', file: 'gatherer/log.errors' },
  gatherd: { program: 'gatherd', file: 'gatherer/gatherd.log' },
  refererd: { program: 'refererd', file: 'gatherer/refererd.log' },
  broker: { program: 'broker', file: 'broker/broker.out' },
  web: { program: 'web', file: 'broker/web.log' },
} as const;

/** Logs go to files in the data directory, or as JSON lines to standard error. */
function logger(log: LogName, options: RunOptions): Logger {
  const { program, file } = LOGS[log];
  if (options.jsonLog) return createLogger({ program, json: true });
  return createLogger({ program, file: join(options.data, file) });
}

/** Returns the counts that `--once` prints. */
function summary({
  gathered,
  generation,
  exported,
  references,
  collected,
  objects,
}: CycleReport): Record<string, unknown> {
  const { summarized, unchanged, kept, rejected, failed, redirected } = gathered.counts;
  const { added, updated, refreshed, deleted, duplicates, rejected: refused } = collected.totals;
  return {
    gathered: {
      summarized,
      unchanged,
      kept,
      rejected,
      failed,
      redirected,
      bytes: gathered.bytes,
      seconds: gathered.seconds,
    },
    resumed: gathered.resumed,
    roots: gathered.roots,
    generation,
    exported,
    references: references === undefined ? null : referencesSummary(references),
    collected: {
      received: collected.received,
      added,
      updated,
      refreshed,
      deleted,
      duplicates,
      rejected: refused,
    },
    objects,
  };
}

/** Returns the counts of the published links. */
function referencesSummary({ generation, documents, servers, links }: PublishedReferences) {
  return { generation, documents, servers, links };
}

function reportText({ gathered, exported, generation, references, collected, objects }: CycleReport): string {
  const { summarized, unchanged, kept, rejected, failed } = gathered.counts;
  const roots = gathered.roots
    .filter(({ refused }) => refused['url-max'] !== undefined)
    .map(({ url, urls }) => `  ${url}: stopped at ${urls} URLs; --urls raises the limit\n`);
  return [
    `${gathered.resumed ? 'Continued' : 'Gathered'}: ${summarized} summarized, ${unchanged} unchanged, ${kept} kept, `,
    `${rejected} rejected, ${failed} failed in ${gathered.seconds.toFixed(1)} s\n`,
    ...roots,
    `Published generation ${generation}: ${exported} objects. Broker received ${collected.received}, `,
    `rejected ${collected.totals.duplicates} duplicates, has ${objects} objects.\n`,
    references === undefined
      ? ''
      : `Published ${references.links} links between ${references.documents} documents of ${references.servers} ${references.servers === 1 ? 'server' : 'servers'}.\n`,
  ].join('');
}

/** Serves the READMEs and the help of the commands for a run without a ROOT. */
async function serveOwnDocuments(
  options: RunOptions,
  commands: readonly CommandEntry[],
): Promise<DocumentsServer> {
  const files = await readOwnDocuments();
  const newest = Math.max(...files.map(({ modified }) => modified.getTime()));
  return await DocumentsServer.listen({
    host: options.host,
    port: options.documentsPort,
    documents: [...files, ...(await commandDocuments(commands, new Date(newest)))],
    log: logger('web', options),
  });
}

/** The addresses, for programs, and commands that have an answer, for readers. */
function readyLines(
  { gatherd, refererd, brokerServer, web }: AllInOne,
  documents: DocumentsServer | undefined,
  { query, linked }: Trials,
): string {
  const address = ({ host, port }: { host: string; port: number }): string =>
    `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const broker = address(brokerServer.address);
  const { host, port } = gatherd.address;
  const harvest = spelling();
  return [
    `ready gatherd=${address(gatherd.address)} broker=${broker} web=${web.url}`,
    `ready refererd=${address(refererd.address)}`,
    '',
    'What to try next:',
    `  open ${web.url}`,
    ...(documents === undefined ? [] : [`  open ${documents.url}`]),
    ...(query === undefined ? [] : [`  ${harvest} query ${broker} '${query}'`]),
    `  ${harvest} gather -info ${host} ${port}`,
    `  ${harvest} gather ${host} ${port} | less`,
    ...(linked === undefined ? [] : [`  ${harvest} references --to ${address(refererd.address)} ${linked}`]),
    '',
  ].join('\n');
}
