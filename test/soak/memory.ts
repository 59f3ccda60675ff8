// `npm run soak -- --memory`: whether a server returns its memory. A process of `harvest run` over generated documents
// is loaded by slow readers and large requests of one of its servers, then left alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PROGRAM } from '../helpers/cli.js';

/** The servers that can be loaded. */
export const LOADED = ['gatherd', 'broker', 'web', 'references'] as const;
export type Loaded = (typeof LOADED)[number];

export interface MemoryOptions {
  /** Rounds of load. Default 7. */
  readonly rounds?: number;
  /** Seconds without clients before the last measurement. Default 300. */
  readonly restSeconds?: number;
  readonly documents?: number;
  readonly onProgress?: (line: string) => void;
}

/** Private memory of the process in bytes: at the start, at most after a round, and after the rest. */
export interface MemoryResult {
  readonly server: Loaded;
  readonly start: number;
  readonly most: number;
  readonly rest: number;
  /** `rest` over `start`. */
  readonly ratio: number;
}

/** The most that a server may hold after the rest, as a part of what it held at the start. */
export const MEMORY_BUDGET = 1.3;

/** Clients of a kind of slow or large request, unless it says another number. */
const SLOW_READERS = 250;
const LARGE_REQUESTS = 20;
/** A result of a thousand objects as JSON takes more than half a second of processor time. */
const SLOW_READERS_OF_JSON = 40;
/** Milliseconds that slow readers stay. */
const STAY_MS = 1500;
/** Least number of milliseconds before the first measurement. */
const START_REST_MS = 60_000;
const DOCUMENTS = 1500;
const WORDS = 3000;

/** A request and how many clients send it at once. */
interface Requests {
  readonly request: string;
  readonly clients?: number;
}

/** One round of load: the numbers of clients and requests, not the time, bound it. */
interface Load {
  /** Whether the server speaks first. */
  readonly greets: boolean;
  /** Requests with long replies, of which slow readers read the beginning. */
  readonly slow: readonly Requests[];
  /** Requests that are answered whole. */
  readonly large: readonly Requests[];
}

const HTTP = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;
const QUERY = '/Harvest/cgi-bin/BrokerQuery.cgi?maxobjflag=5000&verbose=on&opaqueflag=on&descflag=on&query=';

const REFERERS = 'REFERERS / SSTP/1.0\r\nURL: file://localhost@ROOT@/0.html\r\n\r\n';

const LOADS: Readonly<Record<Loaded, Load>> = {
  gatherd: {
    greets: true,
    slow: [{ request: 'HELLO x\nSEND-UPDATE 0\n' }, { request: 'HELLO x\nSET compression\nSEND-UPDATE 0\n' }],
    large: [
      { request: 'HELLO x\nSEND-UPDATE 0\nQUIT\n' },
      { request: 'HELLO x\nSET compression\nSEND-UPDATE 0\nQUIT\n' },
    ],
  },
  broker: {
    greets: true,
    slow: [
      { request: '#BULK #SINCE 0 #END #allb\n' },
      { request: '#BULK #SINCE 0 #interface 2 #END #allb\n' },
      { request: '#BULK #SINCE 0 #interface 2 #compress #END #allb\n' },
      { request: '#USER #index case insensitive #attribute Body #END common\n' },
    ],
    large: [
      { request: '#USER #index case insensitive #desc #END common\n' },
      { request: '#USER #END word1 or word2 or common\n' },
    ],
  },
  web: {
    greets: false,
    slow: [
      { request: HTTP(`${QUERY}common`) },
      { request: HTTP(`${QUERY}common&format=json`), clients: SLOW_READERS_OF_JSON },
    ],
    large: [{ request: HTTP(`${QUERY}common`) }, { request: HTTP(`${QUERY}word1+or+word2&format=json`) }],
  },
  references: {
    greets: false,
    slow: [{ request: REFERERS.repeat(200) }, { request: HTTP('/') }],
    large: [{ request: REFERERS }],
  },
};

