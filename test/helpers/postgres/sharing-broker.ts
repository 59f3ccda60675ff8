// Brokers as processes that share a store in PostgreSQL.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exchange } from '../../servers/broker/helpers.js';
import { cli, startServer } from '../cli.js';
import type { Teardown } from '../temporary-directory.js';
import { waitUntil } from '../wait-until.js';

const READY = /^ready broker=127\.0\.0\.1:(\d+)(?: .*)?\n/m;
const PASSWORD = 'open sesame';

/** Options of {@link SharingBroker}. */
interface SharingOptions {
  readonly t: Teardown;
  /** Of the store. */
  readonly url: string;
  /** Whether the URL is an option of the command, instead of a line of broker.conf. */
  readonly byOption?: boolean;
  /** Its collection points. */
  readonly gatherds: readonly { readonly port: number }[];
  /** More lines of broker.conf. */
  readonly lines?: string;
}

/** A Broker with a directory of its own and the common store. */
export class SharingBroker {
  port = 0;
  process: Awaited<ReturnType<typeof startServer>>['server'] | undefined;

  constructor(
    readonly directory: string,
    readonly options: SharingOptions,
  ) {}

  get file(): string {
    return join(this.directory, 'admin', 'broker.conf');
  }

  async create(): Promise<void> {
    await mkdir(join(this.directory, 'admin'), { recursive: true });
    const { byOption = false, gatherds, lines = '', url } = this.options;
    const store = byOption ? '' : `Store-URL ${url}\n`;
    await writeFile(
      this.file,
      `Broker-Port 0\nMax-Results 100000\nLog-Types Collection\nAdmin-Password ${PASSWORD}\n${store}${lines}`,
    );
    const points = gatherds.map(({ port }) => `127.0.0.1 ${port} 1 --\n`).join('');
    await writeFile(join(this.directory, 'admin', 'Collection.conf'), points);
  }

  async start(): Promise<void> {
    const { byOption = false, t, url } = this.options;
    const option = byOption ? ['--store', url] : [];
    const { server, found } = await startServer(t, READY, ['broker', '-nocol', ...option, this.file]);
    this.process = server;
    this.port = Number(found[0]);
  }

  async kill(): Promise<void> {
    this.process?.kill('SIGKILL');
    await this.process?.finished;
  }

  /** Gives it a command of its administrator. */
  admin(command: string): ReturnType<typeof cli> {
    return cli('broker', 'admin', '--password', PASSWORD, `127.0.0.1:${this.port}`, command);
  }

  /** Requests a collection, which runs in the background. */
  async startCollection(): Promise<void> {
    const { code, stderr } = await this.admin('collection');
    if (code !== 0) throw new Error(stderr);
  }

  /** The collections that have ended, as the log says: the number of objects that each received. */
  async collections(): Promise<string[]> {
    const log = await readFile(join(this.directory, 'admin', 'LOG'), 'utf8').catch(() => '');
    return log.split('\n').filter((line) => / Collection: /.test(line));
  }

  async collect(): Promise<void> {
    const before = (await this.collections()).length;
    await this.startCollection();
    await waitUntil(async () => (await this.collections()).length > before);
  }

  /** The process that collects from a Gatherer now, as this Broker says. */
  async holderOf({ port }: { readonly port: number }): Promise<number | undefined> {
    const { stdout } = await this.admin('do-stats');
    const found = new RegExp(
      `Collection gatherer 127\\.0\\.0\\.1:${port}: \\S+ \\(process (\\d+)\\) collects`,
    ).exec(stdout);
    return found === null ? undefined : Number(found[1]);
  }

  /** The number of objects that a word finds; undefined if the Broker has no answer now. */
  async count(word: string): Promise<number | undefined> {
    const reply = await exchange(this.port, `#USER #opaque #END ${word}\r\n`);
    return /^111 /m.test(reply) ? undefined : [...reply.matchAll(/^120 - /gm)].length;
  }

  async finds(word: string, count: number): Promise<void> {
    await waitUntil(async () => (await this.count(word)) === count);
  }
}
