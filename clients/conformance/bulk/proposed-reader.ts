// Reads a reply in the interface of 1995 by token (Part B), independent of `protocols/bulk`.
import { isSpace } from '../../../protocols/ascii.js';
import { ConnectionError, ProtocolError } from '../../../protocols/errors.js';
import { SectionDecoder } from '../../../protocols/soif/index.js';
import { checkEqual, Mismatch } from '../case.js';
import { readMember } from '../gatherd/gzip-frame.js';
import { printable } from '../printable.js';
import type { Wire } from '../wire.js';
import { GroupCheck, type GroupFacts, type OnObject } from './transfer.js';

/** BP-8: codes of the items that a Separator follows, and its bytes. */
const FORMS = {
  '126': 'string',
  '140': 'string',
  '141': 'string',
  '101': 'string',
  '142': 'named',
  '103': 'numbered',
  '120': 'string',
  '125': 'string',
  '124': 'data',
  '122': 'data',
  '127': 'named',
  '143': 'named',
  '144': 'number',
  '111': 'numbered',
  '145': 'data',
} as const satisfies Readonly<Record<string, 'string' | 'named' | 'numbered' | 'data' | 'number'>>;

/** BP-10: these have their whole literal and no Separator. */
const LITERALS = ['130 - object end\n', '150 - gzip begin\n', '151 - gzip end\n'] as const;

/** The code of the item that represents the groups of a Body, which have no code (BP-6). */
const GROUPS = 0;

/** One item of a reply. */
export interface ProposedItem {
  readonly code: number;
  /** A string or a name, without its LF, as Latin-1. */
  readonly text: string;
  readonly number?: number;
  /** The bytes of Data. */
  readonly value?: Buffer;
}

/** A whole reply in the interface of 1995. */
export interface ProposedReply {
  readonly major: number;
  readonly minor: number;
  /** The string of the Version. */
  readonly name: string;
  /** BP-12, 17 to 24; the markers of BP-16 as 150 and 151. */
  readonly items: readonly ProposedItem[];
  /** Facts about the groups; undefined if the reply has no groups. */
  readonly groups: GroupFacts | undefined;
}

const AT = 0x40;
/** BP-27 */
const MAX_STRING = 64 * 1024;
const MAX_DATA = 64 << 20;
const MAX_ITEMS = 1_000_000;
const MAGIC = 0x329fa1d2;
const SEPARATOR = ' - ';

/** Bytes by which the two interfaces differ: a code, a separator, and one byte more (BP-29). */
const HEAD_BYTES = 7;
/** Codes that begin a reply of this interface without its Version: those that no shipped reply begins with. */
const WITHOUT_VERSION = /^(?:126|14[0-5]|150) - /;

/**
 * Decides by the first bytes after the greeting whether the reply is in this interface, by the table of BP-29;
 * false for the shipped format and for a refusal. Consumes nothing.
 * @throws Mismatch for bytes that are neither, such as a Version in another byte order
 */
export async function isProposed(wire: Wire): Promise<boolean> {
  const head = await wire.take(HEAD_BYTES);
  wire.unread(head);
  const text = head.toString('latin1');
  const next = head[HEAD_BYTES - 1] ?? 0;
  if (text.startsWith('200 - ') && head.length === HEAD_BYTES && next === 0) return true;
  const isText = next >= 0x20;
  const isShipped =
    text.startsWith('@') ||
    /^(?:000|400|120) - /.test(text) ||
    (isText && /^(?:200|101|103|111) - /.test(text));
  if (isShipped) return false;
  const problem = WITHOUT_VERSION.test(text) || /^(?:101|103|111) - /.test(text) ? 'no Version' : 'no reply';
  throw new Mismatch(`${problem} of either interface (BP-29, BP-11)`, {
    expected: '200 - and the number 1: \\x00\\x00\\x00\\x01',
    received: printable(head) || 'end of the connection',
  });
}

/**
 * Reads a reply from its Version (BP-11) to the end of the connection.
 * @throws Mismatch where it is malformed (BP-26 to BP-28)
 */
export async function readProposed(wire: Wire, onObject?: OnObject): Promise<ProposedReply> {
  await readLiteral(wire, '200 - ', 'BP-11');
  const major = await readNumber(wire);
  const minor = await readNumber(wire);
  const name = await readString(wire);
  const items: ProposedItem[] = [];
  let groups: ProposedReply['groups'];
  for (let next = await wire.peek(); next !== undefined; next = await wire.peek()) {
    if (items.length > MAX_ITEMS) throw new ConnectionError(`more than ${MAX_ITEMS} items`);
    if (next === AT && groups === undefined) {
      groups = await readRawGroups(wire, onObject);
      items.push({ code: GROUPS, text: '' });
      continue;
    }
    const code = (await readExactly(wire, 3)).toString('latin1');
    const whole = LITERALS.find((one) => one.startsWith(code));
    if (whole !== undefined) {
      await readLiteral(wire, whole.slice(3), 'BP-10');
      items.push({ code: Number(code), text: '' });
      if (code === '150' && groups === undefined) groups = await readCompressedGroups(wire, onObject);
    } else items.push(await readItem(wire, code));
  }
  return { major, minor, name, items, groups };
}

