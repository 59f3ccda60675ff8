import { LRUCache } from 'lru-cache';
import { type FetchNote, fetchNoteChannel } from '../../../clients/fetch/index.js';
import type { GathererConfig, LeafNode } from '../../../protocols/config/index.js';
import { messageOf } from '../../../protocols/errors.js';
import { hostOf, withoutBrackets, withoutUserInfo } from '../../../protocols/urls/index.js';
import { redactLogins } from '../../../protocols/visible-text.js';
import { type CrawlEvent, crawlChannel, type DocumentEvent, documentChannel } from '../../crawler/events.js';
import { redactEvent } from '../../crawler/redaction.js';
import { addressGroup, isLoopbackGroup } from '../../host/address-group.js';
import type { Logger } from '../../host/index.js';
import type { GatherReport, RootReport } from '../gatherer.js';
import type { Refusal } from '../scope/root-limits.js';

/**
 * Maximum number of retrievals whose notes are kept until their document is finished. Notes of robots.txt files
 * are evicted in time.
 */
const MAX_NOTED = 10_000;

/**
 * Writes the two logs of G-145 in the format of G-148. `log` gets one line per URL: URL, type, status, `[L]` if
 * it was read locally (G-77), `[C]` if it came from the disk cache, `[N]` if it was not modified, the reason of
 * a rejection, and why a Local-Mapping failed (G-75). `errors` gets failures, with a remedy if there is one,
 * and warnings.
 *
 * @returns an object that ends the logging when it is disposed of
 */
export function logDocuments(log: Logger, errors: Logger): Disposable {
  const notes = new LRUCache<string, readonly FetchNote[]>({ max: MAX_NOTED });
  const onNote = (message: unknown): void => {
    const note = message as FetchNote;
    const url = withoutUserInfo(note.url);
    const before = notes.get(url) ?? [];
    notes.set(url, [...before.filter(({ kind }) => kind !== note.kind), note]);
  };
  const onDocument = (message: unknown): void => {
    const event = redactEvent(message as DocumentEvent);
    // A URL is logged after its last attempt.
    if (event.disposition === 'retry') return;
    const { url } = event;
    const noted = notes.get(url) ?? [];
    notes.delete(url);
    if (event.disposition === 'failed') {
      errors.error(
        [`${url}: ${event.reason} (status ${event.status})`, ...remedies(event, noted)].join('; '),
      );
      return;
    }
    // G-174: a redirect has a reason only if the scope refused its target.
    if (event.disposition === 'redirected' && event.reason !== '') errors.error(`${url}: ${event.reason}`);
    for (const warning of event.warnings) errors.warn(`${url}: ${warning}`);
    if (event.disposition !== 'kept') log.info(documentLine(url, event, noted));
  };
  const onCrawl = (message: unknown): void => {
    const { text, alert } = message as CrawlEvent;
    if (alert) errors.warn(redactLogins(text));
  };
  crawlChannel.subscribe(onCrawl);
  fetchNoteChannel.subscribe(onNote);
  documentChannel.subscribe(onDocument);
  return {
    [Symbol.dispose]() {
      crawlChannel.unsubscribe(onCrawl);
      fetchNoteChannel.unsubscribe(onNote);
      documentChannel.unsubscribe(onDocument);
    },
  };
}

function documentLine(url: string, event: DocumentEvent, notes: readonly FetchNote[]): string {
  const { type, status, disposition, reason, local } = event;
  const cached = notes.some(({ kind }) => kind === 'cached');
  const unchanged = disposition === 'unchanged';
  const marks = `${local ? ' [L]' : ''}${cached ? ' [C]' : ''}${unchanged ? ' [N]' : ''}`;
  const typeOrDisposition = disposition === 'summarized' || unchanged ? type : disposition;
  const reasons = [...(reason === '' ? [] : [reason]), ...mappingFailures(notes)];
  return `${url} ${typeOrDisposition} ${status}${marks}${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`;
}

function mappingFailures(notes: readonly FetchNote[]): string[] {
  return notes.flatMap((note) =>
    note.kind === 'not-mapped' ? [`Local-Mapping: ${note.path} ${note.reason}`] : [],
  );
}

/** Returns remedies for a failure (gatherer.md 14). */
function remedies({ url, status }: DocumentEvent, notes: readonly FetchNote[]): string[] {
  return [...(status === 401 ? [loginRemedy(url, notes)] : []), ...mappingFailures(notes)];
}

/** Returns the remedy for a refused or missing login (G-82, G-83). */
function loginRemedy(url: string, notes: readonly FetchNote[]): string {
  const { host, protocol } = new URL(url);
  const challenge = notes.find((note) => note.kind === 'login');
  if (challenge !== undefined && challenge.realm !== undefined) {
    const realm = /\s/.test(challenge.realm) ? JSON.stringify(challenge.realm) : challenge.realm;
    if (challenge.login === 'refused') return `the server refuses the login for its realm ${realm}`;
    const why =
      challenge.login === 'unknown'
        ? 'no login is known for its realm'
        : 'the login for its realm is for other URLs';
    return `${why}; if the server may have one, add to the configuration: HTTP-Basic-Auth: ${protocol}//${host}/ ${realm} username password`;
  }
  if (protocol === 'ftp:')
    return `add another login to the configuration: FTP-Auth: ${host} username password`;
  return protocol.startsWith('http')
    ? 'the server names no realm, so HTTP-Basic-Auth cannot apply'
    : 'the server requires a login';
}

