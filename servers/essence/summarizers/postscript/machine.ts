// The interpreter of PostScript: stacks, dictionaries, execution and the limits of a program.
import {
  CELLS,
  type GraphicsState,
  initialGraphics,
  keyOf,
  PsArray,
  PsDict,
  PsEnd,
  PsError,
  PsExit,
  PsMark,
  PsName,
  type PsObject,
  PsOperator,
  PsStop,
  PsString,
} from './objects.js';
import { PsScanner } from './scanner.js';
import type { ShownText } from './shown-text.js';

/** The implementation of an operator. */
export type OperatorBody = (machine: PsMachine) => void;

/** Operators by name. */
export type Operators = Readonly<Record<string, OperatorBody>>;

/** An operator that puts a fixed value in the place of its operand. */
export function replacing(value: PsObject): OperatorBody {
  return (machine) => {
    machine.pop();
    machine.push(value);
  };
}

/**
 * Steps between two looks at the clock; a page of text takes about ten thousand. The result of a shorter
 * program does not depend on the machine.
 */
const STEPS_PER_LOOK = 1_000_000;
/** Maximum depth of nested procedure calls. */
const MAX_DEPTH = 250;
/** Maximum number of operands on the stack. */
const MAX_OPERANDS = 100_000;
/** Maximum number of dictionaries on the dictionary stack. */
const MAX_DICTS = 100;
/** Maximum number of graphics states that `gsave` keeps. */
const MAX_SAVED = 10_000;
/**
 * Maximum memory of all objects that a program makes, in cells of 8 bytes; what it drops counts as well (E-45).
 */
const MAX_CELLS = 24_000_000;
/** Elements of a stack, array or string that an operator moves in the time of one step, as a power of two. */
const ELEMENTS_PER_STEP_LOG2 = 5;
/** Maximum number of errors that the program does not catch itself with the operator `stopped`. */
const MAX_ERRORS = 1000;

/** The limits of one program; those of its memory and stacks are fixed. */
export interface ProgramLimits {
  /** Length of the shown text at which the program ends, in characters. */
  readonly maxTextLength: number;
  /** Milliseconds of processor time. The time of all threads of the process counts. */
  readonly maxProcessorMs: number;
  /** The processor's clock. Default: that of the process. */
  readonly cpuUsage?: typeof process.cpuUsage;
}

/**
 * Runs a PostScript program and collects the text that it shows. Dictionaries, procedures and the coordinate
 * system work as the language defines them, so that the prologue of every producer works. Nothing is painted,
 * there are no files, and the clock does not advance.
 */
export class PsMachine {
  readonly operands: PsObject[] = [];
  readonly system = new PsDict();
  readonly user = new PsDict();
  readonly dicts: PsDict[] = [this.system, this.user];
  readonly fonts = new PsDict();
  readonly resources = new PsDict();
  /** The text that the program has shown so far. */
  readonly shown: ShownText;
  /** Maximum length of the shown text, in characters. */
  readonly maxTextLength: number;
  readonly #limits: ProgramLimits;
  readonly #operators: ReadonlyMap<string, OperatorBody>;
  readonly #saved: GraphicsState[] = [];
  graphics = initialGraphics();
  scanner: PsScanner;
  /** The first error that the program did not catch itself with the operator `stopped`. */
  failure: string | undefined;
  #steps = 0;
  #nextLook = STEPS_PER_LOOK;
  readonly #startedAt: NodeJS.CpuUsage;
  #depth = 0;
  #cells = 0;
  #errors = 0;

  constructor(
    program: Uint8Array,
    operators: ReadonlyMap<string, OperatorBody>,
    shown: ShownText,
    limits: ProgramLimits,
  ) {
    this.#operators = operators;
    this.#limits = limits;
    this.#startedAt = (limits.cpuUsage ?? process.cpuUsage)();
    this.maxTextLength = limits.maxTextLength;
    this.shown = shown;
    this.scanner = new PsScanner(program, {
      comment: (line) => shown.comment(line),
      charge: (cells) => this.allocate(cells),
    });
    for (const name of operators.keys()) this.system.set(name, new PsOperator(name));
    for (const [name, value] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const) {
      this.system.set(name, value);
    }
    this.system.set('systemdict', this.system);
    this.system.set('globaldict', this.user);
    this.system.set('userdict', this.user);
    this.system.set('FontDirectory', this.fonts);
    for (const name of ['statusdict', 'errordict', '$error', 'serverdict'])
      this.system.set(name, new PsDict());
  }

