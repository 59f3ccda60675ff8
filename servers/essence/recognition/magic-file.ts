import { ConfigError } from '../../../protocols/errors.js';
import { namesByWord } from '../word-tables.js';

/** Bytes of a document that a magic file can test. */
const WINDOW_BYTES = 64 * 1024;
/** Bytes of a document's string that a message can quote. */
const MAX_QUOTED_BYTES = 80;

/** Size in bytes and byte order of a number; `short` and `long` are little-endian. */
const NUMBERS: ReadonlyMap<string, { readonly size: 1 | 2 | 4; readonly little: boolean }> = new Map([
  ['byte', { size: 1, little: true }],
  ['short', { size: 2, little: true }],
  ['leshort', { size: 2, little: true }],
  ['beshort', { size: 2, little: false }],
  ['long', { size: 4, little: true }],
  ['lelong', { size: 4, little: true }],
  ['belong', { size: 4, little: false }],
]);

type Test = (bytes: DataView, offset: number) => string | number | undefined;

/** One line: a test, and the message if the test matches. */
interface MagicLine {
  /**
   * Number of `>` before the offset: the line is tested only if the line of the next lower level above it
   * matched.
   */
  readonly level: number;
  readonly offset: number;
  /** Returns the value if the test matches. */
  readonly test: Test;
  readonly message: string;
}

/** The tests of a user's `magic` file, which describe a document's content for bycontent.cf (E-6, E-16). */
export class MagicRules {
  readonly #lines: readonly MagicLine[];

  constructor(lines: readonly MagicLine[]) {
    this.#lines = lines;
  }

