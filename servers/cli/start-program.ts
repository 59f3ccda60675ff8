import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { ConnectionError } from '../../protocols/errors.js';
import { gatherdFiles } from '../gatherd/files.js';
import { startDetached, startUnwatched } from '../host/detach.js';

/** Path of the `harvest` program, for commands that start another command. */
export const HARVEST_PROGRAM = fileURLToPath(new URL('./harvest.js', import.meta.url));

/**
 * Milliseconds until a program must accept connections: gatherd may first publish a large original database.
 */
const START_MS = 600_000;

/** A command of `harvest` to run in the background. */
interface BackgroundProgram {
  /** Name of the server, for the error message. */
  readonly name: string;
  /** The command and its arguments. */
  readonly args: readonly string[];
  /** File for the output of the program. */
  readonly logFile: string;
  /** Matches the line that the program prints when it accepts connections. */
  readonly ready: RegExp;
}

/**
 * Starts a command as a process without a terminal and waits until it accepts connections.
 *
 * @returns its process id and the first group of `ready`
 * @throws ConnectionError with the program's last message if it does not start
 */
export async function startInBackground({
  name,
  args,
  logFile,
  ready,
}: BackgroundProgram): Promise<{ readonly pid: number; readonly address: string }> {
  try {
    const command = [process.execPath, HARVEST_PROGRAM, ...args] as const;
    const { pid, match } = await startDetached({ command, logFile, ready, timeoutMs: START_MS });
    return { pid, address: match[1] ?? '' };
  } catch (cause) {
    if (!(cause instanceof ConnectionError)) throw cause;
    // The last line of its output begins with a program name, as the message of this process will.
    const reason = cause.message.replace(/^\s*[\w.-]+: /, '');
    throw new ConnectionError(`${name} did not start: ${reason}`, { cause });
  }
}

/**
 * Starts a command as a process without a terminal and does not wait for it.
 *
 * @param logFile receives its messages
 * @returns its process id
 * @throws StorageError if the log cannot be opened
 */
export function startUnattended(args: readonly string[], logFile: string): number {
  return startUnwatched([process.execPath, HARVEST_PROGRAM, ...args], logFile);
}

/**
 * Starts gatherd in the background and waits until it accepts connections.
 *
 * @param args other options of gatherd, and the port
 * @returns its process id and address
 * @throws ConnectionError with gatherd's message if it does not start
 */
export async function startGatherd(
  directory: string,
  log: string | undefined,
  args: readonly string[],
): Promise<{ readonly pid: number; readonly address: string }> {
  const files = await gatherdFiles(directory, { log });
  return startInBackground({
    name: 'gatherd',
    args: ['gatherd', '-d', files.directory, '--log', files.log, ...args],
    logFile: files.log,
    ready: /^ready gatherd=(\S+)$/m,
  });
}

/**
 * The options that a command was given, as arguments of the same command in another process.
 *
 * @param except the names of options that the other process must not get
 */
export function argumentsOf(command: Command, except: readonly string[]): string[] {
  return command.options.flatMap((option) => {
    const { long, negate } = option;
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    const isGiven = value !== undefined && command.getOptionValueSource(name) !== 'default';
    if (typeof long !== 'string' || !isGiven || except.includes(name)) return [];
    if (typeof value === 'boolean') return value === negate ? [] : [long];
    return (Array.isArray(value) ? value : [value]).map((one) => `${long}=${textOf(one)}`);
  });
}

/** An option's value as the command line writes it. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if ('path' in value) return String(value.path);
  const { host, port } = value as { readonly host: string; readonly port: number };
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the options that pass debug flags on to another program. */
export function debugArguments(flags: readonly string[]): string[] {
  return flags.map((flag) => `-D${flag.replace(/^-D/, '')}`);
}
