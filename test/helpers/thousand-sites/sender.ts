import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from './answers.js';

const LATE_MS = 700;
const DRIP_PIECES = 8;
const DRIP_MS = 50;
/** Interval between pieces, shorter than the crawler's read timeout. */
const LONG_DRIP_MS = 600;
const ENDLESS_PIECE = 64 * 1024;
/** Bytes after which an endless answer stops. */
const ENDLESS_BYTES = 512 * 1024 * 1024;

/** State of the connection after an answer. */
export interface Sent {
  /** The connection can take another request. */
  readonly keep: boolean;
}

/**
 * Sends an answer in its manner. `beforeLast` is called right before the bytes (or the end) that complete it.
 * It returns early if the connection is closed.
 */
export async function send(socket: Socket, answer: Answer, beforeLast: () => void): Promise<Sent> {
  const body = Buffer.from(typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body);
  const half = body.length >> 1;
  const whole = Buffer.concat([head(answer, [`Content-Length: ${body.length}`]), body]);
  const finish = (bytes: Uint8Array): Sent => {
    beforeLast();
    socket.end(bytes);
    return { keep: false };
  };
  switch (answer.manner) {
    case 'plain':
      beforeLast();
      socket.write(bodiless(answer.status) ? head(answer, []) : whole);
      return { keep: true };
    case 'close':
      return finish(
        Buffer.concat([head(answer, [`Content-Length: ${body.length}`, 'Connection: close']), body]),
      );
    case 'chunked': {
      socket.write(head(answer, ['Transfer-Encoding: chunked']));
      for (const piece of pieces(body, 3)) socket.write(chunk(piece));
      beforeLast();
      socket.write('0\r\n\r\n');
      return { keep: true };
    }
    case 'http/1.0':
      socket.write(head(answer, [], 'HTTP/1.0'));
      return finish(body);
    case 'late':
      await pause(LATE_MS);
      beforeLast();
      socket.write(whole);
      return { keep: true };
    case 'drip':
      return drip(socket, whole, DRIP_MS, beforeLast);
    case 'long-drip':
      return drip(socket, whole, LONG_DRIP_MS, beforeLast);
    case 'hang':
      return silence(socket);
    case 'hang-in-body':
      socket.write(whole.subarray(0, whole.length - body.length + half));
      return silence(socket);
    case 'reset':
      beforeLast();
      socket.resetAndDestroy();
      return { keep: false };
    case 'reset-in-body':
      socket.write(whole.subarray(0, whole.length - half));
      // Sent first, so that there is something to be reset.
      await pause(20);
      beforeLast();
      socket.resetAndDestroy();
      return { keep: false };
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
      return finish(
        Buffer.from('220 mail.example.org ESMTP\r\n\0\x01\x02 this is not what you look for\r\n'),
      );
    case 'endless-headers':
      socket.write('HTTP/1.1 200 OK\r\n');
      return endless(socket, Buffer.from(`X-More: ${'z'.repeat(1000)}\r\n`.repeat(64)));
    case 'endless-body':
      socket.write(head(answer, ['Transfer-Encoding: chunked']));
      socket.write(chunk(body));
      return endless(socket, chunk(Buffer.alloc(ENDLESS_PIECE, '# on and on\n')));
  }
}

/** Milliseconds that the answer's Retry-After requests; undefined without one. */
export function retryAfter(answer: Answer): { readonly value: string; readonly ms: number } | undefined {
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

function bodiless(status: number): boolean {
  return status === 204 || status === 304;
}

function chunk(piece: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
}

function pieces(bytes: Buffer, count: number): Buffer[] {
  const size = Math.max(1, Math.ceil(bytes.length / count));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
}

async function drip(socket: Socket, bytes: Buffer, everyMs: number, beforeLast: () => void): Promise<Sent> {
  const all = pieces(bytes, DRIP_PIECES);
  for (const [i, piece] of all.entries()) {
    if (socket.destroyed) return { keep: false };
    if (i === all.length - 1) beforeLast();
    socket.write(piece);
    if (i < all.length - 1) await pause(everyMs);
  }
  return { keep: true };
}

/** Sends until the peer closes the connection. */
async function silence(socket: Socket): Promise<Sent> {
  if (!socket.destroyed) await once(socket, 'close');
  return { keep: false };
}

async function endless(socket: Socket, piece: Buffer): Promise<Sent> {
  let sent = 0;
  while (!socket.destroyed && sent < ENDLESS_BYTES) {
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
  return { keep: false };
}
