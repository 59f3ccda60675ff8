// The web as a process: a listener on each site's address, one port for all, and a log of the requests. Ends with its standard
// input.
//   node server.js SEED SITES TRIES LOG        prints "ready PORT"
import { closeSync, openSync, writeSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { type Answer, html } from './answers.js';
import type { LogEvent } from './log.js';
import { retryAfter, send } from './sender.js';
import { addressOf, type Site, type WebOptions } from './site.js';
import { siteOf } from './sites.js';

const FLUSH_MS = 100;
const MAX_HEAD = 64 * 1024;
const NOT_FOUND: Answer = html('not found', [], { status: 404 });

/** Log lines, written together. */
class Log {
  readonly #file: number;
  #lines = '';

  constructor(file: string) {
    this.#file = openSync(file, 'w');
    setInterval(() => this.flush(), FLUSH_MS).unref();
  }

  add(event: Omit<LogEvent, 'at'>): void {
    this.#lines += `${JSON.stringify({ at: performance.now(), ...event })}\n`;
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

/** One connection: requests are answered in sequence and logged on arrival. */
class Connection {
  readonly #waiting: string[] = [];
  #text = '';
  #open = 0;
  #busy = false;

  constructor(
    readonly socket: Socket,
    readonly number: number,
    readonly web: ServedSite,
    readonly log: Log,
  ) {
    this.#note('open');
    socket.on('data', (bytes) => this.#take(bytes));
    // The peer may reset or close at any moment; `close` reports it.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (; this.#open > 0; this.#open--) this.#note('end', { cut: true });
      this.#note('close');
    });
  }

  #note(event: LogEvent['event'], more: Partial<LogEvent> = {}): void {
    this.log.add({ site: this.web.site.index, connection: this.number, event, ...more });
  }

  #take(bytes: Buffer): void {
    this.#text += bytes.toString('latin1');
    if (this.#text.length > MAX_HEAD) this.socket.destroy();
    for (let end = this.#text.indexOf('\r\n\r\n'); end >= 0; end = this.#text.indexOf('\r\n\r\n')) {
      const head = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 4);
      const path = head.split(' ', 2)[1] ?? '';
      const agent = /^user-agent: *(.*)$/im.exec(head)?.[1] ?? '';
      this.#note('begin', { path, agent, cookie: /^cookie:/im.test(head) });
      this.#open++;
      this.#waiting.push(path);
    }
    if (!this.#busy) void this.#answerAll();
  }

  async #answerAll(): Promise<void> {
    this.#busy = true;
    for (let path = this.#waiting.shift(); path !== undefined; path = this.#waiting.shift()) {
      const answer = this.web.answer(path);
      const later = retryAfter(answer);
      const sent =
        later === undefined
          ? answer
          : { ...answer, headers: { ...answer.headers, 'retry-after': later.value } };
      const { keep } = await send(this.socket, sent, () => {
        this.#open--;
        this.#note('end', later === undefined ? {} : { retryAfter: later.ms });
      });
      if (!keep) break;
    }
    this.#busy = false;
  }
}

/** A site with the counters that its sequences of answers need. */
class ServedSite {
  readonly #asked = new Map<string, number>();

  constructor(readonly site: Site) {}

  answer(path: string): Answer {
    const answers = this.site.answers.get(path);
    if (answers === undefined) return this.site.trap?.(path) ?? NOT_FOUND;
    const asked = this.#asked.get(path) ?? 0;
    this.#asked.set(path, asked + 1);
    return answers[Math.min(asked, answers.length - 1)] ?? NOT_FOUND;
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

/** Listens on all addresses with one port that is free on each of them. */
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

const [seed = '1', sites = '1', tries = '1', file = 'server.log'] = process.argv.slice(2);
const log = new Log(file);
const port = await start({ seed: Number(seed), sites: Number(sites), tries: Number(tries) }, log);
process.stdout.write(`ready ${port}\n`);
process.stdin.on('end', () => {
  log.close();
  process.exit();
});
process.stdin.resume();
