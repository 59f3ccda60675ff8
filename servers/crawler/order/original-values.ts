import type { XmlElement } from './xml-tree.js';

/** CRAWL-19.3: converts a value to the type of its element. A value that is not of the type stays text, which the schema refuses. */
export function typedValue({ tag, text, children }: XmlElement): unknown {
  switch (tag) {
    case 'integer':
    case 'long':
    case 'float':
    case 'double':
      return text === '' || Number.isNaN(Number(text)) ? text : Number(text);
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'stringList':
      return children.map((child) => child.text);
    default:
      return text;
  }
}

/** Returns the headers of a list of `name: value`. */
export function headersOf({ children }: XmlElement): Record<string, string> {
  const pairs = children.map(({ text }) => text.split(/\s*:\s*(.*)/s));
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value]));
}
