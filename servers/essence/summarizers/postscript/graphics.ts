import { PsArray, type PsDict, PsError, type PsObject } from './objects.js';

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
