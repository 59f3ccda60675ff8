// The references of pages that are too long for memory.
import { TextDecoder } from 'node:util';
import { parseRobotsMeta } from '../../../protocols/robots/index.js';
import type { UrlForm } from '../../../protocols/urls/index.js';
import { decodeText } from '../charset/decode.js';
import { wideCharset } from '../charset/marks.js';
import { MarkupStream } from '../html/markup-stream.js';
import { type Outlink, OutlinkCollector } from './collector.js';
import { ReferenceReader } from './markup.js';

/** A page that comes in pieces. */
export interface LargePage {
  readonly url: string;
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
 * Reads the references of a page of any length, in pieces; its memory depends on the number of links that are kept.
 * @returns no links if the page forbids to follow them (G-63)
 * @throws the errors of the pieces
 */
export async function outlinksOfLargePage(
  page: LargePage,
): Promise<{ readonly links: readonly Outlink[]; readonly dropped: number }> {
  const { url, form, maxLinks, ignoreRobots } = page;
  const collector = new OutlinkCollector(url, maxLinks, form);
  const reader = new ReferenceReader(false, collector, 0);
  let isForbidden = false;
  const stream = new MarkupStream(
    {
      open: (tag, attributes) => {
        const isRobots = tag === 'meta' && attributes.name?.trim().toLowerCase() === 'robots';
        if (isRobots && !ignoreRobots) isForbidden ||= parseRobotsMeta(attributes.content ?? '').nofollow;
        reader.open(tag, attributes);
      },
      text: (text) => reader.text(text),
      close: () => reader.close(),
      comment: (text) => reader.comment(text),
    },
    { dialect: 'xhtml' },
  );
  const decoder = decoderOf(page);
  let characters = 0;
  for await (const piece of page.pieces) {
    const text = decoder.decode(piece, { stream: true });
    characters += text.length;
    stream.write(text);
    // More links than are kept only cost time.
    if (isForbidden || collector.dropped > maxLinks || characters - stream.offset > MAX_TOKEN) break;
  }
  stream.write(decoder.decode());
  stream.end();
  reader.end();
  return isForbidden ? { links: [], dropped: 0 } : collector;
}

function decoderOf({ beginning, charset }: LargePage): TextDecoder {
  const start = beginning.subarray(0, CHARSET_BYTES);
  const label = wideCharset(start) ?? decodeText(start, { html: true, declared: charset }).charset ?? 'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder('windows-1252'); // one that only whole texts are decoded in
  }
}
