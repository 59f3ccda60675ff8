// PostScript operators that query and convert the types of objects.
import { type Operators, type PsMachine, replacing } from './machine.js';
import {
  CELLS,
  PsArray,
  PsDict,
  PsError,
  PsFile,
  PsMark,
  PsName,
  type PsObject,
  PsOperator,
  PsString,
} from './objects.js';

function typeOf(object: PsObject): string {
  if (typeof object === 'number') return Number.isInteger(object) ? 'integertype' : 'realtype';
  if (typeof object === 'boolean') return 'booleantype';
  if (object instanceof PsName) return 'nametype';
  if (object instanceof PsString) return 'stringtype';
  if (object instanceof PsArray) return 'arraytype';
  if (object instanceof PsDict) return 'dicttype';
  if (object instanceof PsOperator) return 'operatortype';
  if (object instanceof PsMark) return 'marktype';
  return object instanceof PsFile ? 'filetype' : 'nulltype';
}

function toText(object: PsObject): string {
  if (object instanceof PsName || object instanceof PsString) return object.text;
  if (object instanceof PsOperator) return object.name;
  return typeof object === 'number' || typeof object === 'boolean' ? String(object) : '--nostringval--';
}

function toNumber(m: PsMachine, object: PsObject): number {
  if (object instanceof PsString) m.work(object.bytes.length);
  const value = object instanceof PsString ? Number(object.text) : object;
  if (typeof value !== 'number' || Number.isNaN(value)) throw new PsError('typecheck: not a number');
  return value;
}

function withAttribute(m: PsMachine, object: PsObject, executable: boolean): PsObject {
  m.allocate(CELLS.wrapper);
  if (object instanceof PsName) return new PsName(object.text, executable);
  if (object instanceof PsArray) return new PsArray(object.items, executable);
  if (object instanceof PsString) return new PsString(object.bytes, executable);
  return object;
}

function nameOf(m: PsMachine, string: PsString): PsName {
  m.allocate(CELLS.name + string.bytes.length / 8);
  m.work(string.bytes.length / 8);
  return new PsName(string.text, string.executable);
}

function isExecutable(object: PsObject): boolean {
  return object instanceof PsOperator || (isAttributed(object) && object.executable);
}

function isAttributed(object: PsObject): object is PsName | PsArray | PsString {
  return object instanceof PsName || object instanceof PsArray || object instanceof PsString;
}

function convertToString(m: PsMachine, radix: number | undefined): void {
  const target = m.string();
  const base = radix ?? m.number();
  const object = m.pop();
  const text = typeof object === 'number' && base >= 2 && base <= 36 ? object.toString(base) : toText(object);
  const bytes = Buffer.from(text, 'latin1').subarray(0, target.bytes.length);
  target.bytes.set(bytes);
  m.work(text.length / 8);
  m.pushString(target.bytes.subarray(0, bytes.length));
}

/** Operators that query and convert types. */
export const CONVERSION_OPERATORS: Operators = {
  type: (m) => m.push(new PsName(typeOf(m.pop()), true)),
  cvi: (m) => m.push(Math.trunc(toNumber(m, m.pop()))),
  cvr: (m) => m.push(toNumber(m, m.pop())),
  cvn: (m) => m.push(nameOf(m, m.string())),
  cvx: (m) => m.push(withAttribute(m, m.pop(), true)),
  cvlit: (m) => m.push(withAttribute(m, m.pop(), false)),
  cvs: (m) => convertToString(m, 10),
  cvrs: (m) => convertToString(m, undefined),
  xcheck: (m) => m.push(isExecutable(m.pop())),
  rcheck: replacing(true),
  wcheck: replacing(true),
};
