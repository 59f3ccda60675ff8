import { type DebugMessage, debugChannel, publishDebug } from '../../../clients/fetch/debug-channel.js';
import { type FilterEvent, filterChannel } from '../../../protocols/config/filter.js';
import { redactLogins } from '../../../protocols/visible-text.js';
import type { ChainName, Processor, ProcessResult } from '../../crawler/chains.js';
import { type CrawlUri, FETCH_STATUS, type OutLink } from '../../crawler/crawl-uri.js';
import {
  type CrawlEvent,
  crawlChannel,
  type DocumentEvent,
  documentChannel,
  type UriErrorEvent,
  uriErrorChannel,
} from '../../crawler/events.js';
import type { Debug } from '../../host/debug-flags.js';
import { dueTime } from '../processors/history.js';

/**
 * Writes the messages of a Gatherer's debug sections 20 to 69 (G-150) until disposed. Without it no message is
 * computed. Sections 40 to 48 and 61 of a run also need {@link debugProcessors}.
 */
export function followDebug(debug: Debug): Disposable {
  const onDebugMessage = (event: unknown): void => {
    const { section, level, text } = event as DebugMessage;
    debug(section, level, () => redactLogins(text()));
  };
  const onDocument = (event: unknown): void => {
    const { url, disposition, type, status, bytes, milliseconds } = event as DocumentEvent;
    publishDebug(62, 1, () => {
      const what = `${disposition}, type ${type}, status ${status}, ${bytes} bytes`;
      return `${url}: ${what}, ${milliseconds} ms`;
    });
    const { queued, inProcess, discovered } = (event as DocumentEvent).frontier;
    publishDebug(40, 9, () => `${discovered} URLs known, ${queued} queued, ${inProcess} in process`);
  };
  const onUriError = (event: unknown): void => {
    const { url, source, message } = event as UriErrorEvent;
    publishDebug(41, 1, () => `${url}, found in ${source}: ${message}`);
  };
  const onCrawlEvent = (event: unknown): void => {
    const { text } = event as CrawlEvent;
    publishDebug(62, 1, () => text);
  };
  // Level 1: denied subjects, level 5: all.
  const onFilter = (event: unknown): void => {
    const { file, subjects, allowed, rule } = event as FilterEvent;
    publishDebug(44, allowed ? 5 : 1, () => {
      const by = rule === undefined ? 'no line' : `line ${rule.line}, ${rule.expression}`;
      return `${subjects.join(', ')}: ${allowed ? 'allowed' : 'denied'} by ${file}, ${by}`;
    });
  };
  const subscriptions = [
    { channel: filterChannel, listen: onFilter },
    { channel: debugChannel, listen: onDebugMessage },
    { channel: documentChannel, listen: onDocument },
    { channel: uriErrorChannel, listen: onUriError },
    { channel: crawlChannel, listen: onCrawlEvent },
  ];
  for (const { channel, listen } of subscriptions) channel.subscribe(listen);
  return {
    [Symbol.dispose]() {
      for (const { channel, listen } of subscriptions) channel.unsubscribe(listen);
    },
  };
}

/** Processors that only write debug messages, for `GathererOptions.processors`. */
export function debugProcessors(): Partial<Record<ChainName, readonly Processor[]>> {
  return {
    'pre-fetch': [debugProcessor('DebugPreFetch', reportRobots, reportDecision)],
    write: [debugProcessor('DebugWrite', reportDatabase)],
    'post-process': [debugProcessor('DebugLinks', reportForbidden, reportLinks)],
  };
}

function debugProcessor(name: string, ...reports: readonly ((uri: CrawlUri) => void)[]): Processor {
  return {
    name,
    process(uri): ProcessResult {
      if (debugChannel.hasSubscribers) for (const report of reports) report(uri);
      return 'proceed';
    },
  };
}

/**
 * Section 48: robots.txt. A URI that it forbids leaves the chain earlier; {@link reportForbidden} reports it.
 */
