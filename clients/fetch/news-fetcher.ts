// Fetches `news:` and `nntp:` URLs (G-55, G-70).
import { LineSplitter } from '../../protocols/line-splitter.js';
import {
  articleUrl,
  formatNntpTime,
  groupUrl,
  type NewsAddress,
  NNTP_PORT,
  parseActiveLine,
  parseGroupStatus,
  parseNewsUrl,
  parseOverviewLine,
} from '../../protocols/nntp/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { withoutBrackets, withUserInfo } from '../../protocols/urls/index.js';
import type { BodyCollector } from './bounded-body.js';
import { answerOf, type BodyAnswer, bodyAnswer, collect, collectorFor, cutBy } from './collected-body.js';
import { ConnectionPool } from './connection-pool.js';
import { NntpConnection, type NntpLogin, type NntpStatus } from './nntp-connection.js';
import { refusePrivate } from './private-addresses.js';
import { type ServerLogin, type TransferOptions, TransferWatch } from './transfer.js';
import { type Answer, type Fetcher, type FetchRequest, type FetchResult, resultOf } from './types.js';

export interface NewsFetcherOptions extends TransferOptions {
  /** `host[:port]` for URLs without a host (G-70); default `$NNTPSERVER`, else the host `news`. */
  readonly newsServer?: string | undefined;
  /** Logins by server, used if the server requests one. */
  readonly newsAuth?: readonly ServerLogin[] | undefined;
}

/** Content type of the overview of a group: `number TAB subject TAB from TAB date TAB message-id ...` lines. */
export const OVERVIEW_TYPE = 'text/x-news-overview';
/** Content type of LIST ACTIVE: `group high low status` lines. */
export const ACTIVE_TYPE = 'text/x-news-active';
/** Content type of an article. */
export const ARTICLE_TYPE = 'message/rfc822';

/** Bytes of lists from which links are taken. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Bytes of the answer to NEWNEWS that are read; after a longer one the connection cannot be used again. */
const MAX_NEWNEWS_BYTES = 64 * 1024;

/** Articles of a group listing, the newest ones, and groups of a list. */
const MAX_LINKS = 100_000;

/** Fetches `news:` and `nntp:` URLs (G-55, G-70) over kept connections: articles, groups, lists of groups. */
export class NewsFetcher implements Fetcher {
  readonly #options: NewsFetcherOptions;
  readonly #pool: ConnectionPool<NntpConnection>;

  constructor(options: NewsFetcherOptions = {}) {
    this.#options = options;
    this.#pool = new ConnectionPool(options);
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    const address = parseNewsUrl(withUserInfo(request.url, request.login));
    const { host, port } = this.#serverOf(address);
    const login = this.#loginFor(address, host, port);
    const beginTime = Date.now();
    request.signal?.throwIfAborted();
    return await this.#pool.use(
      `${host}:${port} ${login?.user ?? ''} ${login?.password ?? ''}`,
      () => request.signal,
      () => NntpConnection.open(host, port, login, request, this.#options),
      async (connection) => {
        if (request.publicOnly === true) refusePrivate(host, connection.remoteAddress);
        connection.setIdleTimeout(request);
        using watch = new TransferWatch(host, request, this.#options, connection);
        try {
          const { remoteAddress } = connection;
          const answer = await this.#retrieve(connection, address, request, watch);
          return resultOf(request.url, beginTime, {
            remoteAddress,
            ...answer,
            ...(login === undefined ? {} : { personal: true }),
          });
        } catch (error) {
          throw watch.causeOf(error);
        }
      },
    );
  }

  async close(): Promise<void> {
    this.#pool.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #serverOf(address: NewsAddress): { host: string; port: number } {
    if (address.host !== undefined) return { host: address.host, port: address.port };
    const site = this.#options.newsServer ?? process.env.NNTPSERVER ?? 'news';
    const [, host = site, port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(site) ?? [];
    return { host: withoutBrackets(host), port: port === undefined ? NNTP_PORT : Number(port) };
  }

  #loginFor(address: NewsAddress, host: string, port: number): NntpLogin | undefined {
    if (address.user !== undefined) return { user: address.user, password: address.password ?? '' };
    return this.#options.newsAuth?.find(
      (login) => login.host.toLowerCase() === host && (login.port ?? NNTP_PORT) === port,
    );
  }

