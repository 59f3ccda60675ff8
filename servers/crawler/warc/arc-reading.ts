// Reads ARC records (version 1): their ends, and their captures for the index.
import { createHash } from 'node:crypto';
import { base32Sha1 } from './digest.js';
import type { ReadWindow } from './read-window.js';

/** Content type of a document whose server names none, or nonsense. */
export const NO_TYPE = 'no-type';

/** A longer line does not begin a record. */
const MAX_LINE_BYTES = 16 * 1024;
/** A longer head of an HTTP message is taken for a part of its body. */
const MAX_HEAD_BYTES = 256 * 1024;
const LINE = /^([a-z][a-z0-9+.-]*:\S*) (\S+) (\d{14}) (\S+) (\d{1,15})\n/i;
const LINE_AFTER_RECORD = /\n(?=[a-z][a-z0-9+.-]*:\S* [0-9a-f.:]+ \d{14} \S+ \d{1,15}\n)/i;

/** Returns the end of the uncompressed record that begins at `at`; undefined if it is incomplete. */
export async function endOfArcRecord(window: ReadWindow, at: number): Promise<number | undefined> {
  const line = LINE.exec((await window.from(at)).subarray(0, MAX_LINE_BYTES).toString('latin1'));
  if (line === null) return undefined;
  const end = at + line[0].length + Number(line[5]);
  return (await window.from(end))[0] === 0x0a ? end + 1 : undefined;
}

/** Returns the offset of the next line from an offset on that looks like the first of a record. */
export async function nextArcRecord(window: ReadWindow, from: number): Promise<number | undefined> {
  // The line may follow directly.
  for (let at = Math.max(from - 1, 0); ; ) {
    const bytes = await window.from(at);
    const found = LINE_AFTER_RECORD.exec(bytes.toString('latin1'));
    if (found !== null) return at + found.index + 1;
    if (bytes.length <= MAX_LINE_BYTES) return undefined;
    at += bytes.length - MAX_LINE_BYTES;
  }
}

/** A capture in an ARC file. */
export interface ArcCapture {
  readonly url: string;
  /** 14 digits. */
  readonly timestamp: string;
  /** Absent if the server named none. */
  readonly mime?: string;
  /** HTTP status. */
  readonly status?: string | undefined;
  /** Of the document without the head of its message. */
  readonly digest: string;
}

/**
 * Reads a record; undefined for the one that describes the file, and without a legal first line. The document
 * is read in pieces.
 */
export async function readArcCapture(pieces: AsyncIterable<Uint8Array>): Promise<ArcCapture | undefined> {
  const hash = createHash('sha1');
  let begin = Buffer.alloc(0);
  let line: RegExpExecArray | null = null;
  let status: string | undefined;
  /** Bytes of the document that are still to come; undefined until its head is read. */
  let left: number | undefined;
  const readHead = (isEnd: boolean): void => {
    line ??= LINE.exec(begin.subarray(0, MAX_LINE_BYTES).toString('latin1'));
    if (line === null) return;
    const [first, url = '', , , , length] = line;
    const content = begin.subarray(first.length);
    // Of a short piece the beginning is compared.
    const isMessage = /^https?:/i.test(url) && 'HTTP/'.startsWith(content.toString('latin1', 0, 5));
    const headEnd = isMessage ? content.indexOf('\r\n\r\n') : -1;
    if (isMessage && headEnd < 0 && !isEnd && begin.length < MAX_HEAD_BYTES) return;
    const head = headEnd < 0 ? 0 : headEnd + 4;
    if (headEnd >= 0) status = /^HTTP\/\S+ (\d{3})/.exec(content.toString('latin1', 0, 64))?.[1];
    left = Number(length) - head;
    const body = content.subarray(head, head + left);
    hash.update(body);
    left -= body.length;
  };
  for await (const piece of pieces) {
    if (left === undefined) {
      begin = Buffer.concat([begin, piece]);
      readHead(false);
      if (line === null && begin.length > MAX_LINE_BYTES) return undefined;
    } else {
      const body = piece.subarray(0, left);
      hash.update(body);
      left -= body.length;
    }
  }
  if (left === undefined) readHead(true);
  // The compiler does not see the assignment in the function.
  const [, url = '', , timestamp = '', mime = ''] = (line as RegExpExecArray | null) ?? [];
  if (url === '' || url.startsWith('filedesc:')) return undefined;
  return {
    url,
    timestamp,
    ...(mime === NO_TYPE ? {} : { mime }),
    status,
    digest: base32Sha1(hash.digest()),
  };
}
