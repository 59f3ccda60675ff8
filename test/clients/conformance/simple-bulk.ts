// A Broker with bulk transfers, independent of the kit's code, for the tests of the conformance suite.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';

/** An object of the simple Broker. */
export interface Item {
  readonly url: string;
  readonly title: string;
  readonly time: number;
}

/** A parsed message. */
interface Request {
  readonly kind: 'bulk' | 'user';
  readonly since: number | undefined;
  readonly desc: boolean;
  readonly proposed: boolean;
  readonly compress: boolean;
  readonly query: string;
}

/** The behavior of the Broker. {@link CORRECT_BULK} is correct, and any member can be replaced. */
export interface BulkBehavior {
  readonly greeting: string;
  /** Connections that are served at a time. */
  readonly maxConnections: number;
  /** Offset at which the first message ends, or undefined if it is incomplete. */
  messageEnd(input: string): number | undefined;
  /** Messages that are answered on one connection. */
  readonly maxMessages: number;
  /** Returns undefined for a message to refuse. */
  parse(message: string): Request | undefined;
  refuse(): string;
  readonly success: string;
  isNew(item: Item, since: number | undefined): boolean;
  matches(item: Item, request: Request): boolean;
  object(item: Item): string;
  /** An object in DELETE or REFRESH. */
  bookkeeping(item: Item): string;
  group(word: string, objects: string): string;
  arrange(deleted: string, refreshed: string, updated: string): string;
  /** Changes the data of the shipped format before it is sent. */
  finish(data: string): string;
  readonly knowsProposed: boolean;
  readonly version: string;
  readonly header: string;
  count(objects: number): string;
  /** The Trailer for a query that this engine does not support. */
  readonly unsupported: string;
  compress(data: string): string;
  renderListed(item: Item): string;
  close(socket: Socket): void;
  /** Sends one byte of an answer per segment. */
  readonly bytewise: boolean;
}

/** A number as four bytes, in Latin-1 like all texts here. */
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('latin1');
};

/** A SOIF object with these attributes. */
export function soifText(url: string, attributes: readonly (readonly [string, string])[]): string {
  const lines = attributes.map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
  return `@FILE { ${url}\n${lines.join('')}}\n`;
}

export function bookkeepingOf({ time }: Item): [string, string][] {
  return [
    ['Update-Time', String(time)],
    ['Time-to-Live', '2000000000'],
    ['Gatherer-Name', 'Example'],
    ['Gatherer-Host', 'gatherer.example.org'],
    ['Gatherer-Version', '1.8'],
  ];
}

const MESSAGE =
  /^#(bulk|user)((?: +#since \d+| +#desc| +#opaque| +#interface 2| +#compress| +#index \S+(?: insensitive)?)*) +#end +(\S.*)$/i;

export const CORRECT_BULK: BulkBehavior = {
  greeting: '200 - Simple Broker 1\n',
  maxConnections: 100,
  messageEnd: (input) => (input.includes('\n') ? input.indexOf('\n') : undefined),
  maxMessages: 1,
  parse(message) {
    const match = MESSAGE.exec(message);
    const [, kind = '', flags = '', query = ''] = match ?? [];
    if (match === null || query.includes('(')) return undefined;
    const since = /#since (\d+)/i.exec(flags)?.[1];
    return {
      kind: kind.toLowerCase() === 'bulk' ? 'bulk' : 'user',
      since: since === undefined ? undefined : Number(since),
      desc: /#desc/i.test(flags),
      proposed: /#interface 2/i.test(flags),
      compress: /#compress/i.test(flags),
      query: query.toLowerCase(),
    };
  },
  refuse: () => '400 - ERROR: Malformed message\n',
  success: '000 - Bulk transfer follows\n',
  isNew: ({ time }, since = 0) => time > since,
  matches: ({ title }, { query }) => query === '#allb' || new RegExp(`\\b${query}\\b`, 'i').test(title),
  object: (item) => soifText(item.url, [['Title', item.title], ...bookkeepingOf(item)]),
  bookkeeping: (item) => soifText(item.url, bookkeepingOf(item)),
  group: (word, objects) => `@${word} {\n${objects}}\n`,
  arrange: (deleted, refreshed, updated) => [deleted, refreshed, updated].join('\n'),
  finish: (data) => data,
  knowsProposed: true,
  version: `200 - ${uint32(1)}${uint32(0)}Simple\n`,
  header: '126 - http://broker.example.org/\n101 - welcome\n',
  count: (objects) => `144 - ${uint32(objects)}`,
  unsupported: `111 - ${uint32(2)}no regular expressions\n`,
  compress: (data) =>
    `150 - gzip begin\n${gzipSync(Buffer.from(data, 'latin1')).toString('latin1')}151 - gzip end\n`,
  renderListed: ({ url, title }) =>
    `120 - ${url}\n125 - http://broker.example.org/1\n124 - \x32\x9f\xa1\xd2${uint32(title.length)}${title}130 - object end\n`,
  close: (socket) => socket.end(),
  bytewise: false,
};

