// A Broker with bulk transfers, independent of the kit's code, for the tests of the conformance suite.
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { tcpServer } from '../../helpers/tcp-server.js';
import { parse, type Request, type Searches, selects } from './simple-bulk-request.js';

/** An object of the simple Broker. Texts are Latin-1: each character is a byte. */
export interface Item {
  readonly url: string;
  readonly updateTime: number;
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

/** What tests change of the Broker. */
interface BulkBehavior {
  readonly greeting?: string;
  /** Whether it knows the proposed interface and listings. Default: true. */
  readonly knowsProposed?: boolean;
  /** Sends one byte of an answer per segment. */
  readonly bytewise?: boolean;
  /**
   * Its objects. Default: four; one more is deleted and one is refreshed, which only a request with a time
   * shows.
   */
  readonly items?: readonly Item[];
  /** What a query is compared with; `nothing`: it is ignored. Default: titles, descriptions and keywords. */
  readonly searches?: Searches;
}

/** A number as four bytes, in Latin-1 like all texts here. */
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('latin1');
};

/** A SOIF object with these attributes. */
function soifText({ url, attributes }: Pick<Item, 'url' | 'attributes'>): string {
  const lines = attributes
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
  return `@FILE { ${url}\n${lines.join('')}}\n`;
}

function itemOf(name: string, updateTime: number, title?: string, description = ''): Item {
  return {
    url: `http://${name}.example.org/`,
    updateTime,
    attributes: [
      ...(title === undefined ? [] : [['Title', title] as const]),
      ['Description', description],
      ['Update-Time', String(updateTime)],
      ['Time-to-Live', '2000000000'],
      ['Gatherer-Name', 'Example'],
      ['Gatherer-Host', 'gatherer.example.org'],
      ['Gatherer-Version', '1.8'],
    ],
  };
}

/** The objects of the simple Broker. */
export const REFERENCE_ITEMS: readonly Item[] = [
  itemOf('a', 2000, 'river with harbor', 'a port'),
  itemOf('b', 3000, 'river and castles', 'a valley'),
  itemOf('c', 4000, 'harbor'),
  itemOf('d', 5000, 'mountains'),
];
const DELETED = itemOf('gone', 6000);
const REFRESHED = itemOf('old', 7000);

const REFUSAL = '400 - ERROR: Malformed message\n';
const VERSION = `200 - ${uint32(1)}${uint32(0)}Simple\n`;
const HEADER = '126 - http://broker.example.org/\n101 - welcome\n';
const count = (objects: number) => `144 - ${uint32(objects)}`;
const data = (value: string) => `\x32\x9f\xa1\xd2${uint32(value.length)}${value}`;

function compressed(groups: string): string {
  return `150 - gzip begin\n${gzipSync(Buffer.from(groups, 'latin1')).toString('latin1')}151 - gzip end\n`;
}

const textIn = ({ attributes }: Item, wanted: string) =>
  attributes.find(([name, value]) => name.toLowerCase() === wanted.toLowerCase() && value !== '')?.[1];

/** An object of a user query: its parts, each after its code, as both interfaces have them. */
function partsOf(
  item: Item,
  { describes, attributes }: Request,
): readonly (readonly [string, string, string])[] {
  const description = textIn(item, 'Description');
  return [
    ...(describes && description !== undefined ? [['124', '', description] as const] : []),
    ...attributes.flatMap((name) => {
      const value = textIn(item, name);
      return value === undefined ? [] : [['127', name, value] as const];
    }),
    ...(describes ? [] : [['122', '', `Matched line: ${/^.*/.exec(textIn(item, 'Title') ?? '')}`] as const]),
  ];
}

function listed(item: Item, request: Request): string {
  const parts = partsOf(item, request).map(
    ([code, name, value]) => `${code} - ${name === '' ? '' : `${name}\n - `}${data(value)}`,
  );
  return `120 - ${item.url}\n125 - http://broker.example.org/1\n${parts.join('')}130 - object end\n`;
}

function shown(item: Item, request: Request): string {
  const parts = partsOf(item, request).map(([code, name, value]) =>
    code === '122'
      ? `122 - ${value}\n`
      : `${code} - ${name === '' ? '' : `${name} `}${value.length}\n${value}\n`,
  );
  return `120 - ${item.url}\n125 - http://broker.example.org/1\n${parts.join('')}130 - object end\n`;
}

/** The whole reply after the greeting, in Latin-1. */
function replyTo(message: string, behavior: BulkBehavior): string {
  const { knowsProposed = true, items = REFERENCE_ITEMS, searches = 'texts' } = behavior;
  const request = parse(message, knowsProposed);
  if (request === undefined) {
    const wantsProposed = knowsProposed && /#interface 2/i.test(message);
    return wantsProposed ? `${VERSION}111 - ${uint32(1)}malformed\n` : REFUSAL;
  }
  const { kind, since, query, proposed } = request;
  if (query.includes('regexp'))
    return proposed ? `${VERSION}111 - ${uint32(2)}no regular expressions\n` : REFUSAL;
  const limit = request.limit === 0 ? items.length : request.limit;
  const found = items
    .filter((item) => item.updateTime > since && selects(request, item, searches))
    .slice(0, limit);
  if (kind === 'user') {
    if (!proposed) return found.map((item) => shown(item, request)).join('');
    return VERSION + HEADER + found.map((item) => listed(item, request)).join('') + count(found.length);
  }
  const [groups, number] = groupsOf(found, since, items === REFERENCE_ITEMS);
  if (!proposed) return `000 - Bulk transfer follows\n${groups}`;
  return VERSION + HEADER + (request.compress ? compressed(groups) : groups) + count(number);
}

function groupsOf(
  found: readonly Item[],
  since: number,
  forgets: boolean,
): [groups: string, objects: number] {
  const hasChanges = forgets && since > 0 && since < DELETED.updateTime;
  const groups = [
    ['DELETE', hasChanges ? soifText(DELETED) : ''],
    ['REFRESH', hasChanges ? soifText(REFRESHED) : ''],
    ['UPDATE', found.map(soifText).join('')],
  ];
  const text = groups.map(([word, objects]) => `@${word} {\n${objects}}\n`).join('\n');
  return [text, found.length + (hasChanges ? 2 : 0)];
}

/** Listens on a free port of loopback until the test ends. */
export function simpleBulk(t: Test, behavior: BulkBehavior = {}): Promise<number> {
  return tcpServer(t, (socket) => serve(socket, behavior), { allowHalfOpen: true, noDelay: true });
}

function serve(socket: Socket, behavior: BulkBehavior): void {
  const { greeting = '200 - Simple Broker 1\n', bytewise = false } = behavior;
  let input = '';
  let isAnswered = false;
  socket.write(greeting);
  socket.on('end', () => socket.end());
  socket.on('data', async (chunk) => {
    input += chunk.toString('latin1');
    const end = input.indexOf('\n');
    if (isAnswered || end < 0) return;
    isAnswered = true;
    const bytes = Buffer.from(replyTo(input.slice(0, end).trim(), behavior), 'latin1');
    const size = bytewise ? 1 : bytes.length;
    for (let offset = 0; offset < bytes.length && socket.writable; offset += size) {
      socket.write(bytes.subarray(offset, offset + size));
      if (bytewise) await setImmediate();
    }
    socket.end();
  });
}