/**
 * Runs a Gatherer and logs the run's beginning and end (G-148): totals, and for each RootNode the number of its
 * URLs and hosts and the limits that stopped it, with remedies. Errors are logged and thrown again.
 */
export async function logRun(
  log: Logger,
  errors: Logger,
  config: Pick<GathererConfig, 'rootNodes' | 'leafNodes' | 'gathererName'> & Identity,
  run: () => Promise<GatherReport>,
): Promise<GatherReport> {
  const { rootNodes, leafNodes, gathererName } = config;
  const nodes = `${counted(rootNodes.length, 'RootNode')}, ${counted(leafNodes.length, 'LeafNode')}`;
  log.info(`begin: ${gathererName}: ${nodes}`);
  const problem = [...rootNodes, ...leafNodes].some(isOnOtherMachine) ? contactProblem(config) : undefined;
  if (problem !== undefined) log.info(problem);
  let report: GatherReport;
  try {
    report = await run();
  } catch (error) {
    errors.error(`the run ended early: ${messageOf(error)}`);
    log.info('end: early; the next run continues');
    throw error;
  }
  for (const root of report.roots) log.info(rootLine(root));
  log.info(endLine(report));
  return report;
}

type Identity = Pick<GathererConfig, 'httpFrom' | 'httpUserAgent' | 'crawlOrder'>;

/** What a User-Agent names for questions: a URL in parentheses, or a mail address (CRAWL-13.8). */
const CONTACT = /\(.*\+https?:\/\/[^\s)]+\.[^\s)]+.*\)|[^\s@(<]+@[^\s@)>]+\.[^\s@)>]+/i;

/**
 * G-65: login@host of this machine often reaches no one, so it is not sent unless the operator says so. CRAWL-13.8: a
 * crawl by an order visits many sites, whose owners need to know whom to ask.
 */
function contactProblem({ httpFrom, httpUserAgent = '', crawlOrder }: Identity): string | undefined {
  if (httpFrom !== undefined) return undefined;
  if (crawlOrder === undefined)
    return 'requests have no From: sites cannot tell whose crawl this is; add your mail address to the configuration: HTTP-From: name@host';
  if (CONTACT.test(httpUserAgent)) return undefined;
  return 'requests name no contact: sites cannot ask you to stop, and may block the crawl; add to the order: "from": "name@host", or "userAgent": "NAME/1.0 (+https://HOST/PAGE)"';
}

/** Whether a node's documents may be on an HTTP server of another machine. */
function isOnOtherMachine({ url, program }: LeafNode): boolean {
  if (program !== undefined) return true;
  const host = /^https?:/.test(url) ? withoutBrackets(hostOf(url)) : 'localhost';
  return host !== 'localhost' && !isLoopbackGroup(addressGroup(host));
}

function endLine({ counts, bytes, seconds, end, resumed }: GatherReport): string {
  const totals = Object.entries(counts)
    .filter(([disposition]) => disposition !== 'retry')
    .map(([disposition, count]) => `${count} ${disposition}`);
  const how = `${end}${resumed ? ', after an interrupted run' : ''}`;
  return `end: ${how}: ${totals.join(', ')}, ${bytes} bytes in ${seconds.toFixed(1)} s`;
}

/**
 * Why links were refused, with the remedy in the RootNode's line or in the crawl order. Continues "3 links
 * ..."; "3 documents ..." for `unread`.
 */
const REFUSALS: Readonly<Record<Refusal, string>> = {
  'url-max': 'over the number of URLs: raise URL= in the RootNode',
  'host-max': 'to more hosts than allowed: raise Host= in the RootNode',
  depth: 'too deep: raise Depth= in the RootNode, 0 is no limit',
  access:
    'of other access methods: name them in Access= of the RootNode (a Gopher RootNode follows Gopher only)',
  'url-filter': 'forbidden by the URL filter',
  'host-filter': 'forbidden by the host filter',
  scope: "out of scope by the order's rules",
  pattern:
    'that differ from others only in their numbers: raise maxUrisPerPattern in the crawl order, 0 is no limit',
  outlinks: 'beyond the maximum of one document: raise maxOutlinks in the crawl order',
  unread:
    'whose links could not all be read: encrypted, damaged, packed in another way, or beyond a limit (linksUnread in crawl.log)',
  login: 'with a login, which only the configuration may name, followed without it (G-81)',
  hidden: 'to hidden files and directories: Hidden-Files: yes includes them',
  speculative: 'guesses that follow other guesses',
  'repeated-path':
    'with a path that repeats itself: raise maxPathRepetitions in the crawl order, 0 is no limit',
  private: 'from a public host to private addresses (G-174)',
};

function rootLine({ url, urls, hosts, refused }: RootReport): string {
  // Object.entries widens the keys to strings.
  const counts = Object.entries(refused) as [Refusal, number][];
  const limits = counts.map(
    ([reason, count]) => `${counted(count, reason === 'unread' ? 'document' : 'link')} ${REFUSALS[reason]}`,
  );
  const why = limits.length === 0 ? 'all links were followed' : limits.join('; ');
  return `RootNode ${redactLogins(url)}: ${counted(urls, 'URL')}, ${counted(hosts, 'host')}; ${why}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
