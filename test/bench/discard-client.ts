// Measures transfers and discards the data. All servers are measured with this client, so that it slows all of
// them equally. Reads a plan (JSON) from its first argument and prints {seconds, bytes}[] as JSON.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One measurement: several concurrent clients, each of which fetches everything. */
export interface Transfer {
  readonly kind: 'http' | 'gatherd' | 'gatherd-clear';
  readonly host: string;
  readonly port: number;
  readonly clients: number;
  /** HTTP: the path; gatherd: the time stamp of SEND-UPDATE. */
  readonly target: string;
}

export interface Measured {
  readonly seconds: number;
  /** Total of all clients. */
  readonly bytes: number;
}

const READ_BYTES = 1 << 20;
const TAIL_BYTES = 64;

/**
 * A connection that counts bytes and keeps only the last ones. All connections share one buffer, because the
 * data is not used.
 */
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

  /** Waits until the condition holds; checks it whenever data arrives. */
  async waitUntil(done: () => boolean): Promise<void> {
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
    client.socket.write(transfer.kind === 'gatherd' ? 'HELLO bench\nSET compression\n' : 'HELLO bench\n');
    const answered = transfer.kind === 'gatherd' ? /^500 - .*\n$/m : /^10\d - .*\n$/m;
    await client.waitUntil(() => answered.test(client.tail));
  }
  return client;
}

async function fetchAll(transfer: Transfer, client: Discarder): Promise<void> {
  if (transfer.kind !== 'http') {
    client.tail = '';
    client.socket.write(`SEND-UPDATE ${transfer.target}\n`);
    await client.waitUntil(() => /499 - [^\n]*\n$/.test(client.tail));
  } else {
    client.socket.write(`GET ${transfer.target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await once(client.socket, 'close');
  }
}

async function measure(transfer: Transfer, buffer: Uint8Array): Promise<Measured> {
  const clients: Discarder[] = [];
  for (let i = 0; i < transfer.clients; i++) clients.push(await prepare(transfer, buffer));
  const before = clients.reduce((sum, { bytes }) => sum + bytes, 0);
  const start = process.hrtime.bigint();
  await Promise.all(clients.map((client) => fetchAll(transfer, client)));
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
