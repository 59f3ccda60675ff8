import { failedBeforeConnection } from '../../../../clients/connection/index.js';
import type { PagesQuery } from '../../../../clients/references/calls.js';
import { ReferencesClient } from '../../../../clients/references/client.js';
import { ConnectionError, PeerError, ProtocolError, UsageError } from '../../../../protocols/errors.js';
import {
  CODES,
  DEFAULT_REFERENCES_PORT,
  type LinkKind,
  type LinkReply,
  type UrlDescription,
} from '../../../../protocols/sstp/index.js';
import { serverNameOf } from '../../../../protocols/urls/index.js';
import type { PeerAddress } from '../../options/option-values.js';
import { complain, complainOrThrow, EXIT } from '../../output/exit.js';
import { printable } from '../../output/printable.js';
import { printResult, StandardOutput } from '../../output/standard-output.js';

interface ReferencesOptions {
  readonly from?: boolean;
  readonly siteTo?: boolean;
  readonly siteFrom?: boolean;
  readonly describe?: boolean;
  readonly all: boolean;
  readonly ids: boolean;
  readonly urls: boolean;
  readonly start?: number;
  readonly count?: number;
  readonly json: boolean;
  readonly timeout: number;
}

/** URLs that are printed without `--count` and `--all`. */
const DEFAULT_URLS = 1000;

/** The names of the lists on the web pages. */
const LISTS = {
  referers: 'to',
  references: 'from',
  'site-referers': 'site-to',
  'site-references': 'site-from',
} as const;

/** IDs of one request with `--all`. */
const PAGE_SIZE = 1000;

/** The action of `harvest references`; returns the exit status. */
export async function run(
  { host, port }: PeerAddress,
  what: string,
  options: ReferencesOptions,
): Promise<number> {
  const query = queryOf(what, options);
  const timeoutMs = Math.ceil(options.timeout * 1000);
  const { urls, ids, json, count, describe: isDescription = false } = options;
  // What no References Server knows is refused with its reason.
  const isKind = problemOf(what, query) === undefined;
  const triesUrls = isKind && (urls || !(ids || json || count === 0 || isDescription));
  try {
    const printed = triesUrls ? await printUrls({ host, port }, what, options) : undefined;
    if (typeof printed === 'number') return printed;
    await using client = new ReferencesClient({
      host,
      port,
      connectTimeoutMs: timeoutMs,
      timeoutMs,
    });
    if (isDescription) return await describe(client, what, options);
    const status = await printPages(pages(client, query, options), options);
    if (printed !== undefined && status === EXIT.ok)
      complain('references', `IDs, not URLs, which are read over HTTP: ${printed.message}`);
    return status;
  } catch (error) {
    const status = complainOrThrow('references', error, EXIT.connection);
    const why =
      error instanceof PeerError && error.status === BAD_REQUEST ? problemOf(what, query) : undefined;
    if (why !== undefined) complain('references', why);
    return status;
  }
}

/** The status of a request that the server cannot understand. */
const BAD_REQUEST = CODES.badRequest.number;

/** Why a server refuses WHAT, if it is neither the URL of a document nor the name of a site. */
function problemOf(what: string, { url }: PagesQuery): string | undefined {
  if (url === undefined) return undefined;
  try {
    serverNameOf(what);
    return undefined;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const reason = error.rule === 'R-41' ? 'has a login' : 'names no server, as file: and news: URLs do not';
    return `a References Server knows only documents of servers, and ${what} ${reason} (${error.rule})`;
  }
}

/** @throws UsageError if WHAT is an ID that is not valid, or cannot be described */
function queryOf(what: string, { describe, start }: ReferencesOptions): PagesQuery {
  const isId = /^\d+$/.test(what);
  if (describe === true && isId)
    throw new UsageError('references: --describe requires a URL: the protocol has no request for an ID');
  if (isId && !(Number(what) >= 1 && Number(what) <= 0xffff_ffff))
    throw new UsageError('references: an ID must be a number from 1 to 4294967295');
  return { ...(isId ? { id: Number(what) } : { url: what }), start };
}

