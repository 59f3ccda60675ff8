import { resolve } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../../../../protocols/errors.js';
import { type GatherdProgramOptions, runDaemon, runInetd } from '../../../gatherd/daemon.js';
import { DebugFlags } from '../../../host/debug-flags.js';
import { notifyReady } from '../../../host/notify.js';
import {
  type ConnectionOptions,
  certificateFiles,
  connectionLimits,
  logRotation,
  type MonitorOption,
  type PeerOptions,
  type RotationOptions,
  stopTimes,
  type TlsOptions,
} from '../../options/connection-options.js';
import { type CopyOptions, copiesFrom } from '../../options/copy-options.js';
import { argumentsOf, startGatherd } from '../../start-program.js';

interface FileOptions extends PeerOptions, RotationOptions {
  readonly dir: string;
  readonly db?: string;
  readonly index?: string;
  readonly log?: string;
  readonly zip?: string;
  readonly cf?: string;
  readonly hostname?: string;
  readonly lineEndAfterMember: boolean;
  readonly jsonLog: boolean;
  readonly debug: readonly string[];
}

interface DaemonOptions extends FileOptions, ConnectionOptions, TlsOptions, MonitorOption, CopyOptions {
  readonly host: string;
  readonly pidFile?: string;
  readonly detach: boolean;
}

/** The action of `harvest gatherd`. */
export async function gatherd(port: number, options: DaemonOptions, command: Command): Promise<void> {
  if (options.detach) return detach(port, options, command);
  await runDaemon({
    ...programOptions(options),
    host: options.host,
    port,
    tls: certificateFiles(options),
    monitor: options.monitor,
    from: copiesFrom(options),
    maxConnections: options.maxConnections,
    maxPerAddress: options.maxPerAddress,
    onReady: ({ host, port }) => {
      process.stdout.write(`ready gatherd=${host}:${port}\n`);
      notifyReady(`serving on ${host}:${port}`);
    },
  });
}

/** The action of `harvest in.gatherd`. */
export async function inGatherd(options: FileOptions): Promise<void> {
  await runInetd(programOptions(options));
}

function programOptions(options: FileOptions & { readonly pidFile?: string }): GatherdProgramOptions {
  if (resolve(options.dir) === '/') throw new UsageError('-d: must be a data directory');
  const unused = [options.index, options.zip].filter((file) => file !== undefined);
  return {
    directory: options.dir,
    names: { database: options.db, access: options.cf, log: options.log, pid: options.pidFile },
    hostname: options.hostname,
    jsonLog: options.jsonLog,
    rotation: logRotation(options),
    debug: DebugFlags.parse(options.debug, process.env.HARVEST_DEBUG),
    timeoutMs: connectionLimits(options).timeoutMs,
    minBytesPerSecond: options.minRate,
    lineEndAfterMember: options.lineEndAfterMember,
    ...stopTimes(options),
    unused,
  };
}

/** Starts the same command in the background and waits until it accepts connections. */
async function detach(port: number, options: DaemonOptions, command: Command): Promise<void> {
  // Errors in the options are reported here, not only in the log.
  programOptions(options);
  certificateFiles(options);
  const { pid, address } = await startGatherd(options.dir, options.log, [
    ...argumentsOf(command, ['detach', 'dir', 'log']),
    String(port),
  ]);
  process.stdout.write(`ready gatherd=${address} pid=${pid}\n`);
}
