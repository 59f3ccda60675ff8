import { connect, type Socket } from 'node:net';
import { ConnectionError, errorCode, messageOf } from '../../protocols/errors.js';

/** Where and how patiently to connect; times are milliseconds. */
export interface TransportOptions {
  readonly host: string;
  readonly port: number;
  readonly connectTimeoutMs: number;
  /** Longest wait for the peer's next bytes; the time a slow reader of ours takes does not count. */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends `request` over a new connection and yields what comes back until the peer closes. The socket is read
 * only while somebody asks for a chunk; leaving the loop, an abort or a timeout destroys it.
 * @throws ConnectionError when the peer cannot be reached, breaks off, or is silent too long;
 * the signal's reason when aborted
 */
export async function* exchange(request: Uint8Array, options: TransportOptions): AsyncGenerator<Uint8Array> {
  options.signal?.throwIfAborted();
  const socket = connect({ host: options.host, port: options.port });
  const onAbort = () => socket.destroy(toError(options.signal?.reason));
  options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await connected(socket, options);
    // A failed write shows as an error of the reading side, which is where we wait.
    socket.write(request);
    yield* chunks(socket, options);
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}

function connected(socket: Socket, options: TransportOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const { host, port, connectTimeoutMs } = options;
    const timer = setTimeout(() => {
      socket.destroy(new ConnectionError(`no connection to ${host}:${port} within ${connectTimeoutMs} ms`));
    }, connectTimeoutMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve();
    });
    // Stays for the socket's life: an error event without a listener would end the process.
    socket.on('error', (cause) => {
      clearTimeout(timer);
      reject(options.signal?.aborted ? options.signal.reason : explain(cause, options));
    });
  });
}

async function* chunks(socket: Socket, options: TransportOptions): AsyncGenerator<Uint8Array> {
  const { host, port, idleTimeoutMs } = options;
  const reader: AsyncIterator<Uint8Array> = socket[Symbol.asyncIterator]();
  for (;;) {
    const timer = setTimeout(() => {
      socket.destroy(new ConnectionError(`${host}:${port} sent nothing for ${idleTimeoutMs} ms`));
    }, idleTimeoutMs);
    let step: IteratorResult<Uint8Array>;
    try {
      step = await reader.next();
    } catch (cause) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw explain(cause, options);
    } finally {
      clearTimeout(timer);
    }
    if (step.done === true) {
      options.signal?.throwIfAborted();
      return;
    }
    yield step.value;
  }
}

/** What a socket's error means to somebody who asked a Broker, and what to try. */
function explain(cause: unknown, { host, port }: TransportOptions): ConnectionError {
  if (cause instanceof ConnectionError) return cause;
  const code = errorCode(cause) ?? '';
  const sentence = SENTENCES[code];
  const detail = sentence ?? `the connection failed: ${messageOf(cause)}`;
  return new ConnectionError(`broker at ${host}:${port}: ${detail}`, { cause });
}

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'connection refused; is it running, and is this its port? (8501 unless Broker-Port says otherwise)',
  ENOTFOUND: 'no such host; check the spelling, or give its address',
  EAI_AGAIN: 'the host name cannot be looked up now; try again, or give its address',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ECONNRESET: 'it broke off the connection before the reply was complete; try again',
  EPIPE: 'it broke off the connection before the reply was complete; try again',
};

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