  async #retrieve(
    connection: NntpConnection,
    { target }: NewsAddress,
    request: FetchRequest,
    watch: TransferWatch,
  ): Promise<Answer> {
    switch (target.kind) {
      case 'message':
        return await retrieveArticle(connection, `<${target.id}>`, request, watch);
      case 'number': {
        if (connection.selectedGroup !== target.group) {
          const status = await connection.group(target.group);
          if (status.code !== 211) return refusedAnswer(connection, status);
        }
        return await retrieveArticle(connection, String(target.number), request, watch);
      }
      case 'group':
        return await this.#listGroup(connection, target.group, request);
      case 'groups':
        return await this.#listGroups(connection, target.pattern, request);
    }
  }

  /** The articles of a group as links (G-26, G-70), their overview as body. */
  async #listGroup(connection: NntpConnection, name: string, request: FetchRequest): Promise<Answer> {
    const status = await connection.group(name);
    const group = status.code === 211 ? parseGroupStatus(status.text) : undefined;
    if (group === undefined) return refusedAnswer(connection, status);
    const etag = `"${group.low}-${group.high}-${group.count}"`;
    if (request.headers?.etag === etag) return { status: 304, etag };
    if (!request.headers?.etag && request.headers?.lastModified) {
      const isUnchanged = await hasNothingNew(connection, name, request.headers.lastModified);
      if (isUnchanged) return { status: 304, etag, lastModified: request.headers.lastModified };
    }
    if (group.count === 0 || group.high < group.low) {
      return { status: 200, etag, contentType: OVERVIEW_TYPE, links: [] };
    }
    const low = Math.max(group.low, group.high - MAX_LINKS + 1);
    const range = `${low}-${group.high}`;
    let over = await connection.command(`OVER ${range}`, [224]);
    // Servers from before 2000 know the command by its older name.
    if (over.code === 500 || over.code === 501) over = await connection.command(`XOVER ${range}`, [224]);
    if (over.code === 423 || over.code === 420) {
      return { status: 200, etag, contentType: OVERVIEW_TYPE, links: [] };
    }
    if (over.code !== 224) return refusedAnswer(connection, over);
    const list = await readList(connection, request, MAX_LINKS, (line) => {
      const article = parseOverviewLine(line);
      return article === undefined ? undefined : articleUrl(request.url, article);
    });
    return {
      status: 200,
      etag,
      contentType: OVERVIEW_TYPE,
      ...list,
      truncated: list.truncated || low > group.low,
    };
  }

  async #listGroups(connection: NntpConnection, pattern: string, request: FetchRequest): Promise<Answer> {
    const command = pattern === '*' ? 'LIST ACTIVE' : `LIST ACTIVE ${pattern}`;
    const status = await connection.command(command, [215]);
    if (status.code !== 215) return refusedAnswer(connection, status);
    const list = await readList(connection, request, MAX_LINKS, (line) => {
      const group = parseActiveLine(line);
      return group === undefined ? undefined : groupUrl(request.url, group);
    });
    return { status: 200, contentType: ACTIVE_TYPE, ...list };
  }
}

/** Retrieves an article. An article never changes, so a conditional request only checks that it exists. */
async function retrieveArticle(
  connection: NntpConnection,
  article: string,
  request: FetchRequest,
  watch: TransferWatch,
): Promise<Answer> {
  const etag = request.headers?.etag;
  if (etag || request.headers?.lastModified) {
    const status = await connection.command(`STAT ${article}`);
    if (status.code !== 223) return refusedAnswer(connection, status);
    const isSame = !etag || etag === messageIdOf(status.text);
    if (isSame) return { status: 304, etag: messageIdOf(status.text) };
  }
  const status = await connection.command(`ARTICLE ${article}`, [220]);
  if (status.code !== 220) return refusedAnswer(connection, status);
  const body = collectorFor(request);
  try {
    const cut = await collectBlock(connection, body, request, watch);
    const content = await bodyAnswer(body, request);
    return {
      status: 200,
      contentType: ARTICLE_TYPE,
      etag: messageIdOf(status.text),
      lastModified: dateOf(content.body),
      ...content,
      ...cut,
    };
  } catch (error) {
    await body.drop();
    throw error;
  }
}