function reportRobots(uri: CrawlUri): void {
  if (uri.disposition === 'kept' || uri.fetched !== undefined) return;
  if (/^https?:/.test(uri.url)) publishDebug(48, 5, () => `${uri.url}: allowed`);
}

function reportForbidden(uri: CrawlUri): void {
  const { url, status, reason } = uri;
  if (status === FETCH_STATUS.robotsForbidden || status === FETCH_STATUS.robotsUnavailable) {
    publishDebug(48, 1, () => `${url}: ${reason}`);
  } else if (status === FETCH_STATUS.deferred) {
    publishDebug(48, 1, () => `${url}: robots.txt is fetched first${reason === '' ? '' : `: ${reason}`}`);
  }
}

/** Section 41: whether the URL is fetched again (G-108), and why. */
function reportDecision({ url, disposition, document, fetched }: CrawlUri): void {
  publishDebug(41, 1, () => {
    if (document === undefined) return `${url}: not known`;
    const { updateTime, lastModificationTime, etag, md5 } = document;
    if (disposition === 'kept') return `${url}: kept until ${dueTime(document)}`;
    const known = `modified ${lastModificationTime}, ETag ${etag || 'none'}, MD5 ${md5 || 'none'}`;
    return `${url}: known since ${updateTime}, ${known}${fetched === undefined ? '' : ', read locally'}`;
  });
}

/** Section 61: the changes of the database. */
function reportDatabase({ url, disposition, document, updateTime, reason }: CrawlUri): void {
  publishDebug(61, 1, () => {
    switch (disposition) {
      case 'summarized':
        return `${url}: ${document === undefined ? 'new' : 'replaced'}, Update-Time ${updateTime}`;
      case 'unchanged':
        return `${url}: refreshed, the summary of ${document?.updateTime} stays (G-108)`;
      case 'rejected':
        return `${url}: no object: ${reason}`;
      default:
        return `${url}: no change, ${disposition}`;
    }
  });
}

/** Sections of enumeration, by access method. */
const ENUMERATION: Readonly<Record<string, number>> = { http: 42, https: 42, gopher: 43, ftp: 45, file: 46 };
/** Sections that have level 1 only, which then includes the links. */
const FLAT: ReadonlySet<number> = new Set([45, 46]);
/** Maximum number of links in one line. */
const MAX_SHOWN = 100;

/** Sections 40, 42, 43, 45, 46: the links of a document, before limits and filters. */
function reportLinks(uri: CrawlUri): void {
  const { url, disposition, outLinks } = uri;
  if (disposition === 'retry') return;
  const { depth, pathFromSeed, via } = uri.entry.uri;
  const from = via === '' ? 'configured' : `found in ${via}`;
  publishDebug(40, 1, () => `${url}: ${disposition}, ${outLinks.length} links`);
  publishDebug(40, 5, () => `${url}: depth ${depth}, path ${pathFromSeed || 'none'}, ${from}`);
  const section = ENUMERATION[url.slice(0, url.indexOf(':'))];
  if (section === undefined) return;
  publishDebug(section, 1, () => {
    const what = disposition === 'listed' ? 'a list' : 'a document';
    return `${url}: ${what} of ${outLinks.length} links${FLAT.has(section) ? formatLinks(outLinks) : ''}`;
  });
  if (FLAT.has(section)) return;
  publishDebug(section, 5, () => `${url}: links${formatLinks(outLinks.filter(({ hop }) => hop !== 'E'))}`);
  publishDebug(section, 9, () => `${url}: embedded${formatLinks(outLinks.filter(({ hop }) => hop === 'E'))}`);
}

function formatLinks(found: readonly OutLink[]): string {
  const shown = found.slice(0, MAX_SHOWN).map(({ url, hop }) => `${hop} ${url}`);
  const more = found.length > MAX_SHOWN ? ` and ${found.length - MAX_SHOWN} more` : '';
  return `: ${shown.length === 0 ? 'none' : shown.join(' ')}${more}`;
}
