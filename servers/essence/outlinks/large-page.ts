// The references of documents that are too long for memory.
import { TextDecoder } from 'node:util';
import { parseRobotsMeta } from '../../../protocols/robots/index.js';
import type { UrlForm } from '../../../protocols/urls/index.js';
import { decodeText } from '../charset/decode.js';
import { wideCharset } from '../charset/marks.js';
import { MarkupStream } from '../html/markup-stream.js';
import { type Outlink, OutlinkCollector } from './collector.js';
import { ReferenceReader } from './markup.js';
import type { Format } from './outlinks.js';
import { ScriptReader } from './script-and-json.js';
import { StyleReader } from './style.js';

/** A document that comes in pieces. */
export interface LargePage {
  readonly url: string;
  readonly format: Format;
  /** URL of the page that led to it, for a script. Default: unknown. */
  readonly via?: string | undefined;
  /** Of the references. Default: canonical. */
  readonly form?: UrlForm | undefined;
  /** Its decoded beginning, which shows the character set. */
  readonly beginning: Uint8Array;
  /** Of the access method's reply. */
  readonly charset: string | undefined;
  /** All of it, decoded; each piece is valid until the next one is requested. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** META robots has no effect (CRAWL-13.6). */
  readonly ignoreRobots: boolean;
  /** Number of URLs that are kept (G-173). */
  readonly maxLinks: number;
}

/** Bytes that show the character set of a page. */
const CHARSET_BYTES = 64 * 1024;
/** Characters of one tag, comment or text, above which the rest of the page is not read: a parser holds it as a whole. */
const MAX_TOKEN = 4 * 1024 * 1024;

/**
 * Reads the references of a document of any length, in pieces; its memory depends on the number of links that are kept.
 * JSON is read as a script.
 * @returns no links if a page forbids to follow them (G-63)
 * @throws the errors of the pieces
 */
export async function outlinksOfLargePage(
  page: LargePage,
): Promise<{ readonly links: readonly Outlink[]; readonly dropped: number }> {
  const { url, form, maxLinks, via = '' } = page;
  const isScript = page.format === 'script';
  const collector = new OutlinkCollector(url, maxLinks, form, isScript && via !== '' ? via : undefined);
  const reader = readerOf(page, collector);
  const decoder = decoderOf(page);
  for await (const piece of page.pieces) {
    reader.write(decoder.decode(piece, { stream: true }));
    // More links than are kept only cost time.
    if (collector.dropped > maxLinks || reader.isFull()) break;
  }
  reader.write(decoder.decode());
  reader.end();
  return reader.isForbidden() ? { links: [], dropped: 0 } : collector;
}

/** Reads a document in pieces. */
interface PieceReader {
  write(text: string): void;
  end(): void;
  /** Whether the rest is not read. */
  isFull(): boolean;
  isForbidden(): boolean;
}

const NEVER = (): boolean => false;

function readerOf(page: LargePage, collector: OutlinkCollector): PieceReader {
  const { add } = collector;
  if (page.format === 'html' || page.format === 'xml') return markupReader(page, collector);
  if (page.format !== 'style') {
    const script = new ScriptReader((reference) => add(reference, 'X'));
    return { write: (text) => script.write(text), end: () => undefined, isFull: NEVER, isForbidden: NEVER };
  }
  const style = new StyleReader((reference) => add(reference, 'E'));
  return { write: (text) => style.write(text), end: () => style.end(), isFull: NEVER, isForbidden: NEVER };
}

function markupReader({ format, ignoreRobots }: LargePage, collector: OutlinkCollector): PieceReader {
  const isXml = format === 'xml';
  const reader = new ReferenceReader(isXml, collector, 0);
  let isForbidden = false;
  const stream = new MarkupStream(
    {
      open: (tag, attributes) => {
        const isRobots = tag === 'meta' && attributes.name?.trim().toLowerCase() === 'robots';
        if (isRobots && !isXml && !ignoreRobots)
          isForbidden ||= parseRobotsMeta(attributes.content ?? '').nofollow;
        reader.open(tag, attributes);
      },
      text: (text) => reader.text(text),
      close: () => reader.close(),
      comment: (text) => reader.comment(text),
      instruction: (text) => reader.instruction(text),
    },
    { dialect: isXml ? 'xml' : 'xhtml' },
  );
  let characters = 0;
  return {
    write: (text) => {
      characters += text.length;
      stream.write(text);
    },
    end: () => {
      stream.end();
      reader.end();
    },
    isFull: () => isForbidden || characters - stream.offset > MAX_TOKEN,
    isForbidden: () => isForbidden,
  };
}

function decoderOf({ beginning, charset, format }: LargePage): TextDecoder {
  const start = beginning.subarray(0, CHARSET_BYTES);
  const label =
    wideCharset(start) ??
    decodeText(start, { html: format === 'html', declared: charset }).charset ??
    'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder('windows-1252'); // one that only whole texts are decoded in
  }
}
