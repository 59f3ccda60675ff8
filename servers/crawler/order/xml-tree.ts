import { Parser } from 'htmlparser2';
import { ConfigError } from '../../../protocols/errors.js';

/** An element of an order file of the original. */
export interface XmlElement {
  readonly tag: string;
  /** The attribute `name`; the tag where there is none. */
  readonly name: string;
  /** The last part of the attribute `class`: `BdbFrontier`; '' for none. */
  readonly className: string;
  /** What stands between its tags, without that of inner elements, trimmed. */
  readonly text: string;
  readonly children: readonly XmlElement[];
  /** From 1. */
  readonly line: number;
}

interface OpenElement extends XmlElement {
  text: string;
  readonly children: OpenElement[];
}

/** No order is deeper. */
const MAX_DEPTH = 100;

/**
 * The root element of an XML text.
 * @throws ConfigError when there is none, or the nesting is too deep
 */
export function parseXml(text: string, file: string): XmlElement {
  const open: OpenElement[] = [];
  let root: OpenElement | undefined;
  const lines = new LineCounter(text);
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        const element: OpenElement = {
          tag,
          name: attributes.name ?? tag,
          className: (attributes.class ?? '').replace(/^.*[.$]/, ''),
          text: '',
          children: [],
          line: lines.at(parser.startIndex),
        };
        if (open.length >= MAX_DEPTH)
          throw new ConfigError(file, element.line, element.name, 'nested too deeply');
        open.at(-1)?.children.push(element);
        root ??= element;
        open.push(element);
      },
      ontext(data) {
        const element = open.at(-1);
        if (element !== undefined) element.text += data;
      },
      onclosetag() {
        const element = open.pop();
        if (element !== undefined) element.text = element.text.trim();
      },
    },
    { xmlMode: true },
  );
  parser.end(text);
  if (root === undefined) throw new ConfigError(file, 1, '', 'it is no XML');
  return root;
}

/** Lines of offsets that never fall. */
class LineCounter {
  #line = 1;
  #at = 0;

  constructor(readonly text: string) {}

  at(offset: number): number {
    for (; this.#at < offset; this.#at++) if (this.text[this.#at] === '\n') this.#line++;
    return this.#line;
  }
}
