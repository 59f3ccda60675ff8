import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_DELAY } from '../../protocols/config/index.js';
import {
  AllInOne,
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
  addTlsOptions,
  type ConnectionOptions,
  certificateFiles,
  connectionLimits,
  type MonitorOption,
  monitorOption,
  stopTimes,
  type TlsOptions,
} from './connection-options.js';
import { EXIT } from './exit.js';
import { commandDocuments } from './help/command-documents.js';
import { countOption, integerOption, periodOption, portOption, secondsOption } from './option-values.js';
import { printableJson, writeMessage } from './printable.js';
import { addPublicOptions, type PublicOptions, publicSettings } from './public-options.js';
import { reportText, summary } from './run-report.js';
import { nextRoundText, type RoundOptions, repeatRounds, runRound } from './run-rounds.js';
import { spelling } from './spelling.js';

interface RunOptions extends ConnectionOptions, MonitorOption, TlsOptions, PublicOptions {
  readonly data: string;
  readonly host: string;
  readonly gatherdPort?: number;
  readonly brokerPort: number;
  readonly webPort: number;
  readonly referencesPort: number;
  readonly documentsPort: number;
  readonly once: boolean;
  /** Seconds. */
  readonly every?: number;
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

With --every, documents are due again after each period: their Refresh-Rate is the period, unless a configuration file sets it. A
round that fails does not end the servers.

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
  harvest run --every 1d http://www.example.org/   every day; pages that did not change are not sent again

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
    .addOption(
      new Option('--every <period>', 'gather and collect again after each period: 90s, 30m, 12h, 1d, 2w')
        .argParser(periodOption)
        .conflicts('once'),
    )
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
  command.addOption(monitorOption());
  addTlsOptions(command, 'all ports');
  addPublicOptions(command);
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
  const { every } = options;
  const limits = { ...options, ...(every === undefined ? {} : { refreshRate: Math.ceil(every) }) };
  const { config, warnings } =
    documents === undefined
      ? configFromRoots(roots, limits)
      : configFromRoots([documents.url], { ...limits, delay: options.delay ?? 0 });
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
    tls: certificateFiles(options),
    brokerSettings: publicSettings(options),
    monitor: options.monitor,
    gatherer: {
      queuesPerHost: options.connections,
      force: options.force,
      endOnLowDisk: options.once,
      ...(options.lowDisk === undefined ? {} : { lowDiskMiB: options.lowDisk }),
    },
    log: (name) => logger(name, options),
  });
  const { certificate } = kit;
  if (certificate !== undefined) stop.on('SIGHUP', () => certificate.reloadLogged());
  waitingFor = () => [phaseName, ...kit.activities];
  const rounds: RoundOptions = {
    kit,
    signal: stop.signal,
    once: options.once,
    print,
    jsonLog,
    errorLog: join(options.data, LOGS.errors.file),
    onPhase: (phase) => {
      phaseName = PHASE_NAMES[phase];
    },
  };
  const begun = Date.now();
  const first = await runRound(rounds).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
    print('Stopped. The gathered documents are kept; the next run continues.\n');
    return undefined;
  });
  if (first === undefined) return EXIT.interrupted;
  phaseName = 'the end';
  const { report, failed, problems } = first;
  if (options.once) {
    process.stdout.write(`${printableJson(summary(report))}\n`);
    if (failed !== '') print(failed);
    return problems === 0 ? EXIT.ok : EXIT.failure;
  }
  print(reportText(report) + failed);
  const { gatherer, refererd } = kit;
  const trials = await findTrials(gatherer.store.summaries, refererd.service.references.current);
  if (options.every !== undefined) print(nextRoundText(begun + options.every * 1000));
  process.stdout.write(readyLines(kit, documents, trials));
  // An administrator may stop the broker too (BRK-5.1, #shutdown).
  const end = Promise.race([stop.stopped, kit.broker.shutdownRequested]);
  if (options.every === undefined) await end;
  else {
    const everyMs = options.every * 1000;
    const shutdown = new AbortController();
    void kit.broker.shutdownRequested.then(() => shutdown.abort());
    const signal = AbortSignal.any([stop.signal, shutdown.signal]);
    await repeatRounds({ ...rounds, signal }, { everyMs, begun }, (round) => {
      phaseName = 'the end';
      print(reportText(round.report) + round.failed);
    });
  }
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
  { gatherd, refererd, brokerServer, web, options }: AllInOne,
  documents: DocumentsServer | undefined,
  { query, linked }: Trials,
): string {
  const address = ({ host, port }: { host: string; port: number }): string =>
    `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const broker = address(brokerServer.address);
  const { host, port } = gatherd.address;
  const harvest = spelling();
  const tls = options.tls === undefined ? '' : 'tls://';
  return [
    `ready gatherd=${address(gatherd.address)} broker=${broker} web=${web.url}`,
    `ready refererd=${address(refererd.address)}`,
    '',
    'What to try next:',
    `  open ${web.url}`,
    ...(documents === undefined ? [] : [`  open ${documents.url}`]),
    ...(query === undefined ? [] : [`  ${harvest} query ${tls}${broker} '${query}'`]),
    `  ${harvest} gather -info ${tls}${host} ${port}`,
    `  ${harvest} gather ${tls}${host} ${port} | less`,
    ...(linked === undefined
      ? []
      : [`  ${harvest} references --to ${tls}${address(refererd.address)} ${linked}`]),
    '',
  ].join('\n');
}
