import type { RecordedEvent } from '../events.js';
import { escapeAnnotation, escapeField, isoTime, parseDigitTime, time17 } from './line-fields.js';

/** A parsed line of crawl.log. A `-` is read as undefined, or as an empty string where the event has one. */
export interface CrawlLogEntry {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly status: number;
  /** Bytes. */
  readonly size: number | undefined;
  readonly url: string;
  readonly pathFromSeed: string;
  readonly via: string;
  /** Without parameters; empty for `no-type`. */
  readonly mimeType: string;
  readonly worker: number;
  /** Milliseconds since 1970; undefined if there was no fetch or it has no end. */
  readonly fetchBegin: number | undefined;
  /** Milliseconds. */
  readonly fetchDuration: number | undefined;
  readonly digest: string;
  readonly sourceTag: string;
  readonly annotations: readonly string[];
}

/**
 * Formats a line of crawl.log (CRAWL-16.1): twelve fields separated by spaces, without line end. Fields are
 * escaped, so that no URI, header or message can break a line or shift a field.
 *
 * @param time of logging, milliseconds since 1970
 */
export function crawlLogLine(event: RecordedEvent, time: number): string {
  const ended = event.fetchBegin > 0 && event.fetchDuration >= 0;
  return [
    isoTime(time),
    String(event.status).padStart(5),
    sizeField(event).padStart(10),
    escapeField(event.url),
    field(event.pathFromSeed),
    field(event.via),
    field(mimeType(event.contentType), 'no-type'),
    `#${String(event.worker).padStart(3, '0')}`,
    ended ? `${time17(event.fetchBegin)}+${Math.round(event.fetchDuration)}` : '-',
    field(event.digest),
    field(event.sourceTag),
    annotationsOf(event).map(escapeAnnotation).join(',') || '-',
  ].join(' ');
}

/** Returns the media type without parameters (CRAWL-16.1 field 7); empty if absent. */
export function mimeType(contentType: string): string {
  return /^\s*([^;\s]*)/.exec(contentType)?.[1] ?? '';
}

function field(text: string, empty = '-'): string {
  return text === '' ? empty : escapeField(text);
}

/** CRAWL-16.1 field 3: a response without a body has size 0; without a response there is no size. */
function sizeField({ bytes, status, fetchBegin }: RecordedEvent): string {
  return bytes > 0 || (status > 0 && fetchBegin > 0) ? String(bytes) : '-';
}

/** CRAWL-16.2: the number of attempts comes first, if there was more than one. */
function annotationsOf({ annotations, attempts }: RecordedEvent): readonly string[] {
  const attemptCount = `${attempts}t`;
  return attempts > 1 && !annotations.includes(attemptCount) ? [attemptCount, ...annotations] : annotations;
}

/**
 * Parses a line of {@link crawlLogLine} or of the original; field 13 of its later versions is ignored.
 *
 * @returns undefined for a line that is not valid
 */
export function parseCrawlLogLine(line: string): CrawlLogEntry | undefined {
  const fields = line.trim().split(/ +/);
  if (fields.length < 12) return undefined;
  const [time, status, size, url, path, via, type, worker, fetched, digest, tag, annotations] = fields;
  const loggedAt = Date.parse(time!);
  if (
    Number.isNaN(loggedAt) ||
    !/^-?\d+$/.test(status!) ||
    !/^(\d+|-)$/.test(size!) ||
    !/^#\d+$/.test(worker!)
  )
    return undefined;
  const [begin, duration] = fetched!.split('+');
  return {
    time: loggedAt,
    status: Number(status),
    size: size === '-' ? undefined : Number(size),
    url: url!,
    pathFromSeed: text(path),
    via: text(via),
    mimeType: type === 'no-type' ? '' : type!,
    worker: Number(worker!.slice(1)),
    fetchBegin: parseDigitTime(begin!),
    fetchDuration: duration === undefined ? undefined : Number(duration),
    digest: text(digest),
    sourceTag: text(tag),
    annotations: annotations === '-' ? [] : annotations!.split(','),
  };
}

function text(value: string | undefined): string {
  return value === undefined || value === '-' ? '' : value;
}
