// Standard input and output as a connection, for inetd (GATHERD-11.2).

import { fstatSync } from 'node:fs';
import { Socket, type SocketConstructorOpts } from 'node:net';
import { Duplex, type DuplexOptions, type Readable, type Writable } from 'node:stream';
import { ConnectionError } from '../../protocols/errors.js';
import { type ByteStream, type ConnectionLimits, SocketConnection } from './connection.js';
import { LogLimiter, peerLog } from './log-limit.js';
import { createPeer, NO_ADDRESS, systemLookup } from './peer.js';
import { isSame, isStream } from './standard-descriptors.js';
import type { HostOptions } from './tcp-host.js';

/** Bytes buffered in each direction before we stop reading or the session has to wait. */
const BUFFER_BYTES = 64 * 1024;

/** The default of `minBytesPerSecond`: a tenth of the slowest modem of 1990. */
const MIN_BYTES_PER_SECOND = 100;

export interface StandardConnectionOptions
  extends Partial<Omit<ConnectionLimits, 'minBytesPerSecond'>>,
    Pick<HostOptions, 'minBytesPerSecond' | 'lookup' | 'log' | 'logLimits'> {}

/** A connection on standard input and output, and our port. */
export interface StandardConnection {
  readonly connection: SocketConnection;
  /** Our own TCP port; undefined if standard input is not a TCP socket. */
  readonly localPort: number | undefined;
}

/**
 * Opens standard input and output as a connection, as inetd passes one (GATHERD-11.2): descriptors 0 and 1 are
 * one socket, or two pipes, sockets, files or a terminal. The peer has an address if standard input is a TCP
 * socket.
 *
 * @throws ConnectionError when one of them is a socket that is not a stream
 */
export function openStandardConnection(options: StandardConnectionOptions): StandardConnection {
  const { idleTimeoutMs = 120_000, drainTimeoutMs = 120_000, lookup = systemLookup() } = options;
  const { minBytesPerSecond = MIN_BYTES_PER_SECOND, log, logLimits } = options;
  const isOneSocket = fstatSync(0).isSocket() && isSame(fstatSync(0), fstatSync(1));
  const input = openInput(isOneSocket);
  const stream: ByteStream =
    isOneSocket && input instanceof Socket
      ? input
      : new PipePair(input, openOutput(), { highWaterMark: BUFFER_BYTES });
  const { remoteAddress = NO_ADDRESS, remotePort = 0, localPort } = input instanceof Socket ? input : {};
  // Only TCP can destroy bytes that the peer has not read yet; elsewhere there is no need to linger.
  const lingerMs = remoteAddress === NO_ADDRESS ? 0 : (options.lingerMs ?? 2000);
  const peer = createPeer(remoteAddress, remotePort, lookup);
  const limiter = new LogLimiter((text) => log.info(text), logLimits);
  stream.once('close', () => limiter[Symbol.dispose]());
  return {
    connection: new SocketConnection(stream, {
      peer,
      limits: { idleTimeoutMs, drainTimeoutMs, minBytesPerSecond, lingerMs },
      log: peerLog(log, limiter, peer.address),
    }),
    localPort,
  };
}

function openInput(writable: boolean): Readable {
  return isStream(fstatSync(0))
    ? openDescriptor({ fd: 0, readable: true, writable, allowHalfOpen: true })
    : process.stdin;
}

/**
 * Avoids `process.stdout` for pipes: Node writes to it synchronously, so a stalled reader would block the
 * process.
 */
function openOutput(): Writable {
  return isStream(fstatSync(1)) ? openDescriptor({ fd: 1, readable: false, writable: true }) : process.stdout;
}

function openDescriptor(options: SocketConstructorOpts): Socket {
  const buffered: SocketConstructorOpts & DuplexOptions = { ...options, highWaterMark: BUFFER_BYTES };
  try {
    return new Socket(buffered);
  } catch (cause) {
    throw new ConnectionError(`descriptor ${options.fd} is a socket that is not a stream`, {
      cause,
    });
  }
}

/** Two one-way streams, as standard input and output are, as one two-way stream. */
export class PipePair extends Duplex implements ByteStream {
  bytesRead = 0;
  readonly #input: Readable;
  readonly output: Writable;

  constructor(input: Readable, output: Writable, options: { readonly highWaterMark: number }) {
    super({ allowHalfOpen: true, ...options });
    this.#input = input;
    this.output = output;
    input.on('data', (chunk: Uint8Array) => {
      this.bytesRead += chunk.length;
      if (!this.push(chunk)) input.pause();
    });
    input.pause();
    input.on('end', () => this.push(null));
    for (const stream of [input, output]) stream.on('error', (error) => this.destroy(error));
  }

  override _read(): void {
    this.#input.resume();
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.output.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.output.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#input.destroy();
    this.output.destroy();
    done(error);
  }
}
