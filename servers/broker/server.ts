import {
  type BrokerMessage,
  BrokerServerSession,
  encodeResult,
  parseMessage,
  REPLY,
  type ResultItem,
  type ServerEvent,
  VERSION_TEXT,
} from '../../protocols/broker/index.js';
import { BULK_ERROR, BulkReplyEncoder, encodeBulkError } from '../../protocols/bulk/index.js';
import { ConnectionError, ProtocolError } from '../../protocols/errors.js';
import { type HostConnection, type Logger, TcpHost } from '../host/index.js';
import { type AdministeredBroker, administer } from './admin.js';
import type { Broker } from './broker.js';
import { ObjectList } from './bulk-list.js';
import { answerBulk, type BulkServingBroker } from './bulk-reply.js';
import type { SearchSummary } from './search.js';

/** The members of a {@link Broker} that its port uses. */
export type ServedBroker = Pick<
  Broker,
  | 'search'
  | 'waitForSlot'
  | 'close'
  | 'debug'
  | 'shutdownRequested'
  | keyof AdministeredBroker
  | keyof BulkServingBroker
>;

/** What {@link BrokerServer.listen} needs. */
export interface BrokerServerOptions {
  readonly broker: ServedBroker;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly log: Logger;
  /** Connections at once, default 256. */
  readonly maxConnections?: number;
  /** Milliseconds in which a message must arrive, default 60 000 (BRK-1.8). */
  readonly messageTimeoutMs?: number;
  /** Milliseconds of silence after which the version line is repeated, default 15 000 (BRK-1.5). */
  readonly repeatVersionMs?: number;
  /** Milliseconds for which a client may accept no data, default 120 000. */
  readonly drainTimeoutMs?: number;
  /** Milliseconds that a query waits for a slot when `Max-Queries` are running, default 10 000 (BRK-4.18). */
  readonly queueWaitMs?: number;
  /** Milliseconds that the reply to a deleting or adding command waits for its outcome, default 2000 (BRK-5.4). */
  readonly adminPatienceMs?: number;
  /** Called on `#shutdown`. Default: closes this server, then the broker. */
  readonly shutdown?: () => void;
}

/** Bytes of a message in the log at most. */
const MAX_LOGGED = 500;

/** BP-23 */
const TOO_BUSY = new BulkReplyEncoder().trailer({
  kind: 'error',
  number: BULK_ERROR.busy,
  text: 'Broker is too busy, try again later',
});

/** The Broker's port: user queries, administration, bulk transfers (BRK-1.1). One message a connection (BRK-1.6). */
export class BrokerServer implements AsyncDisposable {
  readonly #host: TcpHost;

  private constructor(host: TcpHost) {
    this.#host = host;
  }

  /** @throws ConnectionError when the port is not available */
  static async listen(options: BrokerServerOptions): Promise<BrokerServer> {
    const { broker, log, messageTimeoutMs = 60_000 } = options;
    const host = await TcpHost.listen(
      {
        host: options.host,
        port: options.port,
        log,
        name: 'broker',
        maxConnections: options.maxConnections ?? 256,
        // The deadline of the whole message ends first, so that the client gets a reply.
        idleTimeoutMs: messageTimeoutMs * 2,
        drainTimeoutMs: options.drainTimeoutMs ?? 120_000,
      },
      (connection) => answer(connection, { ...options, messageTimeoutMs }),
    );
    const server = new BrokerServer(host);
    void broker.shutdownRequested.then(() => {
      if (options.shutdown !== undefined) options.shutdown();
      else void server.close().then(() => broker.close());
    });
    return server;
  }

  /** The address that it listens on. */
  get address(): { readonly host: string; readonly port: number } {
    return this.#host.address;
  }

  /** Open connections. */
  get connections(): number {
    return this.#host.connections;
  }