  /**
   * Returns the messages of the first entry that matches, or undefined. An entry is a line of level 0 and the
   * lines below it.
   */
  describe(bytes: Uint8Array): string | undefined {
    if (this.#lines.length === 0) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, WINDOW_BYTES));
    let messages = '';
    let matchedLevel = -1;
    for (const { level, offset, test, message } of this.#lines) {
      if (level === 0 && messages !== '') break;
      if (level > matchedLevel + 1) continue;
      matchedLevel = level - 1;
      const value = test(view, offset);
      if (value === undefined) continue;
      matchedLevel = level;
      messages = appendMessage(messages, message, value);
    }
    return messages === '' ? undefined : messages;
  }
}

/** Appends a message with the value in it; no blank precedes a message that begins with `\b`. */
function appendMessage(before: string, message: string, value: string | number): string {
  const text = message.replace(/%[-+ #0]*\d*(?:\.\d+)?[hl]*([cdiosuxX%])/g, (_, kind: string) =>
    formatValue(kind, value),
  );
  if (text.startsWith('\\b')) return before + text.slice(2);
  return before === '' || text === '' ? before + text : `${before} ${text}`;
}

function formatValue(kind: string, value: string | number): string {
  if (kind === '%') return '%';
  if (typeof value === 'string') return value;
  if (kind === 'x') return value.toString(16);
  if (kind === 'X') return value.toString(16).toUpperCase();
  if (kind === 'o') return value.toString(8);
  return kind === 'c' ? String.fromCharCode(value & 0xff) : String(value);
}

/**
 * Parses a magic file in the format of the original's file(1): offset, type, test, message; `>` before the
 * offset for continuation lines. Types: byte, short, long, beshort, belong, leshort, lelong, each with `&MASK`,
 * and string. Tests: a value, `=`, `!`, `<`, `>`, `&` (all bits set), `^` (a bit not set), and `x` (anything).
 * Lines `!:` of newer files are skipped.
 *
 * @throws ConfigError naming file and line for anything else, such as offsets in parentheses (E-16).
 */
export function parseMagic(text: string, file: string): MagicRules {
  const lines: MagicLine[] = [];
  for (const [i, raw] of text.split('\n').entries()) {
    const line = raw.replace(/\r$/, '');
    if (/^\s*(?:#|$)/.test(line) || line.startsWith('!:')) continue;
    const fail = (what: string): never => {
      throw new ConfigError(file, i + 1, line, `${what} (E-16)`);
    };
    // Blanks within a test are escaped by a backslash.
    const found = /^(>*)(\S+)\s+(\S+)\s+((?:\\.|[^\s\\])+)(?:\s+(.*))?$/.exec(line);
    if (found === null) return fail('offset, type, test and message are expected');
    const [, levels = '', offset = '', type = '', test = '', message = ''] = found;
    const level = levels.length;
    if (level > (lines.at(-1)?.level ?? -1) + 1) fail(`there is no line of level ${level - 1} above it`);
    lines.push({
      level,
      offset: numberOf(offset) ?? fail(`the offset ${offset} is not a number`),
      test: type === 'string' ? stringTest(test) : numberTest(type, test, fail),
      message: message.trimEnd(),
    });
  }
  return new MagicRules(lines);
}

/** Parses a number: decimal, hexadecimal with `0x` or octal with `0`. */
function numberOf(text: string): number | undefined {
  if (/^0x[0-9a-fA-F]{1,8}$/.test(text)) return Number.parseInt(text.slice(2), 16);
  if (/^0[0-7]{1,11}$/.test(text)) return Number.parseInt(text, 8);
  return /^-?\d{1,10}$/.test(text) ? Number(text) : undefined;
}

function numberTest(written: string, test: string, fail: (what: string) => never): Test {
  const [type = '', masked] = written.split('&', 2);
  const form = NUMBERS.get(type.replace(/^u/, '')) ?? fail(`the type ${type} is not known`);
  const isSigned = !type.startsWith('u');
  const mask = masked === undefined ? -1 : (numberOf(masked) ?? fail(`the mask ${masked} is not a number`));
  const shift = 32 - 8 * form.size;
  /** Cuts a value to the bits of the type, with or without a sign. */
  const toWidth = (value: number) => (isSigned ? (value << shift) >> shift : (value << shift) >>> shift);
  const read: Test = (bytes, offset) => {
    if (offset < 0 || offset + form.size > bytes.byteLength) return undefined;
    const { size, little } = form;
    const raw =
      size === 1
        ? bytes.getUint8(offset)
        : size === 2
          ? bytes.getUint16(offset, little)
          : bytes.getUint32(offset, little);
    return toWidth(raw & mask);
  };
  if (test === 'x') return read;
  const [, operator = '=', digits = ''] = /^([=!<>&^]?)(.*)$/.exec(test) ?? [];
  const expected = toWidth(numberOf(digits) ?? fail(`${digits} is not a number`));
  return (bytes, offset) => {
    const value = read(bytes, offset);
    return typeof value === 'number' && COMPARISONS[operator || '=']!(value, expected) ? value : undefined;
  };
}

/** Comparisons of a value with the expected one. */
const COMPARISONS: Readonly<Record<string, (value: number, expected: number) => boolean>> = {
  '=': (value, expected) => value === expected,
  '!': (value, expected) => value !== expected,
  '<': (value, expected) => value < expected,
  '>': (value, expected) => value > expected,
  '&': (value, expected) => (value & expected) === expected,
  '^': (value, expected) => (value & expected) !== expected,
};

/** A string is compared byte by byte; `>\0` matches every string that is not empty. */
function stringTest(written: string): Test {
  const anything = written === 'x';
  const [, operator = '', rest = ''] = /^([=!<>]?)(.*)$/s.exec(written) ?? [];
  const expected = unescapeTest(rest);
  return (bytes, offset) => {
    if (offset < 0 || offset >= bytes.byteLength) return undefined;
    const actual = Buffer.from(
      bytes.buffer,
      bytes.byteOffset + offset,
      Math.min(bytes.byteLength - offset, MAX_QUOTED_BYTES + expected.length),
    );
    const start = actual.toString('latin1', 0, expected.length);
    const open = anything || operator === '>' || operator === '<' || operator === '!';
    if (!anything && !compareStrings(operator, start, expected)) return undefined;
    return open
      ? (/^[^\0\r\n]*/.exec(actual.toString('latin1'))?.[0].slice(0, MAX_QUOTED_BYTES) ?? '')
      : expected;
  };
}

function compareStrings(operator: string, actual: string, expected: string): boolean {
  if (operator === '!') return actual !== expected;
  if (operator === '<') return actual < expected;
  return operator === '>' ? actual > expected : actual === expected;
}

const ESCAPES = namesByWord({
  '\n': 'n',
  '\t': 't',
  '\r': 'r',
  '\b': 'b',
  '\f': 'f',
  '\v': 'v',
  '\x07': 'a',
});

function unescapeTest(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))/gs,
    (_, hex?: string, octal?: string, other?: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      return ESCAPES.get(other ?? '') ?? other ?? '';
    },
  );
}
