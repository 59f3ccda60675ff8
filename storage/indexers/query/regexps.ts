// Matches a compiled regular expression against a long line in pieces of bounded work, so that the thread can
// pause between them.
import type { RE2JS } from 're2js';
import { StateError } from '../../../protocols/errors.js';

/** An instruction of a compiled expression, as the library has it. */
interface Instruction {
  readonly op: number;
  /** The instruction after it. */
  readonly out: number;
  /** The other instruction of an alternative; the conditions of an empty match. */
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(rune: number): boolean;
}

interface Program {
  readonly start: number;
  numInst(): number;
  getInst(pc: number): Instruction;
}

/** Numbers of the instructions; a test compares this matcher with the library's own. */
const OP = {
  alternative: 1,
  alternativeMatch: 2,
  capture: 3,
  empty: 4,
  fail: 5,
  match: 6,
  nothing: 7,
  rune: 8,
  rune1: 9,
  any: 10,
  anyInLine: 11,
} as const;

/** Conditions of an empty match. */
const EMPTY = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, boundary: 16, noBoundary: 32 } as const;
const NONE = -1;
const LINE_END = 0x0a;

/** Steps between two pauses: about a millisecond. */
const STEPS_PER_PIECE = 50_000;

/**
 * Tells whether an expression matches somewhere in a text. It follows all ways of the expression at once
 * (Thompson's simulation), so that the work is the size of the expression for each character at most. Pauses
 * about every millisecond.
 */
export function* regexpSteps(regexp: RE2JS, text: string): Generator<void, boolean> {
  const program: Program = regexp.re2Input.prog;
  const size = program.numInst();
  const code = Array.from({ length: size }, (_, pc) => program.getInst(pc));
  /** Position at which an instruction was visited last, so that nothing has to be cleared. */
  const visited = new Float64Array(size).fill(NONE);
  const open: number[] = [];
  let waiting: number[] = [];
  let next: number[] = [];
  let steps = 0;
  let before = NONE;
  for (let position = 0; position <= text.length; ) {
    const rune = position < text.length ? text.codePointAt(position)! : NONE;
    const conditions = conditionsBetween(before, rune);
    waiting = [];
    // A match may begin at each position.
    next.push(program.start);
    for (const first of next) {
      open.push(first);
      for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
        if (visited[pc] === position) continue;
        visited[pc] = position;
        steps++;
        const { op, out, arg } = code[pc]!;
        if (op >= OP.rune && op <= OP.anyInLine) waiting.push(pc);
        else if (op === OP.alternative || op === OP.alternativeMatch) open.push(arg, out);
        else if (op === OP.capture || op === OP.nothing) open.push(out);
        else if (op === OP.empty) {
          if ((arg & ~conditions) === 0) open.push(out);
        } else if (op === OP.match) return true;
        else if (op !== OP.fail) throw new StateError(`a regular expression has instruction ${op}`);
      }
    }
    if (rune === NONE) return false;
    next = [];
    for (const pc of waiting) {
      const instruction = code[pc]!;
      if (accepts(instruction, rune)) next.push(instruction.out);
    }
    steps += waiting.length + 1;
    if (steps >= STEPS_PER_PIECE) {
      steps = 0;
      yield;
    }
    before = rune;
    position += rune > 0xffff ? 2 : 1;
  }
  return false;
}

function accepts(instruction: Instruction, rune: number): boolean {
  switch (instruction.op) {
    case OP.any:
      return true;
    case OP.anyInLine:
      return rune !== LINE_END;
    case OP.rune1:
      return instruction.runes[0] === rune;
    default:
      return instruction.matchRune(rune);
  }
}

function conditionsBetween(before: number, after: number): number {
  let conditions = isWordRune(before) === isWordRune(after) ? EMPTY.noBoundary : EMPTY.boundary;
  if (before === NONE) conditions |= EMPTY.beginText | EMPTY.beginLine;
  else if (before === LINE_END) conditions |= EMPTY.beginLine;
  if (after === NONE) conditions |= EMPTY.endText | EMPTY.endLine;
  else if (after === LINE_END) conditions |= EMPTY.endLine;
  return conditions;
}