  /** Stops accepting connections, and waits up to `graceMs` (default 2000) for replies to finish. */
  close(options: { readonly graceMs?: number } = {}): Promise<void> {
    return this.#host.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

interface SessionOptions extends BrokerServerOptions {
  readonly messageTimeoutMs: number;
}

async function answer(connection: HostConnection, options: SessionOptions): Promise<void> {
  const session = new BrokerServerSession();
  const { debug } = options.broker;
  debug(78, 9, () => `${connection.peer.address}: connected`);
  // BRK-1.3: the Broker speaks first.
  await connection.write(session.greeting());
  const request = await readMessage(connection, session, options.messageTimeoutMs);
  if (request === undefined) return connection.end();
  if (request.kind === 'error') {
    await connection.write(encodeResult(request.item));
    return connection.end();
  }
  let message: BrokerMessage;
  try {
    message = parseMessage(request.line);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    // BRK-4.18; bulk transfers have a code of their own for errors (BT-10).
    await connection.write(
      isBulk(request.line)
        ? encodeBulkError(`Malformed message: ${error.message}`)
        : encodeResult(REPLY.malformed(error)),
    );
    return connection.end();
  }
  switch (message.kind) {
    case 'user':
      await answerQuery(connection, session, message, request.line, options);
      break;
    case 'bulk':
      await answerBulk(connection, message, textOf(request.line), options.broker);
      break;
    case 'admin':
      await answerCommand(connection, message, options);
      break;
  }
  // BRK-4.12: the end of the reply is the end of the connection.
  await connection.end();
}

function isBulk(line: Uint8Array): boolean {
  return /^\s*#bulk\b/i.test(textOf(line));
}

/** A message for the log, cut if it is long. */
function textOf(line: Uint8Array): string {
  const text = Buffer.from(line.subarray(0, MAX_LOGGED)).toString('utf8');
  return `${text}${line.length > MAX_LOGGED ? '...' : ''}`;
}

/** The one message of the connection (BRK-1.7, 1.8), or its error; undefined if the peer closed the connection without one. */
async function readMessage(
  connection: HostConnection,
  session: BrokerServerSession,
  timeoutMs: number,
): Promise<ServerEvent | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), timeoutMs);
  });
  const chunks = connection.chunks()[Symbol.asyncIterator]();
  try {
    for (;;) {
      // The deadline is for the whole message: single bytes do not prolong it.
      const next = await Promise.race([chunks.next(), late]);
      if (next === 'late') return session.timeout()[0];
      const [event] = next.done === true ? session.end() : session.push(next.value);
      if (event !== undefined) return event;
      if (next.done === true) return undefined;
    }
  } finally {
    clearTimeout(timer);
  }
}

async function answerQuery(
  connection: HostConnection,
  session: BrokerServerSession,
  message: BrokerMessage & { readonly kind: 'user' },
  line: Uint8Array,
  options: SessionOptions,
): Promise<void> {
  const { broker, repeatVersionMs = 15_000 } = options;
  const { address } = connection.peer;
  const started = performance.now();
  // A burst of clients is served one after the other; a client that would wait too long is refused.
  const deadline = started + (options.queueWaitMs ?? 10_000);
  let pages = broker.search(message.query, message.flags, connection.signal);
  while (pages === undefined && performance.now() < deadline && !connection.signal.aborted) {
    await broker.waitForSlot(deadline - performance.now(), connection.signal);
    pages = broker.search(message.query, message.flags, connection.signal);
  }
  const list = message.flags.interface === 2 ? new ObjectList() : undefined;
  // BP-29: the reply in the other interface follows the shipped greeting.
  if (list !== undefined) await connection.write(list.head(VERSION_TEXT, await broker.description()));
  if (pages === undefined) {
    logQuery(options, address, line, 'refused, too many queries');
    await connection.write(list === undefined ? encodeResult(REPLY.busy()) : TOO_BUSY);
    return;
  }
  let summary: SearchSummary | undefined;
  try {
    let next = pages.next();
    for (;;) {
      const page = await within(next, repeatVersionMs);
      if (page === undefined) {
        // The other interface has no such line.
        if (list !== undefined) continue;
        // BRK-1.5: the write detects that the client has closed the connection during a long search.
        await connection.write(session.greeting());
        continue;
      }
      if (page.done === true) {
        summary = page.value;
        if (list !== undefined) await connection.write(list.end());
        break;
      }
      // The next page is searched for when this one is sent, so that a slow reader costs one page.
      await connection.write(list?.push(page.value) ?? Buffer.concat(page.value.map(encodeResult)));
      logReturned(broker, address, page.value);
      next = pages.next();
    }
  } catch (error) {
    if (error instanceof ConnectionError) logQuery(options, address, line, 'client left');
    throw error;
  } finally {
    await pages.return({ objects: 0, lines: 0, complete: false, reason: 'aborted' });
  }
  const milliseconds = Math.round(performance.now() - started);
  const ending = summary.complete ? '' : ` (${summary.reason ?? 'incomplete'})`;
  logQuery(
    options,
    address,
    line,
    `${summary.objects} objects, ${summary.lines} lines, ${milliseconds} ms${ending}`,
  );
}

/** BRK-5.7 `Query-Return`: one line for each object that was sent. */
function logReturned({ events }: ServedBroker, address: string, page: readonly ResultItem[]): void {
  if (!events.wants('Query-Return')) return;
  for (const item of page) if (item.kind === 'match') events.write('Query-Return', `${address}: ${item.url}`);
}

/** BRK-5.7 `Query`: one line for each user query. */
function logQuery(options: SessionOptions, address: string, line: Uint8Array, outcome: string): void {
  if (!options.broker.logs('Query')) return;
  const entry = `${address}: ${textOf(line)}: ${outcome}`;
  options.log.info(`Query: ${entry}`);
  options.broker.events.write('Query', entry);
}

async function answerCommand(
  connection: HostConnection,
  { password, command }: BrokerMessage & { readonly kind: 'admin' },
  { broker, adminPatienceMs }: SessionOptions,
): Promise<void> {
  const { address } = connection.peer;
  const patience = adminPatienceMs === undefined ? {} : { patienceMs: adminPatienceMs };
  for await (const item of administer(broker, { password, command, address }, patience)) {
    await connection.write(encodeResult(item));
  }
}

/** The result, or undefined if it is not there after `ms` milliseconds. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, waited]);
  } finally {
    clearTimeout(timer);
  }
}
