import { STATUS_CODES } from 'node:http';
import {
  type BodyBytes,
  DIRECTORY_TYPE,
  type FetchResult,
  isPayloadWhole,
  isStored,
  truncationOf,
} from '../../../clients/fetch/index.js';
import { messageOf } from '../../../protocols/errors.js';
import { withoutUserInfo } from '../../../protocols/urls/index.js';
import { announce } from '../events.js';
import { time14 } from '../logs/line-fields.js';
import { base32Sha1, sha1Base32 } from './digest.js';
import { type NewWarcRecord, newRecordId, warcDate, warcFields } from './new-record.js';
import type { WarcFiles } from './warc-files.js';

/** An earlier capture that a revisit record points to (CRAWL-18.2). */
export interface Revisit {
  readonly kind: 'identical-payload-digest' | 'server-not-modified';
  /** URI of the earlier capture; another one only if the history is URL-agnostic (CRAWL-18.5). */
  readonly url: string;
  /** Its WARC-Date, milliseconds since 1970. */
  readonly date: number;
  /** WARC-Record-ID of its record; empty if no record was written; an identical payload is then written. */
  readonly recordId: string;
  /** Digest of its payload, `sha1:` and base32. */
  readonly payloadDigest: string;
}

/** The records of one capture. */
export interface CaptureRecords {
  readonly records: readonly NewWarcRecord[];
  /** WARC-Record-ID of the first of them: response, resource or revisit. */
  readonly id: string;
  readonly kind: 'response' | 'resource' | Revisit['kind'];
  /** {@link payloadDigestOf} the fetch. */
  readonly payloadDigest: string;
}

/** The contents of a URI's metadata record. */
export interface CaptureMetadata {
  readonly url: string;
  /** When the fetch began, milliseconds since 1970. */
  readonly date: number;
  /** WARC-Record-ID of the capture's record. */
  readonly concurrentTo: string;
  /** Empty for a seed. */
  readonly via: string;
  readonly hopsFromSeed: string;
  /** Empty if absent. */
  readonly sourceTag: string;
  /** Milliseconds; -1 if unknown. */
  readonly fetchTimeMs: number;
  readonly outLinks: readonly { readonly url: string; readonly hop: string }[];
}

const REVISIT_PROFILE = 'http://netpreserve.org/warc/1.1/revisit/';
const NO_HEAD = new Uint8Array();
const RESPONSE_TYPE = 'application/http; msgtype=response';
const REQUEST_TYPE = 'application/http; msgtype=request';
/** Digest of the empty payload of a GET. */
const EMPTY_DIGEST = sha1Base32(new Uint8Array());

/**
 * Returns the records of a fetch: a response (HTTP, WARC 1.1, 6.3), a resource (any other scheme, 6.4) or a
 * revisit (CRAWL-18.6), and the request if its bytes were kept. A revisit requires that the payload is the one
 * that was written: equal stripped digests (CRAWL-18.7) do not suffice, nor do equal beginnings (CRAWL-18.9).
 */
export function captureRecords(fetched: FetchResult, revisit?: Revisit): CaptureRecords {
  const payloadDigest = payloadDigestOf(fetched);
  const id = newRecordId();
  const http = /^https?:/.test(fetched.url) && !fetched.local;
  const original = http && isPayloadWhole(fetched) ? usableRevisit(revisit, payloadDigest) : undefined;
  const common: [string, string][] = [['WARC-Target-URI', withoutUserInfo(fetched.url)]];
  if (fetched.remoteAddress !== undefined) common.push(['WARC-IP-Address', fetched.remoteAddress]);
  const date = fetched.beginTime;
  const records: NewWarcRecord[] = [];

  if (original !== undefined) {
    const fields = [...common, ...revisitFields(original)];
    const block = [responseHead(fetched)];
    records.push({ type: 'revisit', id, date, contentType: RESPONSE_TYPE, fields, block });
  } else {
    const fields: [string, string][] = [...common, ['WARC-Payload-Digest', payloadDigest]];
    const truncation = truncationOf(fetched);
    if (truncation !== undefined) fields.push(['WARC-Truncated', truncation]);
    records.push(
      http
        ? {
            type: 'response',
            id,
            date,
            contentType: RESPONSE_TYPE,
            fields,
            ...blockOf(responseHead(fetched), fetched.wire?.framed ?? payloadOf(fetched)),
          }
        : {
            type: 'resource',
            id,
            date,
            contentType: resourceType(fetched),
            fields,
            ...blockOf(NO_HEAD, payloadOf(fetched)),
          },
    );
  }
  if (http && fetched.wire !== undefined) records.push(requestRecord(fetched.wire.request, common, date, id));
  return { records, id, kind: original?.kind ?? (http ? 'response' : 'resource'), payloadDigest };
}

