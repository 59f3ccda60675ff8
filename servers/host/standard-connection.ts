import { closeSync, fstatSync, openSync, type Stats } from 'node:fs';
import { Socket, type SocketConstructorOpts } from 'node:net';
import type { DuplexOptions, Readable } from 'node:stream';
import { ConnectionError } from '../../protocols/errors.js';
import { type ByteStream, type ConnectionLimits, SocketConnection } from './connection.js';
import { createPeer, type NameLookup, NO_ADDRESS, systemLookup } from './peer.js';
import { type PairedOutput, PipePair } from './pipe-pair.js';

/** Bytes that wait in each direction before we stop reading or tell the session to wait. */
const BUFFER_BYTES = 64 * 1024;

export interface StandardConnectionOptions extends Partial<ConnectionLimits> {
  /** Replaces the system's name lookup. */
  readonly lookup?: NameLookup;
}

/** A connection on standard input and output, and what is known of our end of it. */
export interface StandardConnection {
  readonly connection: SocketConnection;
  /** Our own TCP port; undefined when standard input is no TCP socket. */
  readonly localPort: number | undefined;
}

/**
 * Standard input and output as a connection, the way inetd hands one over (GATHERD-11.2): descriptors 0 and 1 are one
 * socket, or two pipes, sockets, files or a terminal. The peer's address is that of standard input, where that is a TCP
 * socket; there is none otherwise.
 *
 * @throws ConnectionError when one of them carries no stream
 */
export function openStandardConnection(options: StandardConnectionOptions = {}): StandardConnection {
  const { idleTimeoutMs = 120_000, drainTimeoutMs = 120_000, lookup = systemLookup() } = options;
  const isOneSocket = fstatSync(0).isSocket() && isSame(fstatSync(0), fstatSync(1));
  const input = openInput(isOneSocket);
  const stream: ByteStream =
    isOneSocket && input instanceof Socket
      ? input
      : new PipePair(input, openOutput(), { highWaterMark: BUFFER_BYTES });
  const { remoteAddress = NO_ADDRESS, remotePort = 0, localPort } = input instanceof Socket ? input : {};
  // Only TCP destroys what a peer has not read yet; elsewhere nothing has to be waited for.
  const lingerMs = remoteAddress === NO_ADDRESS ? 0 : (options.lingerMs ?? 2000);
  const peer = createPeer(remoteAddress, remotePort, lookup);
  return {
    connection: new SocketConnection(stream, peer, { idleTimeoutMs, drainTimeoutMs, lingerMs }),
    localPort,
  };
}

function openInput(writable: boolean): Readable {
  return isStream(fstatSync(0))
    ? openDescriptor({ fd: 0, readable: true, writable, allowHalfOpen: true })
    : process.stdin;
}

/** Node would write to a pipe synchronously as `process.stdout`: a reader that stops would stop the whole process. */
function openOutput(): PairedOutput {
  return isStream(fstatSync(1)) ? openDescriptor({ fd: 1, readable: false, writable: true }) : process.stdout;
}

function openDescriptor(options: SocketConstructorOpts): Socket {
  const buffered: SocketConstructorOpts & DuplexOptions = { ...options, highWaterMark: BUFFER_BYTES };
  try {
    return new Socket(buffered);
  } catch (cause) {
    throw new ConnectionError(`descriptor ${options.fd} is a socket, but none that carries a stream`, {
      cause,
    });
  }
}

/**
 * inetd hands over its socket as standard error, too. Where that is so, the descriptor is turned away from the peer, for
 * all that this process or the runtime may ever write there.
 *
 * @returns whether standard error was the peer's
 */
export function shieldStandardError(): boolean {
  try {
    const [input, output, error] = [fstatSync(0), fstatSync(1), fstatSync(2)];
    if (!isStream(error) || (!isSame(error, input) && !isSame(error, output))) return false;
  } catch {
    return false;
  }
  closeSync(2);
  // The lowest free number is given out, and that is 2.
  openSync('/dev/null', 'w');
  return true;
}

function isStream(descriptor: Stats): boolean {
  return descriptor.isSocket() || descriptor.isFIFO();
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}
