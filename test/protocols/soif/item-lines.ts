// Decodes SOIF to one line of text per item, so that expected results can be written by hand; and cuts inputs
// into chunks.
import { ProtocolError } from '../../../protocols/errors.js';
import {
  SectionDecoder,
  type SectionItem,
  SoifDecoder,
  type SoifDecoderOptions,
  type SoifItem,
} from '../../../protocols/soif/index.js';

/**
 * Decodes objects: `TYPE "url" ["name"="value" ...] @offset+length`, `! rule @offset` for a warning,
 * `error rule @offset`.
 */
export function itemLines(chunks: Iterable<Uint8Array>, options: SoifDecoderOptions = {}): string[] {
  return linesOf(new SoifDecoder(options), chunks, options.mode === 'strict');
}

/**
 * Decodes a stream of sections. Also has `open` and `close` of sections, the end line, and the bytes after it.
 */
export function sectionLines(
  chunks: Iterable<Uint8Array>,
  options: SoifDecoderOptions & { endLine?: boolean } = {},
): string[] {
  return linesOf(new SectionDecoder(options), chunks, options.mode === 'strict');
}

/** In strict mode, resumes after each error at the next plausible start, as `cksoif` does. */
function linesOf(
  decoder: SoifDecoder | SectionDecoder,
  chunks: Iterable<Uint8Array>,
  isStrict: boolean,
): string[] {
  const lines: string[] = [];
  const collect = (step: () => (SoifItem | SectionItem)[]): void => {
    for (let next = step; ; next = () => decoder.resume()) {
      try {
        for (const item of next()) lines.push(formatItem(item));
      } catch (error) {
        if (!isStrict || !(error instanceof ProtocolError)) throw error;
        lines.push(`error ${error.rule} @${error.offset}`);
        continue;
      }
      if (!decoder.failed) return;
    }
  };
  const hasEnded = (): boolean => decoder instanceof SectionDecoder && decoder.ended;
  const rest: Uint8Array[] = [];
  for (const chunk of chunks) {
    if (hasEnded()) rest.push(chunk);
    else collect(() => decoder.push(chunk));
  }
  if (!hasEnded()) collect(() => decoder.end());
  if (decoder instanceof SectionDecoder && decoder.ended) {
    lines.push(`rest ${text(Buffer.concat([decoder.rest, ...rest]))}`);
  }
  return lines;
}

function formatItem(item: SoifItem | SectionItem): string {
  switch (item.kind) {
    case 'warning':
      return `! ${item.rule} @${item.offset}`;
    case 'section':
      return `${item.open ? 'open' : 'close'} ${item.section} @${item.offset}`;
    case 'large-bytes':
      return `large ${item.first ? 'first ' : ''}@${item.offset}+${item.bytes.length}`;
    case 'rewind':
      return `rewind @${item.offset} -${item.back}`;
    case 'large': {
      const names = item.outline.attributes.map(({ name, start, end }) => `${name}@${start}-${end}`);
      const range = `@${item.offset}+${item.length}${item.outline.exact ? '' : ' inexact'}`;
      return `${item.section} ${item.outline.head.type} ${item.outline.head.url} ${range} ${names.join(' ')}`;
    }
    case 'end-line':
      return `end ${item.code} ${item.text} @${item.offset}`;
    case 'object': {
      const { object } = item;
      const attributes = object.attributes.map(({ name, value }) => `${JSON.stringify(name)}=${text(value)}`);
      const length = 'length' in item ? item.length : item.bytes.length;
      const range = `@${item.offset}+${length}${item.exact ? '' : ' inexact'}`;
      const section = 'section' in item ? `${item.section} ` : '';
      return `${section}${object.type} ${JSON.stringify(object.url)} [${attributes.join(' ')}] ${range}`;
    }
  }
}

function text(bytes: Uint8Array): string {
  return JSON.stringify(Buffer.from(bytes).toString('latin1'));
}

/** The bytes of Latin-1 text. */
export function bytes(latin1: string): Uint8Array {
  return new Uint8Array(Buffer.from(latin1, 'latin1'));
}

/** One chunk for each byte. */
export function singleBytes(whole: Uint8Array): Uint8Array[] {
  return Array.from(whole, (byte) => Uint8Array.of(byte));
}

/** Cuts at the given offsets; offsets beyond the end have no effect. */
export function cutAt(whole: Uint8Array, offsets: readonly number[]): Uint8Array[] {
  const boundaries = [
    0,
    ...[...offsets].filter((offset) => offset < whole.length).sort((a, b) => a - b),
    whole.length,
  ];
  return boundaries.slice(1).map((end, i) => whole.slice(boundaries[i], end));
}
