// The references of documents that are too long for memory.
import { TextDecoder } from 'node:util';
import { parseRobotsMeta } from '../../../protocols/robots/index.js';
import type { UrlForm } from '../../../protocols/urls/index.js';
import { latin } from '../bytes.js';
import { decodeText } from '../charset/decode.js';
import { isBinary, wideCharset } from '../charset/marks.js';
import { MarkupStream } from '../html/markup-stream.js';
import type { RangedBytes } from '../summarizers/office/open-archive.js';
import { ZipMembers } from '../summarizers/office/zip-members.js';
import { type Outlink, OutlinkCollector } from './collector.js';
import { ReferenceReader } from './markup.js';
import { type Format, formatOf, type OutlinkSource } from './outlinks.js';
import { readPackageLinks } from './package-links.js';
import { isPdf, PdfLinkReader } from './pdf-links.js';
import { ScriptReader } from './script-and-json.js';
import { StyleReader } from './style.js';
import { TextReader } from './text-links.js';

/** How the links of a long document are found: by its text, as a PDF file, in the parts of a zip archive. */
export type LargeFormat = Format | 'pdf' | 'package';

/** The links of a long document. */
export interface LargeLinks {
  readonly links: readonly Outlink[];
  /** Number of references beyond the limit. */
  readonly dropped: number;
  /** Whether all of it was read. */
  readonly isComplete: boolean;
}

/** A document that comes in pieces. */
export interface LargePage {
  readonly url: string;
  readonly format: Exclude<LargeFormat, 'package'>;
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
/** Unpacked bytes of an office document that are read, and of one part (E-45). */
const MAX_PACKAGE_BYTES = 256 * 1024 * 1024;
/** Characters of one tag, comment or text, above which the rest of the page is not read: a parser holds it as a whole. */
const MAX_TOKEN = 4 * 1024 * 1024;

/**
 * Reads the references of a document of any length, in pieces; its memory depends on the number of links that are kept.
 * JSON is read as a script.
 * @returns no links if a page forbids to follow them (G-63)
 * @throws the errors of the pieces
 */
export async function outlinksOfLargePage(page: LargePage): Promise<LargeLinks> {
  const { url, form, maxLinks, via = '' } = page;
  if (page.format === 'pdf') return await outlinksOfPdf(page);
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
  if (reader.isForbidden()) return { links: [], dropped: 0, isComplete: true };
  const { links, dropped } = collector;
  return { links, dropped, isComplete: !reader.isFull() };
}

async function outlinksOfPdf({ url, form, maxLinks, pieces }: LargePage): Promise<LargeLinks> {
  const collector = new OutlinkCollector(url, maxLinks, form);
  const reader = new PdfLinkReader((reference) => collector.add(reference, 'L'));
  for await (const piece of pieces) {
    await reader.write(piece);
    if (collector.dropped > maxLinks) break;
  }
  await reader.end();
  const { links, dropped } = collector;
  return { links, dropped, isComplete: reader.isComplete };
}

/**
 * Reads the links of an office document or book, part by part; other zip archives have none.
 * @param bytes the archive, without content coding
 */
export async function outlinksOfPackage(
  { url, form, maxLinks }: Pick<LargePage, 'url' | 'form' | 'maxLinks'>,
  bytes: Uint8Array | RangedBytes,
): Promise<LargeLinks> {
  const collector = new OutlinkCollector(url, maxLinks, form);
  let isComplete = false;
  try {
    const zip = await ZipMembers.open(bytes, MAX_PACKAGE_BYTES, MAX_PACKAGE_BYTES);
    try {
      isComplete = await readPackageLinks(zip, (reference) => collector.add(reference, 'L'));
    } finally {
      zip.close();
    }
  } catch {
    // Its directory is damaged.
  }
  const { links, dropped } = collector;
  return { links, dropped, isComplete };
}

/**
 * Returns how the links of a long document are found; undefined if its type has none.
 * @param beginning of the decoded document
 */
export function largeFormatOf(
  beginning: Uint8Array,
  source: Pick<OutlinkSource, 'contentType' | 'url'>,
): LargeFormat | undefined {
  if (isPdf(beginning, source.contentType)) return 'pdf';
  if (latin(beginning, 0, 4) === 'PK\x03\x04') return 'package';
  const format = formatOf({ ...source, isHtml: false });
  // Servers call any file of an unknown type a text.
  return format === 'text' && isBinary(beginning) ? undefined : format;
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
  if (page.format === 'style') {
    const style = new StyleReader((reference) => add(reference, 'E'));
    return { write: (text) => style.write(text), end: () => style.end(), isFull: NEVER, isForbidden: NEVER };
  }
  if (page.format === 'script' || page.format === 'json') {
    const script = new ScriptReader((reference) => add(reference, 'X'));
    return { write: (text) => script.write(text), end: () => undefined, isFull: NEVER, isForbidden: NEVER };
  }
  const kind = page.format === 'pdf' ? 'text' : page.format;
  const text = new TextReader(kind, (reference) => add(reference, 'L'));
  return { write: (piece) => text.write(piece), end: () => text.end(), isFull: NEVER, isForbidden: NEVER };
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
