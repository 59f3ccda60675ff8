// Fetches `gopher:` URLs.
import { ConnectionError, StateError, UsageError } from '../../protocols/errors.js';
import {
  DotUnstuffer,
  decodeGopherText,
  encodeGopherRequest,
  GOPHER_MENU_TYPE,
  type GopherAddress,
  GopherMenuDecoder,
  gopherItemType,
  gopherItemUrl,
  gopherTextEnd,
  parseGopherError,
  parseGopherPlusHeader,
  parseGopherUrl,
} from '../../protocols/gopher/index.js';
import type { Connection } from '../connection/index.js';
import type { BodyCollector } from './bounded-body.js';
import { answerOf, collect, collectorFor, cutBy } from './collected-body.js';
import { publishDebug } from './debug-channel.js';
import { type BodyBytes, beginningOf, isStored, type StoredBody } from './stored-body.js';
import { connectTo, type TransferOptions, TransferWatch } from './transfer.js';
import { type Answer, type Fetcher, type FetchRequest, type FetchResult, resultOf } from './types.js';

/** Items of a menu that become links. */
const MAX_MENU_ITEMS = 100_000;
/** Bytes of a reply that show whether it is an error. */
const ERROR_BYTES = 8192;

/** Fetches `gopher:` URLs, each over its own connection, as the protocol requires. */
export class GopherFetcher implements Fetcher {
  readonly #options: TransferOptions;
  readonly #running = new Set<Connection>();
  #closed = false;

