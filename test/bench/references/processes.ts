// Starts the servers of benchmark `references`.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { ReferencesReader } from '../../../storage/references/index.js';
import { freePort } from '../../helpers/daemon.js';
import { cpuSeconds } from '../bulk/processes.js';
import { harvest, harvestOf } from './programs.js';

/** Pause between the attempts to connect to a starting server. */
const START_PAUSE_MS = 50;
const MAX_START_ATTEMPTS = 200;
/** Maximum number of values of one RPUSH. */
const PUSH_VALUES = 1000;

/** A server under test. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  #peakResidentBytes = 0;

  private constructor(
    child: ChildProcess,
    readonly port: number,
  ) {
    this.#child = child;
  }

  /**
   * Starts refererd without a configuration.
   *
   * @param program the `harvest` program of another version. Default: this one
   */
  static async refererd(data: string, program?: string): Promise<ServerProcess> {
    const options = ['refererd', '--data', data, '--port', '0', '--debuglevel', '10'];
    const [command, ...args] = program === undefined ? harvest(...options) : harvestOf(program, ...options);
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      const port = /^ready refererd=.*:(\d+)$/.exec(line)?.[1];
      if (port !== undefined) return new ServerProcess(child, Number(port));
    }
    throw new Error('refererd did not start');
  }

  /** Starts Redis without persistence. */
  static async redis(): Promise<ServerProcess> {
    const port = await freePort();
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const server = new ServerProcess(spawn('redis-server', args, { stdio: 'ignore' }), port);
    for (let tries = 0; tries < MAX_START_ATTEMPTS; tries++) {
      const socket = connect(port, '127.0.0.1');
      const up = await once(socket, 'connect').catch(() => undefined);
      socket.destroy();
      if (up !== undefined) return server;
      await pause(START_PAUSE_MS);
    }
    await server.close();
    throw new Error('redis-server did not start');
  }

  /** Processor time of all threads so far. */
  get cpuSeconds(): number {
    return cpuSeconds(this.#child.pid ?? 0);
  }

  /** Resident memory now. */
  get residentBytes(): number {
    const bytes = Number(/^VmRSS:\s*(\d+) kB$/m.exec(this.#proc('status'))?.[1]) * 1024;
    this.#peakResidentBytes = Math.max(this.#peakResidentBytes, bytes);
    return bytes;
  }

  /** The largest value of {@link residentBytes} so far. */
  get peakResidentBytes(): number {
    return this.#peakResidentBytes;
  }

  #proc(name: string): string {
    return readFileSync(`/proc/${this.#child.pid}/${name}`, 'latin1');
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Pushes every list of `hubs` into Redis, in the same order, with the ID of its document as key. */
export async function fillRedis(port: number, reader: ReferencesReader): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.resume();
  await once(socket, 'connect');
  for (const key of reader.keys('hubs')) {
    const list = reader.links('hubs', key);
    for (let start = 0; start < (list?.total ?? 0); start += PUSH_VALUES) {
      const words = ['RPUSH', String(key), ...Array.from(list?.page(start, PUSH_VALUES) ?? [], String)];
      if (!socket.write(encodeResp(words), 'latin1')) await once(socket, 'drain');
    }
  }
  socket.end(encodeResp(['QUIT']));
  await once(socket, 'close');
}

/** Encodes a command for Redis. */
export function encodeResp(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}
