import { inspect } from 'node:util';
import {
  ConfigError,
  errorCode,
  KitError,
  messageOf,
  StateError,
  UsageError,
} from '../../protocols/errors.js';
import { printable } from './printable.js';

/** Exit statuses of the commands; each command's help says which ones it uses. */
export const EXIT = {
  ok: 0,
  /** The command failed, or its answer is negative. */
  failure: 1,
  /** The command line, a query or a configuration file is wrong. */
  usage: 2,
  /** The peer cannot be reached, or the connection broke. */
  connection: 3,
  /** A bug: EX_SOFTWARE of sysexits.h. */
  software: 70,
  /** Stopped by a signal: 128 and the number of SIGINT. */
  interrupted: 130,
} as const;

/**
 * Whether an error is expected in use, so that its message is all that a user needs: the kit's own errors and those of the operating
 * system. Any other error is a bug, and so is StateError, the wrong use of an API.
 */
export function isExpected(error: unknown): error is Error {
  if (error instanceof StateError) return false;
  return error instanceof KitError || (error instanceof Error && 'syscall' in error);
}

/** Returns the exit status for an error that ends a command. */
export function exitStatusOf(error: unknown): number {
  if (!isExpected(error)) return EXIT.software;
  return error instanceof UsageError || error instanceof ConfigError ? EXIT.usage : EXIT.failure;
}

/**
 * Writes the error that ends a program to standard error: one sentence, or for a bug the stack with all causes.
 *
 * @param program the name at the start of the message, unless the message already begins with that of the program or command
 */
export function reportError(error: unknown, program: string, command = program): void {
  const message = messageOf(error);
  const isNamed = [program, command].some((name) => message.startsWith(`${name}: `));
  const prefix = isNamed ? '' : `${program}: `;
  if (!isExpected(error)) {
    process.stderr.write(`${prefix}internal error: ${inspect(error)}\n`);
    return;
  }
  const hint = errorCode(error.cause) === 'EADDRINUSE' ? ' (another port can be given)' : '';
  process.stderr.write(`${prefix}${message}${hint}\n`);
}

/** Writes a message of a command to standard error, with each of its lines made printable. */
export function complain(command: string, message: string): void {
  process.stderr.write(`${command}: ${message.split('\n').map(printable).join('\n')}\n`);
}

/**
 * Reports the error of a command and returns its exit status: `status`, unless the error is rethrown.
 *
 * @throws the error itself if the command line or a configuration file is wrong, or if it is a bug
 */
export function complainOrThrow(command: string, error: unknown, status: number): number {
  if (!isExpected(error) || exitStatusOf(error) === EXIT.usage) throw error;
  complain(command, printable(error.message));
  return status;
}
