import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { readBrokerConf, runBroker } from '../broker/index.js';
import { DebugFlags, notifyReady } from '../host/index.js';
import { brokerAdminCommand } from './broker-admin.js';
import {
  addConnectionOptions,
  addPeerOptions,
  addRotationOptions,
  addTlsOptions,
  type ConnectionOptions,
  certificateFiles,
  connectionArguments,
  connectionLimits,
  logRotation,
  type MonitorOption,
  monitorArguments,
  monitorOption,
  type RotationOptions,
  rotationArguments,
  stopTimes,
  type TlsOptions,
  tlsArguments,
} from './connection-options.js';
import { EXIT } from './exit.js';
import { portOption, repeatedOption } from './option-values.js';
import { addPublicOptions, type PublicOptions, publicArguments, publicSettings } from './public-options.js';
import { debugArguments, HARVEST_PROGRAM, startInBackground } from './start-program.js';

const HELP = `
FILE is a broker.conf: a variable and its value on each line. Collection.conf in the same directory lists the collection
points: host, port, type (0 to 3: a Gatherer; 4 to 7: a Broker; odd: incremental; 2 and 3: compressed; 6 and 7: by query),
and a filter, or -- for none.

Without a flag the broker collects when it starts and then once a day. The original single-dash flags work:
  harvest broker admin/broker.conf            collect now, then daily
  harvest broker admin/broker.conf -new       delete all objects, then collect
  harvest broker admin/broker.conf -nocol     do not collect at the start

Broker-Directory (default: the parent of the directory of FILE) holds
  admin/LOG          events (Log-Types); \`harvest broker admin HOST rotate-log\` renames it to LOG.YYYYMMDD
  admin/broker.pid   the process id while the broker runs
  broker.out         with --detach: all other output of the program
  RunBroker          a script that starts the broker in the background, written if it is missing
SIGTERM and SIGINT stop the broker: replies in progress get --grace seconds; after --stop-limit seconds it ends
in any case, with status 1; a second signal ends it immediately. SIGHUP
reopens the logs. \`harvest broker admin --help\` explains how to administer a running broker.

Debugging: -DSECTION,LEVEL or $HARVEST_DEBUG; -DSECTION shows all levels:
  -D70,1 Registry   -D71,1 collector   -D72,1 SOIF parser   -D74,1 each stored object   -D75,4 waiting queries
  -D76,1 events     -D77,1 main        -D78,9 connections   -D101,1 -D102,1 -D103,1 indexers (embedded, Glimpse, Swish)

Exit status: 0 stopped by a signal or #shutdown, or started by --detach; 1 failure; 2 usage or configuration.
`;

interface BrokerOptions extends ConnectionOptions, TlsOptions, MonitorOption, RotationOptions, PublicOptions {
  readonly new: boolean;
  readonly nocol: boolean;
  readonly host: string;
  readonly webPort?: number;
  readonly jsonLog: boolean;
  readonly log?: string;
  readonly detach: boolean;
  readonly debug: readonly string[];
}

/** `harvest broker FILE [-new | -nocol]` (BRK-6.1) and `harvest broker admin`. */
export function brokerCommand(): Command {
  const command = new Command('broker')
    .summary('collect summaries and answer queries about them')
    .argument('<file>', 'broker.conf')
    .option('--new', 'begin a new collection: delete every object first (-new)', false)
    .option('--nocol', 'do not collect at the start (-nocol)', false)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--web-port <port>', 'serve the search page too, on this port', portOption)
    .option('--detach', 'run in the background, output to broker.out', false)
    .option('--log <file>', 'log file (default: standard error; with --detach: broker.out)')
    .option('--json-log', 'log as JSON lines', false)
    .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', repeatedOption, []);
  return addTlsOptions(
    addRotationOptions(addPeerOptions(addConnectionOptions(addPublicOptions(command), 256), 120)),
    'both ports',
  )
    .addOption(monitorOption())
    .addHelpText('after', HELP)
    .action(async (file: string, options: BrokerOptions) => {
      if (options.new && options.nocol) throw new UsageError('-new and -nocol are mutually exclusive');
      const debug = DebugFlags.parse(options.debug, process.env.HARVEST_DEBUG);
      if (options.detach) return detach(file, options);
      await runBroker({
        configFile: file,
        settings: publicSettings(options),
        mode: options.new ? 'new' : options.nocol ? 'nocol' : 'collect',
        host: options.host,
        jsonLog: options.jsonLog,
        rotation: logRotation(options),
        debug,
        ...stopTimes(options),
        connections: connectionLimits(options),
        tls: certificateFiles(options),
        monitor: options.monitor,
        harvest: [process.execPath, HARVEST_PROGRAM],
        ...(options.webPort === undefined ? {} : { webPort: options.webPort }),
        ...(options.log === undefined ? {} : { logFile: resolve(options.log) }),
        onReady: ({ host, port, web }) => {
          process.stdout.write(`ready broker=${host}:${port}${web === undefined ? '' : ` web=${web}`}\n`);
          notifyReady(`serving on ${host}:${port}${web === undefined ? '' : `, pages at ${web}`}`);
        },
      });
      process.exitCode = EXIT.ok;
    })
    .addCommand(brokerAdminCommand());
}

/** Starts the same command in the background and waits until it accepts connections. */
async function detach(file: string, options: BrokerOptions): Promise<void> {
  // An error in the configuration is reported here, not only in the log.
  const { config } = await readBrokerConf(file, publicSettings(options));
  const log = resolve(options.log ?? join(config.brokerDirectory, 'broker.out'));
  const args = [
    'broker',
    resolve(file),
    ...(options.new ? ['--new'] : []),
    ...(options.nocol ? ['--nocol'] : []),
    ...(options.webPort === undefined ? [] : ['--web-port', String(options.webPort)]),
    ...(options.jsonLog ? ['--json-log'] : []),
    ...debugArguments(options.debug),
    '--host',
    options.host,
    ...connectionArguments(options),
    ...tlsArguments(options),
    ...publicArguments(options),
    ...rotationArguments(options),
    ...monitorArguments(options.monitor),
    '--log',
    log,
  ];
  const { pid, address } = await startInBackground({
    name: 'the broker',
    args,
    logFile: log,
    ready: /^ready (broker=.*)$/m,
  });
  process.stdout.write(`ready ${address} pid=${pid}\n`);
  process.exitCode = EXIT.ok;
}
