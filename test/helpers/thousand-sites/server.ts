// Serves the web: a listener on the address of each site, one port for all, and a log of the requests. Prints
// "ready PORT" and ends with its standard input.
//   node server.js SEED SITES MAX_ATTEMPTS LOG
import { closeSync, openSync, writeSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { type Answer, html } from './answers.js';
import type { LogEvent } from './log.js';
import { resolveRetryAfter, send } from './sender.js';
import { addressOf, type Site, type WebOptions } from './site.js';
import { siteOf } from './sites.js';

const FLUSH_INTERVAL_MS = 100;
const MAX_HEAD_BYTES = 64 * 1024;
const NOT_FOUND: Answer = html('not found', [], { status: 404 });

/** Writes log lines in batches, so that writing does not delay answers. */
class Log {
  readonly #file: number;
  #lines = '';

  constructor(file: string) {
    this.#file = openSync(file, 'w');
    setInterval(() => this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  add(event: Omit<LogEvent, 'timeMs'>): void {
    this.#lines += `${JSON.stringify({ timeMs: performance.now(), ...event })}\n`;
  }

  flush(): void {
    if (this.#lines !== '') writeSync(this.#file, this.#lines);
    this.#lines = '';
  }

  close(): void {
    this.flush();
    closeSync(this.#file);
  }
}

/** One connection. Logs requests on arrival and answers them in sequence. */
class Connection {
  readonly #queue: string[] = [];
  #text = '';
  #unanswered = 0;
  #isAnswering = false;

  constructor(
    readonly socket: Socket,
    readonly number: number,
    readonly served: ServedSite,
    readonly log: Log,
  ) {
    this.#logEvent('open');
    socket.on('data', (bytes) => this.#receive(bytes));
    // The peer may reset or close at any moment; `close` reports it.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (; this.#unanswered > 0; this.#unanswered--) this.#logEvent('end', { isAborted: true });
      this.#logEvent('close');
    });
  }

  #logEvent(event: LogEvent['event'], more: Partial<LogEvent> = {}): void {
    this.log.add({ site: this.served.site.index, connection: this.number, event, ...more });
  }

  #receive(bytes: Buffer): void {
    this.#text += bytes.toString('latin1');
    if (this.#text.length > MAX_HEAD_BYTES) this.socket.destroy();
    for (let end = this.#text.indexOf('\r\n\r\n'); end >= 0; end = this.#text.indexOf('\r\n\r\n')) {
      const head = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 4);
      const path = head.split(' ', 2)[1] ?? '';
      const userAgent = /^user-agent: *(.*)$/im.exec(head)?.[1] ?? '';
      this.#logEvent('begin', { path, userAgent, hasCookie: /^cookie:/im.test(head) });
      this.#unanswered++;
      this.#queue.push(path);
    }
    if (!this.#isAnswering) void this.#answerAll();
  }

  async #answerAll(): Promise<void> {
    this.#isAnswering = true;
    for (let path = this.#queue.shift(); path !== undefined; path = this.#queue.shift()) {
      const answer = this.served.answer(path);
      const retryAfter = resolveRetryAfter(answer);
      const sent =
        retryAfter === undefined
          ? answer
          : { ...answer, headers: { ...answer.headers, 'retry-after': retryAfter.value } };
      const { keepAlive } = await send(this.socket, sent, () => {
        this.#unanswered--;
        this.#logEvent('end', { retryAfterMs: retryAfter?.ms });
      });
      if (!keepAlive) break;
    }
    this.#isAnswering = false;
  }
}

/** A site with the number of requests for each path, which selects among its answers. */
class ServedSite {
  readonly #requestCounts = new Map<string, number>();

  constructor(readonly site: Site) {}

  answer(path: string): Answer {
    const answers = this.site.answers.get(path);
    if (answers === undefined) return this.site.trap?.(path) ?? NOT_FOUND;
    const count = this.#requestCounts.get(path) ?? 0;
    this.#requestCounts.set(path, count + 1);
    return answers[Math.min(count, answers.length - 1)] ?? NOT_FOUND;
  }
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => resolve());
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Listens on all addresses with one port that is free on each of them. Returns the port. */
async function start(options: Omit<WebOptions, 'port'>, log: Log): Promise<number> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const servers: Server[] = [];
    let connections = 0;
    let port = 0;
    try {
      for (let index = 0; index < options.sites; index++) {
        let served: ServedSite | undefined;
        const server = createServer({ noDelay: true }, (socket) => {
          // The port is known by now.
          served ??= new ServedSite(siteOf({ ...options, port }, index));
          new Connection(socket, ++connections, served, log);
        });
        servers.push(server);
        port = await listen(server, port, addressOf(index));
      }
      return port;
    } catch {
      for (const server of servers) server.close();
    }
  }
  throw new Error('no port is free on all addresses');
}

const [seed = '1', sites = '1', maxAttempts = '1', file = 'server.log'] = process.argv.slice(2);
const log = new Log(file);
const port = await start({ seed: Number(seed), sites: Number(sites), maxAttempts: Number(maxAttempts) }, log);
process.stdout.write(`ready ${port}\n`);
process.stdin.on('end', () => {
  log.close();
  process.exit();
});
process.stdin.resume();