/** The items of the simple Broker. One more is deleted and one is refreshed, which only a request with a time shows. */
const ITEMS: readonly Item[] = [
  { url: 'http://a.example.org/', title: 'river with harbor', time: 2000 },
  { url: 'http://b.example.org/', title: 'river and castles', time: 3000 },
  { url: 'http://c.example.org/', title: 'harbor', time: 4000 },
  { url: 'http://d.example.org/', title: 'mountains', time: 5000 },
];
const DELETED: Item = { url: 'http://gone.example.org/', title: '', time: 6000 };
const REFRESHED: Item = { url: 'http://old.example.org/', title: 'legends', time: 7000 };

/** The whole reply after the greeting, in Latin-1. */
function replyTo(message: string, behavior: BulkBehavior): string {
  const request = behavior.parse(message);
  if (request === undefined) return behavior.refuse();
  if (request.query.includes('regexp')) {
    return request.proposed && behavior.knowsProposed
      ? behavior.version + behavior.unsupported
      : behavior.refuse();
  }
  const { since = 0 } = request;
  const found = ITEMS.filter(
    (item) => behavior.isNew(item, request.since) && behavior.matches(item, request),
  );
  if (request.kind === 'user' && !behavior.knowsProposed) return behavior.refuse();
  if (request.kind === 'user' || (request.proposed && behavior.knowsProposed)) {
    const head = behavior.version + behavior.header;
    if (request.kind === 'user')
      return head + found.map(behavior.renderListed).join('') + behavior.count(found.length);
    const [data, number] = dataOf(found, since, behavior);
    return head + (request.compress ? behavior.compress(data) : data) + behavior.count(number);
  }
  return behavior.success + behavior.finish(dataOf(found, since, behavior)[0]);
}

function dataOf(
  found: readonly Item[],
  since: number,
  behavior: BulkBehavior,
): [data: string, objects: number] {
  const changed = since > 0 && since < DELETED.time;
  const data = behavior.arrange(
    behavior.group('DELETE', changed ? behavior.bookkeeping(DELETED) : ''),
    behavior.group('REFRESH', changed ? behavior.bookkeeping(REFRESHED) : ''),
    behavior.group('UPDATE', found.map(behavior.object).join('')),
  );
  return [data, found.length + (changed ? 2 : 0)];
}

/** Listens on a free port of loopback until the test ends. */
export async function simpleBulk(t: Test, behavior: BulkBehavior): Promise<number> {
  const sockets = new Set<Socket>();
  const waiting: Socket[] = [];
  let served = 0;
  const next = () => {
    while (served < behavior.maxConnections) {
      const socket = waiting.shift();
      if (socket === undefined) return;
      if (socket.destroyed) continue;
      served++;
      socket.once('close', () => {
        served--;
        next();
      });
      serve(socket, behavior);
    }
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    waiting.push(socket);
    next();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return address === null || typeof address === 'string' ? 0 : address.port;
}

function serve(socket: Socket, behavior: BulkBehavior): void {
  let input = '';
  let answered = 0;
  socket.write(behavior.greeting);
  socket.on('end', () => socket.end());
  socket.on('data', async (chunk) => {
    input += chunk.toString('latin1');
    let reply = '';
    while (answered < behavior.maxMessages) {
      const end = behavior.messageEnd(input);
      if (end === undefined) break;
      reply += replyTo(input.slice(0, end).trim(), behavior);
      input = input.slice(end + 1);
      answered++;
    }
    if (answered === 0) return;
    const bytes = Buffer.from(reply, 'latin1');
    const size = behavior.bytewise ? 1 : bytes.length;
    for (let offset = 0; offset < bytes.length && socket.writable; offset += size) {
      socket.write(bytes.subarray(offset, offset + size));
      if (behavior.bytewise) await setImmediate();
    }
    behavior.close(socket);
  });
}