  /** Runs the whole program, up to its end, `quit` or a limit. */
  run(): void {
    try {
      while (!this.scanner.done) this.#runOne();
    } catch (error) {
      if (!(error instanceof PsEnd)) throw error;
      this.failure ??= error.message === '' ? undefined : error.message;
    }
  }

  #runOne(): void {
    try {
      const object = this.scanner.next();
      if (object !== undefined) this.interpret(object);
    } catch (error) {
      if (error instanceof PsEnd) throw error;
      // A printer would stop here; text extraction continues with the next object.
      if (error instanceof PsError) this.failure ??= error.message;
      else if (!(error instanceof PsStop || error instanceof PsExit)) throw error;
      this.#depth = 0;
      if (++this.#errors > MAX_ERRORS) throw new PsEnd('too many errors');
    }
  }

  /** Interprets an object of a program: pushes literals and procedures, executes names and operators. */
  interpret(object: PsObject): void {
    this.count();
    if (object instanceof PsName && object.executable) this.execute(this.lookUp(object));
    else if (object instanceof PsOperator) this.execute(object);
    else this.push(object);
  }

  /** Counts steps; loops also count their iterations, because the body may be empty. @throws PsEnd */
  count(steps = 1): void {
    this.#steps += steps;
    if (this.#steps >= this.#nextLook) this.#lookAtClock();
  }

  #lookAtClock(): void {
    this.#nextLook = this.#steps + STEPS_PER_LOOK;
    const { maxProcessorMs, cpuUsage = process.cpuUsage } = this.#limits;
    const { user, system } = cpuUsage(this.#startedAt);
    if (user + system > maxProcessorMs * 1000)
      throw new PsEnd(`the program takes more than ${maxProcessorMs} ms of processor time`);
  }

  /**
   * Counts the elements that an operator moves or compares: one operator may move a hundred thousand. @throws
   * PsEnd
   */
  work(elements: number): void {
    if (elements > 0) this.count(elements / (1 << ELEMENTS_PER_STEP_LOG2));
  }

  /** Executes an object; a procedure's items are interpreted one by one. */
  execute(object: PsObject): void {
    if (object instanceof PsOperator) {
      this.#operators.get(object.name)!(this);
    } else if (object instanceof PsArray && object.executable) {
      if (++this.#depth > MAX_DEPTH) throw new PsEnd('procedures call each other too deeply');
      for (const item of object.items) this.interpret(item);
      this.#depth--;
    } else if (object instanceof PsName && object.executable) {
      this.interpret(object);
    } else if (object instanceof PsString && object.executable) {
      if (++this.#depth > MAX_DEPTH) throw new PsEnd('procedures call each other too deeply');
      const inner = this.scan(object);
      for (let item = inner.next(); item !== undefined; item = inner.next()) {
        this.allocate(CELLS.string);
        this.interpret(item);
      }
      this.#depth--;
    } else {
      this.push(object);
    }
  }

  /** Runs `body` and restores the depth of calls, also after an error. */
  protect(body: () => void): void {
    const depth = this.#depth;
    try {
      body();
    } finally {
      this.#depth = depth;
    }
  }

  /** Returns the value of a name in the innermost dictionary that has it. @throws PsError */
  lookUp(name: PsName): PsObject {
    const value = this.find(name.key);
    if (value === undefined) throw new PsError(`undefined: ${name.text.slice(0, 60)}`);
    return value;
  }

  /** Returns the value of a key in the innermost dictionary that has it. */
  find(key: string): PsObject | undefined {
    for (let i = this.dicts.length - 1; i >= 0; i--) {
      const value = this.dicts[i]!.entries.get(key);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** The innermost dictionary that has a key. */
  dictWith(key: string): PsDict | undefined {
    return this.dicts.findLast((dict) => dict.entries.has(key));
  }

  /** The dictionary on top of the dictionary stack, in which `def` defines names. */
  get currentDict(): PsDict {
    return this.dicts[this.dicts.length - 1]!;
  }

  /** Counts the memory that a program allocates, in cells of 8 bytes. @throws PsEnd */
  allocate(cells: number): void {
    if (!(cells >= 0)) throw new PsError('rangecheck');
    this.#cells += cells;
    if (this.#cells > MAX_CELLS) throw new PsEnd('the program needs too much memory');
  }

  /** Returns a scanner of a string as a program. */
  scan(string: PsString): PsScanner {
    return new PsScanner(string.bytes, { charge: (cells) => this.allocate(cells) });
  }

  /** Sets an entry of a dictionary and counts a new one. */
  setEntry(dict: PsDict, key: string, value: PsObject): void {
    if (!dict.entries.has(key)) this.allocate(CELLS.entry + key.length / 8);
    dict.entries.set(key, value);
  }

  /** `begin`. @throws PsError if the dictionary stack is full */
  pushDict(dict: PsDict): void {
    if (this.dicts.length >= MAX_DICTS) throw new PsError('dictstackoverflow');
    this.dicts.push(dict);
  }

  /** Pushes a new array. */
  pushArray(items: PsObject[], executable = false): void {
    this.allocate(CELLS.array + items.length);
    this.push(new PsArray(items, executable));
  }

  /** Pushes a view of a string's bytes. */
  pushString(bytes: Uint8Array): void {
    this.allocate(CELLS.string);
    this.push(new PsString(bytes));
  }

  push(...objects: PsObject[]): void {
    if (this.operands.length + objects.length > MAX_OPERANDS) throw new PsEnd('stack overflow');
    for (const object of objects) this.operands.push(object);
  }

  pop(): PsObject {
    const object = this.operands.pop();
    if (object === undefined) throw new PsError('stack underflow');
    return object;
  }

  number(): number {
    const object = this.pop();
    if (typeof object !== 'number') throw new PsError('typecheck: expected a number');
    return object;
  }

  /** Pops `count` numbers; returns them in the order they were pushed. */
  numbers(count: number): number[] {
    const numbers = new Array<number>(count);
    for (let i = count - 1; i >= 0; i--) numbers[i] = this.number();
    return numbers;
  }

  boolean(): boolean {
    return this.pop() === true;
  }

  string(): PsString {
    const object = this.pop();
    if (!(object instanceof PsString)) throw new PsError('typecheck: expected a string');
    return object;
  }

  array(): PsArray {
    const object = this.pop();
    if (!(object instanceof PsArray)) throw new PsError('typecheck: expected an array');
    return object;
  }

  dict(): PsDict {
    const object = this.pop();
    if (!(object instanceof PsDict)) throw new PsError('typecheck: expected a dictionary');
    return object;
  }

  key(): string {
    return keyOf(this.pop());
  }

  /** Removes up to `count` operands; a smaller stack is not an error. */
  drop(count: number): void {
    this.operands.length = Math.max(0, this.operands.length - count);
  }

  /** Ends the program because the text has reached its limit. @throws PsEnd */
  finish(): never {
    throw new PsEnd('');
  }

  saveGraphics(): void {
    if (this.#saved.length >= MAX_SAVED) throw new PsError('limitcheck: gsave');
    this.#saved.push({ ...this.graphics });
  }

  restoreGraphics(): void {
    this.graphics = this.#saved.pop() ?? this.graphics;
  }

  /**
   * `save`: `restore` restores the graphics state; dictionaries are not restored, because no program relies on
   * that.
   */
  save(): void {
    this.saveGraphics();
    this.push(this.#saved.length);
  }

  restore(): void {
    const level = this.number();
    if (level < 1 || level > this.#saved.length) return;
    this.#saved.length = level;
    this.restoreGraphics();
  }

  /** Returns the number of objects above the topmost mark. @throws PsError without a mark */
  countToMark(): number {
    const mark = this.operands.findLastIndex((operand) => operand instanceof PsMark);
    const count = this.operands.length - 1 - mark;
    this.work(count);
    if (mark < 0) throw new PsError('unmatched mark');
    return count;
  }

  /** Pops the topmost mark and the objects above it; returns the objects. */
  popToMark(): PsObject[] {
    const mark = this.operands.length - 1 - this.countToMark();
    const objects = this.operands.splice(mark + 1);
    this.operands.pop();
    return objects;
  }
}
