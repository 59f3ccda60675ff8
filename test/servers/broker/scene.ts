import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BrokerConfig, type CollectionPoint, parseBrokerConf } from '../../../protocols/config/index.js';
import {
  Broker,
  type BrokerOptions,
  BrokerServer,
  type BrokerServerOptions,
} from '../../../servers/broker/index.js';
import { createLoggerOn, harvestLines } from '../../../servers/host/index.js';

/** 2026-01-01; the time of day in every scene. */
export const NOW = 1_767_225_600;

/** A SOIF object written by hand: sizes counted here, not by the code under test. */
export function soif(url: string, attributes: Readonly<Record<string, string>>): string {
  const lines = Object.entries(attributes).map(
    ([name, value]) => `${name}{${Buffer.byteLength(value)}}:\t${value}\n`,
  );
  return `@FILE { ${url}\n${lines.join('')}}\n`;
}

/** An object as a Gatherer named `name` sends it. */
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

/** What a scripted gatherd has to send. */
export interface GathererDocument {
  readonly updateTime: number;
  readonly text: string;
}

/** A gatherd of a few lines: it knows the commands a Broker sends, and writes down those it got. */
export class ScriptedGatherd {
  documents: GathererDocument[] = [];
  /** Sections as text, instead of `documents`. */
  sections: string | Uint8Array | undefined;
  readonly commands: string[] = [];
  /** Bytes of data after which the connection breaks off; undefined = never. */
  breakAfter: number | undefined;
  /** When set, data waits for it. */
  gate: Promise<void> | undefined;
  /** Called before an update is answered. */
  onUpdate: (() => void) | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(): Promise<ScriptedGatherd> {
    const server = createServer();
    const gatherd = new ScriptedGatherd(server);
    server.on('connection', (socket) => gatherd.#session(socket));
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

  #session(socket: Socket): void {
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
          await this.#update(socket, Number(command.slice(12)), compressed);
        else if (command.startsWith('SEND-OBJECT ')) socket.write(this.#object(command.slice(12)));
        else if (command === 'QUIT') socket.end('999 - Bye\n');
        if (command.startsWith('SET')) socket.write('500 - Ok\n');
      }
    });
  }

  #object(url: string): string {
    const found = this.documents.find(({ text }) => text.startsWith(`@FILE { ${url}\n`));
    return found === undefined ? '399 - No such object\n' : `300 - Object\n${found.text}399 - Sent object\n`;
  }

  async #update(socket: Socket, since: number, compressed: boolean): Promise<void> {
    this.onUpdate?.();
    const wanted = this.documents.filter((document) => document.updateTime >= since);
    const body = wanted.map((document) => document.text).join('');
    const stream = Buffer.from(this.sections ?? `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n${body}}\n`);
    const data = compressed ? gzipSync(stream) : stream;
    socket.write(`400 - Sending all objects since ${since}\n`);
    if (this.breakAfter === undefined) {
      await this.gate;
      socket.write(data);
      socket.write(`499 - Sent ${wanted.length} objects\n`);
    } else {
      socket.write(data.subarray(0, this.breakAfter), () => socket.end());
    }
  }
}

/** What the tests' `t` must offer: only tear-down. */
export interface Teardown {
  teardown(handler: () => unknown): void;
}

/** A broker in a temporary directory, with what it logged. */
export interface Scene {
  readonly broker: Broker;
  readonly directory: string;
  readonly log: string[];
  readonly config: BrokerConfig;
  open(options?: Partial<BrokerOptions>): Promise<Broker>;
}

/** `broker.conf` for a directory. */
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

export async function scene(
  t: Teardown,
  options: Partial<BrokerOptions> & {
    readonly conf?: string;
    readonly directory?: string;
    readonly keep?: boolean;
  } = {},
): Promise<Scene> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'broker-test-')));
  const config = brokerConfig(directory, options.conf);
  const log: string[] = [];
  const logger = createLoggerOn(harvestLines({ write: (line) => void log.push(line) }), {
    program: 'broker',
  });
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

/** Serves a scene's broker on a free port. */
export async function serve(
  t: Teardown,
  { broker }: Pick<Scene, 'broker'>,
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

/** Sends a message as it is and reads to the end of the reply, as brokers' clients of 1998 do. */
export async function ask(port: number, message: string | Uint8Array): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(message);
  await once(socket, 'end');
  socket.destroy();
  return Buffer.concat(chunks).toString('utf8');
}

/** The objects of the small corpus that most tests ask about. */
export function corpus(): GathererDocument[] {
  const at = (n: number) => NOW - 10_000 + n;
  return [
    {
      updateTime: at(1),
      text: document(
        'http://www.example.org/gopher.html',
        {
          Title: 'The gopher menu',
          Type: 'HTML',
          Description: 'About gopher\nand its menus',
          Author: 'A. Writer',
        },
        at(1),
      ),
    },
    {
      updateTime: at(2),
      text: document(
        'ftp://ftp.example.org/wais.txt',
        { Title: 'WAIS and gopher', Type: 'Text', 'Full-Text': 'first line\nsecond wais line\n' },
        at(2),
      ),
    },
    {
      updateTime: at(3),
      text: document(
        'http://www.example.org/mosaic.html',
        { Title: 'Mosaic', Type: 'HTML', Description: 'A browser' },
        at(3),
      ),
    },
  ];
}
