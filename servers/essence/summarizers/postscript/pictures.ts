// PostScript operators of images. They skip the image data, which contains no text.
import type { OperatorBody, Operators, PsMachine } from './machine.js';
import { PsArray, PsDict, type PsObject, PsString } from './objects.js';

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
