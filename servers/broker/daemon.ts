import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type BrokerConfig, parseBrokerConf } from '../../protocols/config/index.js';
import type { ConfigError } from '../../protocols/errors.js';
import { messageOf, UsageError } from '../../protocols/errors.js';
import { createDebug, DebugFlags, type Logger, openLog, PidFile, StopSignal } from '../host/index.js';
import { Broker, type StartMode } from './broker.js';
import { writeRunBroker } from './script.js';
import { BrokerServer } from './server.js';
import { WebServer } from './web/server.js';

/** How the program broker runs. */
export interface BrokerProgramOptions {
  /** `broker.conf`. */
  readonly configFile: string;
  /** BRK-6.2 to 6.4. */
  readonly mode: StartMode;
  /** Address to listen on. */
  readonly host: string;
  /** Serves the web pages on this port; 0 takes a free one. Default: none are served. */
  readonly webPort?: number;
  /** JSON lines instead of Harvest's. */
  readonly jsonLog?: boolean;
  /** File for what else goes to standard error: `broker.out`. Opened anew on SIGHUP. */
  readonly logFile?: string;
  /** BRK-6.5. */
  readonly debug?: DebugFlags;
  /** Milliseconds that replies may go on when the program is asked to stop. Default 10 000. */
  readonly graceMs?: number;
  /** The words that run `harvest`, for `RunBroker`. Without them no script is written. */
  readonly harvest?: readonly string[];
  /** Told once connections are accepted. */
  readonly onReady: (address: {
    readonly host: string;
    readonly port: number;
    readonly web?: string;
  }) => void;
}

const GRACE_MS = 10_000;

/** A broker's `broker.conf`, with what is odd in it. */
export interface ReadConfiguration {
  readonly config: BrokerConfig;
  readonly warnings: readonly ConfigError[];
}

/**
 * Reads a `broker.conf`; the default of Broker-Directory is the absolute directory above the one it lies in (BRK-6.6).
 *
 * @throws UsageError when it cannot be read, ConfigError when a value cannot be used
 */
export async function readBrokerConf(file: string): Promise<ReadConfiguration> {
  const path = resolve(file);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const why = messageOf(cause);
    throw new UsageError(`${file}: cannot be read: ${why}`, { cause });
  }
  const { config, warnings } = parseBrokerConf(text, file, { brokerDirectory: dirname(dirname(path)) });
  return { config, warnings };
}

/** The file by which a broker says that it runs. */
export function brokerPidFile(brokerDirectory: string): string {
  return join(brokerDirectory, 'admin', 'broker.pid');
}

/**
 * BRK-6.1: the program, from its pid file to its end by a signal or by `#shutdown`. One a directory: a second one says that
 * the first is running. SIGHUP opens the logs anew.
 *
 * @throws UsageError, ConfigError for the configuration; StorageError when the directory is in use; ConnectionError when a
 *   port is taken
 */
export async function runBroker(options: BrokerProgramOptions): Promise<void> {
  const { configFile, host, mode, webPort, graceMs = GRACE_MS, debug = DebugFlags.parse([]) } = options;
  const { config, warnings } = await readBrokerConf(configFile);
  const opened = openLog({
    program: 'broker',
    json: options.jsonLog ?? false,
    level: debug.any ? 'debug' : 'info',
    ...(options.logFile === undefined ? {} : { file: options.logFile }),
  });
  const { log } = opened;
  for (const warning of warnings) log.warn(warning.message);
  const pidPath = brokerPidFile(config.brokerDirectory);
  await mkdir(dirname(pidPath), { recursive: true });
  await using pidFile = await PidFile.create(pidPath, 'broker');
  await using broker = await Broker.open({
    config,
    log,
    debug: createDebug(debug, log),
    reread: () => reread(configFile, log),
  });
  let stop: () => void = () => undefined;
  const shutdown = new Promise<string>((done) => {
    stop = () => done('#shutdown');
  });
  await using server = await BrokerServer.listen({
    broker,
    host,
    port: config.brokerPort,
    log,
    shutdown: stop,
  });
  await using web =
    webPort === undefined
      ? undefined
      : await WebServer.listen({ broker, brokerAddress: server.address, host, port: webPort, log });
  if (web !== undefined) broker.setWebAddress(web.address.host, web.address.port);
  using signals = new StopSignal().on('SIGHUP', () => {
    opened.reopen();
    broker.events.reopen();
    log.info('SIGHUP: the logs are open anew');
  });
  await pidFile.setAddress(`${server.address.host}:${server.address.port}`);
  if (options.harvest !== undefined) {
    await writeRunBroker({ ...config, configFile, host, webPort, harvest: options.harvest });
  }
  await broker.start(mode);
  options.onReady({ ...server.address, ...(web === undefined ? {} : { web: web.url }) });
  const why = await Promise.race([signals.stopped, shutdown]);
  log.info(`${why}: stopping, ${server.connections} connections`);
  await web?.close();
  await server.close({ graceMs });
  await broker.close();
  log.info('stopped');
}

async function reread(file: string, log: Logger): Promise<BrokerConfig> {
  const { config, warnings } = await readBrokerConf(file);
  for (const warning of warnings) log.warn(warning.message);
  return config;
}
