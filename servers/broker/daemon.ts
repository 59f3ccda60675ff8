import { dirname } from 'node:path';
import type { BrokerConfig } from '../../protocols/config/index.js';
import { messageOf } from '../../protocols/errors.js';
import { createDirectory } from '../../storage/files/make-directory.js';
import {
  createDebug,
  DebugFlags,
  type Logger,
  openCertificate,
  openLog,
  type PeerLimits,
  PidFile,
  type ProgramOptions,
  StopSignal,
  stopLimit,
} from '../host/index.js';
import { Monitor, type MonitorOptions } from '../monitor/index.js';
import { Broker } from './broker.js';
import { brokerPidFile, readBrokerConf } from './broker-files.js';
import type { StartMode } from './collect/collection-runner.js';
import { type CollectEvent, collectChannel } from './collect/report.js';
import { monitoredBroker } from './figures.js';
import { writeRunBroker } from './script.js';
import { BrokerServer, portLimits } from './server.js';

/** Options of the program broker. */
export interface BrokerProgramOptions extends ProgramOptions {
  /** `broker.conf`. */
  readonly configFile: string;
  /** Variables that precede those of the file, by their names. Default: none. */
  readonly settings?: Readonly<Record<string, string>>;
  /** BRK-6.2 to 6.4. */
  readonly mode: StartMode;
  /** Address to listen on. */
  readonly host: string;
  /** Port of the web pages; 0 selects a free one. Default: no web pages. */
  readonly webPort?: number | undefined;
  /** Limits of the Broker's port and of its web pages. */
  readonly connections?: PeerLimits;
  /** Where a monitor answers. Default: nowhere. */
  readonly monitor?: MonitorOptions['address'] | undefined;
  /** Log file, `broker.out`, reopened on SIGHUP. Default: standard error. */
  readonly logFile?: string | undefined;
  /** The command line that runs `harvest`, for `RunBroker`. Default: no script is written. */
  readonly harvest?: readonly string[];
  /** Called when connections are accepted. */
  readonly onReady: (address: {
    readonly host: string;
    readonly port: number;
    readonly web?: string | undefined;
  }) => void;
}

const GRACE_MS = 5000;

/**
 * BRK-6.1: runs the program until a signal or `#shutdown`. The pid file prevents a second broker in the same
 * directory. SIGHUP reopens the logs.
 *
 * @throws UsageError, ConfigError for the configuration; StorageError when the directory is in use;
 *   ConnectionError when a port is not available
 */
export async function runBroker(options: BrokerProgramOptions): Promise<void> {
  const { configFile, host, mode, webPort, graceMs = GRACE_MS, debug = DebugFlags.parse([]) } = options;
  const { config, warnings } = await readBrokerConf(configFile, options.settings);
  using opened = openLog({
    program: 'broker',
    json: options.jsonLog ?? false,
    rotation: options.rotation,
    level: debug.any ? 'debug' : 'info',
    file: options.logFile,
  });
  const { log } = opened;
  for (const warning of warnings) log.warn(warning.message);
  using certificate = await openCertificate(options.tls, log);
  const pidPath = brokerPidFile(config.brokerDirectory);
  await createDirectory(dirname(pidPath));
  await using pidFile = await PidFile.create(pidPath, 'broker', (sentence) => log.warn(sentence));
  await using broker = await Broker.open({
    config,
    log,
    debug: createDebug(debug, log),
    reread: () => reread(options, log),
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
    ...portLimits(options.connections),
    listen: certificate?.listen,
    shutdown: stop,
  });
  const pages = webPort === undefined ? undefined : await import('./web/server.js');
  await using web =
    pages === undefined || webPort === undefined
      ? undefined
      : await pages.WebServer.listen({
          ...pages.pageLimits(options.connections),
          broker,
          brokerAddress: server.address,
          portCertificate: certificate,
          host,
          port: webPort,
          log,
          certificate,
        });
  if (web !== undefined) broker.urls.setWebAddress(web.address.host, web.address.port);
  using monitored = monitoredBroker(broker, server, web);
  await using monitor =
    options.monitor && (await Monitor.listen({ address: options.monitor, servers: [monitored], log }));
  if (monitor !== undefined) log.info(`monitor: ${monitor.address}`);
  using _progress = logProgress(log);
  let waitingFor = (): string[] => [];
  using signals = new StopSignal({
    limit: stopLimit('broker', options.stopLimitMs, (sentence) => log.error(sentence)),
  }).on('SIGHUP', () => {
    try {
      opened.reopen();
      broker.events.reopen();
      log.info('SIGHUP: logs reopened');
      certificate?.reloadLogged();
    } catch (error) {
      log.error(`SIGHUP: a log cannot be reopened: ${messageOf(error)}`);
    }
  });
  await pidFile.setAddress(`${server.address.host}:${server.address.port}`);
  if (options.harvest !== undefined) {
    await writeRunBroker({ ...config, configFile, host, webPort, harvest: options.harvest });
  }
  await broker.start(mode);
  options.onReady({ ...server.address, web: web?.url });
  const why = await Promise.race([signals.stopped, shutdown]);
  signals.waitsFor(() => waitingFor()).startLimit();
  log.info(`${why}: stopping, ${server.connections} connections`);
  waitingFor = () => ['the web pages'];
  await web?.close();
  waitingFor = () => [`${server.connections} connections`];
  await server.close({ graceMs });
  waitingFor = () => broker.activities;
  await broker.close();
  waitingFor = () => [];
  log.info('stopped');
}

/**
 * Logs the progress of collections at debug level: the first collection from a large Gatherer takes minutes.
 */
function logProgress(log: Logger): Disposable {
  const onMessage = (message: unknown): void => {
    const event = message as CollectEvent;
    if (event.event === 'progress')
      log.debug(`Collection: ${event.host}:${event.port}: ${event.received} objects so far`);
  };
  collectChannel.subscribe(onMessage);
  return { [Symbol.dispose]: () => collectChannel.unsubscribe(onMessage) };
}

async function reread({ configFile, settings }: BrokerProgramOptions, log: Logger): Promise<BrokerConfig> {
  const { config, warnings } = await readBrokerConf(configFile, settings);
  for (const warning of warnings) log.warn(warning.message);
  return config;
}
