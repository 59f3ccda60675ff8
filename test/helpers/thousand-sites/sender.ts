// Sends an answer over a connection, correctly or with one of the faults of `Delivery`.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './answers.js';

const LATE_MS = 700;
const DRIP_PIECES = 8;
const DRIP_MS = 50;
/** Interval between pieces, shorter than the crawler's read timeout. */
const LONG_DRIP_MS = 600;
/** Bytes of one write of an endless answer. */
const ENDLESS_PIECE_BYTES = 64 * 1024;
/** Bytes after which an endless answer stops. */
const MAX_ENDLESS_BYTES = 512 * 1024 * 1024;

/** State of the connection after an answer. */
export interface Sent {
  /** The connection accepts another request. */
  readonly keepAlive: boolean;
}

/**
 * Sends an answer. Returns early if the peer closes the connection.
 *
 * @param beforeLast called right before the bytes, or the end of the connection, that complete the answer
 */
export async function send(socket: Socket, answer: Answer, beforeLast: () => void): Promise<Sent> {
  const body = Buffer.from(typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body);
  const half = body.length >> 1;
  const whole = Buffer.concat([head(answer, [`Content-Length: ${body.length}`]), body]);
  const finish = (bytes: Uint8Array): Sent => {
    beforeLast();
    socket.end(bytes);
    return { keepAlive: false };
  };
  switch (answer.delivery) {
    case 'plain':
      beforeLast();
      socket.write(hasNoBody(answer.status) ? head(answer, []) : whole);
      return { keepAlive: true };
    case 'close':
      return finish(
        Buffer.concat([head(answer, [`Content-Length: ${body.length}`, 'Connection: close']), body]),
      );
    case 'chunked': {
      socket.write(head(answer, ['Transfer-Encoding: chunked']));
      for (const piece of splitEvenly(body, 3)) socket.write(chunk(piece));
      beforeLast();
      socket.write('0\r\n\r\n');
      return { keepAlive: true };
    }
    case 'http/1.0':
      socket.write(head(answer, [], 'HTTP/1.0'));
      return finish(body);
    case 'late':
      await sleep(LATE_MS);
      beforeLast();
      socket.write(whole);
      return { keepAlive: true };
    case 'drip':
      return sendSlowly(socket, whole, DRIP_MS, beforeLast);
    case 'long-drip':
      return sendSlowly(socket, whole, LONG_DRIP_MS, beforeLast);
    case 'hang':
      return sendNothing(socket);
    case 'hang-in-body':
      socket.write(whole.subarray(0, whole.length - body.length + half));
      return sendNothing(socket);
    case 'reset':
      beforeLast();
      socket.resetAndDestroy();
      return { keepAlive: false };
    case 'reset-in-body':
      socket.write(whole.subarray(0, whole.length - half));
      // Lets the first half reach the crawler before the reset.
      await sleep(20);
      beforeLast();
      socket.resetAndDestroy();
      return { keepAlive: false };
    case 'half':
      return finish(whole.subarray(0, whole.length - half));
    case 'more':
      return finish(Buffer.concat([head(answer, [`Content-Length: ${half}`]), body]));
    case 'two-lengths':
      return finish(
        Buffer.concat([head(answer, [`Content-Length: ${body.length}`, `Content-Length: ${half}`]), body]),
      );
    case 'bad-chunks':
      return finish(
        Buffer.concat([
          head(answer, ['Transfer-Encoding: chunked']),
          chunk(body),
          Buffer.from('zz\r\nno\r\n'),
        ]),
      );
    case 'garbage':
      return finish(Buffer.from('220 mail.example.org ESMTP\r\n\0\x01\x02 this is not what you want\r\n'));
    case 'endless-headers':
      socket.write('HTTP/1.1 200 OK\r\n');
      return sendEndlessly(socket, Buffer.from(`X-More: ${'z'.repeat(1000)}\r\n`.repeat(64)));
    case 'endless-body':
      socket.write(head(answer, ['Transfer-Encoding: chunked']));
      socket.write(chunk(body));
      return sendEndlessly(socket, chunk(Buffer.alloc(ENDLESS_PIECE_BYTES, '# on and on\n')));
  }
}

/**
 * Returns the Retry-After header of an answer as sent now, and its delay; undefined if the answer has no such
 * header.
 */
export function resolveRetryAfter(
  answer: Answer,
): { readonly value: string; readonly ms: number } | undefined {
  const written = answer.headers['retry-after'];
  if (written === undefined) return undefined;
  if (!/^\+?\d+$/.test(written)) return { value: written, ms: 0 };
  const seconds = Number(written);
  if (!written.startsWith('+')) return { value: written, ms: seconds * 1000 };
  const now = Date.now();
  const date = Math.floor(now / 1000 + seconds) * 1000;
  return { value: new Date(date).toUTCString(), ms: date - now };
}

function head(answer: Answer, more: readonly string[], version = 'HTTP/1.1'): Buffer {
  const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
  const lines = [`${version} ${answer.status} Status`, ...headers, ...more];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 304;
}

function chunk(piece: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
}

function splitEvenly(bytes: Buffer, count: number): Buffer[] {
  const size = Math.max(1, Math.ceil(bytes.length / count));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
}

/** Sends the bytes in pieces with pauses between them. */
async function sendSlowly(
  socket: Socket,
  bytes: Buffer,
  everyMs: number,
  beforeLast: () => void,
): Promise<Sent> {
  const all = splitEvenly(bytes, DRIP_PIECES);
  for (const [i, piece] of all.entries()) {
    if (socket.destroyed) return { keepAlive: false };
    if (i === all.length - 1) beforeLast();
    socket.write(piece);
    if (i < all.length - 1) await sleep(everyMs);
  }
  return { keepAlive: true };
}

/** Waits until the peer closes the connection. */
async function sendNothing(socket: Socket): Promise<Sent> {
  if (!socket.destroyed) await once(socket, 'close');
  return { keepAlive: false };
}

/** Repeats a piece until the peer closes the connection, or up to {@link MAX_ENDLESS_BYTES}. */
async function sendEndlessly(socket: Socket, piece: Buffer): Promise<Sent> {
  let sent = 0;
  while (!socket.destroyed && sent < MAX_ENDLESS_BYTES) {
    sent += piece.length;
    if (!socket.write(piece)) {
      const gone = new AbortController();
      const { signal } = gone;
      await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })]).catch(
        () => undefined,
      );
      gone.abort();
    }
  }
  socket.destroy();
  return { keepAlive: false };
}
