// ARC 1.1, the format of archives before WARC: a line with five fields, then the bytes of the document. Only
// documents have records.
import { NO_TYPE } from './arc-reading.js';
import { blockLength, type EncodedRecord } from './encode-record.js';
import type { NewWarcRecord } from './new-record.js';

const URL_RECORD_DEFINITION = 'URL IP-address Archive-date Content-type Archive-length';
const NO_ADDRESS = '0.0.0.0';
/** Elements of the metadata by the names of a warcinfo record's fields; others are part of the description. */
const ELEMENTS: ReadonlyMap<string, string> = new Map([
  ['software', 'arc:software'],
  ['hostname', 'arc:hostname'],
  ['isPartOf', 'dcterms:isPartOf'],
  ['http-header-user-agent', 'arc:http-header-user-agent'],
  ['http-header-from', 'arc:http-header-from'],
  ['robots', 'arc:robots'],
]);

/** Returns the first record of a file, which names it and describes the crawl in XML (`filedesc`, ARC 1.1). */
export function arcFileRecord(
  name: string,
  date: number,
  values: Iterable<readonly [name: string, value: string]>,
): EncodedRecord {
  const elements: string[] = [];
  const description: string[] = [];
  for (const [key, value] of values) {
    const element = ELEMENTS.get(key);
    if (element === undefined) description.push(`${key}: ${value}`);
    else elements.push(`<${element}>${xmlText(value)}</${element}>`);
  }
  if (description.length > 0)
    elements.push(`<dc:description>${xmlText(description.join('; '))}</dc:description>`);
  const content = [
    '1 1 InternetArchive',
    URL_RECORD_DEFINITION,
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
    '<arcmetadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:arc="http://archive.org/arc/1.0/" xmlns="http://archive.org/arc/1.0/">',
    ...elements,
    '<dc:format>ARC file version 1.1</dc:format>',
    '</arcmetadata>',
    '',
  ].join('\n');
  return encode(`filedesc://${name}`, NO_ADDRESS, date, 'text/plain', {
    block: [Buffer.from(content, 'utf8')],
  });
}

/**
 * Encodes the record of a document (URL-record-v1); undefined for records that the format does not have:
 * requests, metadata, revisits. The message of an HTTP server is kept with its head.
 */
export function arcRecord(record: NewWarcRecord): EncodedRecord | undefined {
  const { type, date, contentType, fields, block } = record;
  if (type !== 'response' && type !== 'resource') return undefined;
  const field = (name: string): string | undefined => fields.find(([key]) => key === name)?.[1];
  const declared = type === 'response' ? declaredType(block[0]) : contentType;
  return encode(
    field('WARC-Target-URI') ?? '',
    field('WARC-IP-Address') ?? NO_ADDRESS,
    date,
    mediaType(declared),
    record,
  );
}

function encode(
  url: string,
  address: string,
  date: number,
  type: string,
  content: Pick<NewWarcRecord, 'block' | 'stored'>,
): EncodedRecord {
  const length = blockLength(content);
  const time = new Date(date).toISOString().replace(/\D/g, '').slice(0, 14);
  // A blank would be the end of the field.
  const line = `${url.replace(/\s/g, '%20')} ${address} ${time} ${type} ${length}\n`;
  const { block, stored } = content;
  return { begin: [Buffer.from(line, 'utf8'), ...block], stored, end: Buffer.from('\n') };
}

/** The Content-Type in the head of an HTTP message. */
function declaredType(head: Uint8Array = new Uint8Array()): string {
  const text = Buffer.from(head).toString('latin1');
  return /^content-type[ \t]*:[ \t]*([^\r\n]*)/im.exec(text)?.[1] ?? '';
}

/** A media type without parameters, which may contain blanks. */
function mediaType(declared: string): string {
  return /^[!-:<-~]+/.exec(declared)?.[0] ?? NO_TYPE;
}

/** Text of an XML document, without the characters that it cannot have. */
function xmlText(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ' ')
    .replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
