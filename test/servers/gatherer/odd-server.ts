// A server with odd replies, and the WARC files of a crawl of it, read by a parser of the tests.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { tcpServer } from '../../helpers/tcp-server.js';

/** What a connection got: the head of the final response, and the body without its framing. */
interface Sent {
  readonly path: string;
  readonly head: string;
  readonly body: Buffer;
  /** The body as it was sent. */
  readonly framed: Buffer;
  /** The body that the document has. */
  readonly whole: Buffer;
}

/** A text of this length, the same from the beginning for every length. */
export const text = (length: number): Buffer =>
  Buffer.from(
    Array.from({ length: Math.ceil(length / 8) }, (_, i) => `${String(i).padStart(7)}\n`).join(''),
  ).subarray(0, length);

export const head = (fields: string, status = '200 OK') =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\n${fields}\r\n`;
export const lengthOf = (length: number) => head(`Content-Length: ${length}\r\n`);
/** A body in chunks with extensions, and its trailers. */
export const inChunks = (bytes: Buffer, count: number, extension = '', trailers = ''): Buffer => {
  const size = Math.ceil(bytes.length / count);
  const chunks = Array.from({ length: count }, (_, i) =>
    chunk(bytes.subarray(i * size, (i + 1) * size), extension),
  );
  return Buffer.concat([...chunks, Buffer.from(`0${extension}\r\n${trailers}\r\n`)]);
};
export const chunk = (bytes: Buffer, extension = '') =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}${extension}\r\n`), bytes, Buffer.from('\r\n')]);

/** A server that keeps a record of what it sent, and its URL. */
export async function oddServer(t: Test, pages: Pages) {
  const sent: Sent[] = [];
  const counts = new Map<string, number>();
  const port = await tcpServer(t, (socket: Socket) => {
    socket.once('data', (request) => {
      const path = /^GET (\S+)/.exec(String(request))?.[1] ?? '';
      const count = (counts.get(path) ?? 0) + 1;
      counts.set(path, count);
      const reply = (
        before: string,
        start: string,
        body: Buffer,
        whole = body,
        framed = body,
        end: () => unknown = () => socket.end(),
      ) => {
        sent.push({ path, head: start, body, framed, whole });
        socket.write(Buffer.concat([Buffer.from(before + start, 'latin1'), framed]), end);
      };
      if (path === '/') {
        const links = [...Object.keys(pages)].map((name) => `<a href="${name}">x</a>`).join('');
        const page = Buffer.from(`<title>Odd</title>${links}`);
        reply('', head(`Content-Length: ${page.length}\r\n`).replace('plain', 'html'), page);
      } else if (pages[path] !== undefined) pages[path](reply, count, socket);
      else socket.end('HTTP/1.1 404 no\r\nContent-Length: 0\r\n\r\n');
    });
  });
  return { url: `http://127.0.0.1:${port}`, sent, counts };
}

export type Reply = (
  before: string,
  start: string,
  body: Buffer,
  whole?: Buffer,
  framed?: Buffer,
  end?: () => unknown,
) => void;
export type Pages = Readonly<Record<string, (reply: Reply, count: number, socket: Socket) => void>>;

export interface WarcRecord {
  readonly fields: ReadonlyMap<string, string>;
  readonly block: Buffer;
}

/** Reads the records of uncompressed WARC files. */
export function recordsIn(directory: string): WarcRecord[] {
  const records: WarcRecord[] = [];
  for (const name of readdirSync(directory)
    .filter((file) => file.endsWith('.warc'))
    .sort()) {
    const bytes = readFileSync(join(directory, name));
    for (let at = 0; at < bytes.length; ) {
      const headEnd = bytes.indexOf('\r\n\r\n', at);
      const lines = bytes.subarray(at, headEnd).toString('utf8').split('\r\n').slice(1);
      const fields = new Map(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
      const end = headEnd + 4 + Number(fields.get('Content-Length'));
      records.push({ fields, block: bytes.subarray(headEnd + 4, end) });
      at = end + 4;
    }
  }
  return records;
}

export const hex = (digest: string | undefined) =>
  [...(digest ?? '').replace('sha1:', '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
    .replace(/.{4}/g, (bits) => Number.parseInt(bits, 2).toString(16));
export const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex');