/** Returns the content of a record: its head, then its body. */
function blockOf(head: Uint8Array, body: BodyBytes): Pick<NewWarcRecord, 'block' | 'stored'> {
  return isStored(body) ? { block: [head], stored: body } : { block: [head, body] };
}

/**
 * The payload of a capture (WARC 1.1, 2.2): the body with its content coding, without its transfer coding.
 * Decoded if its bytes were not kept.
 */
function payloadOf({ wire, body }: FetchResult): BodyBytes {
  return wire?.body ?? body;
}

const payloadDigests = new WeakMap<FetchResult, string>();

/**
 * Returns the WARC-Payload-Digest of a fetch, `sha1:` and base32. It is computed once, before the body is
 * transferred to a thread.
 */
export function payloadDigestOf(fetched: FetchResult): string {
  let digest = payloadDigests.get(fetched);
  if (digest === undefined) {
    const payload = payloadOf(fetched);
    digest = isStored(payload) ? base32Sha1(Buffer.from(payload.sha1)) : sha1Base32(payload);
    payloadDigests.set(fetched, digest);
  }
  return digest;
}

/**
 * Returns the record of a look-up (CRAWL-12.6): the time, then the addresses of a host in the form of a zone
 * file (RFC 4027).
 */
export function dnsRecord(host: string, addresses: readonly string[], date: number): NewWarcRecord {
  const lines = addresses.map(
    (address) => `${host}.\tIN\t${address.includes(':') ? 'AAAA' : 'A'}\t${address}\n`,
  );
  return {
    type: 'resource',
    id: newRecordId(),
    date,
    contentType: 'text/dns',
    fields: [['WARC-Target-URI', `dns:${host}`]],
    block: [Buffer.from(`${time14(date)}\n${lines.join('')}`, 'latin1')],
  };
}

/**
 * Returns the record of a document that was made from a capture (WARC 1.1, 6.8): HTML in UTF-8, as the scripts
 * of a page left it.
 */
export function conversionRecord(
  url: string,
  html: Uint8Array,
  date: number,
  refersTo: string | undefined,
): NewWarcRecord {
  return {
    type: 'conversion',
    id: newRecordId(),
    date,
    contentType: 'text/html; charset=utf-8',
    fields: [
      ['WARC-Target-URI', withoutUserInfo(url)],
      ...(refersTo === undefined ? [] : [['WARC-Refers-To', refersTo] as const]),
      ['WARC-Payload-Digest', sha1Base32(html)],
    ],
    block: [html],
  };
}

/**
 * Returns the metadata record of a capture (WARC 1.1, 6.6): its path from the seed, the duration of its fetch,
 * and its links.
 */
export function metadataRecord(metadata: CaptureMetadata): NewWarcRecord {
  const { url, via, hopsFromSeed, sourceTag, fetchTimeMs, outLinks } = metadata;
  const values: [string, string][] = [];
  if (via !== '') values.push(['via', withoutUserInfo(via)]);
  if (hopsFromSeed !== '') values.push(['hopsFromSeed', hopsFromSeed]);
  if (sourceTag !== '') values.push(['sourceTag', withoutUserInfo(sourceTag)]);
  if (fetchTimeMs >= 0) values.push(['fetchTimeMs', String(fetchTimeMs)]);
  for (const link of outLinks) values.push(['outlink', `${withoutUserInfo(link.url)} ${link.hop}`]);
  return {
    type: 'metadata',
    id: newRecordId(),
    date: metadata.date,
    contentType: 'application/warc-fields',
    fields: [
      ['WARC-Target-URI', withoutUserInfo(url)],
      ['WARC-Concurrent-To', metadata.concurrentTo],
    ],
    block: [warcFields(values)],
  };
}

/** Returns the revisit if its record has this payload. */
function usableRevisit(revisit: Revisit | undefined, payloadDigest: string): Revisit | undefined {
  if (revisit === undefined || revisit.kind === 'server-not-modified') return revisit;
  return revisit.recordId !== '' && revisit.payloadDigest === payloadDigest ? revisit : undefined;
}

