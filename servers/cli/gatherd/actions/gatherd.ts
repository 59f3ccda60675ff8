import { resolve } from 'node:path';
import { UsageError } from '../../../../protocols/errors.js';
import { type GatherdProgramOptions, runDaemon, runInetd } from '../../../gatherd/daemon.js';
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
  type PeerOptions,
  type RotationOptions,
  rotationArguments,
  stopTimes,
  type TlsOptions,
  tlsArguments,
} from '../../options/connection-options.js';
import { EXIT } from '../../output/exit.js';
import { debugArguments, startGatherd } from '../../start-program.js';

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

interface DaemonOptions extends FileOptions, ConnectionOptions, TlsOptions, MonitorOption {
  readonly host: string;
  readonly pidFile?: string;
  readonly detach: boolean;
}

/** The action of `harvest gatherd`. */
export async function gatherd(port: number, options: DaemonOptions): Promise<void> {
  if (options.detach) return detach(port, options);
  await runDaemon({
    ...programOptions(options),
    host: options.host,
    port,
    tls: certificateFiles(options),
    monitor: options.monitor,
    maxConnections: options.maxConnections,
    maxPerAddress: options.maxPerAddress,
    onReady: ({ host, port }) => {
      process.stdout.write(`ready gatherd=${host}:${port}\n`);
      notifyReady(`serving on ${host}:${port}`);
    },
  });
  process.exitCode = EXIT.ok;
}

/** The action of `harvest in.gatherd`. */
export async function inGatherd(options: FileOptions): Promise<void> {
  await runInetd(programOptions(options));
  process.exitCode = EXIT.ok;
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
async function detach(port: number, options: DaemonOptions): Promise<void> {
  const { dir, log, db, index, zip, cf, hostname, pidFile } = options;
  // Errors in the options are reported here, not only in the log.
  programOptions(options);
  const given = Object.entries({ db, index, zip, cf, hostname, 'pid-file': pidFile });
  const fileArguments = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  const { pid, address } = await startGatherd(dir, log, [
    ...fileArguments,
    ...debugArguments(options.debug),
    ...(options.jsonLog ? ['--json-log'] : []),
    ...(options.lineEndAfterMember ? ['--line-end-after-member'] : []),
    ...connectionArguments(options),
    ...tlsArguments(options),
    ...rotationArguments(options),
    ...monitorArguments(options.monitor),
    '--host',
    options.host,
    String(port),
  ]);
  process.stdout.write(`ready gatherd=${address} pid=${pid}\n`);
  process.exitCode = EXIT.ok;
}
