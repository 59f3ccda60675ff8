// Changes inputs: bits, bytes, numbers, words, lines, and parts of other inputs.
import type { Random } from '../helpers/random.js';

const EDGES = [0, 1, 7, 8, 0x0a, 0x0d, 0x20, 0x22, 0x5c, 0x7f, 0x80, 0xff];
const NUMBERS = (
  '0 -1 1 00 07 1e9 127 255 256 999 65535 65536 2147483647 2147483648 4294967295 4294967296 ' +
  '9007199254740993 99999999999999999999 0x10 1.5'
).split(' ');

export interface MutationSources {
  /** Another input. */
  readonly other: () => Uint8Array;
  readonly tokens: readonly Uint8Array[];
  readonly maxBytes: number;
}

/** A changed copy: one to eight changes, mostly few. */
export function mutate(input: Uint8Array, random: Random, sources: MutationSources): Uint8Array {
  let bytes = input;
  const changes = 1 << random.below(random.once(4) ? 4 : 2);
  for (let i = 0; i < changes; i++) bytes = change(bytes, random, sources);
  return bytes.length > sources.maxBytes ? bytes.slice(0, sources.maxBytes) : bytes;
}

function change(bytes: Uint8Array, random: Random, sources: MutationSources): Uint8Array {
  if (bytes.length === 0) return random.once(2) ? random.bytes(1) : token(random, sources);
  const at = random.below(bytes.length);
  const { buffer } = new Uint8Array(bytes);
  const copy = new Uint8Array(buffer);
  switch (random.below(16)) {
    case 0:
      copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
      return copy;
    case 1:
      copy[at] = random.once(2) ? random.pick(EDGES) : random.next();
      return copy;
    case 2:
      copy[at] = (copy[at] ?? 0) + random.between(-16, 16);
      return copy;
    case 3:
      return binaryNumber(copy, at, random);
    case 4:
      return splice(bytes, at, span(bytes, at, random), new Uint8Array(0));
    case 5:
      return splice(bytes, at, 0, bytes.subarray(at, at + span(bytes, at, random)));
    case 6:
    case 7:
      return splice(bytes, at, 0, token(random, sources));
    case 8: {
      const word = token(random, sources);
      return splice(bytes, at, word.length, word);
    }
    case 9:
    case 10:
      return decimalNumber(bytes, at, random);
    case 11: {
      const other = sources.other();
      const from = random.below(other.length);
      return splice(
        bytes,
        at,
        random.once(2) ? 0 : span(bytes, at, random),
        other.subarray(from, from + span(other, from, random)),
      );
    }
    case 12: {
      const other = sources.other();
      return splice(bytes, at, bytes.length, other.subarray(random.below(other.length)));
    }
    case 13:
      return lines(bytes, random);
    case 14: {
      const from = random.below(bytes.length);
      const piece = bytes.slice(from, from + span(bytes, from, random));
      return splice(bytes, at, random.once(2) ? 0 : piece.length, piece);
    }
    default: {
      const piece = bytes.subarray(at, at + span(bytes, at, random));
      const times = Math.min(
        1 << random.below(random.once(8) ? 8 : 3),
        Math.ceil(sources.maxBytes / Math.max(1, piece.length)),
      );
      return splice(bytes, at, 0, repeat(piece, times));
    }
  }
}

/** A length from `at`, mostly short. */
function span(bytes: Uint8Array, at: number, random: Random): number {
  const rest = bytes.length - at;
  return Math.min(rest, 1 + random.below(random.once(4) ? rest : Math.min(rest, 16)));
}

function token(random: Random, { tokens }: MutationSources): Uint8Array {
  return tokens.length === 0 ? random.bytes(random.between(1, 4)) : random.pick(tokens);
}

/** `bytes` with `length` bytes at `at` replaced. */
export function splice(bytes: Uint8Array, at: number, length: number, piece: Uint8Array): Uint8Array {
  const after = bytes.subarray(Math.min(bytes.length, at + length));
  const result = new Uint8Array(at + piece.length + after.length);
  result.set(bytes.subarray(0, at));
  result.set(piece, at);
  result.set(after, at + piece.length);
  return result;
}

function repeat(piece: Uint8Array, times: number): Uint8Array {
  const result = new Uint8Array(piece.length * times);
  for (let i = 0; i < times; i++) result.set(piece, i * piece.length);
  return result;
}

const WORDS = [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];

function binaryNumber(copy: Uint8Array, at: number, random: Random): Uint8Array {
  const view = new DataView(copy.buffer);
  const number = random.once(3) ? copy.length + random.between(-4, 4) : random.pick(WORDS);
  const little = random.once(2);
  if (random.once(2) && at + 4 <= copy.length) view.setUint32(at, number >>> 0, little);
  else if (at + 2 <= copy.length) view.setUint16(at, number & 0xffff, little);
  else view.setUint8(at, number & 0xff);
  return copy;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Changes the decimal number at or after `at`. */
function decimalNumber(bytes: Uint8Array, at: number, random: Random): Uint8Array {
  let start = at;
  while (start < bytes.length && !isDigit(bytes[start])) start++;
  if (start === bytes.length) return splice(bytes, at, 0, Buffer.from(random.pick(NUMBERS)));
  while (start > 0 && isDigit(bytes[start - 1])) start--;
  let end = start;
  while (isDigit(bytes[end])) end++;
  const old = Number(Buffer.from(bytes.subarray(start, end)).toString('latin1'));
  const text = random.once(2) ? String(Math.max(0, old + random.between(-3, 3))) : random.pick(NUMBERS);
  return splice(bytes, start, end - start, Buffer.from(text));
}

/** Deletes, doubles or exchanges lines. */
function lines(bytes: Uint8Array, random: Random): Uint8Array {
  const all = Buffer.from(bytes).toString('latin1').split('\n');
  const at = random.below(all.length);
  const line = all[at] ?? '';
  const kind = random.below(3);
  if (kind === 0) all.splice(at, 1);
  else if (kind === 1) all.splice(random.below(all.length + 1), 0, line);
  else {
    const to = random.below(all.length);
    all[at] = all[to] ?? '';
    all[to] = line;
  }
  return new Uint8Array(Buffer.from(all.join('\n'), 'latin1'));
}
