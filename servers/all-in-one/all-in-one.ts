// Runs all servers in one process.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import { CloseStack } from '../../protocols/close-stack.js';
import {
  type BrokerConfig,
  type CollectionPoint,
  type GathererConfig,
  parseBrokerConf,
  withBrokerSettings,
} from '../../protocols/config/index.js';
import { defined } from '../../protocols/defined.js';
import { messageOf, rethrowAs, StorageError } from '../../protocols/errors.js';
import { authorityOf } from '../../protocols/urls/parse-url.js';
import { createDirectory } from '../../storage/files/make-directory.js';
import type { PublishedReferences } from '../../storage/references/index.js';
import {
  Broker,
  BrokerServer,
  type CollectionReport,
  monitoredBroker,
  pageLimits,
  portLimits,
  WebServer,
} from '../broker/index.js';
import { GatherdServer, monitoredGatherd } from '../gatherd/index.js';
import {
  Gatherer,
  type GathererOptions,
  type GatherReport,
  logDocuments,
  logRun,
  MonitoredGatherer,
  type PublishedElsewhere,
  publishElsewhere,
} from '../gatherer/index.js';
import {
  type Certificate,
  type CertificateFiles,
  type Logger,
  openCertificate,
  type PeerLimits,
  passwordFileWarning,
} from '../host/index.js';
import { Monitor, type MonitorOptions } from '../monitor/index.js';
import { LEVEL, logTo, monitoredRefererd, type RunningRefererd, startRefererd } from '../refererd/index.js';
import { reachableHost } from '../web/application.js';
import { addCollections, noCollection } from './collections.js';
import { GatheringProgress } from './gathering-progress.js';
import { PublishSoFar } from './publish-so-far.js';

/** The variable with the console's password. */
const CONSOLE_PASSWORD = 'HARVEST_CONSOLE_PASSWORD';

/** Default of `graceMs`. */
const GRACE_MS = 2000;

/** Milliseconds between two checks whether a full disk has space again. */
const SPACE_CHECK_MS = 5000;

/** The logs: `gatherer` and `errors` are the two of G-145. */
export type LogName = 'gatherer' | 'errors' | 'gatherd' | 'refererd' | 'broker' | 'web';

export interface AllInOneOptions {
  /** Directory of all stores and logs. */
  readonly dataDirectory: string;
  /** Address that all servers listen on. */
  readonly host: string;
  /** Ports; 0 takes a free one. */
  readonly gatherdPort: number;
  readonly brokerPort: number;
  readonly webPort: number;
  readonly referencesPort: number;
  /** Limits of the connections of every port. Default: those of each server. */
  readonly connections?: PeerLimits;
  /** Serves all four ports with TLS. Default: without. */
  readonly tls?: CertificateFiles | undefined;
  /** Variables of broker.conf that precede those of the file, by their names. Default: none. */
  readonly brokerSettings?: Readonly<Record<string, string>>;
  /**
   * Returns the address at which a browser on this machine opens the document of a URL, if it is not the URL
   * itself. Not used with a `Public-URL`, whose visitors are elsewhere.
   */
  readonly addressOf?: (url: string) => string | undefined;
  /** Where a monitor answers. Default: nowhere. */
  readonly monitor?: MonitorOptions['address'] | undefined;
  /** Milliseconds that transfers and replies may continue when the servers stop. Default 2000. */
  readonly graceMs?: number;
  /** The roots, and the Gatherer's name and rates. */
  readonly config: GathererConfig;
  /**
   * Further options of the Gatherer. By default problems of the configuration files and the address of the
   * console are logged.
   */
  readonly gatherer?: Omit<GathererOptions, 'directory' | 'config'>;
  /** Creates the logger of a log; called at most once for each. */
  readonly log: (log: LogName) => Logger;
}

