// PostScript operators on numbers, stacks, arrays, strings and dictionaries. The clock and the random numbers
// are constant, so that the result is reproducible.
import { words } from '../../word-tables.js';
import type { OperatorBody, Operators, PsMachine } from './machine.js';
import {
  CELLS,
  keyOf,
  MARK,
  PsArray,
  PsDict,
  PsError,
  PsName,
  type PsObject,
  PsOperator,
  PsString,
} from './objects.js';
import { dictionaryOf } from './scanner.js';

function binary(body: (a: number, b: number) => number): OperatorBody {
  return (m) => {
    const b = m.number();
    m.push(body(m.number(), b));
  };
}

function unary(body: (a: number) => number): OperatorBody {
  return (m) => m.push(body(m.number()));
}

function compare(body: (order: number) => boolean): OperatorBody {
  return (m) => {
    const b = m.pop();
    const a = m.pop();
    if (typeof a === 'number' && typeof b === 'number') m.push(body(a - b));
    else if (a instanceof PsString && b instanceof PsString) {
      m.work(sizeOf(a) + sizeOf(b));
      m.push(body(a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
    } else throw new PsError('typecheck: comparison');
  };
}

function same(m: PsMachine, a: PsObject, b: PsObject): boolean {
  if (a instanceof PsString || b instanceof PsString) m.work(sizeOf(a) + sizeOf(b));
  if (a instanceof PsName || a instanceof PsString) {
    return (b instanceof PsName || b instanceof PsString) && a.text === b.text;
  }
  if (a instanceof PsOperator && b instanceof PsOperator) return a.name === b.name;
  return a === b;
}

function logic(bits: (a: number, b: number) => number): OperatorBody {
  return (m) => {
    const b = m.pop();
    const a = m.pop();
    if (typeof a === 'boolean') m.push(bits(Number(a), Number(b)) !== 0);
    else if (typeof a === 'number' && typeof b === 'number') m.push(bits(a, b));
    else throw new PsError('typecheck: logic');
  };
}

/** The elements of an object: what an operator on all of it costs. */
function sizeOf(object: PsObject): number {
  if (object instanceof PsString) return object.bytes.length / 8;
  if (object instanceof PsArray) return object.items.length;
  if (object instanceof PsDict) return object.entries.size;
  return object instanceof PsName ? object.text.length / 8 : 0;
}

/** Overwrites items of an array, which keeps its length. */
function putItems(into: PsArray, start: number, from: PsArray): void {
  if (!(Number.isInteger(start) && start >= 0 && start + from.items.length <= into.items.length))
    throw new PsError('rangecheck: copy');
  for (const [index, item] of from.items.entries()) into.items[start + index] = item;
}

function copy(m: PsMachine): void {
  const top = m.pop();
  if (typeof top === 'number') {
    if (top < 0 || top > m.operands.length) throw new PsError('rangecheck');
    m.work(top);
    m.push(...(top === 0 ? [] : m.operands.slice(-top)));
    return;
  }
  const from = m.pop();
  m.work(sizeOf(from));
  if (top instanceof PsDict && from instanceof PsDict)
    for (const [key, value] of from.entries) m.setEntry(top, key, value);
  else if (top instanceof PsArray && from instanceof PsArray) putItems(top, 0, from);
  else if (top instanceof PsString && from instanceof PsString) {
    top.bytes.set(from.bytes.subarray(0, top.bytes.length));
    m.pushString(top.bytes.subarray(0, from.bytes.length));
    return;
  } else throw new PsError('typecheck: copy');
  m.push(top);
}

function roll(m: PsMachine): void {
  const [count, by] = m.numbers(2);
  if (!Number.isInteger(count) || count! < 0 || count! > m.operands.length) throw new PsError('rangecheck');
  if (count === 0) return;
  m.work(count! * 8);
  const part = m.operands.slice(-count!);
  const base = m.operands.length - part.length;
  let target = (((by! % part.length) + part.length) % part.length) | 0;
  for (const item of part) {
    m.operands[base + target] = item;
    if (++target === part.length) target = 0;
  }
}

function get(m: PsMachine): void {
  const index = m.pop();
  const from = m.pop();
  let value: PsObject | undefined;
  if (from instanceof PsDict) value = from.entries.get(keyOf(index));
  else if (from instanceof PsArray && typeof index === 'number') value = from.items[index];
  else if (from instanceof PsString && typeof index === 'number') value = from.bytes[index];
  if (value === undefined) throw new PsError('get: undefined');
  m.push(value);
}

function put(m: PsMachine): void {
  const value = m.pop();
  const index = m.pop();
  const into = m.pop();
  if (into instanceof PsDict) m.setEntry(into, keyOf(index), value);
  // An index between two integers would be a property of its own.
  else if (!Number.isInteger(index) || typeof index !== 'number') throw new PsError('typecheck: put');
  else if (into instanceof PsArray && index >= 0 && index < into.items.length) into.items[index] = value;
  else if (into instanceof PsString && typeof value === 'number' && index < into.bytes.length)
    into.bytes[index] = value;
  else throw new PsError('rangecheck: put');
}

function getInterval(m: PsMachine): void {
  const [start, count] = m.numbers(2);
  const from = m.pop();
  if (from instanceof PsString) m.pushString(from.bytes.subarray(start!, start! + count!));
  else if (from instanceof PsArray) {
    m.work(count!);
    m.pushArray(from.items.slice(start!, start! + count!), from.executable);
  } else throw new PsError('typecheck: getinterval');
}

function putInterval(m: PsMachine): void {
  const value = m.pop();
  const start = m.number();
  const into = m.pop();
  m.work(sizeOf(value));
  if (
    into instanceof PsString &&
    value instanceof PsString &&
    start + value.bytes.length <= into.bytes.length
  ) {
    into.bytes.set(value.bytes, start);
  } else if (
    into instanceof PsArray &&
    value instanceof PsArray &&
    start + value.items.length <= into.items.length
  ) {
    putItems(into, start, value);
  } else throw new PsError('rangecheck: putinterval');
}

function length(m: PsMachine): void {
  const object = m.pop();
  if (object instanceof PsString) m.push(object.bytes.length);
  else if (object instanceof PsArray) m.push(object.items.length);
  else if (object instanceof PsDict) m.push(object.entries.size);
  else if (object instanceof PsName) m.push(object.text.length);
  else throw new PsError('typecheck: length');
}

function search(m: PsMachine, anchored: boolean): void {
  const pattern = m.string();
  const from = m.string();
  m.work(from.bytes.length);
  const offset = from.text.indexOf(pattern.text);
  if (offset < 0 || (anchored && offset > 0)) {
    m.push(from, false);
    return;
  }
  const end = offset + pattern.bytes.length;
  m.pushString(from.bytes.subarray(end));
  m.pushString(from.bytes.subarray(offset, end));
  if (!anchored) m.pushString(from.bytes.subarray(0, offset));
  m.push(true);
}

function store(m: PsMachine): void {
  const value = m.pop();
  const key = m.key();
  m.setEntry(m.dictWith(key) ?? m.currentDict, key, value);
}

function where(m: PsMachine): void {
  const key = m.key();
  const dict = m.dictWith(key);
  if (dict === undefined) m.push(false);
  else m.push(dict, true);
}

function newArray(m: PsMachine): void {
  const size = m.number();
  m.allocate(size + CELLS.array);
  m.work(size);
  m.push(new PsArray(new Array<PsObject>(size).fill(null)));
}

function define(m: PsMachine): void {
  const value = m.pop();
  const key = m.key();
  m.setEntry(m.currentDict, key, value);
  if (key === '/FontType' && value === 3) m.shown.beginFont(m.currentDict);
}

function newString(m: PsMachine): void {
  const size = m.number();
  m.allocate(size / 8 + CELLS.string);
  m.work(size / 8);
  m.push(new PsString(new Uint8Array(size)));
}

/** Operators that take one operand, without an effect on the text. */
const TAKING = words('pop srand setpacking setglobal vmreclaim closefile flushfile print = == run');

/** Operators on numbers, stacks, arrays, strings and dictionaries. */
export const DATA_OPERATORS: Operators = {
  ...Object.fromEntries(TAKING.map((name): [string, OperatorBody] => [name, (m) => void m.pop()])),
  add: binary((a, b) => a + b),
  sub: binary((a, b) => a - b),
  mul: binary((a, b) => a * b),
  div: binary((a, b) => (b === 0 ? 0 : a / b)),
  idiv: binary((a, b) => (b === 0 ? 0 : Math.trunc(a / b))),
  mod: binary((a, b) => (b === 0 ? 0 : a % b)),
  atan: binary((a, b) => ((Math.atan2(a, b) * 180) / Math.PI + 360) % 360),
  exp: binary((a, b) => a ** b || 0),
  bitshift: binary((a, b) => (b >= 0 ? a << b : a >> -b)),
  neg: unary((a) => -a),
  abs: unary(Math.abs),
  ceiling: unary(Math.ceil),
  floor: unary(Math.floor),
  round: unary(Math.round),
  truncate: unary(Math.trunc),
  sqrt: unary((a) => Math.sqrt(Math.max(0, a))),
  sin: unary((a) => Math.sin((a * Math.PI) / 180)),
  cos: unary((a) => Math.cos((a * Math.PI) / 180)),
  ln: unary((a) => Math.log(a) || 0),
  log: unary((a) => Math.log10(a) || 0),
  rand: (m) => m.push(0),
  rrand: (m) => m.push(0),
  eq: (m) => m.push(same(m, m.pop(), m.pop())),
  ne: (m) => m.push(!same(m, m.pop(), m.pop())),
  lt: compare((order) => order < 0),
  le: compare((order) => order <= 0),
  gt: compare((order) => order > 0),
  ge: compare((order) => order >= 0),
  and: logic((a, b) => a & b),
  or: logic((a, b) => a | b),
  xor: logic((a, b) => a ^ b),
  not: (m) => {
    const a = m.pop();
    m.push(typeof a === 'number' ? ~a : a !== true);
  },
  exch: (m) => {
    const b = m.pop();
    const a = m.pop();
    m.push(b, a);
  },
  dup: (m) => {
    const a = m.pop();
    m.push(a, a);
  },
  copy,
  index: (m) => {
    const value = m.operands[m.operands.length - 2 - m.number()];
    if (value === undefined) throw new PsError('rangecheck: index');
    m.push(value);
  },
  roll,
  clear: (m) => void m.operands.splice(0),
  count: (m) => m.push(m.operands.length),
  mark: (m) => m.push(MARK),
  '[': (m) => m.push(MARK),
  '<<': (m) => m.push(MARK),
  cleartomark: (m) => void m.popToMark(),
  counttomark: (m) => m.push(m.countToMark()),
  ']': (m) => m.pushArray(m.popToMark()),
  '>>': (m) => {
    const objects = m.popToMark();
    m.allocate(CELLS.dict + (objects.length / 2) * CELLS.entry);
    m.push(dictionaryOf(objects, keyOf));
  },
  array: newArray,
  packedarray: (m) => m.pushArray(m.operands.splice(-Math.max(1, m.number()))),
  currentpacking: (m) => m.push(false),
  string: newString,
  dict: (m) => {
    m.number();
    m.allocate(CELLS.dict);
    m.push(new PsDict());
  },
  begin: (m) => m.pushDict(m.dict()),
  end: (m) => void (m.dicts.length > 2 && m.dicts.pop()),
  cleardictstack: (m) => void m.dicts.splice(2),
  countdictstack: (m) => m.push(m.dicts.length),
  def: define,
  store,
  load: (m) => {
    const value = m.find(m.key());
    if (value === undefined) throw new PsError('undefined: load');
    m.push(value);
  },
  where,
  known: (m) => {
    const key = m.key();
    m.push(m.dict().entries.has(key));
  },
  undef: (m) => {
    const key = m.key();
    m.dict().entries.delete(key);
  },
  currentdict: (m) => m.push(m.currentDict),
  maxlength: (m) => m.push(m.dict().entries.size + 100),
  get,
  put,
  getinterval: getInterval,
  putinterval: putInterval,
  length,
  aload: (m) => {
    const array = m.array();
    m.work(array.items.length);
    for (const item of array.items) m.push(item);
    m.push(array);
  },
  astore: (m) => {
    const array = m.array();
    if (array.items.length > m.operands.length) throw new PsError('stack underflow');
    m.work(array.items.length);
    const values = array.items.length === 0 ? [] : m.operands.splice(-array.items.length);
    putItems(array, 0, new PsArray(values));
    m.push(array);
  },
  search: (m) => search(m, false),
  anchorsearch: (m) => search(m, true),
  save: (m) => m.save(),
  restore: (m) => m.restore(),
  currentglobal: (m) => m.push(false),
  vmstatus: (m) => m.push(0, 0, 1_000_000),
  realtime: (m) => m.push(0),
  usertime: (m) => m.push(0),
  languagelevel: (m) => m.push(2),
  version: (m) => m.push(new PsString(Buffer.from('2017'))),
  product: (m) => m.push(new PsString(Buffer.from(''))),
};
