// Servers of S3 on this machine for tests: s3proxy over a directory, moto in memory.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { TEST_DATA } from '../../run/needs.js';
import { freePort } from '../daemon.js';
import { waitUntil } from '../wait-until.js';

const S3PROXY = join(TEST_DATA, 's3proxy', 'lib');
const MOTO = join(TEST_DATA, 'moto', 'bin', 'moto_server');

/** The login of both. */
export const TEST_LOGIN = {
  AWS_ACCESS_KEY_ID: 'harvest',
  AWS_SECRET_ACCESS_KEY: 'harvest-secret',
  HOME: '/nonexistent',
} as const;

/** The server programs; s3proxy keeps its blobs over a kill, and compares signatures. */
export type S3ServerName = 's3proxy' | 'moto';

/** Whether a program is installed. */
export const isS3ServerInstalled = (name: S3ServerName): boolean =>
  existsSync(name === 'moto' ? MOTO : S3PROXY);

/** A server that runs, with a bucket `bucket`. It ends with the test. */
export class S3Server implements AsyncDisposable {
  #child: ChildProcess | undefined;

  private constructor(
    readonly name: S3ServerName,
    readonly port: number,
    readonly directory: string,
  ) {}

  /** @param directory for its files */
  static async start(name: S3ServerName, directory: string): Promise<S3Server> {
    const server = new S3Server(name, await freePort(), directory);
    await mkdir(join(directory, 'blobs'));
    await writeFile(
      join(directory, 's3proxy.conf'),
      [
        `s3proxy.endpoint=${server.endpoint}`,
        's3proxy.authorization=aws-v2-or-v4',
        `s3proxy.identity=${TEST_LOGIN.AWS_ACCESS_KEY_ID}`,
        `s3proxy.credential=${TEST_LOGIN.AWS_SECRET_ACCESS_KEY}`,
        'jclouds.provider=filesystem-nio2',
        `jclouds.filesystem.basedir=${join(directory, 'blobs')}`,
        'jclouds.identity=none',
        'jclouds.credential=none',
        '',
      ].join('\n'),
    );
    await server.restart();
    const client = new AwsClient({
      accessKeyId: TEST_LOGIN.AWS_ACCESS_KEY_ID,
      secretAccessKey: TEST_LOGIN.AWS_SECRET_ACCESS_KEY,
      service: 's3',
      region: 'us-east-1',
    });
    const made = await client.fetch(`${server.endpoint}/bucket`, { method: 'PUT' });
    if (!made.ok) throw new Error(`${name} makes no bucket: ${made.status}`);
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts the program; resolves when it accepts connections. */
  async restart(): Promise<void> {
    const [program, ...args] =
      this.name === 'moto'
        ? [MOTO, '-H', '127.0.0.1', '-p', String(this.port)]
        : [
            'java',
            '-Xmx256m',
            '-cp',
            join(S3PROXY, '*'),
            'org.gaul.s3proxy.Main',
            '--properties',
            join(this.directory, 's3proxy.conf'),
          ];
    this.#child = spawn('nice', [program!, ...args], { stdio: 'ignore' });
    await waitUntil(() => this.#accepts());
  }

  /** Ends it at once, without notice. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #accepts(): Promise<boolean> {
    const socket = connect(this.port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }
}
