import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ConnectionError, errorCode } from '../../protocols/errors.js';

export interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  /** Milliseconds. */
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Connects. Rejects with ConnectionError, or the signal's reason. */
export async function open(options: ConnectOptions): Promise<Socket> {
  const { host, port, connectTimeoutMs, signal } = options;
  signal?.throwIfAborted();
  const socket = connect({ host, port, noDelay: true });
  const late = AbortSignal.timeout(connectTimeoutMs);
  try {
    await once(socket, 'connect', { signal: signal === undefined ? late : AbortSignal.any([signal, late]) });
    return socket;
  } catch (cause) {
    socket.on('error', () => {}); // nobody waits for it any more
    socket.destroy();
    signal?.throwIfAborted();
    if (late.aborted)
      throw new ConnectionError(`no connection to ${host}:${port} within ${connectTimeoutMs} ms`);
    throw explain(cause, host, port);
  }
}

/** What a socket's error means to somebody who asked a References Server, and what to try. */
export function explain(cause: unknown, host: string, port: number): ConnectionError {
  if (cause instanceof ConnectionError) return cause;
  const code = errorCode(cause) ?? '';
  const detail =
    SENTENCES[code] ?? `the connection failed: ${cause instanceof Error ? cause.message : cause}`;
  return new ConnectionError(`server at ${host}:${port}: ${detail}`, { cause });
}

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; is it running, and is this its port?',
  ENOTFOUND: 'no such host; check the spelling, or give its address',
  EAI_AGAIN: 'the host name cannot be looked up now; try again, or give its address',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ECONNRESET: 'it broke off the connection',
  EPIPE: 'it broke off the connection',
};
