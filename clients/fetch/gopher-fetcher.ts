// Fetches `gopher:` URLs.
import { ConnectionError, StateError, UsageError } from '../../protocols/errors.js';
import {
  decodeGopherText,
  encodeGopherRequest,
  GOPHER_MENU_TYPE,
  type GopherAddress,
  GopherMenuDecoder,
  gopherItemType,
  gopherItemUrl,
  parseGopherError,
  parseGopherPlusHeader,
  parseGopherUrl,
} from '../../protocols/gopher/index.js';
import type { Connection } from '../connection/index.js';
import { BoundedBody } from './bounded-body.js';
import { publishDebug } from './debug-channel.js';
import { connectTo, type TransferOptions, TransferWatch } from './transfer.js';
import {
  type Answer,
  DEFAULT_MAX_BYTES,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
  resultOf,
} from './types.js';

/** Items of a menu that become links. */
const MAX_MENU_ITEMS = 100_000;

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
      const answer = await this.#read(connection, address, request);
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

  /**
   * Reads until the server closes, or until the end mark of a menu: some servers keep the connection open after
   * it.
   */
  async #read(connection: Connection, address: GopherAddress, request: FetchRequest): Promise<GopherAnswer> {
    const { kind, mediaType } = gopherItemType(address.type);
    const isMenu = (kind === 'menu' || kind === 'search') && address.plus === undefined;
    const menu = new GopherMenuDecoder({ maxItems: MAX_MENU_ITEMS });
    const body = new BoundedBody(request.maxBytes ?? DEFAULT_MAX_BYTES);
    const links = new Set<string>();
    let items = 0;
    while (!body.truncated && !menu.ended) {
      const chunk = await connection.read();
      if (chunk === undefined) break;
      body.push(chunk);
      if (!isMenu) continue;
      for (const item of menu.push(chunk)) {
        items += 1;
        const url = gopherItemUrl(item);
        if (url !== undefined && url !== request.url) links.add(url);
      }
    }
    const bytes = body.bytes();
    // Even an empty menu has an end mark; a text may be empty.
    if (isMenu && bytes.length === 0) {
      throw new ConnectionError(`${address.host}: the server closed the connection without an answer`);
    }
    // gophernicus reports a missing menu in plain text.
    const isNoMenu = isMenu && items === 0 && !/^[\s.]*$/.test(toPrintable(bytes.subarray(0, 512)));
    const refusal = body.truncated
      ? undefined
      : (readError(bytes, address) ?? (isNoMenu ? toPrintable(bytes.subarray(0, 512)) : undefined));
    if (refusal !== undefined) {
      return { status: 404, body: bytes, truncated: false, headers: { 'gopher-error': refusal } };
    }
    const contentType = address.plus === undefined ? mediaType : undefined;
    return {
      status: 200,
      contentType,
      body: body.truncated ? bytes : withoutFraming(bytes, address, kind === 'text'),
      truncated: body.truncated || menu.truncated,
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

function withoutFraming(body: Uint8Array, address: GopherAddress, isText: boolean): Uint8Array {
  const header = address.plus === undefined ? undefined : parseGopherPlusHeader(body);
  if (header === undefined) return isText ? decodeGopherText(body) : body;
  const rest = body.slice(header.headerBytes);
  if (header.length >= 0) return rest.slice(0, header.length);
  return header.length === -1 ? decodeGopherText(rest) : rest;
}
