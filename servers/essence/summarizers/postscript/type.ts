// PostScript operators of fonts and text. They move the current point by estimated widths and pass the text on
// to ShownText.
import { characterOf, ISO_LATIN1_ENCODING, STANDARD_ENCODING } from './glyph-names.js';
import type { OperatorBody, Operators, PsMachine } from './machine.js';
import {
  CELLS,
  type Font,
  IDENTITY,
  type Matrix,
  matrixOf,
  moveBy,
  multiply,
  PsArray,
  PsDict,
  PsError,
  PsName,
  type PsObject,
  PsString,
  transformDistance,
} from './objects.js';

function findFont(m: PsMachine): void {
  const key = m.key();
  let font = m.fonts.entries.get(key);
  if (font === undefined) {
    // A font resident in the printer: its name and the standard encoding are sufficient.
    m.allocate(CELLS.dict + CELLS.encoding);
    const printerFont = new PsDict();
    printerFont.set('FontName', new PsName(key.slice(1), false));
    printerFont.set('FontType', 1);
    printerFont.set('FontMatrix', new PsArray([0.001, 0, 0, 0.001, 0, 0]));
    printerFont.set('Encoding', encodingArray(m, STANDARD_ENCODING));
    printerFont.set('FontBBox', new PsArray([0, -200, 1000, 900]));
    m.setEntry(m.fonts, key, printerFont);
    font = printerFont;
  }
  m.push(font);
}

function encodingArray(m: PsMachine, names: readonly (string | undefined)[]): PsArray {
  m.allocate(CELLS.encoding);
  return new PsArray(Array.from({ length: 256 }, (_, code) => new PsName(names[code] ?? '.notdef', false)));
}

/** The key that a scaled copy keeps its matrix under. */
const SCALE_KEY = 'harvest-scale';

/** Returns a copy of a font with the matrix, for `scalefont` and `makefont`. */
function scaledCopy(m: PsMachine, dict: PsDict, matrix: Matrix): PsDict {
  m.allocate(CELLS.dict + CELLS.array * 2 + dict.entries.size * CELLS.entry);
  const copy = new PsDict();
  for (const [key, value] of dict.entries) copy.entries.set(key, value);
  copy.set(SCALE_KEY, new PsArray([...multiply(scaleOf(dict), matrix)]));
  const fontMatrix = dict.get('FontMatrix');
  if (fontMatrix instanceof PsArray)
    copy.set('FontMatrix', new PsArray([...multiply(matrixOf(fontMatrix), matrix)]));
  m.shown.copyFont(dict, copy);
  return copy;
}

function scaleOf(dict: PsDict): Matrix {
  const scale = dict.get(SCALE_KEY);
  return scale === undefined ? IDENTITY : matrixOf(scale);
}

function setFont(m: PsMachine, dict: PsDict): void {
  m.graphics.font = { dict, matrix: scaleOf(dict) };
}

/** Converts `selectfont`'s operand, a size or a matrix, to a matrix. */
function sizeMatrix(object: PsObject): Matrix {
  return typeof object === 'number' ? [object, 0, 0, object, 0, 0] : matrixOf(object);
}

function selectFont(m: PsMachine): void {
  const matrix = sizeMatrix(m.pop());
  findFont(m);
  setFont(m, scaledCopy(m, m.dict(), matrix));
}

/**
 * Maximum error of an estimated width, as a fraction of the font size: an "i" of a typewriter font has the
 * width of an "m".
 */
const MAX_ESTIMATE_ERROR = 0.5;

/**
 * Shows a string. Adds `extra` to the advance of each character, and the first two items of `special` to that
 * of `special[2]`. `advance` is the length of the way to the next character in device space, if the program
 * gives it.
 */
function show(
  m: PsMachine,
  string: PsString,
  extra: [number, number],
  { special, advance }: { special?: [number, number, number]; advance?: number } = {},
): void {
  m.count(string.bytes.length);
  const { graphics, shown } = m;
  const { font } = graphics;
  if (font === undefined) return;
  const [ex, ey] = transformDistance(graphics.matrix, 1, 0);
  const scale = Math.hypot(ex, ey);
  const { width, text } = shown.measure(string.bytes, font, scale);
  const specials = special === undefined ? 0 : string.bytes.filter((code) => code === special[2]).length;
  const dx = width + extra[0] * string.bytes.length + (special?.[0] ?? 0) * specials;
  const dy = extra[1] * string.bytes.length + (special?.[1] ?? 0) * specials;
  const [vx, vy] = transformDistance(graphics.matrix, ...transformDistance(font.matrix, 0, 1));
  const direction = transformDistance(graphics.matrix, ...directionOf(font));
  const [wx, wy] = transformDistance(graphics.matrix, dx, dy);
  const size = Math.hypot(vx, vy);
  const estimate = Math.hypot(wx, wy);
  const length = advance === undefined || advance - estimate > MAX_ESTIMATE_ERROR * size ? estimate : advance;
  shown.show(text, graphics.x, graphics.y, direction[0], direction[1], length, size, font);
  graphics.x += wx;
  graphics.y += wy;
  if (shown.text.length > m.maxTextLength) m.finish();
}

function directionOf(font: Font): [number, number] {
  const [x, y] = transformDistance(font.matrix, 1, 0);
  return x === 0 && y === 0 ? [1, 0] : [x, y];
}

