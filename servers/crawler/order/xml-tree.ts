import { ConfigError } from '../../../protocols/errors.js';
import { MarkupStream } from '../../essence/html/markup-stream.js';

/** An element of an order file of the original. */
export interface XmlElement {
  readonly tag: string;
  /** The attribute `name`; without it the tag. */
  readonly name: string;
  /** The last part of the attribute `class`, e.g. `BdbFrontier`; '' without the attribute. */
  readonly className: string;
  /** The text between its tags, without that of inner elements, trimmed. */
  readonly text: string;
  readonly children: readonly XmlElement[];
  /** From 1. */
  readonly line: number;
}

const MAX_DEPTH = 100;

/** An element that is read. */
interface OpenElement extends XmlElement {
  text: string;
  readonly children: OpenElement[];
}

/**
 * Returns the root element of an XML text.
 * @throws ConfigError when the text is not XML, or the nesting is too deep
 */
export function parseXml(text: string, file: string): XmlElement {
  const lineAt = lineCounter(text);
  const roots: OpenElement[] = [];
  const open: OpenElement[] = [];
  const stream = new MarkupStream({
    open: (tag, attributes) => {
      const name = attributes.name ?? tag;
      const className = (attributes.class ?? '').replace(/^.*[.$]/, '');
      const line = lineAt(stream.offset);
      if (open.length >= MAX_DEPTH) throw new ConfigError(file, line, name, 'nested too deeply');
      const element = { tag, name, className, text: '', children: [], line };
      (open.at(-1)?.children ?? roots).push(element);
      open.push(element);
    },
    text: (part) => {
      const element = open.at(-1);
      if (element !== undefined) element.text += part;
    },
    close: () => {
      const element = open.pop();
      if (element !== undefined) element.text = element.text.trim();
    },
  });
  stream.write(text);
  stream.end();
  const [root] = roots;
  if (root === undefined) throw new ConfigError(file, 1, '', 'it is not XML');
  return root;
}

/** Returns a function from offsets that never decrease to lines, from 1. */
function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let position = 0;
  return (offset) => {
    for (; position < offset; position++) if (text[position] === '\n') line++;
    return line;
  };
}

/**
 * CRAWL-19.3: converts a value to the type of its element. A value that is not of the type stays text, which
 * the schema refuses.
 */
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
