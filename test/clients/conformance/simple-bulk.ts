import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';

/** An object that the simple Broker has. */
export interface Item {
  readonly url: string;
  readonly title: string;
  readonly time: number;
}

/** What a message asks for. */
interface Request {
  readonly kind: 'bulk' | 'user';
  readonly since: number | undefined;
  readonly desc: boolean;
  readonly proposed: boolean;
  readonly compress: boolean;
  readonly query: string;
}

/** A Broker with bulk transfers, independent of the kit's code; every behavior can be replaced. */
export interface BulkHabits {
  readonly greeting: string;
  /** Connections that are served at one time. */
  readonly atOnce: number;
  /** Where a message ends, or undefined. */
  ending(input: string): number | undefined;
  /** Messages on a connection that are answered. */
  readonly messages: number;
  /** Undefined: it is refused. */
  understand(message: string): Request | undefined;
  refuse(): string;
  readonly success: string;
  isNew(item: Item, since: number | undefined): boolean;
  matches(item: Item, request: Request): boolean;
  object(item: Item): string;
  /** What DELETE and REFRESH carry. */
  bookkeeping(item: Item): string;
  group(word: string, objects: string): string;
  arrange(deleted: string, refreshed: string, updated: string): string;
  /** The whole data of the shipped format, before it is sent. */
  finish(data: string): string;
  readonly knowsProposed: boolean;
  readonly version: string;
  readonly header: string;
  count(objects: number): string;
  /** The Trailer for a query that this engine does not do. */
  readonly unsupported: string;
  compress(data: string): string;
  listed(item: Item): string;
  closes(socket: Socket): void;
  /** Sends one byte of an answer per segment. */
  readonly bytewise: boolean;
}

/** Texts are Latin-1: a character a byte. */
const four = (value: number) => {
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

export const SOUND_BULK: BulkHabits = {
  greeting: '200 - Simple Broker 1\n',
  atOnce: 100,
  ending: (input) => (input.includes('\n') ? input.indexOf('\n') : undefined),
  messages: 1,
  understand(message) {
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
  version: `200 - ${four(1)}${four(0)}Simple\n`,
  header: '126 - http://broker.example.org/\n101 - welcome\n',
  count: (objects) => `144 - ${four(objects)}`,
  unsupported: `111 - ${four(2)}no regular expressions\n`,
  compress: (data) =>
    `150 - gzip begin\n${gzipSync(Buffer.from(data, 'latin1')).toString('latin1')}151 - gzip end\n`,
  listed: ({ url, title }) =>
    `120 - ${url}\n125 - http://broker.example.org/1\n124 - \x32\x9f\xa1\xd2${four(title.length)}${title}130 - object end\n`,
  closes: (socket) => socket.end(),
  bytewise: false,
};

/** The items of the simple Broker: one is deleted and one refreshed, which only a request for changes shows. */
const ITEMS: readonly Item[] = [
  { url: 'http://a.example.org/', title: 'river with harbor', time: 2000 },
  { url: 'http://b.example.org/', title: 'river and castles', time: 3000 },
  { url: 'http://c.example.org/', title: 'harbor', time: 4000 },
  { url: 'http://d.example.org/', title: 'mountains', time: 5000 },
];
const DELETED: Item = { url: 'http://gone.example.org/', title: '', time: 6000 };
const REFRESHED: Item = { url: 'http://old.example.org/', title: 'legends', time: 7000 };

/** The whole answer after the greeting, Latin-1. */
function answerTo(message: string, habits: BulkHabits): string {
  const request = habits.understand(message);
  if (request === undefined) return habits.refuse();
  if (request.query.includes('regexp')) {
    return request.proposed && habits.knowsProposed ? habits.version + habits.unsupported : habits.refuse();
  }
  const { since = 0 } = request;
  const found = ITEMS.filter((item) => habits.isNew(item, request.since) && habits.matches(item, request));
  if (request.kind === 'user' && !habits.knowsProposed) return habits.refuse();
  if (request.kind === 'user' || (request.proposed && habits.knowsProposed)) {
    const head = habits.version + habits.header;
    if (request.kind === 'user') return head + found.map(habits.listed).join('') + habits.count(found.length);
    const [data, number] = dataOf(found, since, habits);
    return head + (request.compress ? habits.compress(data) : data) + habits.count(number);
  }
  return habits.success + habits.finish(dataOf(found, since, habits)[0]);
}

function dataOf(found: readonly Item[], since: number, habits: BulkHabits): [data: string, objects: number] {
  const changed = since > 0 && since < DELETED.time;
  const data = habits.arrange(
    habits.group('DELETE', changed ? habits.bookkeeping(DELETED) : ''),
    habits.group('REFRESH', changed ? habits.bookkeeping(REFRESHED) : ''),
    habits.group('UPDATE', found.map(habits.object).join('')),
  );
  return [data, found.length + (changed ? 2 : 0)];
}

/** Serves with these habits on a free port of loopback. */
export async function simpleBulk(t: Test, habits: BulkHabits): Promise<number> {
  const sockets = new Set<Socket>();
  const waiting: Socket[] = [];
  let served = 0;
  const next = () => {
    while (served < habits.atOnce) {
      const socket = waiting.shift();
      if (socket === undefined) return;
      if (socket.destroyed) continue;
      served++;
      socket.once('close', () => {
        served--;
        next();
      });
      serve(socket, habits);
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

function serve(socket: Socket, habits: BulkHabits): void {
  let input = '';
  let answered = 0;
  socket.write(habits.greeting);
  socket.on('end', () => socket.end());
  socket.on('data', async (chunk) => {
    input += chunk.toString('latin1');
    let reply = '';
    while (answered < habits.messages) {
      const end = habits.ending(input);
      if (end === undefined) break;
      reply += answerTo(input.slice(0, end).trim(), habits);
      input = input.slice(end + 1);
      answered++;
    }
    if (answered === 0) return;
    const bytes = Buffer.from(reply, 'latin1');
    const size = habits.bytewise ? 1 : bytes.length;
    for (let at = 0; at < bytes.length && socket.writable; at += size) {
      socket.write(bytes.subarray(at, at + size));
      if (habits.bytewise) await setImmediate();
    }
    habits.closes(socket);
  });
}
