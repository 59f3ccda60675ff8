// PostgreSQL servers on this machine for tests: a primary, and standbys that have each transaction before it is
// acknowledged.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readdirSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../daemon.js';

const VERSIONS = '/usr/lib/postgresql';
/** The server does not run as root: then it runs as the user of Debian's package. */
const OWNER = process.getuid?.() === 0 ? ownerOf('postgres') : undefined;

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

function ownerOf(user: string): Owner {
  const id = (option: string): number => Number(spawnSync('id', [option, user], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

function program(name: string): string {
  const newest = readdirSync(VERSIONS)
    .sort((a, b) => Number(a) - Number(b))
    .at(-1);
  return join(VERSIONS, newest ?? '', 'bin', name);
}

function run(name: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program(name), args, { ...OWNER, cwd: '/', encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
}

/** One server; starts, ends, and is killed as often as the test likes. */
export class TestServer {
  #child: ChildProcess | undefined;

  constructor(
    readonly directory: string,
    readonly port: number,
    readonly settings: Readonly<Record<string, string>>,
  ) {}

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    const settings = Object.entries(this.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = ['-D', this.directory, '-p', String(this.port), '-k', this.directory, ...settings];
    const child = spawn(program('postgres'), args, {
      ...OWNER,
      cwd: '/',
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      lines.push(line);
      if (/database system is ready to accept/.test(line)) {
        child.stderr.resume();
        return;
      }
    }
    throw new Error(`PostgreSQL does not start: ${lines.join('\n')}`);
  }

  /** Makes a standby the primary. Resolves when it is. */
  promote(): void {
    run('pg_ctl', ['promote', '-w', '-D', this.directory]);
  }

  /** Ends it at once, without notice, with all its processes. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)], { encoding: 'utf8' });
    for (const pid of [child.pid, ...stdout.split(/\s+/).filter(Boolean).map(Number)]) killNow(pid);
    await exited;
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** A primary and its standbys. They end with the test. */
export class TestPostgres implements AsyncDisposable {
  readonly #root: string;
  #count = 0;
  readonly servers: TestServer[] = [];

  private constructor(root: string) {
    this.#root = root;
  }

  /** Creates and starts a primary. @param directory of the test, for the data */
  static async start(
    directory: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<TestPostgres> {
    const root = join(directory, 'postgres');
    await mkdir(root, { recursive: true });
    await chmod(directory, 0o711);
    own(root);
    const cluster = new TestPostgres(root);
    const data = join(root, 'server1');
    run('initdb', ['-D', data, '-U', 'harvest', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']);
    const server = new TestServer(data, await freePort(), { listen_addresses: '127.0.0.1', ...settings });
    cluster.servers.push(server);
    cluster.#count = 1;
    await server.start();
    return cluster;
  }

  /**
   * Adds a standby of a server, whose transactions wait for it from now on.
   *
   * @param port default: any that is free
   */
  async addStandby(primary: TestServer, port?: number): Promise<TestServer> {
    const name = `server${++this.#count}`;
    const data = join(this.#root, name);
    const source = `host=127.0.0.1 port=${primary.port} user=harvest application_name=${name}`;
    run('pg_basebackup', ['-d', source, '-D', data, '-R', '-X', 'stream', '--no-sync', '-c', 'fast']);
    const server = new TestServer(data, port ?? (await freePort()), primary.settings);
    this.servers.push(server);
    await server.start();
    await writeFile(
      join(primary.directory, 'postgresql.auto.conf'),
      `synchronous_standby_names = '${name}'\n`,
      { flag: 'a' },
    );
    own(join(primary.directory, 'postgresql.auto.conf'));
    run('pg_ctl', ['reload', '-D', primary.directory]);
    return server;
  }

  /** Creates a database on the first server. */
  createDatabase(name: string): void {
    run('createdb', ['-h', '127.0.0.1', '-p', String(this.servers[0]!.port), '-U', 'harvest', name]);
  }

  /** The URL of the database, with all hosts. */
  url(parameters = ''): string {
    const hosts = this.servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `postgres://harvest@${hosts}/postgres${parameters === '' ? '' : `?${parameters}`}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
  }
}

function own(path: string): void {
  if (OWNER !== undefined) chownSync(path, OWNER.uid, OWNER.gid);
}
