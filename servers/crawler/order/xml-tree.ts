import { load } from 'cheerio/slim';
import { ConfigError } from '../../../protocols/errors.js';

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

/**
 * Returns the root element of an XML text.
 * @throws ConfigError when the text is not XML, or the nesting is too deep
 */
export function parseXml(text: string, file: string): XmlElement {
  const root = rootOf(text);
  if (root === undefined) throw new ConfigError(file, 1, '', 'it is not XML');
  const lineAt = lineCounter(text);
  const convert = (element: DomElement, depth: number): XmlElement => {
    const { name: tag, attribs, childNodes } = element;
    const name = attribs.name ?? tag;
    const line = lineAt(element.startIndex ?? 0);
    if (depth >= MAX_DEPTH) throw new ConfigError(file, line, name, 'nested too deeply');
    const children: XmlElement[] = [];
    let inner = '';
    for (const child of childNodes) {
      if ('attribs' in child) children.push(convert(child, depth + 1));
      else inner += textOf(child);
    }
    return {
      tag,
      name,
      className: (attribs.class ?? '').replace(/^.*[.$]/, ''),
      text: inner.trim(),
      children,
      line,
    };
  };
  return convert(root, 0);
}

function rootOf(text: string) {
  return load(text, { xml: { withStartIndices: true } })
    .root()
    .children()
    .get(0);
}

type DomElement = NonNullable<ReturnType<typeof rootOf>>;
type DomNode = DomElement['childNodes'][number];

const TEXT_NODE = 3;

/** The text of a text node or of a CDATA section. */
function textOf(node: DomNode): string {
  if ('childNodes' in node) return node.childNodes.map(textOf).join('');
  return 'data' in node && node.nodeType === TEXT_NODE ? node.data : '';
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
