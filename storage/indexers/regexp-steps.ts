// Matches a compiled regular expression against a long line in pieces of bounded work, so that the thread can
// pause between them.
import type { RE2JS } from 're2js';
import { StateError } from '../../protocols/errors.js';

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
