// Reads replies to bulk requests to one line of text per event, so that expected results can be written by
// hand.
import { crc32 } from 'node:zlib';
import {
  type BulkEvent,
  BulkReplyDecoder,
  type BulkReplyDecoderOptions,
  BulkReplyEncoder,
} from '../../../protocols/bulk/index.js';
import { ProtocolError } from '../../../protocols/errors.js';

export const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** An event as a short line of text. */
export function formatEvent(event: BulkEvent): string {
  switch (event.kind) {
    case 'version':
      return `version ${event.interface} ${event.major}.${event.minor} ${event.text}`;
    case 'status':
      return `status ${event.code} ${event.text}`;
    case 'info':
      return event.info.field === 'extension'
        ? `info extension ${event.info.type} ${textOf(event.info.data)}`
        : `info ${event.info.field} ${event.info.text}`;
    case 'change':
      return `${event.change} ${event.object.url}${event.exact ? '' : ' inexact'}`;
    case 'large':
      return event.item.kind === 'large' ? `large ${event.item.outline.head.url}` : event.item.kind;
    case 'object':
      return `object ${event.object.resource} ${event.object.object}`;
    case 'trailer':
      return event.trailer.kind === 'count'
        ? `count ${event.trailer.count}`
        : event.trailer.kind === 'error'
          ? `error ${event.trailer.number} ${event.trailer.text}`
          : `stats ${textOf(event.trailer.data)}`;
    case 'warning':
      return `warning ${event.rule}`;
    case 'inflate':
      return `inflate ${event.bytes.length}`;
    case 'end':
      return event.complete ? 'complete' : `incomplete: ${event.reason}`;
  }
}

/**
 * Feeds chunks to a decoder. A gzip member in them has `deflated` bytes of deflate data, which inflate to
 * `plain`.
 */
export function readReply(
  chunks: readonly Uint8Array[],
  options: BulkReplyDecoderOptions = {},
  member?: { readonly plain: Uint8Array; readonly deflated: number },
): { events: BulkEvent[]; error: ProtocolError | undefined } {
  const decoder = new BulkReplyDecoder(options);
  const events: BulkEvent[] = [];
  let fed = 0;
  const collect = (batch: readonly BulkEvent[]): void => {
    const last = batch.at(-1);
    if (last?.kind !== 'inflate') {
      events.push(...batch);
      return;
    }
    events.push(...batch.slice(0, -1));
    if (member === undefined) return;
    const used = Math.min(last.bytes.length, member.deflated - fed);
    fed += used;
    // As in the client: bytes that are left over mark the end of the deflate data.
    if (used === last.bytes.length) return;
    collect(decoder.inflated(member.plain));
    collect(decoder.inflateEnd(last.bytes.subarray(used), crc32(member.plain), member.plain.length));
  };
  try {
    for (const chunk of chunks) collect(decoder.push(chunk));
    while (!decoder.done) collect(decoder.end());
    return { events, error: undefined };
  } catch (error) {
    if (error instanceof ProtocolError) return { events, error };
    throw error;
  }
}

/**
 * The events of a reply, the same for the whole reply and byte by byte; the rule of an error is the last line.
 */
export const eventLines = (reply: string | Uint8Array, options: BulkReplyDecoderOptions = {}): string[] => {
  const bytes = typeof reply === 'string' ? latin1(reply) : reply;
  const whole = readReply([bytes], options);
  const single = readReply(
    Array.from(bytes, (byte) => Uint8Array.of(byte)),
    options,
  );
  const lines = [
    ...whole.events.map(formatEvent),
    ...(whole.error === undefined ? [] : [`! ${whole.error.rule}`]),
  ];
  const linesByteByByte = [
    ...single.events.map(formatEvent),
    ...(single.error === undefined ? [] : [`! ${single.error.rule}`]),
  ];
  if (lines.join('\n') !== linesByteByByte.join('\n'))
    return [...lines, 'BUT BYTE BY BYTE', ...linesByteByByte];
  return lines;
};

export const objectText = (url: string): string => `@FILE { ${url}\nUpdate-Time{1}:\t7\n}\n`;
export const GREETING = '200 - HARVEST Broker 1.0\n';
export const GROUPS =
  `@DELETE {\n${objectText('http://a.test/d')}}\n\n@REFRESH {\n}\n\n` +
  `@UPDATE {\n${objectText('http://a.test/1')}${objectText('http://a.test/2')}}\n`;
export const CHANGES = ['delete http://a.test/d', 'update http://a.test/1', 'update http://a.test/2'];
export const MAGIC = '\x32\x9f\xa1\xd2';

/** The worked example of B6. */
export const EXAMPLE =
  '200 - \x00\x00\x00\x01\x00\x00\x00\x00example broker\n' +
  '126 - http://b.example/\n' +
  '120 - http://a.example/x\n' +
  '125 - http://b.example/Harvest/brokers/b/objects/1/OBJ1\n' +
  `124 - ${MAGIC}\x00\x00\x00\x04Test` +
  '130 - object end\n' +
  '144 - \x00\x00\x00\x01';

export const encoder = new BulkReplyEncoder();
export const VERSION = textOf(encoder.version('x'));
