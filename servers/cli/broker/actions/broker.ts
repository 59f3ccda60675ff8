import { join, resolve } from 'node:path';
import { readBrokerConf } from '../../../broker/broker-files.js';
import { runBroker } from '../../../broker/daemon.js';
import { DebugFlags } from '../../../host/debug-flags.js';
import { notifyReady } from '../../../host/notify.js';
import {
  type ConnectionOptions,
  certificateFiles,
  connectionArguments,
  connectionLimits,
  logRotation,
  type MonitorOption,
  monitorArguments,
  type RotationOptions,
  rotationArguments,
  stopTimes,
  type TlsOptions,
  tlsArguments,
} from '../../options/connection-options.js';
import { type PublicOptions, publicArguments, publicSettings } from '../../options/public-options.js';
import { EXIT } from '../../output/exit.js';
import { debugArguments, HARVEST_PROGRAM, startInBackground } from '../../start-program.js';

export interface BrokerOptions
  extends ConnectionOptions,
    TlsOptions,
    MonitorOption,
    RotationOptions,
    PublicOptions {
  readonly new: boolean;
  readonly nocol: boolean;
  readonly host: string;
  readonly webPort?: number;
  readonly jsonLog: boolean;
  readonly log?: string;
  readonly detach: boolean;
  readonly debug: readonly string[];
}

/** The action of `harvest broker`. */
export async function serveBroker(file: string, options: BrokerOptions): Promise<void> {
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
    webPort: options.webPort,
    logFile: options.log === undefined ? undefined : resolve(options.log),
    onReady: ({ host, port, web }) => {
      process.stdout.write(`ready broker=${host}:${port}${web === undefined ? '' : ` web=${web}`}\n`);
      notifyReady(`serving on ${host}:${port}${web === undefined ? '' : `, pages at ${web}`}`);
    },
  });
  process.exitCode = EXIT.ok;
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
