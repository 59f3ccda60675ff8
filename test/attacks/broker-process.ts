// A Broker with generated objects in its own process, so that its memory and its latency are not those of the
// test.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { decodeSoif } from '../../protocols/soif/index.js';
import { type Broker, type BrokerServer, WebServer } from '../../servers/broker/index.js';
import { document, openBroker, serveBroker } from '../servers/broker/helpers.js';

/** What the process stores and how it is configured. */
export interface BrokerProcessOptions {
  readonly objects: number;
  /** Words of each object's body. */
  readonly words: number;
  /** Lines of `broker.conf`. */
  readonly conf?: string;
  /** Address to listen on. */
  readonly host?: string;
  /** Whether it serves its pages, too. Default false. */
  readonly pages?: boolean;
}

/** The figures of the process. */
interface BrokerFigures {
  readonly rss: number;
  /** Bytes of objects and buffers that are in use, after a garbage collection. */
  readonly live: number;
  readonly connections: number;
  readonly running: number;
  readonly waiting: number;
  readonly replies: number;
}

/** A running process. */
export interface BrokerProcess {
  readonly port: number;
  /** The port of its pages; 0 without them. */
  readonly web: number;
  readonly pid: number;
  figures(): Promise<BrokerFigures>;
  /** Milliseconds of processor time so far. */
  cpu(): Promise<number>;
}

const STORE_BATCH = 500;

/** The word of a rank; low ranks are frequent in the objects. */
export function wordOf(rank: number): string {
  const letters = 'bcdfghjklmnpqrstvwxz';
  const vowels = 'aeiouy';
  let text = '';
  for (let n = rank + 7; n > 0; n = Math.floor(n / 120))
    text += (letters[n % 20] ?? '') + (vowels[n % 6] ?? '');
  return text;
}

/** Starts the process; the end of the test kills it and removes its files. */
export async function startBrokerProcess(
  t: Pick<Test, 'teardown'>,
  options: BrokerProcessOptions,
): Promise<BrokerProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'broker-process-'));
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify({ ...options, directory })], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--expose-gc'],
  });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(directory, { recursive: true, force: true });
  });
  const { port, web } = await message<{ port: number; web: number }>(child);
  return {
    port,
    web,
    pid: child.pid ?? 0,
    figures: () => {
      child.send('figures');
      return message<BrokerFigures>(child);
    },
    cpu: async () => {
      child.send('cpu');
      return (await message<{ cpu: number }>(child)).cpu;
    },
  };
}

async function message<T>(child: ChildProcess): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  try {
    const [value] = (await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(() => Promise.reject(new Error('the Broker has exited'))),
    ])) as [T];
    return value;
  } finally {
    over.abort();
  }
}

/**
 * Sends a message from an address of loopback and returns the length of the reply, its beginning and its end.
 */
export async function ask(
  port: number,
  text: string,
  localAddress = '127.0.0.1',
  signal?: AbortSignal,
): Promise<{ readonly bytes: number; readonly head: string; readonly tail: string }> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  let bytes = 0;
  let head = '';
  let tail = '';
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (head.length < 300) head += chunk.toString('latin1', 0, 300);
    tail = (tail + chunk.toString('latin1')).slice(-300);
  });
  const over = Promise.race([once(socket, 'end'), once(socket, 'close')]);
  socket.write(`${text}\r\n`);
  if (signal === undefined) await over;
  else {
    // An aborted request is reset, and its reply is what has arrived.
    const abort = () => socket.resetAndDestroy();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    await over.catch(() => undefined);
    signal.removeEventListener('abort', abort);
  }
  socket.destroy();
  return { bytes, head, tail };
}

/** Sends a message and reads nothing of the reply. */
export async function askSlowly(port: number, text: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(`${text}\r\n`);
  return socket;
}

function servePages(broker: Broker, brokerAddress: BrokerServer['address']): Promise<WebServer> {
  return WebServer.listen({ broker, brokerAddress, host: '127.0.0.1', port: 0, log: broker.log });
}

async function serve(options: BrokerProcessOptions & { readonly directory: string }): Promise<void> {
  const owner = { teardown: () => undefined };
  const { broker } = await openBroker(owner, { conf: options.conf ?? '', directory: options.directory });
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let from = 0; from < options.objects; from += STORE_BATCH) {
    const changes = Array.from({ length: Math.min(STORE_BATCH, options.objects - from) }, (_, i) => {
      const body: string[] = [];
      // Frequencies fall with the rank, as in text.
      for (let n = 0; n < options.words; n++)
        body.push(wordOf(Math.floor(3000 * random() ** 3)) + (n % 12 === 11 ? '\n' : ''));
      const url = `http://www.example.org/${from + i}`;
      const text = document(url, { Title: `Doc ${from + i}`, Body: body.join(' ') });
      const bytes = Buffer.from(text);
      return { kind: 'update' as const, object: decodeSoif(bytes), bytes };
    });
    await broker.store.apply(changes);
  }
  await broker.keeper.settle();
  const server = await serveBroker(
    owner,
    { broker },
    { host: options.host ?? '127.0.0.1', queueWaitMs: 30_000 },
  );
  process.on('message', (request) => {
    if (request === 'cpu') {
      const { user, system } = process.cpuUsage();
      process.send?.({ cpu: (user + system) / 1000 });
      return;
    }
    const { running, waiting, replies } = broker.queries.load;
    globalThis.gc?.();
    const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
    const figures: BrokerFigures = {
      rss,
      live: heapUsed + arrayBuffers,
      connections: server.connections,
      running,
      waiting,
      replies,
    };
    process.send?.(figures);
  });
  const pages = options.pages === true ? await servePages(broker, server.address) : undefined;
  process.send?.({ port: server.address.port, web: pages?.address.port ?? 0 });
}

if (process.send !== undefined && process.argv[2]?.startsWith('{') === true) {
  await serve(JSON.parse(process.argv[2]) as BrokerProcessOptions & { readonly directory: string });
}
