import { join } from 'node:path';
import { UsageError } from '../../../../protocols/errors.js';
import type { PublishedReferences } from '../../../../storage/references/builder.js';
import { AllInOne, type CycleReport, type LogName } from '../../../all-in-one/all-in-one.js';
import { DocumentsServer } from '../../../all-in-one/documents-server.js';
import { FilesServer } from '../../../all-in-one/files-server.js';
import { forgetMovedDocuments } from '../../../all-in-one/forget-moved.js';
import { readOwnDocuments } from '../../../all-in-one/own-documents.js';
import { configFromRoots, type RootLimitOptions } from '../../../all-in-one/roots.js';
import { findTrials, type Trials } from '../../../all-in-one/trials.js';
import { addressGroup, isLoopbackGroup } from '../../../host/address-group.js';
import { createLogger, type Logger } from '../../../host/logger.js';
import { StopSignal } from '../../../host/stop-signal.js';
import type { CommandEntry } from '../../command-entry.js';
import { commandDocuments } from '../../help/command-documents.js';
import {
  type ConnectionOptions,
  certificateFiles,
  connectionLimits,
  type MonitorOption,
  type PublicOptions,
  publicSettings,
  stopTimes,
  type TlsOptions,
} from '../../options/connection-options.js';
import { publishPlaceOf, storeUrlOf } from '../../options/place-values.js';
import { EXIT } from '../../output/exit.js';
import { printableJson, writeMessage } from '../../output/printable.js';
import { spelling } from '../../spelling.js';
import { reportText } from '../report-text.js';
import { nextRoundText, type RoundOptions, repeatRounds, roundClock, runRound } from '../run-rounds.js';

export interface RunOptions
  extends ConnectionOptions,
    MonitorOption,
    TlsOptions,
    PublicOptions,
    RootLimitOptions {
  readonly data: string;
  readonly store?: string;
  readonly host: string;
  readonly gatherdPort?: number;
  readonly brokerPort: number;
  readonly webPort: number;
  readonly publish?: string;
  readonly referencesPort: number;
  readonly documentsPort: number;
  readonly once: boolean;
  /** Seconds. */
  readonly every?: number;
  readonly connections: number;
  readonly force: boolean;
  readonly hidden: boolean;
  readonly jsonLog: boolean;
  readonly lowDisk?: number;
}

/** The action of `harvest run`; returns the exit status. */
export async function run(
  roots: readonly string[],
  options: RunOptions,
  commands: readonly CommandEntry[],
): Promise<number> {
  const store = options.store === undefined ? undefined : storeUrlOf(options.store);
  const publish = options.publish === undefined ? undefined : publishPlaceOf(options.publish);
  if (store?.includes('schema=') === true)
    throw new UsageError(
      '--store: the gatherer and the broker have a schema each, so the URL must not name one',
    );
  await using documents = roots.length === 0 ? await serveOwnDocuments(options, commands) : undefined;
  const { every } = options;
  const refreshRate = every === undefined ? undefined : Math.ceil(every);
  const limits = { ...options, refreshRate, withoutHidden: !options.hidden };
  const { config, warnings, directories } =
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

  await using files = await serveFiles(options, directories);
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
    config: {
      ...config,
      ...(store === undefined ? {} : { storeUrl: store }),
      ...(publish === undefined ? {} : { publish }),
    },
    connections: connectionLimits(options),
    graceMs: stopTimes(options).graceMs,
    tls: certificateFiles(options),
    brokerSettings: {
      ...publicSettings(options),
      ...(store === undefined ? {} : { 'Store-URL': store }),
    },
    monitor: options.monitor,
    addressOf: (url) => files?.addressOf(url),
    gatherer: {
      queuesPerHost: options.connections,
      force: options.force,
      endOnLowDisk: options.once,
      lowDiskMiB: options.lowDisk,
    },
    log: (name) => logger(name, options),
  });
  await forgetMovedDocuments(kit.gatherer, documents?.url);
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
  if (!options.once) print(`${kit.web.url} can be searched while documents are gathered.\n`);
  const begun = roundClock();
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
  if (options.every === undefined && report.gathered.failedRoots.length > 0 && report.objects === 0) {
    print(`${failed}There is nothing to search.\n`);
    return EXIT.failure;
  }
  print(reportText(report) + failed);
  const trials = await findTrials(kit);
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

/** Serves the documents of the package and the help of the commands for a run without a ROOT. */
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

/** Serves the files of directories on this machine alone, whatever the other servers do. */
async function serveFiles(options: RunOptions, roots: readonly string[]): Promise<FilesServer | undefined> {
  const { once, host, documentsPort: port, hidden } = options;
  const isLoopback = host === 'localhost' || isLoopbackGroup(addressGroup(host));
  if (once || roots.length === 0 || !isLoopback) return undefined;
  return await FilesServer.listen({ host, port, roots, hidden, log: logger('web', options) });
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

/** Returns the counts that `--once` prints. */
function summary({
  gathered,
  generation,
  exported,
  references,
  elsewhere,
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
    ...(elsewhere === undefined ? {} : { elsewhere }),
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
