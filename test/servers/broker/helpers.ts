// Helpers for tests of the Broker: a broker in a temporary directory, a scripted gatherd, a small corpus. Times
// are in Unix seconds.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { DEFAULT_FLAGS, parseQuery, type ResultItem } from '../../../protocols/broker/index.js';
import { type BrokerConfig, type CollectionPoint, parseBrokerConf } from '../../../protocols/config/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import {
  Broker,
  type BrokerOptions,
  BrokerServer,
  type BrokerServerOptions,
  type RequestContext,
  type SearchSummary,
} from '../../../servers/broker/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';

/** 2026-01-01T00:00:00Z, the time of the clock in these tests. */
export const NOW = 1_767_225_600;

/** Returns a SOIF object whose sizes are counted here, not by the code under test. */
export function soif(url: string, attributes: Readonly<Record<string, string>>): string {
  const lines = Object.entries(attributes).map(
    ([name, value]) => `${name}{${Buffer.byteLength(value)}}:\t${value}\n`,
  );
  return `@FILE { ${url}\n${lines.join('')}}\n`;
}

/** Returns an object as the Gatherer `name` sends it. */
export function document(
  url: string,
  attributes: Readonly<Record<string, string>>,
  updateTime = NOW - 1000,
  name = 'Example Gatherer',
): string {
  return soif(url, {
    ...attributes,
    'Update-Time': String(updateTime),
    'Time-to-Live': '2419200',
    'Gatherer-Name': name,
    'Gatherer-Host': 'gatherer.example.org',
    'Gatherer-Version': '1.8',
  });
}

/** An object that a scripted gatherd sends. */
export interface GathererDocument {
  readonly updateTime: number;
  readonly text: string;
}

/** A minimal gatherd that answers the commands of a Broker and records them. */
export class ScriptedGatherd {
  documents: GathererDocument[] = [];
  /** The whole stream to send instead of `documents`. */
  sections: string | Uint8Array | undefined;
  readonly commands: string[] = [];
  /** The connection closes after this many bytes of data; undefined: it stays open. */
  breakAfter: number | undefined;
  /** If set, data is sent only after this promise resolves. */
  gate: Promise<void> | undefined;
  /** Is called before each reply to SEND-UPDATE. */
  onUpdate: (() => void) | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(): Promise<ScriptedGatherd> {
    const server = createServer();
    const gatherd = new ScriptedGatherd(server);
    server.on('connection', (socket) => gatherd.#serve(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return gatherd;
  }

  point(type: CollectionPoint['type']): CollectionPoint {
    return { host: '127.0.0.1', port: this.port, type, line: 1 };
  }

  get port(): number {
    const address = this.#server.address();
    return address === null || typeof address === 'string' ? 0 : address.port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.write('000 - HELLO 1.8 gatherer.example.org\n');
    let input = '';
    let compressed = false;
    socket.on('data', async (chunk) => {
      input += chunk.toString('latin1');
      const lines = input.split('\n');
      input = lines.pop() ?? '';
      for (const line of lines) {
        const command = line.trim();
        this.commands.push(command);
        if (command.startsWith('HELLO')) socket.write('100 - HELLO\n');
        else if (command === 'SET compression') compressed = true;
        else if (command.startsWith('SEND-UPDATE'))
          await this.#sendUpdate(socket, Number(command.slice(12)), compressed);
        else if (command.startsWith('SEND-OBJECT ')) socket.write(this.#objectReply(command.slice(12)));
        else if (command === 'QUIT') socket.end('999 - Bye\n');
        if (command.startsWith('SET')) socket.write('500 - Ok\n');
      }
    });
  }

  #objectReply(url: string): string {
    const found = this.documents.find(({ text }) => text.startsWith(`@FILE { ${url}\n`));
    return found === undefined ? '399 - No such object\n' : `300 - Object\n${found.text}399 - Sent object\n`;
  }

  async #sendUpdate(socket: Socket, since: number, compressed: boolean): Promise<void> {
    this.onUpdate?.();
    const selected = this.documents.filter((document) => document.updateTime >= since);
    const body = selected.map((document) => document.text).join('');
    const stream = Buffer.from(this.sections ?? `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${body}}\n`);
    const data = compressed ? gzipSync(stream) : stream;
    socket.write(`400 - Sending all objects since ${since}\n`);
    if (this.breakAfter === undefined) {
      await this.gate;
      socket.write(data);
      socket.write(`499 - Sent ${selected.length} objects\n`);
    } else {
      socket.write(data.subarray(0, this.breakAfter), () => socket.end());
    }
  }
}

/** The part of tap's `t` that these helpers use. */
export interface Teardown {
  teardown(handler: () => unknown): void;
}

/** A broker in a temporary directory, and the lines of its log. */
export interface BrokerFixture {
  readonly broker: Broker;
  readonly directory: string;
  readonly log: string[];
  readonly config: BrokerConfig;
  /** Opens another broker in the same directory. */
  open(options?: Partial<BrokerOptions>): Promise<Broker>;
}

/** Returns a parsed `broker.conf` for a directory, with these additional lines. */
export function brokerConfig(directory: string, lines = ''): BrokerConfig {
  const text = `Broker-Directory ${directory}
Broker-Name example
Broker-Host broker.example.org
HTTP-Host www.example.org
HTTP-Port 8080
Admin-Password open sesame
${lines}`;
  return parseBrokerConf(text, join(directory, 'admin', 'broker.conf')).config;
}