/** RE2: word boundaries know ASCII only. */
function isWordRune(rune: number): boolean {
  return (
    (rune >= 0x30 && rune <= 0x39) ||
    (rune >= 0x41 && rune <= 0x5a) ||
    (rune >= 0x61 && rune <= 0x7a) ||
    rune === 0x5f
  );
}

interface Group {
  /** Instructions of the alternatives before; they may have common beginnings, so the largest counts. */
  largest: number;
  /** Instructions of the current alternative. */
  size: number;
  /** Instructions of the last part, which a repetition multiplies. */
  last: number;
}

const COUNTED = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/;
const CLASS_NAME = /^\\[pP](?:\{[^}]*\}|.)/su;
const HEX = /^\\x(?:\{[^}]*\}|..)/su;

/**
 * Returns a number of instructions that the compiled expression has at least, for RE2 syntax: a few counted
 * repetitions make a program of a hundred thousand instructions. The scan takes
 * the time of the text. A part that it does not understand counts nothing, so that no expression is refused for
 * it.
 */
export function leastRegexpSize(source: string): number {
  const groups: Group[] = [{ largest: 0, size: 0, last: 0 }];
  const add = (size: number) => {
    const group = groups.at(-1);
    if (group === undefined) return;
    group.size += size;
    group.last = size;
  };
  for (let i = 0; i < source.length; i++) {
    const group = groups.at(-1);
    if (group === undefined) return 0;
    const c = source[i];
    const rest = source.slice(i, i + 64);
    if (c === '\\') {
      const next = source[i + 1] ?? '';
      // What is quoted, octal or unknown to this scan counts nothing.
      if (/[QE0-9C]/.test(next)) return 0;
      const named = CLASS_NAME.exec(rest) ?? HEX.exec(rest);
      i += (named?.[0].length ?? 2) - 1;
      add(/[bBAzZ]/.test(next) ? 0 : 1);
    } else if (c === '[') {
      const end = classEnd(source, i);
      if (end === undefined) return 0;
      i = end;
      add(1);
    } else if (c === '(') {
      groups.push({ largest: 0, size: 0, last: 0 });
      if (source[i + 1] === '?') {
        const close = source.slice(i).search(/[:>)]/);
        if (close < 0) return 0;
        i += source[i + close] === ')' ? close - 1 : close;
      }
    } else if (c === ')') {
      if (groups.length < 2) return 0;
      groups.pop();
      add(Math.max(group.largest, group.size));
    } else if (c === '|') {
      group.largest = Math.max(group.largest, group.size);
      group.size = 0;
      group.last = 0;
    } else if (c === '{' && COUNTED.test(rest)) {
      const [text, least = '0', most] = COUNTED.exec(rest) ?? [''];
      const times = most === undefined || most === '' ? Number(least) : Number(most);
      group.size += group.last * (times - 1);
      group.last *= times;
      i += text.length - 1;
    } else if (c !== '^' && c !== '$' && c !== '*' && c !== '+' && c !== '?') add(1);
    else if (c === '^' || c === '$') add(0);
    // A character beyond U+FFFF is one instruction, and two units of the string.
    if (/^[\ud800-\udbff][\udc00-\udfff]/.test(rest)) i++;
  }
  const [whole] = groups;
  return groups.length !== 1 || whole === undefined ? 0 : Math.max(whole.largest, whole.size);
}

/** Index of the bracket that closes the class at `open`. */
function classEnd(source: string, open: number): number | undefined {
  let i = open + 1;
  if (source[i] === '^') i++;
  for (let isFirst = true; i < source.length; i++, isFirst = false) {
    if (source[i] === '\\') i++;
    else if (source[i] === '[' && source[i + 1] === ':') {
      const end = source.indexOf(':]', i);
      if (end < 0) return undefined;
      i = end + 1;
    } else if (source[i] === ']' && !isFirst) return i;
  }
  return undefined;
}