/** Loads one server of a new process and measures it. Linux only. */
export async function runMemory(server: Loaded, options: MemoryOptions = {}): Promise<MemoryResult> {
  const { rounds = 7, restSeconds = 300, documents = DOCUMENTS, onProgress = () => {} } = options;
  const directory = await mkdtemp(join(tmpdir(), 'harvest-memory-'));
  const root = join(directory, 'site');
  await writeDocuments(root, documents);
  const ports = LOADED.flatMap((name) => [`--${name}-port`, '0']);
  // As installed programs run, with the Node of this process.
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const child = spawn(
    'sh',
    [PROGRAM, 'run', root, '--urls', String(2 * documents), '--data', join(directory, 'data'), ...ports],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, PATH: path } },
  );
  const closed = once(child, 'close');
  try {
    const port = await portOf(child.stdout, server);
    const { pid } = child;
    if (pid === undefined) throw new Error('harvest run has no process');
    // What the gathering has left is not the server's: it is collected after half a minute.
    await pause(Math.max(START_REST_MS, (restSeconds * 1000) / 5));
    const start = await privateMemory(pid);
    let most = start;
    onProgress(`${server}: ${megabytes(start)} at the start`);
    for (let round = 1; round <= rounds; round++) {
      await loadServer(server, port, root);
      const now = await privateMemory(pid);
      most = Math.max(most, now);
      onProgress(`${server}: ${megabytes(now)} after round ${round}`);
    }
    await pause(restSeconds * 1000);
    const rest = await privateMemory(pid);
    return { server, start, most, rest, ratio: rest / start };
  } finally {
    child.kill('SIGTERM');
    await closed;
    await rm(directory, { recursive: true, force: true });
  }
}

/** Formats bytes. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

async function portOf(output: NodeJS.ReadableStream, server: Loaded): Promise<number> {
  const name = server === 'references' ? 'refererd' : server;
  let text = '';
  for await (const piece of output.setEncoding('utf8')) {
    text += String(piece);
    const port = new RegExp(`^ready .*${name}=\\S*?:(\\d+)`, 'm').exec(text)?.[1];
    if (port === undefined) continue;
    return Number(port);
  }
  throw new Error(`harvest run ended: ${text}`);
}

/** Writes the documents that the servers are loaded with into a new folder. */
export async function writeDocuments(root: string, documents: number): Promise<void> {
  await mkdir(root);
  for (let i = 0; i < documents; i++) await writeFile(join(root, `${i}.html`), documentOf(i, documents));
}

/**
 * One round of load: slow readers of each kind, who leave in the middle of the replies, then readers of large replies.
 *
 * @param root the folder of the documents
 * @param part of the clients that a round has
 */
export async function loadServer(server: Loaded, port: number, root: string, part = 1): Promise<void> {
  const { greets, slow, large } = LOADS[server];
  for (const { request, clients = SLOW_READERS } of slow) {
    const sockets = await Promise.all(
      Array.from({ length: clients * part }, (_, i) =>
        ask(port, request.replaceAll('@ROOT@', root), greets, i),
      ),
    );
    await pause(STAY_MS);
    for (const socket of sockets) socket.resetAndDestroy();
  }
  for (const { request, clients = LARGE_REQUESTS } of large) {
    await Promise.all(
      Array.from({ length: clients * part }, async (_, i) => {
        const socket = await ask(port, request.replaceAll('@ROOT@', root), greets, i);
        const ended = once(socket, 'close');
        if (!socket.destroyed) socket.resume().end();
        await ended;
      }),
    );
  }
}

/** Sends a request and returns when its reply begins, or the server refuses it, with a socket that does not read. */
function ask(port: number, request: string, greets: boolean, client: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (client % 50)}` });
  return new Promise((resolve) => {
    const reply = (): void => {
      socket.once('data', () => {
        socket.pause();
        resolve(socket);
      });
    };
    const send = (): void => {
      socket.write(request);
      reply();
    };
    if (greets) socket.once('data', send);
    else socket.once('connect', send);
    socket.on('error', () => resolve(socket));
    socket.on('close', () => resolve(socket));
  });
}

/** The memory of a process that no file backs, in bytes. */
async function privateMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** A page with words of a hundred, and links to others. */
function documentOf(number: number, documents: number): string {
  const words = Array.from({ length: WORDS }, (_, i) => `word${(i * (number + 7)) % 997}`).join(' ');
  const links = Array.from(
    { length: 10 },
    (_, i) => `<a href="${(number * 7 + i) % documents}.html">page</a> <a href="0.html">first</a>`,
  );
  return `<title>Document ${number}</title><p>common ${words}</p>${links.join('\n')}`;
}
