// PostScript operators for coordinates, paths and painting. Only the current point and the matrix matter,
// because nothing is painted.

import { words } from '../../word-tables.js';
import type { OperatorBody, Operators, PsMachine } from './machine.js';
import {
  CELLS,
  IDENTITY,
  initialGraphics,
  invert,
  type Matrix,
  matrixOf,
  moveBy,
  multiply,
  PsArray,
  PsDict,
  PsName,
  type PsObject,
  PsString,
  transform,
  transformDistance,
} from './objects.js';

/** An operator like `scale`: changes the current matrix, or fills the matrix operand if there is one. */
function matrixOperator(count: 1 | 2, make: (a: number, b: number) => Matrix): OperatorBody {
  return (m) => {
    const top = m.pop();
    const target = top instanceof PsArray ? top : undefined;
    if (target === undefined) m.push(top);
    const [a, b] = m.numbers(count);
    const matrix = make(a!, b ?? 0);
    if (target === undefined) m.graphics.matrix = multiply(matrix, m.graphics.matrix);
    else fill(m, target, matrix);
  };
}

function rotation(degrees: number): Matrix {
  const angle = (degrees * Math.PI) / 180;
  return [Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0];
}

function fill(m: PsMachine, array: PsArray, matrix: Matrix): void {
  array.items.splice(0, 6, ...matrix);
  m.push(array);
}

function newDict(m: PsMachine): PsDict {
  m.allocate(CELLS.dict);
  return new PsDict();
}

function pointOperator(
  map: (matrix: Matrix, x: number, y: number) => [number, number],
  inverse: boolean,
): OperatorBody {
  return (m) => {
    const top = m.pop();
    const matrix = top instanceof PsArray ? matrixOf(top) : m.graphics.matrix;
    if (!(top instanceof PsArray)) m.push(top);
    const [x, y] = m.numbers(2);
    m.push(...map(inverse ? invert(matrix) : matrix, x!, y!));
  };
}

function setMatrix(m: PsMachine, matrix: Matrix): void {
  m.graphics.matrix = matrix;
}

function moveTo(m: PsMachine, x: number, y: number): void {
  [m.graphics.x, m.graphics.y] = transform(m.graphics.matrix, x, y);
}

/** A path operator: its last point becomes the current one. */
function pathOperator(numbers: number, relative: boolean): OperatorBody {
  return (m) => {
    const [x, y] = m.numbers(numbers).slice(-2);
    if (relative) moveBy(m.graphics, x!, y!);
    else moveTo(m, x!, y!);
  };
}

/** Operators that only pop operands, grouped by the number of operands. */
const IGNORED: readonly (readonly [count: number, names: string])[] = [
  [
    0,
    'newpath closepath fill eofill stroke clip eoclip initclip clippath erasepage flattenpath strokepath reversepath',
  ],
  [0, 'initgraphics grestoreall letter legal a4 note bind executeonly readonly noaccess nulldevice flush'],
  [
    1,
    'setlinewidth setlinecap setlinejoin setmiterlimit setflat setstrokeadjust setpattern settransfer ' +
      'setoverprint setpagedevice ustroke ufill setsmoothness setblackgeneration setundercolorremoval setcachelimit shfill ' +
      'setsystemparams setuserparams setcacheparams setvmthreshold setobjectformat sethalftone setcolorrendering undefinefont execform',
  ],
  [2, 'setdash setcharwidth undefineresource charpath'],
  [3, 'setscreen'],
  [4, 'setcolortransfer rectclip rectfill rectstroke setbbox pathforall resourceforall'],
  [5, 'arc arcn arct'],
  [6, 'setcachedevice'],
  [10, 'setcachedevice2'],
];

/** Sets a color by its components, which select the color space. */
function deviceColor(components: number): OperatorBody {
  return (m) => {
    m.drop(components);
    m.graphics.colorComponents = components;
  };
}

/** Pushes fixed values. */
function query(...values: readonly PsObject[]): OperatorBody {
  return (m) => m.push(...values);
}

/** Components of the colors of a color space, by the name of its family; 1 for all others. */
const COMPONENTS: ReadonlyMap<string, number> = new Map([
  ['DeviceRGB', 3],
  ['DeviceCMYK', 4],
  ['CIEBasedABC', 3],
  ['CIEBasedDEF', 3],
  ['CIEBasedDEFG', 4],
]);

/** Number of the components of a color space: a name, or an array that begins with one. */
function componentsOf(space: PsObject): number {
  const family = space instanceof PsArray ? space.items[0] : space;
  if (!(family instanceof PsName)) return 1;
  const names = space instanceof PsArray ? space.items[1] : undefined;
  if (family.text === 'DeviceN' && names instanceof PsArray) return names.items.length;
  return COMPONENTS.get(family.text) ?? 1;
}

