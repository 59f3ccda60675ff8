// Measures transfers and throws away what comes: one client for every server, so that it slows all of them equally.
// Reads a plan (JSON) from its first argument, prints {seconds, bytes}[] as JSON.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One measurement: so many clients at once, each fetching the whole. */
export interface Transfer {
  readonly kind: 'http' | 'gatherd';
  readonly host: string;
  readonly port: number;
  readonly clients: number;
  /** HTTP: path; gatherd: time stamp. */
  readonly what: string;
}

export interface Measured {
  readonly seconds: number;
  /** Of all clients together. */
  readonly bytes: number;
}

const READ_BYTES = 1 << 20;
const TAIL_BYTES = 64;

/** A connection that counts, and keeps only the last bytes. All share one buffer: nobody looks at what is in it. */
class Discarder {
  bytes = 0;
  tail = '';
  readonly socket: Socket;
  #wake: () => void = () => {};
  #failure: Error | undefined;

  constructor(host: string, port: number, buffer: Uint8Array) {
    const callback = (length: number, memory: Uint8Array): boolean => {
      this.bytes += length;
      const end = Buffer.from(memory.buffer, memory.byteOffset, length)
        .subarray(-TAIL_BYTES)
        .toString('latin1');
      this.tail = end.length < TAIL_BYTES ? (this.tail + end).slice(-TAIL_BYTES) : end;
      this.#wake();
      return true;
    };
    this.socket = connect({ host, port, onread: { buffer, callback } });
    this.socket.on('error', (error) => {
      this.#failure = error;
      this.#wake();
    });
    this.socket.on('close', () => {
      this.#failure ??= new Error('closed');
      this.#wake();
    });
  }

  async until(done: () => boolean): Promise<void> {
    while (!done()) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

async function prepare(transfer: Transfer, buffer: Uint8Array): Promise<Discarder> {
  const client = new Discarder(transfer.host, transfer.port, buffer);
  if (transfer.kind === 'http') {
    await once(client.socket, 'connect');
  } else {
    client.socket.write('HELLO bench\nSET compression\n');
    await client.until(() => /^500 - .*\n$/m.test(client.tail));
  }
  return client;
}

async function fetchWhole(transfer: Transfer, client: Discarder): Promise<void> {
  if (transfer.kind === 'gatherd') {
    client.tail = '';
    client.socket.write(`SEND-UPDATE ${transfer.what}\n`);
    await client.until(() => /499 - [^\n]*\n$/.test(client.tail));
  } else {
    client.socket.write(`GET ${transfer.what} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await once(client.socket, 'close');
  }
}

async function measure(transfer: Transfer, buffer: Uint8Array): Promise<Measured> {
  const clients: Discarder[] = [];
  for (let i = 0; i < transfer.clients; i++) clients.push(await prepare(transfer, buffer));
  const before = clients.reduce((sum, { bytes }) => sum + bytes, 0);
  const start = process.hrtime.bigint();
  await Promise.all(clients.map((client) => fetchWhole(transfer, client)));
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const bytes = clients.reduce((sum, client) => sum + client.bytes, 0) - before;
  for (const { socket } of clients) socket.destroy();
  return { seconds, bytes };
}

const plan = JSON.parse(process.argv[2] ?? '[]') as Transfer[];
const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
const results: Measured[] = [];
for (const transfer of plan) results.push(await measure(transfer, buffer));
process.stdout.write(`${JSON.stringify(results)}\n`);