/** Collects the block of an article, up to the body's limit. Returns what cut it, if a part is kept. */
async function collectBlock(
  connection: NntpConnection,
  body: BodyCollector,
  request: FetchRequest,
  watch: TransferWatch,
): Promise<ReturnType<typeof cutBy>> {
  try {
    for await (const piece of connection.block()) {
      await collect(body, piece);
      if (body.truncated) break;
    }
    return {};
  } catch (error) {
    if (body.length === 0) throw error;
    return cutBy(error, watch, request, connection.timedOut);
  }
}

/** `number <id> ...`, the text of 220 and 223. */
function messageIdOf(text: string): string {
  return /<[^\s<>]+>/.exec(text)?.[0] ?? '';
}

function dateOf(article: Uint8Array): UnixSeconds {
  const text = Buffer.from(article.buffer, article.byteOffset, Math.min(article.length, 65_536)).toString(
    'latin1',
  );
  const end = text.search(/\r?\n\r?\n/);
  // A date of any length would make the search for its comment quadratic.
  const date = /^date:(.{1,300})$/im.exec(end < 0 ? text : text.slice(0, end))?.[1]?.trim();
  const milliseconds = date === undefined ? Number.NaN : Date.parse(date.replace(/\([^)]*\)$/, ''));
  return milliseconds > 0 ? Math.floor(milliseconds / 1000) : 0;
}

/** Queries NEWNEWS; false if the server does not allow it, as many do not. */
async function hasNothingNew(
  connection: NntpConnection,
  group: string,
  since: UnixSeconds,
): Promise<boolean> {
  const status = await connection.command(`NEWNEWS ${group} ${formatNntpTime(since)}`, [230]);
  if (status.code !== 230) return false;
  let length = 0;
  for await (const piece of connection.block()) {
    length += piece.length;
    // One article is enough; the rest of a short list is read, so that the connection can be used again.
    if (length > MAX_NEWNEWS_BYTES) break;
  }
  return length === 0;
}

async function readList(
  connection: NntpConnection,
  request: FetchRequest,
  maxLinks: number,
  linkOf: (line: string) => string | undefined,
): Promise<BodyAnswer & Pick<FetchResult, 'links'>> {
  const body = collectorFor(request);
  const splitter = new LineSplitter(undefined, 'latin1');
  const links = new Set<string>();
  let isCut = false;
  try {
    for await (const piece of connection.block()) {
      await collect(body, piece);
      for (const line of splitter.push(Buffer.from(piece))) {
        const url = line === undefined ? undefined : linkOf(line.replace(/\r$/, ''));
        if (url !== undefined) links.add(url);
      }
      // A server may list more than it was asked for.
      isCut = links.size > maxLinks || body.length > MAX_LIST_BYTES;
      if (isCut) break;
    }
    const content = await answerOf(await body.finish(), body.truncated || isCut, request);
    return { ...content, links: [...links].slice(0, maxLinks) };
  } catch (error) {
    await body.drop();
    throw error;
  }
}

/** HTTP status by the code of a refusal. */
const STATUS_BY_CODE: ReadonlyMap<number, number> = new Map([
  [411, 404],
  [420, 404],
  [423, 404],
  [430, 404],
  [480, 401],
  [481, 401],
  [482, 401],
  [502, 403],
  [403, 503],
  [501, 404],
]);

function refusedAnswer(connection: NntpConnection, status: NntpStatus): Answer {
  const code = STATUS_BY_CODE.get(status.code);
  if (code === undefined) throw connection.refusal(status);
  return { status: code, headers: { 'nntp-reply': `${status.code} ${status.text}` } };
}