/** Operators of coordinates, paths and painting. */
export const PAINT_OPERATORS: Operators = {
  ...Object.fromEntries(
    IGNORED.flatMap(([count, names]) =>
      words(names).map((name): [string, OperatorBody] => [name, (m) => m.drop(count)]),
    ),
  ),
  currentgray: query(0),
  currentlinewidth: query(1),
  currentrgbcolor: query(0, 0, 0),
  currentcmykcolor: query(0, 0, 0, 1),
  currentflat: query(1),
  currentlinecap: query(0),
  currentlinejoin: query(0),
  currentmiterlimit: query(10),
  pathbbox: query(0, 0, 612, 792),
  setgray: deviceColor(1),
  setrgbcolor: deviceColor(3),
  sethsbcolor: deviceColor(3),
  setcmykcolor: deviceColor(4),
  setcolorspace: (m) => {
    m.graphics.colorComponents = componentsOf(m.pop());
  },
  setcolor: (m) => {
    // A pattern precedes the components of its color.
    const pattern = m.operands[m.operands.length - 1] instanceof PsDict;
    m.drop(pattern ? 1 : m.graphics.colorComponents);
  },
  currentcolorspace: (m) => m.pushArray([new PsName('DeviceGray', false)]),
  currentcolor: (m) => m.push(0),
  currentscreen: (m) => {
    m.push(60, 45);
    m.pushArray([], true);
  },
  currenttransfer: (m) => m.pushArray([], true),
  currentdash: (m) => {
    m.pushArray([]);
    m.push(0);
  },
  currentpagedevice: (m) => m.push(newDict(m)),
  matrix: (m) => m.pushArray([...IDENTITY]),
  identmatrix: (m) => fill(m, m.array(), IDENTITY),
  defaultmatrix: (m) => fill(m, m.array(), IDENTITY),
  currentmatrix: (m) => fill(m, m.array(), m.graphics.matrix),
  setmatrix: (m) => setMatrix(m, matrixOf(m.pop())),
  initmatrix: (m) => setMatrix(m, IDENTITY),
  concat: (m) => setMatrix(m, multiply(matrixOf(m.pop()), m.graphics.matrix)),
  translate: matrixOperator(2, (x, y) => [1, 0, 0, 1, x, y]),
  scale: matrixOperator(2, (x, y) => [x, 0, 0, y, 0, 0]),
  rotate: matrixOperator(1, rotation),
  concatmatrix: (m) => {
    const target = m.array();
    const second = matrixOf(m.pop());
    fill(m, target, multiply(matrixOf(m.pop()), second));
  },
  invertmatrix: (m) => {
    const target = m.array();
    fill(m, target, invert(matrixOf(m.pop())));
  },
  transform: pointOperator(transform, false),
  itransform: pointOperator(transform, true),
  dtransform: pointOperator(transformDistance, false),
  idtransform: pointOperator(transformDistance, true),
  moveto: pathOperator(2, false),
  lineto: pathOperator(2, false),
  curveto: pathOperator(6, false),
  rmoveto: pathOperator(2, true),
  rlineto: pathOperator(2, true),
  rcurveto: pathOperator(6, true),
  arcto: (m) => {
    m.drop(5);
    m.push(0, 0, 0, 0);
  },
  currentpoint: (m) => m.push(...transform(invert(m.graphics.matrix), m.graphics.x, m.graphics.y)),
  gsave: (m) => m.saveGraphics(),
  grestore: (m) => m.restoreGraphics(),
  gstate: (m) => m.push(newDict(m)),
  showpage: (m) => showPage(m),
  copypage: (m) => m.shown.text.page(),
};

/** Ends the page and resets the graphics state as `initgraphics` does. */
function showPage(m: PsMachine): void {
  m.shown.text.page();
  m.graphics = { ...initialGraphics(), font: m.graphics.font };
}

// PostScript operators of images. They skip the image data, which contains no text.

/** Image operators: skip the image data in the program. */
function image(colors: boolean): OperatorBody {
  return (m) => {
    const top = m.pop();
    let bits = 0;
    let sources: PsObject[] = [top];
    if (top instanceof PsDict) {
      const [width, height, depth] = ['Width', 'Height', 'BitsPerComponent'].map((name) => top.get(name));
      const source = top.get('DataSource');
      if (typeof width !== 'number' || typeof height !== 'number' || source === undefined) return;
      const decode = top.get('Decode');
      const components = decode instanceof PsArray ? decode.items.length / 2 : 1;
      bits = Math.ceil((width * components * (typeof depth === 'number' ? depth : 1)) / 8) * 8 * height;
      sources = [source];
    } else {
      let components = 1;
      let separate = false;
      if (colors) {
        components = typeof top === 'number' ? top : 1;
        separate = m.boolean();
        sources = separate ? Array.from({ length: components }, () => m.pop()) : [m.pop()];
      }
      m.pop();
      const [width, height, depth] = m.numbers(3);
      bits = Math.ceil((width! * (separate ? 1 : components) * depth!) / 8) * 8 * height!;
    }
    for (const source of sources) drain(m, source, bits / 8);
  };
}

/** Runs an image's data source until it has returned `bytes` bytes, and discards them. */
function drain(m: PsMachine, source: PsObject, bytes: number): void {
  if (!(source instanceof PsArray)) return;
  for (let drained = 0; drained < bytes; ) {
    m.execute(source);
    const data = m.pop();
    if (!(data instanceof PsString) || data.bytes.length === 0) return;
    drained += data.bytes.length;
  }
}

function imageMask(m: PsMachine): void {
  const top = m.pop();
  if (top instanceof PsDict) {
    m.push(top);
    image(false)(m);
    return;
  }
  m.pop();
  m.pop();
  const [width, height] = m.numbers(2);
  drain(m, top, Math.ceil(width! / 8) * height!);
}

/** Operators of images. */
export const PICTURE_OPERATORS: Operators = {
  image: image(false),
  colorimage: image(true),
  imagemask: imageMask,
};
