import { resolve } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { notifyReady, openCertificate, StopSignal } from '../host/index.js';
import { Monitor } from '../monitor/index.js';
import {
  FileLog,
  LEVEL,
  logLines,
  type MailRelay,
  monitoredRefererd,
  runRefererProcess,
  startRefererd,
  superviseRefererd,
} from '../refererd/index.js';
import {
  addTlsOptions,
  certificateFiles,
  type MonitorOption,
  maxPerAddressOption,
  monitorArguments,
  monitorOption,
  type TlsOptions,
  tlsArguments,
} from './connection-options.js';
import { EXIT } from './exit.js';
import {
  countOption,
  integerOption,
  portOption,
  repeatedOption,
  stopLimitOption,
  timeoutOption,
} from './option-values.js';
import { HARVEST_PROGRAM } from './start-program.js';

const HELP = `
Answers who links to whom, over SSTP and, on the same port, over HTTP: / is a page of links for people, /stat the statistics,
/clean clears them, /reload reads the configuration again (these three require a user of the user base: harvest turtle-passwd).

Without --data the command behaves like the original program. It reads referer.cf in the current directory, or -c FILE:
  name = value   # comment          names in any case; relative file names are relative to rootdir
  referername = refs.example.org    the only name that it listens on        refererport = 3324
  webnames = www.example.org        other names of its page of links
  refdb = base/refs.db              links published in base (harvest links load --data base), or a dump to load at the start
  urldb = base/url.db               documents of a dump                     allowdb, pwfile: hosts and users with access
  debuglevel = 40                   10 critical, 40 notices, 50 requests, 60 look-ups, 70 connections, 80 the exchange itself
A parent process starts the server process, whose id is in pidfile:
  SIGHUP   reopens the log and reads the configuration again         SIGTERM  stops immediately
  SIGUSR1  finishes pending requests, then stops
If a fault ends the server process, the parent sends mail to the maintainer. $USE_SYSLOG also sends the log to syslog;
$LOG_DAYTIME adds the time to its lines.

With --data it is one process without a configuration file that logs to standard error.

Examples:
  harvest refererd --data ./data                         the links published in ./data/references, on 127.0.0.1:3324
  harvest refererd --data ./data --allowdb hosts.allow --host 0.0.0.0
  refererd -c /usr/local/turtle/referer.cf

Exit status: 0 stopped by a signal; 1 failure; 2 usage; 128 plus the number of a signal that ended the server process.
`;

interface RefererdOptions extends TlsOptions, MonitorOption {
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

/** `refererd [-c FILE]`, and a server over a data directory without any configuration. */
export function refererdCommand(): Command {
  return addTlsOptions(new Command('refererd'), 'the port')
    .description('Serves who links to whom: the References Server.')
    .option('-c, --config <file>', 'configuration file', 'referer.cf')
    .option('--data <directory>', 'serve this data directory, without a configuration file')
    .option('--host <address>', 'with --data: address to listen on', '127.0.0.1')
    .option(
      '--web-name <name>',
      'with --data: a name of the page of links, besides localhost and IP addresses (may be repeated)',
      repeatedOption,
      [],
    )
    .option('-p, --port <number>', 'with --data: TCP port; 0 = any free port', portOption, 3324)
    .option('--allowdb <file>', 'with --data: patterns of the hosts that may connect (default: all)')
    .option('--pwfile <file>', 'with --data: users who may see the statistics (default: none)')
    .option('--max-clients <number>', 'with --data: maximum number of connections', countOption, 8192)
    .addOption(maxPerAddressOption())
    .option('--read-timeout <seconds>', 'with --data: time to receive a request', timeoutOption, 60)
    .option('--send-timeout <seconds>', 'with --data: time to send a reply', timeoutOption, 60)
    .option('--debuglevel <number>', 'with --data: level of the log', integerOption, LEVEL.notice)
    .option('--json-log', 'log as JSON lines', false)
    .option('--rank-order', 'highest PageRank first, if ranks are published', false)
    .option('--mail-relay <host[:port]>', 'server for mail about faults', relayOption, {
      host: 'localhost',
      port: 25,
    })
    .option('--foreground', 'run only the server process, without a parent that reports faults', false)
    .addOption(stopLimitOption())
    .addOption(monitorOption())
    .addOption(new Command().createOption('--chrooted').hideHelp().default(false))
    .addHelpText('after', HELP)
    .action(async (options: RefererdOptions, command: Command) => {
      if (options.data !== undefined) {
        process.exitCode = await serveData(options.data, options);
        return;
      }
      const unused = [
        'host',
        'webName',
        'port',
        'allowdb',
        'pwfile',
        'maxClients',
        'readTimeout',
        'sendTimeout',
        'debuglevel',
      ];
      const given = unused.find((name) => command.getOptionValueSource(name) === 'cli');
      if (given !== undefined) {
        const option = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        throw new UsageError(`--${option} requires --data: otherwise ${options.config} has this setting`);
      }
      process.exitCode = options.foreground ? await serveConfigured(options) : await supervise(options);
    });
}

/** Runs a parent process that starts and supervises the server process. */
function supervise(options: RefererdOptions): Promise<number> {
  return superviseRefererd({
    ...processOptions(options),
    program: [process.execPath, HARVEST_PROGRAM],
    args: [
      ...(options.rankOrder ? ['--rank-order'] : []),
      ...(options.maxPerAddress === undefined ? [] : ['--max-per-address', String(options.maxPerAddress)]),
      '--stop-limit',
      String(options.stopLimit),
      ...(options.jsonLog ? ['--json-log'] : []),
      ...tlsArguments(options),
      ...monitorArguments(options.monitor),
    ],
    relay: options.mailRelay,
  });
}

function serveConfigured(options: RefererdOptions): Promise<number> {
  return runRefererProcess({
    ...processOptions(options),
    rankOrder: options.rankOrder,
    jsonLog: options.jsonLog,
    tls: certificateFiles(options),
    monitor: options.monitor,
    maxPerAddress: options.maxPerAddress,
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
    data,
    host: options.host,
    port: options.port,
    log,
    hostNames: { names: options.webName, remedy: 'start it with --web-name and this name' },
    allowFile: options.allowdb,
    passwordFile: options.pwfile,
    maxClients: options.maxClients,
    maxPerAddress: options.maxPerAddress,
    readTimeoutMs: options.readTimeout * 1000,
    sendTimeoutMs: options.sendTimeout * 1000,
    rankOrder: options.rankOrder,
    listen: certificate?.listen,
  });
  await using _monitor =
    options.monitor &&
    (await Monitor.listen({
      address: options.monitor,
      servers: [monitoredRefererd(server.service)],
      log: logLines(log),
    }));
  onReady(server.address);
  await new Promise<void>((resolve) => {
    stop.on('SIGHUP', () => {
      certificate?.reloadLogged();
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

function relayOption(value: string): MailRelay {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^:\s]+)(?::(\d+))?$/.exec(value);
  if (match === null) throw new UsageError('--mail-relay: must be HOST or HOST:PORT');
  const port = portOption(match[2] ?? '25');
  return { host: (match[1] ?? '').replace(/^\[|\]$/g, ''), port };
}
