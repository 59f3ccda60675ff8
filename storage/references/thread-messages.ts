// What a publication's thread and its owner send each other, and how errors cross between them.
import {
  errorCode,
  KitError,
  ProtocolError,
  type ProtocolName,
  StorageError,
} from '../../protocols/errors.js';
import type { PublishedReferences } from './builder.js';
import type { DocumentInput } from './contract.js';
import type { BuildPhase } from './progress-reporter.js';

/** Options of the thread. */
export interface BuilderData {
  readonly data: string;
  readonly memoryBytes: number | undefined;
  readonly keepGenerations: number | undefined;
}

/** The thread answers each request except `abort`, in order. After `end` it exits. */
export type BuilderRequest =
  | { readonly kind: 'documents'; readonly documents: readonly DocumentInput[] }
  | { readonly kind: 'links'; readonly pairs: Uint32Array }
  | { readonly kind: 'publish' }
  | { readonly kind: 'abort' }
  | { readonly kind: 'end' };

export type BuilderReply =
  | { readonly kind: 'done'; readonly published?: PublishedReferences | undefined }
  | { readonly kind: 'failed'; readonly error: PlainError }
  | { readonly kind: 'progress'; readonly phase: BuildPhase; readonly done: number; readonly total: number };

/** An error in the form that crosses threads. */
export interface PlainError {
  readonly message: string;
  readonly kind: 'protocol' | 'storage' | 'bug';
  /** The code of the system's error that caused it, e.g. `ENOSPC`: callers wait for space. */
  readonly systemCode?: string;
  readonly stack?: string;
  readonly protocol?: {
    readonly problem: string;
    readonly protocol: ProtocolName;
    readonly rule: string;
    readonly offset: number;
  };
}

/** Converts an error to the form that crosses threads. */
export function plainError(error: unknown): PlainError {
  if (error instanceof ProtocolError) {
    const { problem, protocol, rule, offset } = error;
    return { kind: 'protocol', message: error.message, protocol: { problem, protocol, rule, offset } };
  }
  const message = error instanceof Error ? error.message : String(error);
  let systemCode: string | undefined;
  for (let at = error; at instanceof Error; at = at.cause) {
    if (!(at instanceof KitError)) systemCode = errorCode(at) ?? systemCode;
  }
  const code = systemCode === undefined ? {} : { systemCode };
  if (error instanceof StorageError || (error instanceof Error && 'syscall' in error))
    return { kind: 'storage', message, ...code };
  const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
  return { kind: 'bug', message, ...stack };
}

/** Converts an error back after it has crossed threads. */
export function revivedError({ kind, message, systemCode, stack, protocol }: PlainError): Error {
  if (protocol !== undefined) return new ProtocolError(protocol.problem, protocol);
  if (kind === 'storage') {
    const cause = systemCode === undefined ? {} : { cause: systemError(message, systemCode) };
    return new StorageError(message, cause);
  }
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}

function systemError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
