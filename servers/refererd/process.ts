// The server process of the original program.
import { promises as dns } from 'node:dns';
import { accessSync, chownSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { CloseStack } from '../../protocols/close-stack.js';
import { type RefererConfig, rereadRefererConf } from '../../protocols/config/referer-conf.js';
import { ConnectionError, messageOf, StorageError } from '../../protocols/errors.js';
import { connectionsWithinLimit } from '../host/fd-limit.js';
import { PidFile } from '../host/pid-file.js';
import type { ProgramOptions } from '../host/program-options.js';
import { StopSignal, stopLimit } from '../host/stop-signal.js';
import { type Certificate, openCertificate } from '../host/tls.js';
import { Monitor, type MonitorOptions } from '../monitor/monitor.js';
import { loadCommonLists } from './common-lists.js';
import { type ConfigurationSource, readConfiguration } from './configuration.js';
import { prepareData } from './data-directory.js';
import { monitoredRefererd } from './figures.js';
import { LEVEL } from './level.js';
import { FileLog, logLines } from './log.js';
import { rankOrder } from './rank-order.js';
import { RefererServer } from './server.js';
import { NO_LISTS, RefererService, type RefererSettings } from './service.js';
import { openReferences } from './start.js';
import { Syslog } from './syslog.js';

export interface RefererProcessOptions
  extends ConfigurationSource,
    Pick<RefererSettings, 'maxPerAddress' | 'graceMs' | 'admissionWaitMs'>,
    Pick<ProgramOptions, 'tls' | 'jsonLog' | 'stopLimitMs'> {
  /** */
  readonly rankOrder: boolean;
  /** Where a monitor answers. Default: nowhere. */
  readonly monitor?: MonitorOptions['address'] | undefined;
  /** R-68 `LOG_DAYTIME`. */
  readonly daytime: boolean;
  /** R-68 `USE_SYSLOG`. */
  readonly syslog: boolean;
  /** Called once requests are served. */
  readonly onReady: (address: { readonly host: string; readonly port: number }) => void;
}

/**
 * Runs the server process of a references server until a signal ends it.
 *
 * @returns 0 after a signal, 1 when it could not start; the reason is in the log or on standard error
 */
export async function runRefererProcess(options: RefererProcessOptions): Promise<0 | 1> {
  // this comes first, because without a listener SIGUSR1 opens the debugger's port. A Ctrl-C at the
  // terminal arrives twice: from the terminal and from the parent process.
  using stop: StopSignal = new StopSignal({
    held: ['SIGHUP', 'SIGUSR1'],
    secondExits: false,
    limit: stopLimit('refererd', options.stopLimitMs, (sentence) => log.write(LEVEL.critical, sentence)),
  });
  // The parent process holds signals back until now. The callback ignores a parent that is gone.
  process.send?.('listening', undefined, undefined, () => {});
  using syslog = options.syslog ? new Syslog() : undefined;
  const json = options.jsonLog ?? false;
  let log = new FileLog({ file: undefined, progname: options.progname, debuglevel: LEVEL.critical, json });
  try {
    const startedIn = process.cwd();
    const { config, warnings } = await readConfiguration(options, startedIn);
    const { logfile: file, progname, debuglevel } = config;
    log = new FileLog({
      file,
      progname,
      debuglevel,
      json,
      daytime: options.daytime,
      syslog: syslog === undefined ? undefined : (level: number, line: string) => syslog.write(level, line),
    });
    for (const warning of warnings) log.write(LEVEL.warning, warning.message);
    await new RefererProcess(options, config, startedIn, log, stop).run();
    return 0;
  } catch (error) {
    if (stop.signal.aborted) {
      log.write(LEVEL.notice, 'stopped before serving');
      return 0;
    }
    const why = `cannot start: ${messageOf(error)}`;
    log.write(LEVEL.critical, why);
    // Also for the user who started it.
    if (log.inFile) process.stderr.write(`${options.progname}: ${why}\n`);
    return 1;
  } finally {
    log[Symbol.dispose]();
  }
}

class RefererProcess {
  #data = '';
  #pidFile: PidFile | undefined;
  #certificate: Certificate | undefined;
  /** Whether the process was the superuser. */
  #dropped = false;
  readonly #options: RefererProcessOptions;
  #config: RefererConfig;
  readonly #startedIn: string;
  readonly #log: FileLog;
  readonly #stop: StopSignal;

  constructor(
    options: RefererProcessOptions,
    config: RefererConfig,
    startedIn: string,
    log: FileLog,
    stop: StopSignal,
  ) {
    this.#options = options;
    this.#config = config;
    this.#startedIn = startedIn;
    this.#log = log;
    this.#stop = stop;
  }

  /** Performs the steps of R-54 in their order. */
  async run(): Promise<void> {
    const log = this.#log;
    const options = this.#options;
    const stop = this.#stop;
    abortOnException(log);
    process.chdir(this.#config.rootdir);
    const { directory, written } = await prepareData(this.#config, log, stop.signal);
    this.#data = directory;
    await using parts = new CloseStack();
    const references = await openReferences(this.#data, log);
    const service: RefererService = new RefererService({
      settings: await this.#settings(),
      lists: NO_LISTS,
      references,
      log,
      reload: () => this.#reload(service),
      ...(options.rankOrder ? { pager: rankOrder() } : {}),
    });
    // A reload replaces the links and the pid file.
    parts.defer(() => service.references.close());
    const addresses = await addressesOf(this.#config.referername);
    parts.defer(() => this.#pidFile?.close());
    const certificate = await openCertificate(options.tls, logLines(log));
    if (certificate !== undefined) parts.defer(async () => certificate[Symbol.dispose]());
    this.#certificate = certificate;
    const server = parts.use(
      await RefererServer.listen({
        service,
        addresses,
        port: this.#config.refererport,
        listen: certificate?.listen,
      }),
    );
    const { monitor: address } = options;
    if (address !== undefined) {
      const servers = [monitoredRefererd(service)];
      parts.use(await Monitor.listen({ address, servers, log: logLines(log) }));
    }
    this.#pidFile = await PidFile.replace(this.#config.pidfile);
    await this.#serve(service, server, written);
    await parts[Symbol.asyncDispose]();
    log.write(LEVEL.notice, 'stopped');
  }

  async #serve(service: RefererService, server: RefererServer, written: readonly string[]): Promise<void> {
    const log = this.#log;
    const options = this.#options;
    const stop = this.#stop.signal;
    this.#dropPrivileges(written);
    const stopped = this.#untilStopped(service, server);
    this.#stop.waitsFor(() => [`${server.clients} clients`]);
    let unreadable: StorageError | undefined;
    try {
      unreadable = await this.#loadLists(service);
    } catch (error) {
      if (!stop.aborted) throw error;
    }
    // The sockets are closed by the owner of the parts.
    if (unreadable !== undefined && !stop.aborted) throw unreadable;
    if (!stop.aborted) {
      server.open();
      log.write(LEVEL.notice, `serving on ${server.addresses.join(', ')}, port ${server.port}`);
      options.onReady({ host: server.addresses[0] ?? '', port: server.port });
    }
    await stopped;
  }

  /**
   * returns an error if the user cannot read the password file, e.g. because only the superuser can. No
   * user would get statistics, and the log would not show why until one tried.
   */
  async #loadLists(service: RefererService): Promise<StorageError | undefined> {
    const { lists, unreadable } = await loadCommonLists(this.#config, this.#log, {
      signal: this.#stop.signal,
    });
    service.lists = lists;
    const users = unreadable.find(({ list, missing }) => list === 'users' && !missing);
    if (users === undefined) return undefined;
    const { user, group, pwfile } = this.#config;
    const remedy = this.#dropped ? ` (user ${user}, group ${group}: \`chown ${user} ${pwfile}\`)` : '';
    return new StorageError(`${users.sentence}${remedy}`);
  }

  /** The user becomes the owner of the log and the pid file, to replace and remove them. */
  #dropPrivileges(written: readonly string[]): void {
    const log = this.#log;
    const options = this.#options;
    const { user, group, logfile, pidfile } = this.#config;
    const files = [logfile, pidfile, ...log.directoriesMade, ...written];
    if (options.chrooted || !dropPrivileges(user, group, files)) return;
    this.#dropped = true;
    log.write(LEVEL.notice, `running as user ${user}, group ${group}`);
    const directory = dirname(logfile);
    if (!isWritable(directory)) {
      log.write(LEVEL.warning, `${directory} is not writable for ${user}: SIGHUP cannot rotate the log`);
    }
  }

  async #untilStopped(service: RefererService, server: RefererServer): Promise<void> {
    const log = this.#log;
    const stop = this.#stop;
    await new Promise<void>((resolve) => {
      stop.on('SIGHUP', () => {
        log.rotate();
        this.#certificate?.reloadLogged();
        log.write(LEVEL.notice, 'SIGHUP: the log is rotated, the configuration is read again');
        service.reload().catch(() => {});
      });
      stop.on('SIGUSR1', () => {
        log.write(LEVEL.notice, `SIGUSR1: finishing, ${server.clients} clients`);
        void server.stop().then(resolve);
      });
      void stop.stopped.then((signal) => {
        log.write(LEVEL.notice, `${signal}: stopping`);
        void server.close().then(resolve);
      });
    });
  }

  /** @returns warnings for the operator */
  async #reload(service: RefererService): Promise<readonly string[]> {
    const log = this.#log;
    try {
      const { config: read, warnings } = await readConfiguration(this.#options, this.#startedIn);
      for (const warning of warnings) log.write(LEVEL.warning, warning.message);
      const { config, waiting } = rereadRefererConf(this.#config, read);
      const stop = this.#stop.signal;
      const { directory: data } = await prepareData(config, log, stop);
      // Steps that may fail come first: the new values take effect all together or not at all.
      const moved = config.pidfile !== this.#config.pidfile;
      const pidFile = moved ? await PidFile.replace(config.pidfile) : undefined;
      try {
        if (data !== this.#data) await this.#changeData(service, data);
      } catch (error) {
        await pidFile?.close();
        throw error;
      }
      this.#config = config;
      log.moveTo(config.logfile);
      log.progname = config.progname;
      log.debuglevel = config.debuglevel;
      for (const name of waiting) log.write(LEVEL.notice, `${name} takes effect at the next start`);
      if (pidFile !== undefined) {
        await this.#pidFile?.close();
        this.#pidFile = pidFile;
      }
      service.settings = await this.#settings();
      const { lists, unreadable } = await loadCommonLists(config, log, {
        signal: stop,
        former: service.lists,
      });
      service.lists = lists;
      log.write(LEVEL.notice, 'the configuration was read again');
      return unreadable.map(({ sentence }) => sentence);
    } catch (error) {
      const why = messageOf(error);
      log.write(LEVEL.error, `the old configuration is kept: ${why}`);
      throw error;
    }
  }

  async #changeData(service: RefererService, data: string): Promise<void> {
    const old = service.references;
    const opened = await openReferences(data, this.#log);
    // a stop has closed the links that were in use. The new ones would stay open.
    if (this.#stop.signal.aborted) {
      await opened.close();
      this.#stop.signal.throwIfAborted();
    }
    service.references = opened;
    this.#data = data;
    await old.close();
  }

  async #settings(): Promise<RefererSettings> {
    const { progname: program, version, referername, webnames, maxclients } = this.#config;
    const { readtimeout, sendtimeout } = this.#config;
    const maxClients = connectionsWithinLimit(maxclients);
    if (maxClients < maxclients) {
      this.#log.write(
        LEVEL.warning,
        `maxclients is lowered to ${maxClients}: the system allows no more files`,
      );
    }
    const [readTimeoutMs, sendTimeoutMs] = [readtimeout * 1000, sendtimeout * 1000];
    const { maxPerAddress, graceMs, admissionWaitMs } = this.#options;
    const hostNames = {
      names: [referername, ...webnames],
      remedy: 'add it to webnames in the configuration',
    };
    const limits = { maxClients, maxPerAddress, graceMs, admissionWaitMs, readTimeoutMs, sendTimeoutMs };
    return { program, version, hostNames, ...limits };
  }
}

/** aborts after an exception, so that the parent reports a fault. */
function abortOnException(log: FileLog): void {
  process.on('uncaughtException', (error) => {
    log.write(LEVEL.critical, `uncaught: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    log.flushSync();
    process.abort();
  });
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** resolves the addresses of the server's name. */
async function addressesOf(name: string): Promise<string[]> {
  try {
    const found = await dns.lookup(name, { all: true });
    return [...new Set(found.map(({ address }) => address))];
  } catch (cause) {
    throw new ConnectionError(`referername: ${name} has no address`, { cause });
  }
}

/**
 * if the process runs as superuser, changes it to `user` and `group` for good: supplementary groups,
 * group, then user.
 *
 * @param files files opened as superuser that the user must be able to rename or remove
 * @returns whether anything was changed
 * @throws StorageError when the user or group does not exist
 */
function dropPrivileges(user: string, group: string, files: readonly string[]): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    initGroups(user, group);
    process.setgid?.(group);
    const gid = process.getgid?.() ?? 0;
    const uid = uidOf(user);
    for (const file of files) if (existsSync(file)) chownSync(file, uid, gid);
    process.setuid?.(uid);
  } catch (cause) {
    const why = messageOf(cause);
    throw new StorageError(`cannot become user ${user} and group ${group}: ${why}`, { cause });
  }
  return true;
}

/** Sets the supplementary groups of the user; Node's types lack the function. */
function initGroups(user: string, group: string): void {
  const initgroups: unknown = Reflect.get(process, 'initgroups');
  if (typeof initgroups === 'function') initgroups.call(process, user, group);
}

/** Returns the number of a user by becoming that user for a moment, because Node has no lookup by name. */
function uidOf(user: string): number {
  process.seteuid?.(user);
  const uid = process.geteuid?.() ?? 0;
  process.seteuid?.(0);
  return uid;
}
