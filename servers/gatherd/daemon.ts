// The programs gatherd and in.gatherd: files, log, pid file, signals (GATHERD-10 to 12).
import { StorageError } from '../../protocols/errors.js';
import { makeDirectory } from '../../storage/files/make-directory.js';
import { runSession } from '../host/connection.js';
import { createDebug, DebugFlags } from '../host/debug-flags.js';
import { type Logger, type OpenLog, openLog } from '../host/logger.js';
import { PidFile } from '../host/pid-file.js';
import type { ProgramOptions } from '../host/program-options.js';
import { openStandardConnection, type StandardConnectionOptions } from '../host/standard-connection.js';
import { type StopLimit, StopSignal, stopLimit } from '../host/stop-signal.js';
import { type CertificateFiles, openCertificate } from '../host/tls.js';
import type { Monitor, MonitorOptions } from '../monitor/monitor.js';
import { monitoredGatherd } from './figures.js';
import { type GatherdFileNames, type GatherdFiles, gatherdFiles, reportDatabase } from './files.js';
import { GenerationCopies, type GenerationCopiesOptions } from './generation-copies.js';
import { OriginalData } from './original-data.js';
import { GatherdServer, type GatherdServerOptions } from './server.js';
import { GatherdService, type GatherdServiceOptions } from './service.js';

/** Options of the program gatherd, which serves a Gatherer's data directory: as a daemon or under inetd. */
export interface GatherdProgramOptions
  extends Pick<GatherdServerOptions, 'hostname' | 'lineEndAfterMember' | 'minBytesPerSecond'>,
    Omit<ProgramOptions, 'tls'> {
  readonly directory: string;
  /** Names of its files. The daemon logs to standard error unless a log is named. */
  readonly names?: GatherdFileNames;
  /**
   * Milliseconds after which a session ends that has no complete command, or whose peer accepts no data.
   * Default 120 000 (GATHERD-12.3).
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Where a Gatherer of another machine publishes (G-188): `directory` gets copies of its generations, which are served.
   * Default: a Gatherer publishes in `directory`.
   */
  readonly from?: GenerationCopiesOptions | undefined;
  /** Names of files that are accepted and ignored, for the log. */
  readonly unused?: readonly string[];
}

export interface GatherdDaemonOptions
  extends GatherdProgramOptions,
    Pick<GatherdServerOptions, 'host' | 'port' | 'maxConnections' | 'maxPerAddress'> {
  /** Serves with TLS only. SIGHUP reads the files again; each minute it is looked whether they are new. */
  readonly tls?: CertificateFiles | undefined;
  /** Where a monitor answers. Default: nowhere. */
  readonly monitor?: MonitorOptions['address'] | undefined;
  /** Called once connections are accepted. */
  readonly onReady: (address: { readonly host: string; readonly port: number }) => void;
}

const GRACE_MS = 5000;
/** Milliseconds between two looks at whether the daemon's own files are still there. */
const LOOK_MS = 1000;

/**
 * GATHERD-11.1: runs the daemon until a signal stops it. At most one daemon serves a directory. SIGHUP reopens
 * the log and looks for a new generation.
 *
 * @throws StorageError when the directory is missing or already served; ConnectionError when the port is in use
 */
export async function runDaemon(options: GatherdDaemonOptions): Promise<void> {
  const { graceMs = GRACE_MS } = options;
  if (options.from !== undefined) await makeDirectory(options.directory);
  const files = await gatherdFiles(options.directory, options.names);
  using opened = openGatherdLog(options, options.names?.log === undefined ? undefined : files.log);
  const { log } = opened;
  await using pidFile = await PidFile.create(files.pid, 'gatherd', (sentence) => log.warn(sentence));
  // An operator who watches the terminal must see why nothing is served, wherever the log is.
  const complain = (sentence: string): void => {
    log.warn(sentence);
    if (options.names?.log !== undefined) process.stderr.write(`gatherd: ${sentence}\n`);
  };
  using _original = await OriginalData.serve(files, {
    log,
    complain,
    onPublished: () => void server.service.refresh(),
  });
  await using copies = await GenerationCopies.open(options.from, files, log);
  await reportFiles(files, options, complain, log);
  using certificate = await openCertificate(options.tls, log);
  const server = await GatherdServer.listen({
    ...options,
    ...serviceOptions(options, files, opened),
    listen: certificate?.listen,
  });
  using stop = new StopSignal({ limit: limitOf(options, log) })
    .on('SIGHUP', () => {
      opened.reopen();
      log.info('SIGHUP: the log is reopened');
      certificate?.reloadLogged();
      void copies?.refresh();
      void server.service.refresh();
    })
    .waitsFor(() => [`${server.connections} sessions`]);
  await using monitor = await openMonitor(options.monitor, server, log, copies);
  if (monitor !== undefined) log.info(`monitor: ${monitor.address}`);
  try {
    await pidFile.setAddress(`${server.address.host}:${server.address.port}`);
    using _look = every(LOOK_MS, async () => {
      if (!(await pidFile.restore())) return;
      // Its directory was deleted (the manual's `rm -rf data tmp log.*`) and made again: the next Gatherer must
      // find this daemon.
      opened.reopen();
      log.info('the files of this daemon had been deleted: they are written again');
    });
    copies?.follow();
    options.onReady(server.address);
    log.info(`${await stop.stopped}: stopping, ${server.connections} sessions`);
  } finally {
    await server.close({ graceMs });
    log.info('stopped');
  }
}

