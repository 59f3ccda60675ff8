// The lines of a returned URI in each log of documents; pure.
import { redactLogins } from '../../../protocols/visible-text.js';
import { FETCH_STATUS } from '../crawl-uri.js';
import type { RecordedEvent } from '../events.js';
import { crawlLogLine } from './crawl-log.js';
import { escapeField, isoTime, quoted } from './line-fields.js';

/** The logs whose lines come from returned URIs, and nothing else. */
export const DOCUMENT_LOGS = {
  crawl: 'crawl.log',
  localErrors: 'local-errors.log',
  runtimeErrors: 'runtime-errors.log',
  uriErrors: 'uri-errors.log',
} as const;

export type DocumentLog = keyof typeof DOCUMENT_LOGS;

/** A line, without line end, and its log. */
export type EventLine = readonly [log: DocumentLog, line: string];

/**
 * Formats the lines of a returned URI. A disposed one has a line in crawl.log (CRAWL-16.1). The reason of a
 * retry and warnings have lines in local-errors.log, links that are not URIs in uri-errors.log (CRAWL-16.4).
 *
 * @param event without logins
 * @param time of logging, milliseconds since 1970
 */
export function eventLines(event: RecordedEvent, time: number): EventLine[] {
  const lines: EventLine[] = [];
  const { disposition, status, reason, warnings, uriErrors = [] } = event;
  if (disposition !== 'retry') lines.push(['crawl', crawlLogLine(event, time)]);
  if (status === FETCH_STATUS.runtimeError) lines.push(['runtimeErrors', errorLine(event, reason, time)]);
  // CRAWL-8.1: waiting for a prerequisite is not an error.
  else if (disposition === 'retry' && status !== FETCH_STATUS.deferred)
    lines.push(['localErrors', errorLine(event, reason, time)]);
  for (const warning of warnings) lines.push(['localErrors', errorLine(event, warning, time)]);
  for (const error of uriErrors) lines.push(['uriErrors', uriErrorLine(event.url, error, time)]);
  return lines;
}

/** [choice] Fields: time, status, attempt, URI, hops path, via, and the message in quotes. */
function errorLine(event: RecordedEvent, message: string, time: number): string {
  const { status, attempts, url, pathFromSeed, via } = event;
  const fields = [url, pathFromSeed, via].map((text) => escapeField(text) || '-');
  return [isoTime(time), String(status).padStart(5), `${attempts}t`, ...fields, quoted(message)].join(' ');
}

/** CRAWL-16.4: time, page, message and the text that is not a URI. */
function uriErrorLine(
  source: string,
  { url, message }: NonNullable<RecordedEvent['uriErrors']>[number],
  time: number,
): string {
  const shown = redactLogins(url);
  // CRAWL-2.1: the maximum length of a URI.
  const link = shown.length > 2083 ? `${shown.slice(0, 2083)}…` : shown;
  return `${isoTime(time)} ${escapeField(source) || '-'} ${quoted(redactLogins(message))} ${escapeField(link) || '-'}`;
}
