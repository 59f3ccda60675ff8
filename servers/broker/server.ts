// The Broker's port (BRK-1).
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

/** Options of {@link BrokerServer.listen}. */
export interface BrokerServerOptions {
  readonly broker: ServedBroker;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly log: Logger;
  /** Concurrent connections, default 256. */
  readonly maxConnections?: number;
  /** Time in which a message must arrive, default 60 000 (BRK-1.8). */
  readonly messageTimeoutMs?: number;
  /** Time without output after which the version line is repeated, default 15 000 (BRK-1.5). */
  readonly repeatVersionMs?: number;
  /** Time for which a client may accept no data, default 120 000. */
  readonly drainTimeoutMs?: number;
  /** Time for which a query waits for a slot when `Max-Queries` are running, default 10 000 (BRK-4.18). */
  readonly queueWaitMs?: number;
  /** Time for which the reply to a deleting or adding command waits for its outcome, default 2000 (BRK-5.4). */
  readonly adminPatienceMs?: number;
  /** Called on `#shutdown`. Default: closes this server, then the broker. */
  readonly shutdown?: () => void;
}

/** A longer message is cut in the log. */
const MAX_LOGGED_BYTES = 500;

/** BP-23: the refusal in the interface of 1995. */
const TOO_BUSY = new BulkReplyEncoder().trailer({
  kind: 'error',
  number: BULK_ERROR.busy,
  text: 'Broker is too busy, try again later',
});

/** The Broker's port: user queries, administration, bulk transfers (BRK-1.1). Each connection carries one message (BRK-1.6). */
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
        // Longer than the deadline of the message, so that the client gets a reply.
        idleTimeoutMs: messageTimeoutMs * 2,
        drainTimeoutMs: options.drainTimeoutMs ?? 120_000,
      },
      (connection) => serveConnection(connection, { ...options, messageTimeoutMs }),
    );
    const server = new BrokerServer(host);
    void broker.shutdownRequested.then(() => {
      if (options.shutdown !== undefined) options.shutdown();
      else void server.close().then(() => broker.close());
    });
    return server;
  }

  /** Address of the port. */
  get address(): { readonly host: string; readonly port: number } {
    return this.#host.address;
  }

  /** Number of open connections. */
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

async function serveConnection(connection: HostConnection, options: SessionOptions): Promise<void> {
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
    // BRK-4.18; bulk transfers have their own code for errors (BT-10).
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
      await answerBulk(connection, message, messageText(request.line), options.broker);
      break;
    case 'admin':
      await answerCommand(connection, message, options);
      break;
  }
  // BRK-4.12: the end of the reply is the end of the connection.
  await connection.end();
}

function isBulk(line: Uint8Array): boolean {
  return /^\s*#bulk\b/i.test(messageText(line));
}

/** Returns a message as the log shows it, cut if it is long. */
function messageText(line: Uint8Array): string {
  const text = Buffer.from(line.subarray(0, MAX_LOGGED_BYTES)).toString('utf8');
  return `${text}${line.length > MAX_LOGGED_BYTES ? '...' : ''}`;
}

/** Reads the message of the connection (BRK-1.7, 1.8). Returns undefined if the peer closed the connection without one. */
async function readMessage(
  connection: HostConnection,
  session: BrokerServerSession,
  timeoutMs: number,
): Promise<ServerEvent | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), timeoutMs);
  });
  const chunks = connection.chunks()[Symbol.asyncIterator]();
  try {
    for (;;) {
      // The deadline is for the whole message: single bytes do not extend it.
      const next = await Promise.race([chunks.next(), timedOut]);
      if (next === 'timeout') return session.timeout()[0];
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
  // Clients that arrive at the same time are served one after the other; one that would wait too long is refused.
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
      const page = await withTimeout(next, repeatVersionMs);
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
      // The next page is searched for after this one is sent, so that a slow reader occupies the memory of one page.
      await connection.write(list?.push(page.value) ?? Buffer.concat(page.value.map(encodeResult)));
      logReturned(broker, address, page.value);
      next = pages.next();
    }
  } catch (error) {
    if (error instanceof ConnectionError) logQuery(options, address, line, 'client disconnected');
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

/** BRK-5.7 `Query-Return`: logs one line for each object that was sent. */
function logReturned({ events }: ServedBroker, address: string, page: readonly ResultItem[]): void {
  if (!events.isEnabled('Query-Return')) return;
  for (const item of page) if (item.kind === 'match') events.write('Query-Return', `${address}: ${item.url}`);
}

/** BRK-5.7 `Query`: logs one line for each user query. */
function logQuery(options: SessionOptions, address: string, line: Uint8Array, outcome: string): void {
  if (!options.broker.logs('Query')) return;
  const entry = `${address}: ${messageText(line)}: ${outcome}`;
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

/** Resolves with the result, or with undefined if it is not available after `ms` milliseconds. */
async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
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