/** Result of one round of gathering, publishing and collecting. */
export interface CycleReport {
  readonly gathered: GatherReport;
  /** The published generation. */
  readonly generation: number;
  /** Objects in it. */
  readonly exported: number;
  /** The published links; undefined when nothing changed or links are switched off. */
  readonly references: PublishedReferences | undefined;
  /** What was published for other machines; undefined without `Publish`, or if that failed. */
  readonly elsewhere: PublishedElsewhere | undefined;
  readonly collected: CollectionReport;
  /** Objects in the broker. */
  readonly objects: number;
}

/**
 * A Gatherer, its gatherd, a References Server for its links, a Broker that collects from that gatherd over
 * TCP, and the Broker's web pages, which query the References Server over TCP, in one process. They share no
 * state: the same servers run as separate programs.
 */
export class AllInOne implements AsyncDisposable {
  readonly #parts: CloseStack;
  readonly #progress: GatheringProgress;

  private constructor(
    readonly options: AllInOneOptions,
    readonly gatherer: Gatherer,
    readonly gatherd: GatherdServer,
    readonly refererd: RunningRefererd,
    readonly broker: Broker,
    readonly brokerServer: BrokerServer,
    readonly web: WebServer,
    /** That of all ports; undefined without TLS. */
    readonly certificate: Certificate | undefined,
    progress: GatheringProgress,
    parts: CloseStack,
  ) {
    this.#progress = progress;
    this.#parts = parts;
  }

  /** Opens the stores and listens on all ports; the results of earlier runs are served immediately. */
  static async start(options: AllInOneOptions): Promise<AllInOne> {
    await using parts = new CloseStack();
    const { host, config, connections = {}, graceMs = GRACE_MS } = options;
    const { timeoutMs, ...limits } = connections;
    const log = createOnce(options.log);
    const data = resolve(options.dataDirectory);
    const certificate = await openCertificate(options.tls, log('web'));
    if (certificate !== undefined) parts.defer(async () => certificate[Symbol.dispose]());
    const listen = certificate?.listen;
    const tls = certificate === undefined ? '' : 'tls://';
    const monitored = new MonitoredGatherer();
    const gatherer = parts.use(
      await Gatherer.open({
        onProblem: ({ message }) => log('errors').warn(message),
        log: log('gatherer'),
        // For `harvest crawl`: any free port of this machine, in a file that its owner alone can read.
        console: {
          host: '127.0.0.1',
          port: 0,
          hostNames: [],
          certificate: '',
          key: '',
          passwordEnvironment: CONSOLE_PASSWORD,
        },
        onControl: (control, url) => {
          monitored.crawls(control);
          if (url !== undefined) log('gatherer').info(`the crawl's console is ${url}`);
        },
        ...options.gatherer,
        directory: join(data, 'gatherer'),
        config,
      }),
    );
    const gatherd = parts.adopt(
      await GatherdServer.listen({
        ...defined({ ...limits, idleTimeoutMs: timeoutMs, drainTimeoutMs: timeoutMs }),
        generationsDirectory: gatherer.generationsDirectory,
        host,
        port: options.gatherdPort,
        listen,
        log: log('gatherd'),
        accessFile: join(data, 'gatherer', 'gatherd.cf'),
        identity: {
          name: config.gathererName,
          host: config.gathererHost,
          port: options.gatherdPort,
          version: config.gathererVersion,
        },
      }),
      (server) => server.close({ graceMs }),
    );
    const refererd = parts.use(
      await startRefererd({
        ...defined({
          maxClients: limits.maxConnections,
          readTimeoutMs: timeoutMs,
          sendTimeoutMs: timeoutMs,
        }),
        maxPerAddress: limits.maxPerAddress,
        data: gatherer.options.directory,
        host,
        port: options.referencesPort,
        listen,
        isSecure: certificate !== undefined,
        log: logTo(log('refererd'), LEVEL.notice),
      }),
    );
    const point: CollectionPoint = {
      host: `${tls}${reachableHost(host)}`,
      // Of the certificate in use: that of this process, which need not be trusted here, or for this name.
      get fingerprint() {
        return certificate?.fingerprint;
      },
      port: gatherd.address.port,
      own: true,
      type: 3,
      line: 0,
    };
    const references = tls + authorityOf(reachableHost(host), refererd.address.port);
    const brokerConfig = await loadBrokerConfig(join(data, 'broker'), { ...options, log }, point, references);
    const { settings } = refererd.service;
    const { brokerHost, webNames, publicUrl, referencesUrl } = brokerConfig;
    const published = [publicUrl, referencesUrl].flatMap((url) =>
      url === undefined ? [] : [new URL(url).hostname],
    );
    const hostNames = {
      names: [brokerHost, ...webNames, ...published],
      remedy: 'add it to Web-Names in broker.conf',
    };
    refererd.service.settings = { ...settings, hostNames };
    const broker = parts.use(
      await Broker.open({ config: brokerConfig, log: log('broker'), points: [point] }),
    );
    const brokerServer = parts.adopt(
      await BrokerServer.listen({
        ...portLimits(connections),
        broker,
        host,
        port: options.brokerPort,
        listen,
        log: log('broker'),
      }),
      (server) => server.close({ graceMs }),
    );
    const brokerAddress = { host: reachableHost(host), port: brokerServer.address.port };
    const progress = new GatheringProgress();
    const web = parts.use(
      await WebServer.listen({
        ...pageLimits(connections),
        broker,
        brokerAddress,
        portCertificate: certificate,
        referencesCertificate: certificate,
        host,
        port: options.webPort,
        certificate,
        gathering: () => progress.state,
        addressOf: publicUrl === undefined ? options.addressOf : undefined,
        log: log('web'),
      }),
    );
    broker.urls.setWebAddress(reachableHost(host), web.address.port);
    monitored.watch(gatherer);
    if (options.monitor !== undefined) {
      const monitoredBy = parts.adopt(monitoredBroker(broker, brokerServer, web), async (watched) =>
        watched[Symbol.dispose](),
      );
      parts.use(
        await Monitor.listen({
          address: options.monitor,
          servers: [
            monitored,
            monitoredGatherd(gatherd),
            // Documents that are files of this machine have no links.
            monitoredRefererd(refererd.service, () => gatherd.service.database.serving !== undefined),
            monitoredBy,
          ],
          log: log('errors'),
        }),
      );
    }
    return new AllInOne(
      { ...options, log },
      gatherer,
      gatherd,
      refererd,
      broker,
      brokerServer,
      web,
      certificate,
      progress,
      parts.move(),
    );
  }

