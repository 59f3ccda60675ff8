import { inspect } from 'node:util';
import {
  ConfigError,
  errorCode,
  errorsIn,
  KitError,
  messageOf,
  StateError,
  UsageError,
} from '../../../protocols/errors.js';
import { messageLines, printable } from './printable.js';

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

/** What a status means, for the help, the manual pages and docs/exit-statuses.md. */
export interface ExitStatus {
  readonly status: number;
  readonly meaning: string;
  /** What is on standard error. */
  readonly message: string;
}

/** Every status that a command ends with. */
export const EXIT_STATUSES: readonly ExitStatus[] = [
  { status: EXIT.ok, meaning: 'done', message: '' },
  { status: EXIT.failure, meaning: 'failure, or a negative answer', message: 'one sentence' },
  {
    status: EXIT.usage,
    meaning: 'the command line, a query or a configuration file is wrong',
    message: 'one sentence',
  },
  {
    status: EXIT.connection,
    meaning: 'the peer cannot be reached, or the connection broke',
    message: 'one sentence',
  },
  { status: EXIT.software, meaning: 'a bug in this program', message: 'the stack; please report it' },
  { status: EXIT.interrupted, meaning: 'stopped by a signal while it worked', message: 'one sentence' },
];

/**
 * Whether an error is expected in use, so that its message is all that a user needs: the kit's own errors and
 * those of the operating system. Any other error is a bug, and so is StateError, the wrong use of an API.
 */
export function isExpected(error: unknown): error is Error {
  return errorsIn(error).every((one) => {
    if (one instanceof StateError) return false;
    return one instanceof KitError || (one instanceof Error && 'syscall' in one);
  });
}

/** Returns the exit status for an error that ends a command. */
export function exitStatusOf(error: unknown): number {
  if (fewFiles(error) !== undefined) return EXIT.failure;
  if (!isExpected(error)) return EXIT.software;
  const [first] = errorsIn(error);
  return first instanceof UsageError || first instanceof ConfigError ? EXIT.usage : EXIT.failure;
}

/**
 * Writes the error that ends a program to standard error: one sentence, or for a bug the stack with all causes.
 *
 * @param program the name at the start of the message, unless the message already begins with that of the
 *   program or command
 */
export function reportError(error: unknown, program: string, command = program): void {
  const message = messageOf(error);
  const isNamed = [program, command].some((name) => message.startsWith(`${name}: `));
  const prefix = isNamed ? '' : `${program}: `;
  const few = fewFiles(error);
  if (few !== undefined) {
    process.stderr.write(`${messageLines(`${prefix}${few}`)}\n`);
    return;
  }
  if (!isExpected(error)) {
    process.stderr.write(`${messageLines(`${prefix}internal error: ${inspect(error)}`)}\n`);
    return;
  }
  const hint = errorCode(error.cause) === 'EADDRINUSE' ? `; ${portHint(message, command)}` : '';
  process.stderr.write(`${messageLines(`${prefix}${message}${hint}`)}\n`);
}

/** The ports of `harvest run`: the server's name at the beginning of its messages, the option, its default. */
export const RUN_PORTS = [
  { server: 'gatherd', option: '--gatherd-port', port: 8500 },
  { server: 'broker', option: '--broker-port', port: 8501 },
  { server: 'web pages', option: '--web-port', port: 8080 },
  { server: 'refererd', option: '--references-port', port: 3324 },
  { server: 'documents', option: '--documents-port', port: 8079 },
] as const;

function portHint(message: string, command: string): string {
  const used = RUN_PORTS.find(({ server }) => command === 'run' && message.startsWith(`${server}:`));
  return used === undefined ? 'another port can be given' : `${used.option} chooses another port`;
}

/** The limit of open files below which a program may find none for its own modules. */
const FEW_FILES = 512;

/**
 * The sentence for an error whose cause is a low limit of open files: with one, Node does not even find the
 * modules of a program.
 */
function fewFiles(error: unknown): string | undefined {
  const codes = errorsIn(error).map(errorCode);
  const text = messageOf(error);
  if (/\bENFILE\b|too many open files in system/i.test(text))
    return 'too many files are open in the whole system; allow more, e.g. with `sysctl fs.file-max=NUMBER`';
  const isAtLimit = /\bEMFILE\b|too many open files/i.test(text) || codes.includes('EMFILE');
  if (!isAtLimit && !codes.includes('ERR_MODULE_NOT_FOUND')) return undefined;
  // The system would have no file for /proc/self/limits.
  const report = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: unknown } };
  };
  const limit = report.userLimits?.open_files?.soft;
  if (typeof limit !== 'number' && !/^\d+$/.test(String(limit))) return undefined;
  if (!isAtLimit && Number(limit) >= FEW_FILES) return undefined;
  return `only ${String(limit)} files may be open at a time, which is too few; allow more, e.g. with \`ulimit -n 4096\`, or LimitNOFILE= of the service`;
}

/**
 * Writes a message of a command to standard error, with each of its lines made printable, without logins of
 * URLs.
 */
export function complain(command: string, message: string): void {
  process.stderr.write(`${command}: ${messageLines(message)}\n`);
}

/**
 * Does the work of a command and returns its exit status, or that of an error; `interrupted` if the signal was
 * requested to stop.
 */
export async function untilStopped(
  command: string,
  stop: { readonly signal: AbortSignal },
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!stop.signal.aborted) return complainOrThrow(command, error, EXIT.failure);
    complain(command, 'interrupted');
    return EXIT.interrupted;
  }
}

/**
 * Does the work of a client of a server, which may take at most some seconds, and returns its exit status, or
 * that of an error.
 *
 * @param seconds undefined: any time
 * @param late the message if the time has passed, before `within`
 * @param statusOf the status of an error that is not a wrong command line or a bug; default: `connection`
 */
export async function untilTimeout(
  command: string,
  { seconds, late }: { readonly seconds: number | undefined; readonly late: string },
  work: (signal: AbortSignal | undefined) => Promise<number>,
  statusOf: (error: unknown) => number = () => EXIT.connection,
): Promise<number> {
  const signal = seconds === undefined ? undefined : AbortSignal.timeout(seconds * 1000);
  try {
    return await work(signal);
  } catch (error) {
    if (signal?.aborted !== true) return complainOrThrow(command, error, statusOf(error));
    complain(command, `${late} within ${seconds} s`);
    return EXIT.connection;
  }
}

/**
 * Reports the error of a command and returns its exit status: `status`, unless the error is rethrown.
 *
 * @throws the error itself if the command line or a configuration file is wrong, or if it is a bug
 */
export function complainOrThrow(command: string, error: unknown, status: number): number {
  if (!isExpected(error) || exitStatusOf(error) === EXIT.usage) throw error;
  complain(command, printable(messageOf(error)));
  return status;
}
