// A small References Server over the fixture of C-01, for the tests of the conformance suite.
import type { Socket } from 'node:net';
import type { Test } from 'tap';
import {
  chooseProtocol,
  codeOfKind,
  isSiteKind,
  type LinkRequest,
  type ReplyWriter,
  SstpServerSession,
} from '../../../protocols/sstp/index.js';
import { tcpServer } from '../../helpers/tcp-server.js';

/** What tests change of the server. */
interface RefererdBehavior {
  /** Returns the links that it has, from the correct ones; undefined: not found. */
  readonly links?: (correct: readonly number[] | undefined) => readonly number[] | undefined;
  /** Whether it knows the URL of the fixture that has a description. Default: true. */
  readonly describes?: boolean;
}

/** The documents of R13: ID, server, time, time of check, length. */
const DOCUMENTS: Readonly<Record<string, readonly [number, number, number, number, number]>> = {
  'http://a.example/': [10, 1, 1_000_000_100, 1_000_001_000, 1_000],
  'http://a.example/x': [11, 1, 1_000_000_110, 1_000_001_100, 1_100],
  'http://a.example:81/': [12, 2, 1_000_000_120, 1_000_001_200, 1_200],
  'http://b.example/': [20, 3, 1_000_000_200, 1_000_002_000, 2_000],
  'http://b.example/lonely': [21, 3, 1_000_000_210, 1_000_002_100, 2_100],
};
const SERVERS: Readonly<Record<string, number>> = { 'a.example:80': 1, 'a.example:81': 2, 'b.example:80': 3 };
const REFERENCES: Readonly<Record<number, readonly number[]>> = {
  10: [11, 20, 12],
  11: [10, 20],
  12: [10, 11],
  20: [10],
  21: [],
};
const REFERERS: Readonly<Record<number, readonly number[]>> = {
  10: [11, 20, 12],
  11: [10, 12],
  12: [10],
  20: [10, 11],
  21: [],
};
const SITES: Readonly<Record<number, readonly number[]>> = { 1: [20, 12], 2: [10, 11], 3: [10, 11] };
const SITE_REFERENCES: Readonly<Record<number, readonly number[]>> = { ...SITES, 3: [10] };
const SITE_REFERERS: Readonly<Record<number, readonly number[]>> = { ...SITES, 2: [10] };

/** the method comes first, then the path, then the credentials, which are never right. */
function answerHttp(line: string): string {
  const [method = '', target = ''] = line.split(' ');
  const head = (status: string, more = '') => `HTTP/1.0 ${status}\r\n${more}Connection: close\r\n\r\n`;
  if (!/^(?:GET|HEAD|POST)$/.test(method)) return head('405 Method Not Allowed');
  if (!/^\/(?:stat|clean|reload)(?:\?|$)/.test(target)) return head('404 Not Found');
  return head('401 Unauthorized', 'WWW-Authenticate: Basic realm="refererd"\r\n');
}

function links({ kind, id, name }: LinkRequest): readonly number[] | undefined {
  const key = id === 0 ? (SERVERS[name] ?? DOCUMENTS[name]?.[0] ?? 0) : id;
  if (isSiteKind(kind)) return (kind === 'site-references' ? SITE_REFERENCES : SITE_REFERERS)[key];
  return (kind === 'references' ? REFERENCES : REFERERS)[key];
}

/** Listens on a free port of loopback until the test ends. */
export function simpleRefererd(t: Test, behavior: RefererdBehavior = {}): Promise<number> {
  return tcpServer(t, (socket) => serve(socket, behavior), { allowHalfOpen: true });
}

function serve(socket: Socket, behavior: RefererdBehavior): void {
  const session = new SstpServerSession();
  let start: Buffer | undefined = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    // S-39: what follows is discarded, so that the refusal arrives.
    if (session.closing) return;
    let bytes = chunk;
    if (start !== undefined) {
      start = Buffer.concat([start, chunk]);
      const choice = chooseProtocol(start);
      if (choice === 'undecided') return;
      if (choice === 'http') {
        const request = start.toString('latin1');
        if (/\n\r?\n/.test(request)) socket.end(answerHttp(request));
        return;
      }
      bytes = start;
      start = undefined;
    }
    session.push(bytes);
    answer(socket, session, behavior);
  });
  socket.on('end', () => {
    // S-47: the end comes before the choice.
    if (start !== undefined && start.length > 0) socket.write('SSTP/1.0 400 BAD REQUEST\r\n\r\n');
    if (session.closing) return;
    session.end();
    answer(socket, session, behavior);
  });
}

function answer(
  socket: Socket,
  session: SstpServerSession,
  { links: change = (correct) => correct, describes = true }: RefererdBehavior,
): void {
  const { replies } = session;
  for (let request = session.next(); request !== undefined; request = session.next()) {
    if (request.kind === 'url-by-name') describe(describes ? request.url : '', replies);
    else if ('id' in request) {
      const ids = change(links(request));
      const { start, count = 10_000 } = request;
      if (ids === undefined) replies.writeNotFound();
      else {
        const begin = Math.min(start, ids.length);
        const end = Math.min(begin + count, ids.length);
        replies.writeLinks(codeOfKind(request.kind), ids.length, start, Uint32Array.from(ids), begin, end);
      }
    }
  }
  socket.write(replies.take());
  if (session.closing) socket.end();
}

function describe(url: string, replies: ReplyWriter): void {
  const document = DOCUMENTS[url];
  if (document === undefined) return void replies.writeNotFound();
  const [id, serverId, time, checkTime, length] = document;
  const { hostname: host, port, pathname: uri } = new URL(url);
  replies.writeDescription({
    id,
    serverId,
    protocol: 'http',
    host,
    port: Number(port || 80),
    uri,
    time,
    checkTime,
    length,
  });
}