function revisitFields({ kind, url, date, recordId, payloadDigest }: Revisit): [string, string][] {
  const fields: [string, string][] = [['WARC-Profile', REVISIT_PROFILE + kind]];
  if (recordId !== '') {
    // A record of an ARC file has no ID.
    if (recordId.startsWith('<')) fields.push(['WARC-Refers-To', recordId]);
    fields.push(['WARC-Refers-To-Target-URI', withoutUserInfo(url)], ['WARC-Refers-To-Date', warcDate(date)]);
  }
  if (payloadDigest !== '') fields.push(['WARC-Payload-Digest', payloadDigest]);
  return fields;
}

/**
 * Returns the record of a request as it was sent, without the logins of servers and proxies: archives are
 * copied.
 */
function requestRecord(
  request: Uint8Array,
  common: readonly [string, string][],
  date: number,
  concurrentTo: string,
): NewWarcRecord {
  return {
    type: 'request',
    id: newRecordId(),
    date,
    contentType: REQUEST_TYPE,
    fields: [...common, ['WARC-Concurrent-To', concurrentTo], ['WARC-Payload-Digest', EMPTY_DIGEST]],
    block: [changeHead(request, /^(?:proxy-)?authorization[ \t]*:[^\n]*\n/gim, '')],
  };
}

/** Replaces parts of a head, whose bytes are Latin-1 text. */
function changeHead(head: Uint8Array, pattern: RegExp, replacement: string): Uint8Array {
  return Buffer.from(Buffer.from(head).toString('latin1').replace(pattern, replacement), 'latin1');
}

/**
 * Returns status line and header as they were sent. Without the framing of the body, Transfer-Encoding is
 * renamed: readers would look for it.
 */
function responseHead(fetched: FetchResult): Uint8Array {
  const { wire } = fetched;
  if (wire === undefined || wire.head.length === 0) return renderedHead(fetched);
  if (wire.framed !== undefined) return wire.head;
  return changeHead(wire.head, /^transfer-encoding(?=[ \t]*:)/gim, 'x-orig-transfer-encoding');
}

/**
 * Returns status line and headers, if their bytes were not kept. The body is decoded, so the headers of its
 * coding and its coded length are renamed with the prefix `x-orig-`, and the decoded length is added. A body
 * that cannot be decoded keeps its Content-Encoding: only the transfer coding is removed.
 */
function renderedHead({ status, headers, body, undecoded }: FetchResult): Uint8Array {
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  const coded = headers['content-encoding'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (status === 304 || !coded) return headBytes(line, Object.entries(headers));
  const replaced =
    undecoded === undefined
      ? /^(?:content-encoding|transfer-encoding|content-length)$/
      : /^(?:transfer-encoding|content-length)$/;
  const renamed = Object.entries(headers).map(([name, value]): [string, string] => [
    replaced.test(name) ? `x-orig-${name}` : name,
    value,
  ]);
  return headBytes(line, [...renamed, ['content-length', String(body.length)]]);
}

/** Encodes a header. Its values are Latin-1 text, so every byte is written as it was received. */
function headBytes(line: string, headers: readonly (readonly [string, string])[]): Uint8Array {
  const lines = [line, ...headers.map(([name, value]) => `${name}: ${value}`), '', ''];
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

function resourceType({ contentType }: FetchResult): string {
  return contentType === undefined || contentType === DIRECTORY_TYPE
    ? 'application/octet-stream'
    : contentType;
}

/**
 * Writes records of requests that belong to no document. A failure is only reported: the disk that is full for
 * them is full for the next document too, which ends the crawl in order.
 */
export class SideCaptures {
  readonly #files: Pick<WarcFiles, 'write'>;

  constructor(files: Pick<WarcFiles, 'write'>) {
    this.#files = files;
  }

  /** Writes an answer to a request for robots.txt. */
  async record(fetched: FetchResult): Promise<void> {
    if (fetched.cached !== true) await this.#write(captureRecords(fetched).records);
  }

  /** Writes the addresses of a host. */
  async recordAddresses(host: string, addresses: readonly string[]): Promise<void> {
    await this.#write([dnsRecord(host, addresses, Date.now())]);
  }

  async #write(records: readonly NewWarcRecord[]): Promise<void> {
    try {
      await this.#files.write(records);
    } catch (error) {
      announce(messageOf(error));
    }
  }
}
