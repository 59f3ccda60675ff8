// SOIF streams of the kit as Latin-1 text: sections, objects, attributes.
import { endOfSoif } from './gatherd-link.js';

const OPEN = /@(?:DELETE|REFRESH|UPDATE) \{\n/;

/** Returns the sections of a stream, each with its wrapper; empty lines after a section belong to it. */
export function sectionsOf(stream: string): string[] {
  const sections: string[] = [];
  let rest = stream;
  while (OPEN.test(rest.slice(0, 20))) {
    const end = endOfSection(rest);
    sections.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return sections;
}

function endOfSection(text: string): number {
  let at = text.indexOf('\n') + 1;
  at += endOfSoif(`${text.slice(at)} `) ?? 0;
  at += 2;
  while (text[at] === '\n') at++;
  return at;
}

/** Returns the objects of a stream. */
export function objectsIn(stream: string): string[] {
  const objects: string[] = [];
  mapObjects(stream, (object) => {
    objects.push(object);
    return object;
  });
  return objects;
}

/** Returns the stream with changed objects. */
export function mapObjects(stream: string, edit: (object: string, index: number) => string): string {
  let out = '';
  let at = 0;
  let index = 0;
  while (at < stream.length) {
    const isObject = stream[at] === '@' && !OPEN.test(stream.slice(at, at + 20));
    const end = isObject ? endOfOne(stream, at) : stream.indexOf('\n', at) + 1;
    if (end <= at) throw new Error('not a stream of the kit');
    const piece = stream.slice(at, end);
    out += isObject ? edit(piece, index++) : piece;
    at = end;
  }
  return out;
}

/**
 * Returns an object with changed values, and their sizes. @param edit returns the value, or undefined to leave
 * out the attribute
 */
export function mapValues(object: string, edit: (value: string, name: string) => string | undefined): string {
  const attributes = attributesIn(object).map(([name, value]) => [name, edit(value, name)] as const);
  return withAttributes(object, attributes);
}

/** Returns an object with other attributes; those without a value are left out. */
export function withAttributes(
  object: string,
  attributes: readonly (readonly [name: string, value: string | undefined])[],
): string {
  const lines = attributes.map(([name, value]) =>
    value === undefined ? '' : `${name}{${value.length}}:\t${value}\n`,
  );
  return `${object.slice(0, object.indexOf('\n') + 1)}${lines.join('')}}\n`;
}

/** Returns the names and values of an object. */
export function attributesIn(object: string): (readonly [name: string, value: string])[] {
  const found: (readonly [string, string])[] = [];
  for (let at = object.indexOf('\n') + 1; object[at] !== '}'; ) {
    const open = object.indexOf('{', at);
    const close = object.indexOf('}', open);
    const end = close + 3 + Number(object.slice(open + 1, close));
    found.push([object.slice(at, open), object.slice(close + 3, end)]);
    at = end + 1;
  }
  return found;
}

function endOfOne(stream: string, start: number): number {
  let at = stream.indexOf('\n', start) + 1;
  while (stream[at] !== '}') {
    const close = stream.indexOf('}', at);
    at = close + 3 + Number(stream.slice(stream.indexOf('{', at) + 1, close)) + 1;
  }
  return at + 2;
}

/** Returns the stream without its last object. */
export function withoutLast(stream: string): string {
  const last = objectsIn(stream).length - 1;
  return mapObjects(stream, (object, at) => (at === last ? '' : object));
}

/** The three sections with these objects, as the kit's gatherd writes them (SOIF-8.8). */
export function soifOf(groups: {
  readonly delete?: readonly string[];
  readonly refresh?: readonly string[];
  readonly update?: readonly string[];
}): string {
  const { delete: deleted = [], refresh = [], update = [] } = groups;
  return `@DELETE {\n${deleted.join('')}}\n@REFRESH {\n${refresh.join('')}}\n@UPDATE {\n${update.join('')}}\n`;
}

/** Matches an attribute of one line in the text of an object. */
export function attributeNamed(name: string): RegExp {
  return new RegExp(`(?<=\\n)${name}\\{\\d+\\}:\\t[^\\n]*\\n`, 'i');
}