function showGlyph(m: PsMachine): void {
  const name = m.pop();
  const text = name instanceof PsName ? characterOf(name.text) : undefined;
  show(m, new PsString(Buffer.from(text ?? '', 'latin1')), [0, 0]);
}

/**
 * `xshow`, `yshow`, `xyshow`: an operand contains the advances, one or two per character. The widths of
 * characters are estimates: up to {@link MAX_ESTIMATE_ERROR} more than the estimate, the advance is the
 * character's width, and no gap follows.
 */
function showWithAdvances(numbers: 1 | 2, vertical: boolean): OperatorBody {
  return (m) => {
    const { items } = m.array();
    const string = m.string();
    const advance = (index: number): number => {
      const item = items[index];
      return typeof item === 'number' ? item : 0;
    };
    const { font } = m.graphics;
    const size = font === undefined ? 1 : m.shown.bytesPerCharacter(font);
    for (let index = 0; index * size < string.bytes.length; index++) {
      const { x, y } = m.graphics;
      const first = index * numbers;
      const dx = vertical ? 0 : advance(first);
      const dy = numbers === 2 ? advance(first + 1) : vertical ? advance(first) : 0;
      const length = Math.hypot(...transformDistance(m.graphics.matrix, dx, dy));
      const character = new PsString(string.bytes.subarray(index * size, (index + 1) * size));
      show(m, character, [0, 0], { advance: length });
      m.graphics.x = x;
      m.graphics.y = y;
      moveBy(m.graphics, dx, dy);
    }
  };
}

function kernShow(m: PsMachine): void {
  const string = m.string();
  const body = m.pop();
  string.bytes.forEach((code, index) => {
    show(m, new PsString(string.bytes.subarray(index, index + 1)), [0, 0]);
    const next = string.bytes[index + 1];
    if (next === undefined) return;
    m.push(code, next);
    m.execute(body);
  });
}

function defineFont(m: PsMachine): void {
  const font = m.dict();
  const key = m.key();
  font.set('FID', 1);
  if (font.get('FontName') === undefined) font.set('FontName', new PsName(key.slice(1), false));
  m.setEntry(m.fonts, key, font);
  m.push(font);
}

function findResource(m: PsMachine): void {
  const category = m.key();
  if (category === '/Font') {
    findFont(m);
    return;
  }
  const key = m.key();
  if (category === '/Encoding')
    m.push(encodingArray(m, key === '/ISOLatin1Encoding' ? ISO_LATIN1_ENCODING : STANDARD_ENCODING));
  else m.push(m.resources.entries.get(`${category}${key}`) ?? new PsDict());
}

function defineResource(m: PsMachine): void {
  const category = m.key();
  if (category === '/Font') {
    defineFont(m);
    return;
  }
  const value = m.pop();
  m.setEntry(m.resources, `${category}${m.key()}`, value);
  m.push(value);
}

function currentFont(m: PsMachine): Font {
  if (m.graphics.font === undefined) throw new PsError('invalidfont');
  return m.graphics.font;
}

/** Operators of fonts and text. */
export const TYPE_OPERATORS: Operators = {
  findfont: findFont,
  definefont: defineFont,
  findresource: findResource,
  defineresource: defineResource,
  resourcestatus: (m) => {
    m.drop(2);
    m.push(false);
  },
  findencoding: (m) =>
    m.push(encodingArray(m, m.key() === '/ISOLatin1Encoding' ? ISO_LATIN1_ENCODING : STANDARD_ENCODING)),
  StandardEncoding: (m) => m.push(encodingArray(m, STANDARD_ENCODING)),
  ISOLatin1Encoding: (m) => m.push(encodingArray(m, ISO_LATIN1_ENCODING)),
  scalefont: (m) => {
    const matrix = sizeMatrix(m.number());
    m.push(scaledCopy(m, m.dict(), matrix));
  },
  makefont: (m) => {
    const matrix = matrixOf(m.pop());
    m.push(scaledCopy(m, m.dict(), matrix));
  },
  selectfont: selectFont,
  setfont: (m) => setFont(m, m.dict()),
  currentfont: (m) => m.push(currentFont(m).dict),
  rootfont: (m) => m.push(currentFont(m).dict),
  stringwidth: (m) => {
    const [ex, ey] = transformDistance(m.graphics.matrix, 1, 0);
    const { bytes } = m.string();
    m.count(bytes.length);
    m.push(m.shown.measure(bytes, currentFont(m), Math.hypot(ex, ey)).width, 0);
  },
  show: (m) => show(m, m.string(), [0, 0]),
  ashow: (m) => {
    const string = m.string();
    const [ax, ay] = m.numbers(2);
    show(m, string, [ax!, ay!]);
  },
  widthshow: (m) => {
    const string = m.string();
    const [cx, cy, code] = m.numbers(3);
    show(m, string, [0, 0], { special: [cx!, cy!, code!] });
  },
  awidthshow: (m) => {
    const string = m.string();
    const [cx, cy, code, ax, ay] = m.numbers(5);
    show(m, string, [ax!, ay!], { special: [cx!, cy!, code!] });
  },
  kshow: kernShow,
  xshow: showWithAdvances(1, false),
  yshow: showWithAdvances(1, true),
  xyshow: showWithAdvances(2, false),
  glyphshow: showGlyph,
};
