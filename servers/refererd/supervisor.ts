// The parent process of the original program.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import type { RefererConfig } from '../../protocols/config/referer-conf.js';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { removePidFile } from '../host/pid-file.js';
import { type ConfigurationSource, readConfiguration } from './configuration.js';
import { type MailRelay, reportFault } from './fault-report.js';
import { LEVEL } from './level.js';
import { FileLog } from './log.js';

/** the signals that count as faults. */
const FAULTS: ReadonlySet<NodeJS.Signals> = new Set(['SIGBUS', 'SIGILL', 'SIGSEGV', 'SIGQUIT', 'SIGABRT']);
/**
 * SIGQUIT is one of them: Ctrl-\ at a terminal reaches both processes, and the parent must survive to report it
 * (R-57).
 */
const PASSED_ON = ['SIGHUP', 'SIGTERM', 'SIGUSR1', 'SIGINT', 'SIGQUIT'] as const;

export interface SupervisorOptions extends ConfigurationSource {
  /** Node and the program that starts `refererd`. */
  readonly program: readonly [interpreter: string, script: string];
  /** Arguments of the server process, without those that name the configuration. */
  readonly args: readonly string[];
  readonly relay: MailRelay;
}

/**
 * runs the parent process. It starts the server process, passes signals on, and reports a fault to the
 * maintainer; nothing is restarted.
 *
 * @returns the exit status: that of the server, or 128 plus the number of the signal that ended it
 */
export async function superviseRefererd(options: SupervisorOptions): Promise<number> {
  const pending: NodeJS.Signals[] = [];
  // a signal that reaches the child before its handlers are installed would end it, or open its debugger
  // (SIGUSR1).
  let listening: ChildProcess | undefined;
  const listeners = PASSED_ON.map((signal) => {
    // A Ctrl-C at the terminal reaches both processes; the server ignores the second signal.
    const listener = () =>
      listening === undefined ? void pending.push(signal) : void listening.kill(signal);
    process.on(signal, listener);
    return [signal, listener] as const;
  });
  const log = new FileLog({ file: undefined, progname: options.progname, debuglevel: LEVEL.error });
  try {
    const startedIn = process.cwd();
    const { config } = await readConfiguration(options, startedIn);
    const command = config.chroot === 0 ? plainCommand(options) : chrootCommand(options, config);
    const startedAt = new Date();
    const child = spawn(command[0], command.slice(1), { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
    child.once('message', () => {
      listening = child;
      for (const signal of pending.splice(0)) child.kill(signal);
    });
    const { code, signal } = await waitForExit(child);
    const pid = child.pid ?? 0;
    const latest = await readConfiguration(options, startedIn).catch(() => ({ config }));
    // The file may have changed without taking effect: both names are tried.
    for (const known of [config, latest.config]) await removePidFile(pidFileOf(known), pid);
    if (signal === null) return code ?? 1;
    log.write(LEVEL.critical, `the server process ${pid} was ended by ${signal}`);
    if (FAULTS.has(signal)) {
      await reportFault(latest.config, { signal, pid, startedAt, endedAt: new Date() }, options.relay).catch(
        (error: Error) => log.write(LEVEL.error, `the maintainer could not be notified: ${error.message}`),
      );
    }
    return 128 + (constants.signals[signal] ?? 0);
  } catch (error) {
    log.write(LEVEL.critical, `cannot start: ${messageOf(error)}`);
    return 1;
  } finally {
    for (const [signal, listener] of listeners) process.off(signal, listener);
    log[Symbol.dispose]();
  }
}

function plainCommand({ program, args, file }: SupervisorOptions): [string, ...string[]] {
  const [interpreter, script] = program;
  return [interpreter, ...process.execArgv, script, 'refererd', '--foreground', '-c', file, ...args];
}

/**
 * uses the system's chroot program, which also changes user and group.
 *
 * @throws StorageError when the new root lacks a file; the parameter is never ignored
 */
function chrootCommand(
  { program, args, file }: SupervisorOptions,
  { rootdir, user, group }: RefererConfig,
): [string, ...string[]] {
  if (process.getuid?.() !== 0) throw new StorageError('chroot: only the superuser can change the root');
  const [interpreter, script] = program;
  for (const needed of [interpreter, script]) {
    if (!existsSync(join(rootdir, needed))) throw new StorageError(`chroot: ${rootdir} lacks ${needed}`);
  }
  const inside = relative(rootdir, file);
  if (inside.startsWith('..') || isAbsolute(inside)) {
    throw new StorageError(`chroot: ${file} is outside ${rootdir}, so it could not be read again`);
  }
  const options = ['--foreground', '--chrooted', '-c', `/${inside}`];
  const userSpec = `--userspec=${user}:${group}`;
  return ['chroot', userSpec, rootdir, interpreter, script, 'refererd', ...options, ...args];
}

/** Returns the path of the pid file; under a changed root its name is relative to that root. */
function pidFileOf({ chroot, pidfile, rootdir }: RefererConfig): string {
  return chroot === 0 || pidfile.startsWith(`${rootdir}/`) ? pidfile : join(rootdir, pidfile);
}

function waitForExit(
  child: ChildProcess,
): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new StorageError(`the server process cannot be started: ${cause.message}`, { cause }));
    });
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}
