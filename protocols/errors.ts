// The errors of the whole kit. protocols/README.md lists them with exit statuses and remedies.
/** Names of the protocols whose rules an error can cite. */
export type ProtocolName =
  | 'soif'
  | 'gatherd'
  | 'broker'
  | 'bulk'
  | 'registry'
  | 'sstp'
  | 'robots'
  | 'url'
  | 'config'
  | 'http';

/** Base of every error this kit throws on purpose. `code` is stable; programs compare it, never the text. */
export abstract class KitError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The details of a {@link ProtocolError}. */
export interface ProtocolErrorDetails {
  readonly protocol: ProtocolName;
  /** The rule of the specification that the input breaks, e.g. `SOIF-4.3`, `BRK-2.9`, `GATHERD-3.7`, `G-24`. */
  readonly rule: string;
  /** Bytes from the start of the input (stream or line) to the offending byte. */
  readonly offset: number;
  readonly cause?: unknown;
}

/** A peer, a file or a document breaks a rule of a protocol, or a value cannot be written by the rule. */
export class ProtocolError extends KitError {
  readonly code = 'ERR_PROTOCOL';
  readonly protocol: ProtocolName;
  readonly rule: string;
  readonly offset: number;
  /** The message without rule and offset. */
  readonly problem: string;

  constructor(problem: string, details: ProtocolErrorDetails) {
    super(`${problem} (${details.rule}, offset ${details.offset})`, { cause: details.cause });
    this.problem = problem;
    this.protocol = details.protocol;
    this.rule = details.rule;
    this.offset = details.offset;
  }
}

/** The user's input is wrong: an option, an argument, a URL, a query. Exit status 2, no stack. */
export class UsageError extends KitError {
  readonly code = 'ERR_USAGE';
}

/**
 * A program called a method in a state that does not allow it, e.g. wrote after the end. A bug: exit status 70.
 */
export class StateError extends KitError {
  readonly code = 'ERR_STATE';
}

/** A policy refuses: an access list, robots.txt, a private address, an encrypted document. */
export class RefusedError extends KitError {
  readonly code = 'ERR_REFUSED';
}

/** A configuration file is wrong; the message starts `FILE:LINE: VARIABLE:`, or `FILE: VARIABLE:`. */
export class ConfigError extends KitError {
  readonly code = 'ERR_CONFIG';
  /** The line of the message that is about this problem, without those of {@link others}. */
  readonly sentence: string;

  constructor(
    readonly file: string,
    /** 1-based; 0 when the error is about the file as a whole. */
    readonly line: number,
    readonly variable: string,
    /** The message without file, line and variable. */
    readonly problem: string,
    /** What else is wrong; the message has a line for each. */
    readonly others: readonly ConfigError[] = [],
  ) {
    const own = `${file}${line === 0 ? '' : `:${line}`}: ${variable === '' ? '' : `${variable}: `}${problem}`;
    super([own, ...others.map((other) => other.sentence)].join('\n'));
    this.sentence = own;
  }
}

/**
 * Throws the problems of a configuration in the order of the lines; nothing if the list is empty. @throws
 * ConfigError
 */
export function throwConfigErrors(errors: readonly ConfigError[]): void {
  const all = errors.flatMap((error) => [error, ...error.others]);
  const [first, ...others] = all.sort((a, b) => a.line - b.line);
  if (first === undefined) return;
  const { file, line, variable, problem } = first;
  throw new ConfigError(file, line, variable, problem, others);
}

/** Runs `action`; its ConfigError goes into `errors`, and the result is `otherwise`. */
export function attempt<T>(action: () => T, otherwise: T, errors: ConfigError[]): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    errors.push(error);
    return otherwise;
  }
}

/** The connection failed or broke, or the peer did not answer in time. */
export class ConnectionError extends KitError {
  readonly code = 'ERR_CONNECTION';
}

/** The peer answered with an error of its protocol, e.g. a broker's `111`. */
export class PeerError extends KitError {
  readonly code = 'ERR_PEER';
  constructor(
    message: string,
    /** The protocol's status number, e.g. 111. */
    readonly status: number,
  ) {
    super(message);
  }
}

/**
 * A stored record, file or directory cannot be used: it is damaged, locked, missing, or has another schema
 * version.
 */
export class StorageError extends KitError {
  readonly code = 'ERR_STORAGE';
}

/** The `code` of an error of Node or of this kit, e.g. `ENOENT`; undefined if absent. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** How Node, LevelDB and SQLite say that a disk, a quota or the largest size of a file is reached. */
const FULL_CODES: ReadonlySet<string | undefined> = new Set([
  'ENOSPC',
  'EDQUOT',
  'Unknown system error -122',
  'EFBIG',
  'SQLITE_FULL',
]);
/** Node has no name for EDQUOT, whose number is 122 on Linux. */
const QUOTA = /Unknown system error -122(?:: Unknown system error -122)?/;
const FULL_TEXTS = /no space left on device|disk quota exceeded|file too large|database or disk is full/i;

/** Whether an error, or one of its causes, says that a disk is full. */
export function isDiskFull(error: unknown): boolean {
  return errorsIn(error).some((one) => {
    for (let at = one; at instanceof Error; at = at.cause) {
      const code = errorCode(at);
      if (FULL_CODES.has(code)) return true;
      // Not in other errors: their text may be that of a peer.
      const isOfStore = at instanceof StorageError || code?.startsWith('LEVEL_') === true;
      if (isOfStore && FULL_TEXTS.test(at.message)) return true;
    }
    return false;
  });
}

/** Whether an error says that a disk takes no file now: it is full, or mounted read-only. Reads still work. */
export function isUnwritable(error: unknown): boolean {
  if (isDiskFull(error)) return true;
  for (let at = error; at instanceof Error; at = at.cause) if (errorCode(at) === 'EROFS') return true;
  return false;
}

/**
 * The errors that one error stands for, in the order of their occurrence: when work failed and then the closing
 * of what it used, or when several resources failed to close.
 */
export function errorsIn(error: unknown): readonly unknown[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(errorsIn);
  if (error instanceof Error && 'suppressed' in error && 'error' in error)
    return [...errorsIn(error.suppressed), ...errorsIn(error.error)];
  return [error];
}

/** The message of anything that was thrown; of several errors ({@link errorsIn}) each message once. */
export function messageOf(error: unknown): string {
  const messages = errorsIn(error).map((one) =>
    (one instanceof Error ? one.message : String(one)).replace(QUOTA, 'EDQUOT: disk quota exceeded'),
  );
  return [...new Set(messages)].join('; then: ');
}

/**
 * Returns what catches the error of a promise: it throws an error of the kit, with the original as its cause.
 *
 * @param what the message before the one of the cause, e.g. `FILE cannot be read`
 */
export function rethrowAs(
  Kind: new (message: string, options: ErrorOptions) => KitError,
  what: string,
): (cause: unknown) => never {
  return (cause) => {
    throw new Kind(`${what}: ${messageOf(cause)}`, { cause });
  };
}
