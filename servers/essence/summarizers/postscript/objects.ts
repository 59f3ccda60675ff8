import { bufferOf } from '../../bytes.js';
/** The objects of the PostScript language that text extraction needs. */
export type PsObject =
  | number
  | boolean
  | null
  | PsName
  | PsString
  | PsArray
  | PsDict
  | PsOperator
  | PsMark
  | PsFile;

/** Memory of the objects that a program makes, in cells of 8 bytes, without their content. */
export const CELLS = {
  name: 8,
  array: 10,
  string: 30,
  dict: 40,
  entry: 10,
  encoding: 256 * 8,
  wrapper: 4,
} as const;

export class PsName {
  #key: string | undefined;

  constructor(
    readonly text: string,
    readonly executable: boolean,
  ) {}

  /** Key of a dictionary entry. It is kept, because a procedure looks up the same names again and again. */
  get key(): string {
    this.#key ??= `/${this.text}`;
    return this.#key;
  }
}

/** A string is a view of bytes, which substrings share. */
export class PsString {
  constructor(
    readonly bytes: Uint8Array,
    readonly executable = false,
  ) {}

  get text(): string {
    return bufferOf(this.bytes).toString('latin1');
  }
}

export class PsArray {
  constructor(
    readonly items: PsObject[],
    readonly executable = false,
  ) {}
}

export class PsDict {
  readonly entries = new Map<string, PsObject>();

  get(name: string): PsObject | undefined {
    return this.entries.get(`/${name}`);
  }
  set(name: string, value: PsObject): void {
    this.entries.set(`/${name}`, value);
  }
}

export class PsOperator {
  constructor(readonly name: string) {}
}

export class PsMark {}
export const MARK = new PsMark();

/** The program (`currentfile`), or a filter, whose data is skipped. */
export class PsFile {
  constructor(readonly program: boolean) {}
}

/** Returns the key of a dictionary entry: a name and a string with the same text are equal. */
export function keyOf(object: PsObject): string {
  if (object instanceof PsName) return object.key;
  if (object instanceof PsString) return `/${object.text}`;
  return `#${typeof object === 'object' ? '' : String(object)}`;
}

/** Returns the object of a key. */
export function objectOf(key: string): PsObject {
  return key.startsWith('/') ? new PsName(key.slice(1), false) : Number(key.slice(1));
}

/** A PostScript error; `stopped` catches it. */
export class PsError extends Error {
  readonly code = 'ERR_POSTSCRIPT';
}
/** Thrown by `exit`. */
export class PsExit extends Error {
  readonly code = 'ERR_POSTSCRIPT_EXIT';
}
/** Thrown by `stop`. */
export class PsStop extends Error {
  readonly code = 'ERR_POSTSCRIPT_STOP';
}
/** Thrown by `quit` and at a limit: ends the program; the text shown before is kept. */
export class PsEnd extends Error {
  readonly code = 'ERR_POSTSCRIPT_END';
}

/** `[a b c d tx ty]`: x' = ax + cy + tx, y' = bx + dy + ty. */
export type Matrix = readonly [number, number, number, number, number, number];

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** The current font: `matrix` maps the font's unit square (one em) to user space. */
export interface Font {
  readonly dict: PsDict;
  readonly matrix: Matrix;
}

/** The state that `gsave` saves. The current point is in device space (points). */
export interface GraphicsState {
  matrix: Matrix;
  x: number;
  y: number;
  font: Font | undefined;
  /** Components of a color of the current color space. */
  colorComponents: number;
}

export function initialGraphics(): GraphicsState {
  return { matrix: IDENTITY, x: 0, y: 0, font: undefined, colorComponents: 1 };
}

/** Returns the product: first `a`, then `b`. */
export function multiply(a: Matrix, b: Matrix): Matrix {
  return [
    a[0] * b[0] + a[1] * b[2],
    a[0] * b[1] + a[1] * b[3],
    a[2] * b[0] + a[3] * b[2],
    a[2] * b[1] + a[3] * b[3],
    a[4] * b[0] + a[5] * b[2] + b[4],
    a[4] * b[1] + a[5] * b[3] + b[5],
  ];
}

/** Returns the inverse of `m`; the identity if it has none. */
export function invert(m: Matrix): Matrix {
  const det = m[0] * m[3] - m[1] * m[2];
  if (Math.abs(det) < 1e-12) return IDENTITY;
  const [a, b, c, d] = [m[3] / det, -m[1] / det, -m[2] / det, m[0] / det];
  return [a, b, c, d, -(m[4] * a + m[5] * c), -(m[4] * b + m[5] * d)];
}

export function transform(m: Matrix, x: number, y: number): [number, number] {
  return [m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]];
}

/** Transforms a distance: ignores the translation. */
export function transformDistance(m: Matrix, x: number, y: number): [number, number] {
  return [m[0] * x + m[2] * y, m[1] * x + m[3] * y];
}

/** @throws PsError if the object is not an array of six numbers */
export function matrixOf(object: PsObject): Matrix {
  if (object instanceof PsArray) {
    const [a, b, c, d, e, f] = object.items;
    if (
      typeof a === 'number' &&
      typeof b === 'number' &&
      typeof c === 'number' &&
      typeof d === 'number' &&
      typeof e === 'number' &&
      typeof f === 'number'
    ) {
      return [a, b, c, d, e, f];
    }
  }
  throw new PsError('typecheck: expected a matrix');
}

/** Moves the current point by a distance in user space. */
export function moveBy(graphics: GraphicsState, x: number, y: number): void {
  const [dx, dy] = transformDistance(graphics.matrix, x, y);
  graphics.x += dx;
  graphics.y += dy;
}
