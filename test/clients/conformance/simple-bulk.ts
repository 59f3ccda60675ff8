// A Broker with bulk transfers, independent of the kit's code, for the tests of the conformance suite.
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { tcpServer } from '../../helpers/tcp-server.js';

/** An object of the simple Broker. */
interface Item {
  readonly url: string;
  readonly title: string;
  readonly time: number;
}

/** A parsed message. */
interface Request {
  readonly kind: 'bulk' | 'user';
  readonly since: number;
  readonly proposed: boolean;
  readonly compress: boolean;
  readonly query: string;
}

/** What tests change of the Broker. */
interface BulkBehavior {
  readonly greeting?: string;
  /** Whether it knows the proposed interface and listings. Default: true. */
  readonly knowsProposed?: boolean;
  /** Sends one byte of an answer per segment. */
  readonly bytewise?: boolean;
}

/** A number as four bytes, in Latin-1 like all texts here. */
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('latin1');
};

/** A SOIF object with these attributes. */
function soifText(url: string, attributes: readonly (readonly [string, string])[]): string {
  const lines = attributes.map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
  return `@FILE { ${url}\n${lines.join('')}}\n`;
}

function bookkeepingOf({ time }: Item): [string, string][] {
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

/** Returns undefined for a message to refuse. */
function parse(message: string): Request | undefined {
  const match = MESSAGE.exec(message);
  const [, kind = '', flags = '', query = ''] = match ?? [];
  if (match === null || query.includes('(')) return undefined;
  return {
    kind: kind.toLowerCase() === 'bulk' ? 'bulk' : 'user',
    since: Number(/#since (\d+)/i.exec(flags)?.[1] ?? 0),
    proposed: /#interface 2/i.test(flags),
    compress: /#compress/i.test(flags),
    query: query.toLowerCase(),
  };
}

const REFUSAL = '400 - ERROR: Malformed message\n';
const VERSION = `200 - ${uint32(1)}${uint32(0)}Simple\n`;
const HEADER = '126 - http://broker.example.org/\n101 - welcome\n';
const count = (objects: number) => `144 - ${uint32(objects)}`;

function compressed(data: string): string {
  return `150 - gzip begin\n${gzipSync(Buffer.from(data, 'latin1')).toString('latin1')}151 - gzip end\n`;
}

function listed({ url, title }: Item): string {
  return `120 - ${url}\n125 - http://broker.example.org/1\n124 - \x32\x9f\xa1\xd2${uint32(title.length)}${title}130 - object end\n`;
}

/**
 * The items of the simple Broker. One more is deleted and one is refreshed, which only a request with a time
 * shows.
 */
const ITEMS: readonly Item[] = [
  { url: 'http://a.example.org/', title: 'river with harbor', time: 2000 },
  { url: 'http://b.example.org/', title: 'river and castles', time: 3000 },
  { url: 'http://c.example.org/', title: 'harbor', time: 4000 },
  { url: 'http://d.example.org/', title: 'mountains', time: 5000 },
];
const DELETED: Item = { url: 'http://gone.example.org/', title: '', time: 6000 };
const REFRESHED: Item = { url: 'http://old.example.org/', title: 'legends', time: 7000 };

/** The whole reply after the greeting, in Latin-1. */
function replyTo(message: string, knowsProposed: boolean): string {
  const request = parse(message);
  if (request === undefined) return REFUSAL;
  const { kind, since, query } = request;
  const isProposed = request.proposed && knowsProposed;
  if (query.includes('regexp'))
    return isProposed ? `${VERSION}111 - ${uint32(2)}no regular expressions\n` : REFUSAL;
  const matches = ({ title }: Item) => query === '#allb' || new RegExp(`\\b${query}\\b`, 'i').test(title);
  const found = ITEMS.filter((item) => item.time > since && matches(item));
  if (kind === 'user')
    return knowsProposed ? VERSION + HEADER + found.map(listed).join('') + count(found.length) : REFUSAL;
  const [data, number] = dataOf(found, since);
  if (!isProposed) return `000 - Bulk transfer follows\n${data}`;
  return VERSION + HEADER + (request.compress ? compressed(data) : data) + count(number);
}

function dataOf(found: readonly Item[], since: number): [data: string, objects: number] {
  const hasChanges = since > 0 && since < DELETED.time;
  const bookkeeping = (item: Item) => (hasChanges ? soifText(item.url, bookkeepingOf(item)) : '');
  const updated = found.map((item) => soifText(item.url, [['Title', item.title], ...bookkeepingOf(item)]));
  const groups = [
    ['DELETE', bookkeeping(DELETED)],
    ['REFRESH', bookkeeping(REFRESHED)],
    ['UPDATE', updated.join('')],
  ];
  const data = groups.map(([word, objects]) => `@${word} {\n${objects}}\n`).join('\n');
  return [data, found.length + (hasChanges ? 2 : 0)];
}

/** Listens on a free port of loopback until the test ends. */
export function simpleBulk(t: Test, behavior: BulkBehavior = {}): Promise<number> {
  return tcpServer(t, (socket) => serve(socket, behavior), { allowHalfOpen: true, noDelay: true });
}

function serve(socket: Socket, behavior: BulkBehavior): void {
  const { greeting = '200 - Simple Broker 1\n', knowsProposed = true, bytewise = false } = behavior;
  let input = '';
  let isAnswered = false;
  socket.write(greeting);
  socket.on('end', () => socket.end());
  socket.on('data', async (chunk) => {
    input += chunk.toString('latin1');
    const end = input.indexOf('\n');
    if (isAnswered || end < 0) return;
    isAnswered = true;
    const bytes = Buffer.from(replyTo(input.slice(0, end).trim(), knowsProposed), 'latin1');
    const size = bytewise ? 1 : bytes.length;
    for (let offset = 0; offset < bytes.length && socket.writable; offset += size) {
      socket.write(bytes.subarray(offset, offset + size));
      if (bytewise) await setImmediate();
    }
    socket.end();
  });
}