async function* pages(
  client: ReferencesClient,
  query: PagesQuery,
  options: ReferencesOptions,
): AsyncGenerator<LinkReply> {
  const kind = kindOf(options);
  if (options.all) {
    // Nothing is printed before the last page has arrived: a change of the data between two pages voids those
    // before it.
    let all: LinkReply[] = [];
    const onRestart = () => {
      all = [];
    };
    for await (const page of client.pages(kind, { ...query, pageSize: PAGE_SIZE, onRestart })) all.push(page);
    yield* all;
  } else
    yield await client.links(kind, {
      ...query,
      count: options.count,
    });
}

function kindOf({ from, siteTo, siteFrom }: ReferencesOptions): LinkKind {
  if (from === true) return 'references';
  if (siteTo === true) return 'site-referers';
  return siteFrom === true ? 'site-references' : 'referers';
}

async function printPages(replies: AsyncIterable<LinkReply>, { json }: ReferencesOptions): Promise<number> {
  const output = new StandardOutput();
  let found = 0;
  let known = true;
  let shown = 0;
  for await (const page of replies) {
    ({ found, known } = page);
    shown += page.ids.length;
    const text = json
      ? `${JSON.stringify({ known, found, start: page.start, ids: [...page.ids] })}\n`
      : page.ids.length === 0
        ? ''
        : `${page.ids.join('\n')}\n`;
    if (text !== '' && !(await output.write(text))) return EXIT.ok;
  }
  complain('references', known ? `${found} found, ${shown} shown` : 'not known');
  return found > 0 ? EXIT.ok : EXIT.failure;
}

/**
 * Prints the URLs of the linked documents: all of them, or those that --start and --count select.
 *
 * @returns the exit status; why the server gives no URLs, unless --urls requires them
 */
async function printUrls(
  { host, port }: PeerAddress,
  what: string,
  options: ReferencesOptions,
): Promise<number | Error> {
  const { start = 0, count, all, json, urls, timeout } = options;
  const output = new StandardOutput();
  const limit = all ? Number.POSITIVE_INFINITY : (count ?? DEFAULT_URLS);
  let shown = 0;
  let found: number | undefined;
  const { linkedUrls } = await import('../../../../clients/references/linked-urls.js');
  const pages = linkedUrls({
    host,
    port: port ?? DEFAULT_REFERENCES_PORT,
    what,
    list: LISTS[kindOf(options)],
    start,
    timeoutMs: timeout * 1000,
  });
  try {
    for await (const page of pages) {
      found = page.found;
      const results = page.results.slice(0, limit - shown);
      shown += results.length;
      const text = json
        ? `${JSON.stringify({ found, start: page.start, results })}\n`
        : results.map(({ id, url }) => `${url === null ? id : printable(url)}\n`).join('');
      if (text !== '' && !(await output.write(text))) return EXIT.ok;
      if (shown >= limit) break;
    }
  } catch (error) {
    if (urls || found !== undefined || !isOtherServer(error)) throw error;
    return error;
  }
  complain('references', found === undefined ? 'not known' : `${found} found, ${shown} shown`);
  return (found ?? 0) > 0 ? EXIT.ok : EXIT.failure;
}

/** Whether a server was reached that has no pages of links as those of this kit. */
function isOtherServer(error: unknown): error is Error {
  return error instanceof PeerError || (error instanceof ConnectionError && !failedBeforeConnection(error));
}

async function describe(client: ReferencesClient, url: string, options: ReferencesOptions): Promise<number> {
  const described = await client.urlByName(url);
  if (described === undefined) {
    complain('references', 'not known');
    return EXIT.failure;
  }
  await printResult(options, described, descriptionText(described));
  return EXIT.ok;
}

function descriptionText(described: UrlDescription): string {
  const { id, serverId, protocol, host, port, uri, time, checkTime, length } = described;
  const rows: readonly (readonly [string, string])[] = [
    ['document', String(id)],
    ['server', `${serverId} (${host}:${port})`],
    ['protocol', protocol],
    ['path', uri],
    ['changed', timeText(time)],
    ['checked', timeText(checkTime)],
    ['length', length === 0 ? 'unknown' : `${length} bytes`],
  ];
  return rows.map(([name, value]) => `${`${name}:`.padEnd(10)} ${value}\n`).join('');
}

function timeText(seconds: number): string {
  return seconds === 0 ? 'unknown' : new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
