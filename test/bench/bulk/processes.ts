// Starts the processes of benchmark `bulk`: Brokers, nginx and the client.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BrokerClient } from '../../../clients/broker/index.js';
import { PROGRAM } from '../../helpers/cli.js';
import type { Measured, Transfer } from './client.js';
import { startNginx } from './nginx.js';

const CLIENT = fileURLToPath(new URL('./client.js', import.meta.url));
const HOST = '127.0.0.1';
const PASSWORD = 'bench';
const TICKS_PER_SECOND = 100;

/** A running Broker, its log, and its Broker-Directory. */
export interface RunningBroker {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly directory: string;
  /** Resolves with the next line that matches. */
  logged(pattern: RegExp): Promise<string>;
}

/** The programs that a benchmark has started. */
export class Processes implements Disposable {
  readonly #scratch: string;
  readonly #running = new Map<string, ChildProcess>();

  constructor(scratch: string) {
    this.#scratch = scratch;
  }

  /**
   * Starts a Broker without data.
   *
   * @param points text of Collection.conf; nothing is collected until requested
   */
  async broker(name: string, points: string): Promise<RunningBroker> {
    const directory = join(this.#scratch, name);
    const admin = join(directory, 'admin');
    await mkdir(admin, { recursive: true });
    const file = join(admin, 'broker.conf');
    await writeFile(file, `Broker-Directory ${directory}\nBroker-Port 0\nAdmin-Password ${PASSWORD}\n`);
    await writeFile(join(admin, 'Collection.conf'), points);
    const child = spawn(process.execPath, [PROGRAM, 'broker', file, '-nocol'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#running.set(name, child);
    const log = new OutputLines(child);
    const ready = await log.next(/^ready \w+=\S+?:(\d+)/);
    return {
      name,
      port: Number(/:(\d+)/.exec(ready)?.[1]),
      pid: child.pid ?? 0,
      directory,
      logged: (pattern) => log.next(pattern),
    };
  }

  /** Loads a SOIF file of the Broker-Directory and waits until it is stored and indexed. */
  async load(broker: RunningBroker, file: string, objects: number): Promise<void> {
    const done = broker.logged(/Add objects by file: .* \(\d+ ms\)/);
    await new BrokerClient({ host: HOST, port: broker.port }).admin(PASSWORD, {
      kind: 'add-object',
      files: [file],
    });
    await checkObjectCount(broker, objects, await done);
  }

  /** Makes the Broker collect from its points, and waits until everything is stored and indexed. */
  async collect(broker: RunningBroker, objects: number): Promise<void> {
    const done = broker.logged(/objects received, \d+ expired, 0 of 1 points incomplete \(\d+ ms\)/);
    await new BrokerClient({ host: HOST, port: broker.port }).admin(PASSWORD, { kind: 'collection' });
    await checkObjectCount(broker, objects, await done);
  }

  /** Starts nginx; see {@link startNginx}. Returns its port. */
  nginx(root: string, file: string): Promise<number> {
    return startNginx(this.#scratch, root, file, (child) => this.#running.set('nginx', child));
  }

  /** Runs the transfers in a client process. */
  client(plan: readonly Transfer[]): Measured[] {
    return JSON.parse(
      execFileSync(process.execPath, [CLIENT, JSON.stringify(plan)], { encoding: 'utf8' }),
    ) as Measured[];
  }

  kill(name: string): void {
    this.#running.get(name)?.kill('SIGKILL');
    this.#running.delete(name);
  }

  [Symbol.dispose](): void {
    for (const name of [...this.#running.keys()]) this.kill(name);
  }
}

/** Processor time of a process with its threads, in seconds (Linux only). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Checks that a Broker has stored all objects, so that all Brokers do the same work. */
async function checkObjectCount({ port }: RunningBroker, objects: number, logLine: string): Promise<void> {
  const messages = await new BrokerClient({ host: HOST, port }).admin(PASSWORD, { kind: 'do-stats' });
  if (!messages.some((line) => new RegExp(`\\b${objects}\\b`).test(line.replaceAll(',', '')))) {
    throw new Error(`not ${objects} objects: ${logLine}; ${messages.join('; ')}`);
  }
}

/** Lines of the standard output and standard error of a child. */
class OutputLines {
  readonly #listeners = new Set<(line: string | undefined) => void>();
  #tail = '';

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      let incomplete = '';
      stream?.setEncoding('utf8').on('data', (text: string) => {
        const lines = (incomplete + text).split('\n');
        incomplete = lines.pop() ?? '';
        for (const line of lines) this.#emit(line);
      });
    }
    child.once('close', () => this.#emit(undefined));
  }

  /** Resolves with the next line that matches. Rejects if the process ends first. */
  next(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const listener = (line: string | undefined): void => {
        if (line !== undefined && !pattern.test(line)) return;
        this.#listeners.delete(listener);
        if (line === undefined) reject(new Error(`the process ended: ${this.#tail}`));
        else resolve(line);
      };
      this.#listeners.add(listener);
    });
  }

  /** @param line undefined at the end of the process */
  #emit(line: string | undefined): void {
    this.#tail = `${this.#tail}${line ?? ''}\n`.slice(-2000);
    for (const listener of [...this.#listeners]) listener(line);
  }
}