  constructor(options: TransferOptions = {}) {
    this.#options = options;
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    if (this.#closed) throw new StateError('the fetcher is closed');
    const address = parseGopherUrl(request.url);
    const type = gopherItemType(address.type);
    if (type.kind === 'nothing') {
      throw new UsageError(`gopher items of type ${JSON.stringify(address.type)} cannot be retrieved`);
    }
    const beginTime = Date.now();
    const connection = await connectTo(address.host, address.port, request, this.#options);
    this.#running.add(connection);
    using watch = new TransferWatch(address.host, request, this.#options, connection);
    try {
      await connection.write(encodeGopherRequest(address));
      const answer = await this.#read(connection, address, request, watch);
      publishDebug(24, 1, () => {
        const { host, port, selector } = address;
        const outcome = answer.links === undefined ? 'a document' : `a menu of ${answer.links.length} links`;
        const reply = answer.headers?.['gopher-error'] ?? `${outcome}, ${answer.body.length} bytes`;
        return `${host}:${port} type ${address.type}, ${JSON.stringify(selector)}: ${reply}`;
      });
      return resultOf(request.url, beginTime, { remoteAddress: connection.remoteAddress, ...answer });
    } catch (error) {
      throw watch.causeOf(error);
    } finally {
      this.#running.delete(connection);
      connection.destroy();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const connection of this.#running) connection.destroy(new ConnectionError('the fetcher was closed'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #read(
    connection: Connection,
    address: GopherAddress,
    request: FetchRequest,
    watch: TransferWatch,
  ): Promise<GopherAnswer> {
    const body = collectorFor(request);
    try {
      return await this.#readInto(body, connection, address, request, watch);
    } catch (error) {
      await body.drop();
      throw error;
    }
  }

  /**
   * Reads until the server closes, or until the end mark of a menu: some servers keep the connection open after
   * it.
   */
  async #readInto(
    body: BodyCollector,
    connection: Connection,
    address: GopherAddress,
    request: FetchRequest,
    watch: TransferWatch,
  ): Promise<GopherAnswer> {
    const { kind, mediaType } = gopherItemType(address.type);
    const isMenu = (kind === 'menu' || kind === 'search') && address.plus === undefined;
    const menu = new GopherMenuDecoder({ maxItems: MAX_MENU_ITEMS });
    const links = new Set<string>();
    let items = 0;
    let cut: ReturnType<typeof cutBy> = {};
    try {
      while (!body.truncated && !menu.ended) {
        const chunk = await connection.read();
        if (chunk === undefined) break;
        await collect(body, chunk);
        if (!isMenu) continue;
        for (const item of menu.push(chunk)) {
          items += 1;
          const url = gopherItemUrl(item);
          if (url !== undefined && url !== request.url) links.add(url);
        }
      }
    } catch (error) {
      // The links of half a menu are not those of the menu.
      if (isMenu || body.length === 0 || this.#closed) throw error;
      cut = cutBy(error, watch, request, connection.timedOut);
    }
    const raw = await body.finish();
    const start = await beginningOf(raw, ERROR_BYTES);
    // Even an empty menu has an end mark; a text may be empty.
    if (isMenu && raw.length === 0) {
      throw new ConnectionError(`${address.host}: the server closed the connection without an answer`);
    }
    // gophernicus reports a missing menu in plain text.
    const isNoMenu = isMenu && items === 0 && !/^[\s.]*$/.test(toPrintable(start.subarray(0, 512)));
    const refusal = body.truncated
      ? undefined
      : (readError(start, address) ?? (isNoMenu ? toPrintable(start.subarray(0, 512)) : undefined));
    if (refusal !== undefined) {
      const answer = await answerOf(raw, false, request);
      return { status: 404, ...answer, headers: { 'gopher-error': refusal } };
    }
    if (!body.truncated && cut.late === undefined && cut.lenient === undefined)
      cut = missingEnd(raw, start, address, request);
    const contentType = address.plus === undefined ? mediaType : undefined;
    const content = body.truncated
      ? raw
      : await withoutFraming(raw, start, address, kind === 'text', request);
    const answer = await answerOf(content, body.truncated || menu.truncated, request);
    return {
      status: 200,
      contentType,
      ...answer,
      ...cut,
      ...(isMenu ? { contentType: GOPHER_MENU_TYPE, links: [...links] } : {}),
    };
  }
}

type GopherAnswer = Answer & Pick<FetchResult, 'body'>;

function readError(body: Uint8Array, address: GopherAddress): string | undefined {
  if (address.plus !== undefined) {
    const header = parseGopherPlusHeader(body);
    if (header?.failed === true) return toPrintable(body.subarray(header.headerBytes, 512));
  }
  const message = parseGopherError(body);
  return message === undefined ? undefined : toPrintable(Buffer.from(message, 'latin1'));
}

function toPrintable(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('utf8')
    .replace(/[\0-\x1f]+/g, ' ')
    .trim();
}

/** What is missing of a body whose length the server announced. @throws ConnectionError unless a part is kept */
function missingEnd(
  raw: BodyBytes,
  start: Uint8Array,
  { host, plus }: GopherAddress,
  { keepIncomplete }: FetchRequest,
): Pick<FetchResult, 'lenient'> {
  const header = plus === undefined ? undefined : parseGopherPlusHeader(start);
  const length = header === undefined ? 0 : raw.length - header.headerBytes;
  if (header === undefined || header.length <= length) return {};
  const problem = `${host}: only ${length} of ${header.length} bytes arrived`;
  if (keepIncomplete !== true) throw new ConnectionError(problem);
  return { lenient: { deviations: [], head: new Uint8Array(), problem, cut: 'disconnect' } };
}

/**
 * Returns the document without the header of Gopher+, and a text without its end mark; what is on disk is copied.
 * @throws the errors of the disk
 */
async function withoutFraming(
  raw: BodyBytes,
  start: Uint8Array,
  address: GopherAddress,
  isText: boolean,
  request: FetchRequest,
): Promise<BodyBytes> {
  const header = address.plus === undefined ? undefined : parseGopherPlusHeader(start);
  const begin = header?.headerBytes ?? 0;
  const isLines = header === undefined ? isText : header.length === -1;
  const end = header !== undefined && header.length >= 0 ? begin + header.length : raw.length;
  if (!isStored(raw)) {
    const content = begin === 0 && end >= raw.length ? raw : raw.slice(begin, end);
    return isLines ? decodeGopherText(content) : content;
  }
  const mark = isLines ? gopherTextEnd(await bytesOf(raw, Math.max(begin, raw.length - MARK_BYTES))) : 0;
  if (begin === 0 && mark === 0 && end >= raw.length) return raw;
  const copy = collectorFor(request);
  const lines = mark > 0 ? new DotUnstuffer() : undefined;
  try {
    for await (const piece of raw.pieces(begin, Math.min(end, raw.length - mark)))
      await collect(copy, lines === undefined ? new Uint8Array(piece) : lines.push(piece));
    return await copy.finish();
  } catch (error) {
    await copy.drop();
    throw error;
  } finally {
    await raw.close();
  }
}

/** Bytes at the end of a text that show its end mark. */
const MARK_BYTES = 4;

/** Returns the end of a body on disk. */
async function bytesOf(body: StoredBody, from: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body.pieces(from, body.length)) pieces.push(new Uint8Array(piece));
  return Buffer.concat(pieces);
}