/** Opens the monitor, if it has an address. The web server is loaded only then. */
async function openMonitor(
  address: MonitorOptions['address'] | undefined,
  server: GatherdServer,
  log: Logger,
  copies: GenerationCopies | undefined,
): Promise<Monitor | undefined> {
  if (address === undefined) return undefined;
  const { Monitor } = await import('../monitor/index.js');
  return await Monitor.listen({
    address,
    servers: [monitoredGatherd(server, () => copies?.notes ?? [])],
    log,
  });
}

/**
 * GATHERD-11.2: runs in.gatherd, for inetd: one session on standard input and output. It always logs to a file.
 */
export async function runInetd(options: GatherdProgramOptions): Promise<void> {
  const files = await gatherdFiles(options.directory, options.names);
  using opened = openGatherdLog(options, files.log);
  const { graceMs = GRACE_MS } = options;
  await reportFiles(files, options, (sentence) => opened.log.warn(sentence), opened.log);
  using stop = new StopSignal({ limit: limitOf(options, opened.log) })
    .on('SIGHUP', () => opened.reopen())
    .waitsFor(() => ['the session']);
  await serveInetd(serviceOptions(options, files, opened), stop.signal, graceMs);
}

/**
 * GATHERD-11.2: serves one session on standard input and output. Resolves when the session has ended, even
 * after an error. `signal` stops a session that waits for its peer; one that is sending may finish within
 * `graceMs`.
 */
async function serveInetd(
  options: GatherdServiceOptions & StandardConnectionOptions,
  signal: AbortSignal,
  graceMs: number,
): Promise<void> {
  await using service = new GatherdService(options);
  const { connection, localPort } = openStandardConnection(options);
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => {
    connection.stop();
    grace = setTimeout(() => connection.cut(), graceMs);
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await runSession(connection, (session) => service.serve(session, localPort ?? 0));
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(grace);
  }
}

/** Runs `work` at intervals, one at a time, until disposed. Does not keep the process alive. */
function every(intervalMs: number, work: () => Promise<void>): Disposable {
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void work().finally(() => {
      isRunning = false;
    });
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function limitOf({ stopLimitMs }: GatherdProgramOptions, log: Logger): StopLimit | undefined {
  return stopLimit('gatherd', stopLimitMs, (sentence) => log.error(sentence));
}

function openGatherdLog(
  { jsonLog = false, rotation, debug }: GatherdProgramOptions,
  file: string | undefined,
): OpenLog {
  return openLog({
    program: 'gatherd',
    json: jsonLog,
    rotation,
    level: debug?.any === true ? 'debug' : 'info',
    file,
  });
}

async function reportFiles(
  files: GatherdFiles,
  { unused = [] }: GatherdProgramOptions,
  complain: (sentence: string) => void,
  log: Logger,
): Promise<void> {
  if (unused.length > 0) log.info(`ignored, because a generation contains it: ${unused.join(', ')}`);
  try {
    await reportDatabase(files, log, complain);
  } catch (error) {
    // Each command tries to open it again.
    if (!(error instanceof StorageError)) throw error;
    log.error(error.message);
  }
}

function serviceOptions(options: GatherdProgramOptions, files: GatherdFiles, { log }: OpenLog) {
  const { debug = DebugFlags.parse([]), timeoutMs = 120_000 } = options;
  return {
    hostname: options.hostname,
    lineEndAfterMember: options.lineEndAfterMember,
    minBytesPerSecond: options.minBytesPerSecond,
    generationsDirectory: files.database,
    accessFile: files.access,
    log,
    debug: createDebug(debug, log),
    idleTimeoutMs: timeoutMs,
    drainTimeoutMs: timeoutMs,
  };
}
