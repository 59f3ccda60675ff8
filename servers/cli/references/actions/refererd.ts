import { resolve } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../../../../protocols/errors.js';
import { notifyReady } from '../../../host/notify.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { openCertificate } from '../../../host/tls.js';
import { Monitor } from '../../../monitor/monitor.js';
import type { MailRelay } from '../../../refererd/fault-report.js';
import { monitoredRefererd } from '../../../refererd/figures.js';
import { LEVEL } from '../../../refererd/level.js';
import { FileLog, logLines } from '../../../refererd/log.js';
import { runRefererProcess } from '../../../refererd/process.js';
import { startRefererd } from '../../../refererd/start.js';
import { superviseRefererd } from '../../../refererd/supervisor.js';
import { certificateFiles, type MonitorOption, type TlsOptions } from '../../options/connection-options.js';
import { type CopyOptions, copiesFrom } from '../../options/copy-options.js';
import { longFlag } from '../../options/option-values.js';
import { EXIT } from '../../output/exit.js';
import { argumentsOf, HARVEST_PROGRAM } from '../../start-program.js';

interface RefererdOptions extends TlsOptions, MonitorOption, CopyOptions {
  readonly stopLimit: number;
  readonly config: string;
  readonly data?: string;
  readonly host: string;
  readonly webName: readonly string[];
  readonly port: number;
  readonly allowdb?: string;
  readonly pwfile?: string;
  readonly maxClients: number;
  readonly maxPerAddress?: number;
  readonly readTimeout: number;
  readonly sendTimeout: number;
  readonly debuglevel: number;
  readonly jsonLog: boolean;
  readonly rankOrder: boolean;
  readonly mailRelay: MailRelay;
  readonly foreground: boolean;
  readonly chrooted: boolean;
}

/** The action of `harvest refererd`. */
export async function refererd(options: RefererdOptions, command: Command): Promise<number> {
  if (options.data !== undefined) return await serveData(options.data, options);
  refuseDataOptions(options, command);
  return await (options.foreground ? serveConfigured(options) : supervise(options, command));
}

/** Options that referer.cf has too. */
const DATA_OPTIONS = [
  'host',
  'webName',
  'port',
  'allowdb',
  'pwfile',
  'maxClients',
  'readTimeout',
  'sendTimeout',
  'debuglevel',
  'from',
  'poll',
] as const satisfies readonly (keyof RefererdOptions)[];

/** @throws UsageError for an option that only `--data` gives a meaning */
function refuseDataOptions({ config }: RefererdOptions, command: Command): void {
  const given = DATA_OPTIONS.find((name) => command.getOptionValueSource(name) === 'cli');
  if (given !== undefined)
    throw new UsageError(`${longFlag(given)} requires --data: otherwise ${config} has this setting`);
}

/** Runs a parent process that starts and supervises the server process. */
function supervise(options: RefererdOptions, command: Command): Promise<number> {
  // An error in the options is reported before a server is started.
  certificateFiles(options);
  return superviseRefererd({
    ...processOptions(options),
    program: [process.execPath, HARVEST_PROGRAM],
    args: argumentsOf(command, ['config', 'mailRelay']),
    relay: options.mailRelay,
  });
}

function serveConfigured(options: RefererdOptions): Promise<number> {
  return runRefererProcess({
    ...options,
    ...processOptions(options),
    tls: certificateFiles(options),
    stopLimitMs: options.stopLimit * 1000,
    daytime: process.env.LOG_DAYTIME !== undefined,
    syslog: process.env.USE_SYSLOG !== undefined,
    onReady,
  });
}

function processOptions({ config, chrooted }: RefererdOptions) {
  return { file: resolve(config), progname: 'refererd', chrooted };
}

async function serveData(data: string, options: RefererdOptions): Promise<number> {
  using stop = new StopSignal({
    held: ['SIGHUP', 'SIGUSR1'],
    limit: { program: 'refererd', limitMs: options.stopLimit * 1000 },
  });
  using log = new FileLog({
    file: undefined,
    progname: 'refererd',
    debuglevel: options.debuglevel,
    json: options.jsonLog,
  });
  using certificate = await openCertificate(certificateFiles(options), logLines(log));
  await using server = await startRefererd({
    ...options,
    data,
    copies: copiesFrom(options),
    log,
    hostNames: { names: options.webName, remedy: 'start it with --web-name and this name' },
    allowFile: options.allowdb,
    passwordFile: options.pwfile,
    readTimeoutMs: options.readTimeout * 1000,
    sendTimeoutMs: options.sendTimeout * 1000,
    listen: certificate?.listen,
  });
  await using _monitor =
    options.monitor &&
    (await Monitor.listen({
      address: options.monitor,
      servers: [monitoredRefererd(server.service, undefined, () => server.notes)],
      log: logLines(log),
    }));
  onReady(server.address);
  await new Promise<void>((resolve) => {
    stop.on('SIGHUP', () => {
      certificate?.reloadLogged();
      void server.copy();
      server
        .reload()
        .catch((error: Error) => log.write(LEVEL.error, `the old lists stay in use: ${error.message}`));
    });
    stop.on('SIGUSR1', () => void server.stop().then(resolve));
    void stop.stopped.then(() => resolve());
  });
  return EXIT.ok;
}

function onReady({ host, port }: { readonly host: string; readonly port: number }): void {
  process.stdout.write(`ready refererd=${host}:${port}\n`);
  notifyReady(`serving on ${host}:${port}`);
}