async function readItem(wire: Wire, code: string): Promise<ProposedItem> {
  const form = isKnown(code) ? FORMS[code] : undefined;
  if (form === undefined) {
    throw new Mismatch('an unknown code, whose length is unknown (BP-28)', {
      expected: 'a code of BP-8',
      received: printable(Buffer.from(code, 'latin1')),
    });
  }
  await readLiteral(wire, SEPARATOR, 'BP-7');
  switch (form) {
    case 'string':
      return { code: Number(code), text: await readString(wire) };
    case 'number':
      return { code: Number(code), text: '', number: await readNumber(wire) };
    case 'numbered': {
      // BP-18, BP-23: no separator between them.
      const value = await readNumber(wire);
      return { code: Number(code), text: await readString(wire), number: value };
    }
    case 'named': {
      // BP-13: the separator follows the LF of the name.
      const text = await readString(wire);
      await readLiteral(wire, SEPARATOR, 'BP-13');
      return { code: Number(code), text, value: await readData(wire) };
    }
    case 'data':
      return { code: Number(code), text: '', value: await readData(wire) };
  }
}

function isKnown(code: string): code is keyof typeof FORMS {
  return Object.hasOwn(FORMS, code);
}

/** BP-15: reads groups until the bytes after one do not open another. */
async function readRawGroups(wire: Wire, onObject?: OnObject): Promise<GroupFacts> {
  const ends = new SectionDecoder({ mode: 'strict' });
  const check = new GroupCheck(onObject);
  let between = false;
  let at = 0;
  for (let bytes = await wire.read(); bytes !== undefined; bytes = await wire.read()) {
    const space = /^\s*/.exec(Buffer.from(bytes).toString('latin1'))?.[0].length ?? 0;
    if (between && space < bytes.length && bytes[space] !== AT) {
      wire.unread(bytes.subarray(space));
      break;
    }
    const end = findGroupsEnd(ends, bytes, at, between);
    check.push(bytes.subarray(0, end.length));
    if (end.over) {
      wire.unread(bytes.subarray(end.length));
      break;
    }
    between = end.between;
    at += bytes.length;
  }
  return check.facts();
}

/** Returns the number of bytes that belong to groups, and whether the groups have ended. */
function findGroupsEnd(
  decoder: SectionDecoder,
  bytes: Uint8Array,
  at: number,
  wasBetween: boolean,
): { readonly length: number; readonly over: boolean; readonly between: boolean } {
  // The decoder may report a header or a brace only with the bytes after it.
  let between = wasBetween && bytes.every(isSpace);
  const items = decodeStrictly(() => decoder.push(bytes));
  for (const item of items) {
    between = false;
    if (item.kind !== 'section' || item.open) continue;
    let next = Math.max(0, item.offset + 1 - at);
    while (next < bytes.length && isSpace(bytes[next])) next++;
    between = next === bytes.length;
    if (!between && bytes[next] !== AT) return { length: next, over: true, between };
  }
  return { length: bytes.length, over: false, between };
}

/** @throws Mismatch for bytes that cannot be read by token (BP-5) */
function decodeStrictly<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new Mismatch('malformed groups', { expected: 'groups of objects', received: error.message });
  }
}

/** BP-16: reads one gzip member, which contains its own end. */
async function readCompressedGroups(wire: Wire, onObject?: OnObject): Promise<GroupFacts> {
  const check = new GroupCheck(onObject);
  const { crc, trailerCrc, size, trailerSize } = await readMember(wire, (bytes) => check.push(bytes));
  checkEqual(crc, trailerCrc, 'the check sum of the member is wrong');
  checkEqual(size, trailerSize, 'the length in the trailer of the member is wrong');
  return check.facts();
}

/** BP-4: reads Data and returns its bytes. */
async function readData(wire: Wire): Promise<Buffer> {
  const hex = (magic: number) => magic.toString(16).padStart(8, '0');
  checkEqual(await readNumber(wire), MAGIC, 'a wrong magic number (BP-3)', hex);
  const length = await readNumber(wire);
  if (length > MAX_DATA) {
    throw new Mismatch('Data too long (BP-27)', {
      expected: `${MAX_DATA} bytes`,
      received: `${length} bytes`,
    });
  }
  return readExactly(wire, length);
}

/** BP-1: reads a number. */
async function readNumber(wire: Wire): Promise<number> {
  return (await readExactly(wire, 4)).readUInt32BE(0);
}

/** BP-2: reads a string. */
async function readString(wire: Wire): Promise<string> {
  const line = await wire.line();
  if (line.length < MAX_STRING) return line;
  throw new Mismatch('a string too long (BP-27)', {
    expected: `${MAX_STRING} bytes`,
    received: `${line.length}`,
  });
}

async function readLiteral(wire: Wire, expected: string, rule: string): Promise<void> {
  const bytes = await wire.take(expected.length);
  if (bytes.toString('latin1') === expected) return;
  throw new Mismatch(`other bytes than the literal (${rule})`, {
    expected: printable(expected),
    received: printable(bytes),
  });
}

async function readExactly(wire: Wire, length: number): Promise<Buffer> {
  const bytes = await wire.take(length);
  if (bytes.length === length) return bytes;
  throw new Mismatch('the reply ends within an item', {
    expected: `${length} bytes`,
    received: `${printable(bytes)}, end of the connection`,
  });
}
