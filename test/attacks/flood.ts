// A client that floods a server, as a program: arguments are the port and a JSON object of FloodOptions.
import { connect, createServer } from 'node:net';
import { listen as listenOnLoopback } from '../helpers/daemon.js';

/** What a flood does. */
export interface FloodOptions {
  /** Connections at once. */
  readonly connections: number;
  /** Sent by each connection at its beginning. Latin-1. Default: nothing. */
  readonly head?: string;
  /** Sent by each connection, again and again. Latin-1. */
  readonly text: string;
  /** The text is sent once, and each closed connection is replaced by a new one. */
  readonly reconnect?: boolean;
  /** Source address. Default: the system's. */
  readonly from?: string;
  /**
   * Lines of answers and closed connections, all together, after which the program prints that it floods.
   * Default 0.
   */
  readonly answers?: number;
}

const options: FloodOptions = JSON.parse(process.argv[3] ?? '{}');
/**
 * Port 0: a server of this program, which discards what it receives. It shows what a flood alone does to the
 * machine.
 */
const port = Number(process.argv[2]) || (await listen());

function listen(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => options.reconnect === true && socket.end('\n'));
    if (options.reconnect === true && options.text === '') socket.end('\n');
  });
  return listenOnLoopback(server);
}
/** Bytes that one write passes to the system. */
const PIECE = 64 * 1024;
const once = Buffer.from(options.text, 'latin1');
const piece = Buffer.concat(
  Array.from({ length: Math.max(1, Math.ceil(PIECE / Math.max(1, once.length))) }, () => once),
);

let answers = 0;
let isReported = false;

function reportAnswers(): void {
  if (isReported || answers < (options.answers ?? 0)) return;
  isReported = true;
  process.stdout.write('flooding\n');
}

function open(): void {
  const socket = connect({
    port,
    host: '127.0.0.1',
    localAddress: options.from,
  });
  socket.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) answers += 1;
    reportAnswers();
  });
  socket.on('error', () => {});
  const send = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('connect', () => {
    if (options.head !== undefined) socket.write(options.head, 'latin1');
    if (options.reconnect === true) {
      if (once.length > 0) socket.write(once);
    } else {
      send();
      socket.on('drain', send);
    }
  });
  socket.on('close', () => {
    answers += 1;
    reportAnswers();
    setImmediate(open);
  });
}

for (let i = 0; i < options.connections; i++) open();
reportAnswers();
// The flood ends with the test that started it.
process.stdin.resume().on('end', () => process.exit());
