import { ProtocolError } from '../../../protocols/errors.js';
import {
  SectionDecoder,
  type SectionItem,
  SoifDecoder,
  type SoifDecoderOptions,
  type SoifItem,
} from '../../../protocols/soif/index.js';

/** The items of a stream, one line for each, so that expected results can be written by hand. */
export function reading(chunks: Iterable<Uint8Array>, options: SoifDecoderOptions = {}): string[] {
  return read(new SoifDecoder(options), chunks, options.mode === 'strict');
}

export function sectionReading(
  chunks: Iterable<Uint8Array>,
  options: SoifDecoderOptions & { endLine?: boolean } = {},
): string[] {
  return read(new SectionDecoder(options), chunks, options.mode === 'strict');
}

/** Resumes after each error at the next plausible start, as `cksoif` does. */
function read(
  decoder: SoifDecoder | SectionDecoder,
  chunks: Iterable<Uint8Array>,
  strict: boolean,
): string[] {
  const lines: string[] = [];
  const turn = (step: () => (SoifItem | SectionItem)[]): void => {
    for (let next = step; ; next = () => decoder.resume()) {
      try {
        for (const item of next()) lines.push(show(item));
      } catch (error) {
        if (!strict || !(error instanceof ProtocolError)) throw error;
        lines.push(`error ${error.rule} @${error.offset}`);
        continue;
      }
      if (!decoder.failed) return;
    }
  };
  const ended = (): boolean => decoder instanceof SectionDecoder && decoder.ended;
  const rest: Uint8Array[] = [];
  for (const chunk of chunks) {
    if (ended()) rest.push(chunk);
    else turn(() => decoder.push(chunk));
  }
  if (!ended()) turn(() => decoder.end());
  if (decoder instanceof SectionDecoder && decoder.ended) {
    lines.push(`rest ${text(Buffer.concat([decoder.rest, ...rest]))}`);
  }
  return lines;
}

function show(item: SoifItem | SectionItem): string {
  switch (item.kind) {
    case 'warning':
      return `! ${item.rule} @${item.offset}`;
    case 'section':
      return `${item.open ? 'open' : 'close'} ${item.section} @${item.offset}`;
    case 'end-line':
      return `end ${item.code} ${item.text} @${item.offset}`;
    case 'object': {
      const { object } = item;
      const attributes = object.attributes.map(({ name, value }) => `${JSON.stringify(name)}=${text(value)}`);
      const length = 'length' in item ? item.length : item.bytes.length;
      const where = `@${item.offset}+${length}${item.exact ? '' : ' inexact'}`;
      const section = 'section' in item ? `${item.section} ` : '';
      return `${section}${object.type} ${JSON.stringify(object.url)} [${attributes.join(' ')}] ${where}`;
    }
  }
}

function text(bytes: Uint8Array): string {
  return JSON.stringify(Buffer.from(bytes).toString('latin1'));
}

/** Bytes of latin1 text. */
export function bytes(latin1: string): Uint8Array {
  return new Uint8Array(Buffer.from(latin1, 'latin1'));
}

/** One chunk for each byte. */
export function singly(whole: Uint8Array): Uint8Array[] {
  return Array.from(whole, (byte) => Uint8Array.of(byte));
}

/** Cuts at the given offsets; offsets beyond the end have no effect. */
export function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const borders = [
    0,
    ...[...places].filter((place) => place < whole.length).sort((a, b) => a - b),
    whole.length,
  ];
  return borders.slice(1).map((border, i) => whole.slice(borders[i], border));
}