  /** What {@link close} waits for, in words. */
  get activities(): string[] {
    const connections = {
      'connections of the broker': this.brokerServer.connections,
      'sessions of gatherd': this.gatherd.connections,
    };
    const open = Object.entries(connections).flatMap(([name, count]) =>
      count === 0 ? [] : [`${count} ${name}`],
    );
    return [...open, ...this.broker.activities];
  }

  /**
   * Gathers, publishes, and lets the broker collect. What is gathered is also published and collected from time
   * to time in the meantime, if `publishesSoFar` is true. `onPhase` is called at the beginning of each phase.
   */
  async cycle(
    signal: AbortSignal,
    onPhase: (phase: 'gather' | 'publish' | 'collect') => void,
    { publishesSoFar = true }: { readonly publishesSoFar?: boolean } = {},
  ): Promise<CycleReport> {
    onPhase('gather');
    using _ = this.#progress.begin();
    let collectedBefore = noCollection();
    const gathered = await this.#gather(signal, publishesSoFar, (collected) => {
      collectedBefore = addCollections(collectedBefore, collected);
    });
    if (gathered.end === 'disk limit') {
      const { directory } = this.gatherer.options;
      throw new StorageError(
        `too little space is free in ${directory}: gathering has stopped; the gathered documents are kept, and the next run continues`,
      );
    }
    onPhase('publish');
    const generation = await this.gatherer.publish();
    const references = await this.gatherer.publishReferences(signal);
    // A place that is down keeps no reader here from the new generation.
    const elsewhere = await publishElsewhere(this.gatherer, {
      signal,
      onLeftover: (error) => this.options.log('errors').warn(messageOf(error)),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      this.options.log('errors').error(messageOf(error));
      return undefined;
    });
    // After this cycle clients must be answered from the new generation.
    await this.refererd.service.references.refresh();
    onPhase('collect');
    const collected = addCollections(collectedBefore, await this.broker.collections.run(signal));
    return {
      gathered,
      generation,
      exported: this.gatherer.store.summaries.count,
      references,
      elsewhere,
      collected,
      objects: this.broker.store.count,
    };
  }

  /**
   * After a cycle that failed because the disk is full: waits until there is room to try again.
   *
   * @throws the signal's reason
   */
  async waitForSpace(signal: AbortSignal): Promise<void> {
    do await pause(SPACE_CHECK_MS, undefined, { signal });
    while (!((await this.gatherer.store.hasRoom()) && (await this.broker.store.hasRoom())));
  }

  async #gather(
    signal: AbortSignal,
    publishesSoFar: boolean,
    onCollected: (collected: CollectionReport) => void,
  ): Promise<GatherReport> {
    const { log } = this.options;
    using _ = logDocuments(log('gatherer'), log('errors'));
    await using soFar = new PublishSoFar({
      clock: monotonicClock,
      publish: async () => {
        await this.gatherer.publishSoFar();
        onCollected(await this.broker.collections.run(signal));
      },
      onFailure: (error) => {
        if (!signal.aborted) log('errors').warn(`not published yet: ${messageOf(error)}`);
      },
    });
    const onDocument: Parameters<Gatherer['run']>[1] = ({ disposition, frontier }) => {
      this.#progress.update(frontier);
      if (publishesSoFar && disposition === 'summarized') soFar.add();
    };
    return await logRun(log('gatherer'), log('errors'), this.gatherer.config, () =>
      this.gatherer.run(signal, onDocument),
    );
  }

  /** Closes clients first, then the servers that they use, then the stores. */
  close(): Promise<void> {
    return this.#parts[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Returns a function that creates the logger of each log at its first use: every logger holds a file open. */
function createOnce(create: AllInOneOptions['log']): AllInOneOptions['log'] {
  const loggers = new Map<LogName, Logger>();
  return (name) => {
    const logger = loggers.get(name) ?? create(name);
    loggers.set(name, logger);
    return logger;
  };
}

/** Reads `admin/broker.conf` of the data directory. The first start writes one, for editing. */
async function loadBrokerConfig(
  directory: string,
  options: AllInOneOptions,
  point: CollectionPoint,
  referencesServer: string,
): Promise<BrokerConfig> {
  const file = join(directory, 'admin', 'broker.conf');
  if (!existsSync(file)) {
    await createDirectory(join(directory, 'admin'));
    // Its owner adds the password.
    await writeFile(file, FIRST_BROKER_CONF, { mode: 0o600 });
    await writeFile(
      join(directory, 'admin', 'Collection.conf'),
      `# host port type filter\n${point.host} ${point.port} ${point.type} --\n`,
    );
  }
  const text = await readFile(file, 'utf8').catch(rethrowAs(StorageError, `${file} cannot be read`));
  const { config: read } = parseBrokerConf(text, file, {
    brokerDirectory: directory,
    brokerHost: hostname(),
    brokerPort: options.brokerPort,
    brokerName: 'harvest',
    referencesServer,
  });
  const config = withBrokerSettings(read, options.brokerSettings ?? {});
  const readable = config.adminPassword === '' ? undefined : passwordFileWarning(file, 'Admin-Password');
  if (readable !== undefined) options.log('broker').warn(readable.message);
  return config;
}

const FIRST_BROKER_CONF = `# Variables of the Broker: a name, blanks, a value. Command line options take precedence over this file.
# Administrative commands are refused until a password is set:
#Admin-Password
Broker-Name harvest
Max-Results 1000
# Order results by score and by the number of links to them:
#References-Rank on
`;