/** Opens a broker; the end of the test closes it and removes its directory, unless `keep` is set. */
export async function openBroker(
  t: Teardown,
  options: Partial<BrokerOptions> & {
    readonly conf?: string;
    readonly directory?: string;
    readonly keep?: boolean;
  } = {},
): Promise<BrokerFixture> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'broker-test-')));
  const config = brokerConfig(directory, options.conf);
  const log: string[] = [];
  const logger = createLoggerOn({ write: (line) => void log.push(line) }, { json: false, program: 'broker' });
  const opened: Broker[] = [];
  const open = async (more: Partial<BrokerOptions> = {}) => {
    const broker = await Broker.open({
      config,
      log: logger,
      now: () => NOW,
      points: [],
      ...options,
      ...more,
    });
    opened.push(broker);
    return broker;
  };
  t.teardown(async () => {
    for (const broker of opened) await broker.close();
    if (options.keep !== true) await rm(directory, { recursive: true, force: true });
  });
  return { broker: await open(), directory, log, config, open };
}

/** Serves a broker on a free port. */
export async function serveBroker(
  t: Teardown,
  { broker }: Pick<BrokerFixture, 'broker'>,
  options: Partial<BrokerServerOptions> = {},
): Promise<BrokerServer> {
  const server = await BrokerServer.listen({
    broker,
    host: '127.0.0.1',
    port: 0,
    log: broker.log,
    ...options,
  });
  t.teardown(() => server.close({ graceMs: 0 }));
  return server;
}

/** Sends a message verbatim and returns the bytes of the whole reply, like the Broker clients of 1998. */
export async function exchangeBytes(port: number, message: string | Uint8Array): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  socket.write(message);
  return buffer(socket);
}

/** Sends a message verbatim and returns the whole reply as text. */
export async function exchange(port: number, message: string | Uint8Array): Promise<string> {
  return (await exchangeBytes(port, message)).toString('utf8');
}

/** Stores one object without indexing it. */
export async function storeObject({ store }: Pick<Broker, 'store'>, text: string | Buffer): Promise<void> {
  const bytes = Buffer.from(text);
  await store.apply([{ kind: 'update', object: decodeSoif(bytes), bytes }]);
}

/** Returns the URLs that a query finds in any case, sorted. */
export async function findUrls(broker: Broker, query: string): Promise<string[]> {
  const pages = broker.queries.search(parseQuery(query), {
    ...DEFAULT_FLAGS,
    ignoreCase: true,
    opaque: true,
  });
  const urls: string[] = [];
  for await (const page of pages) for (const item of page) if (item.kind === 'match') urls.push(item.url);
  return urls.sort();
}

/** Starts a scripted gatherd; the end of the test closes it. */
export async function startScripted(
  t: Teardown,
  documents: readonly GathererDocument[] = corpus(),
): Promise<ScriptedGatherd> {
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  gatherd.documents = [...documents];
  return gatherd;
}

/** Opens a broker that has collected these documents, and serves it. */
export async function serveCollected(
  t: Teardown,
  documents: readonly GathererDocument[],
  conf = '',
  options: Partial<BrokerServerOptions> = {},
): Promise<BrokerFixture & { readonly server: BrokerServer; readonly port: number }> {
  const gatherd = await startScripted(t, documents);
  const fixture = await openBroker(t, { points: [gatherd.point(0)], conf });
  await fixture.broker.collections.run();
  const server = await serveBroker(t, fixture, options);
  return { ...fixture, server, port: server.address.port };
}

/** Returns the three objects that most tests query. */
export function corpus(): GathererDocument[] {
  const timeOf = (n: number) => NOW - 10_000 + n;
  return [
    {
      updateTime: timeOf(1),
      text: document(
        'http://www.example.org/gopher.html',
        {
          Title: 'The gopher menu',
          Type: 'HTML',
          Description: 'About gopher\nand its menus',
          Author: 'A. Writer',
        },
        timeOf(1),
      ),
    },
    {
      updateTime: timeOf(2),
      text: document(
        'ftp://ftp.example.org/wais.txt',
        { Title: 'WAIS and gopher', Type: 'Text', 'Full-Text': 'first line\nsecond wais line\n' },
        timeOf(2),
      ),
    },
    {
      updateTime: timeOf(3),
      text: document(
        'http://www.example.org/mosaic.html',
        { Title: 'Mosaic', Type: 'HTML', Description: 'A browser' },
        timeOf(3),
      ),
    },
  ];
}

/**
 * Returns a broker whose queries yield these pages.
 *
 * @param load what it says of its work in progress. Default: what it has
 */
export function withQueryResults(
  broker: Broker,
  pages: (signal: AbortSignal | undefined) => AsyncGenerator<readonly ResultItem[], SearchSummary, void>,
  load?: Broker['queries']['load'],
): BrokerFixture['broker'] {
  const queries = new Proxy(broker.queries, {
    get(target, name) {
      if (name === 'search')
        return (_query: unknown, _flags: unknown, { signal }: RequestContext) => pages(signal);
      if (name === 'load' && load !== undefined) return load;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return new Proxy(broker, {
    get(target, name) {
      if (name === 'queries') return queries;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
