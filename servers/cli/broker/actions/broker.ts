import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../../../../protocols/errors.js';
import { readBrokerConf } from '../../../broker/broker-files.js';
import { runBroker } from '../../../broker/daemon.js';
import { DebugFlags } from '../../../host/debug-flags.js';
import { notifyReady } from '../../../host/notify.js';
import {
  type ConnectionOptions,
  certificateFiles,
  connectionLimits,
  logRotation,
  type MonitorOption,
  type PublicOptions,
  publicSettings,
  type RotationOptions,
  stopTimes,
  type TlsOptions,
} from '../../options/connection-options.js';
import { argumentsOf, HARVEST_PROGRAM, startInBackground } from '../../start-program.js';

interface BrokerOptions extends ConnectionOptions, TlsOptions, MonitorOption, RotationOptions, PublicOptions {
  readonly new: boolean;
  readonly nocol: boolean;
  readonly host: string;
  readonly store?: string;
  readonly webPort?: number;
  readonly jsonLog: boolean;
  readonly log?: string;
  readonly detach: boolean;
  readonly debug: readonly string[];
}

/** The action of `harvest broker`. */
export async function serveBroker(file: string, options: BrokerOptions, command: Command): Promise<void> {
  if (options.new && options.nocol) throw new UsageError('-new and -nocol are mutually exclusive');
  const debug = DebugFlags.parse(options.debug, process.env.HARVEST_DEBUG);
  if (options.detach) return detach(file, options, command);
  await runBroker({
    configFile: file,
    settings: brokerSettings(options),
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
}

function brokerSettings(options: BrokerOptions): Record<string, string> {
  const settings = publicSettings(options);
  return options.store === undefined ? settings : { ...settings, 'Store-URL': options.store };
}

/** Starts the same command in the background and waits until it accepts connections. */
async function detach(file: string, options: BrokerOptions, command: Command): Promise<void> {
  // An error in the configuration is reported here, not only in the log.
  const { config } = await readBrokerConf(file, brokerSettings(options));
  certificateFiles(options);
  const log = resolve(options.log ?? join(config.brokerDirectory, 'broker.out'));
  const args = ['broker', resolve(file), ...argumentsOf(command, ['detach', 'log']), '--log', log];
  const { pid, address } = await startInBackground({
    name: 'the broker',
    args,
    logFile: log,
    ready: /^ready (broker=.*)$/m,
  });
  process.stdout.write(`ready ${address} pid=${pid}\n`);
}
