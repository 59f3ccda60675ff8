// Clusters of OpenSearch on this machine for tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../../architecture/sources.js';
import { TEST_DATA } from '../../run/needs.js';
import { freePort } from '../daemon.js';

/** Where the runner of the tests has put the libraries. */
export const LIBRARIES = join(TEST_DATA, 'opensearch', 'lib');
const SOURCE = join(ROOT, 'test', 'helpers', 'opensearch', 'TestNode.java');

/** What nodes are started with. */
interface NodeOptions {
  /** The directory of the libraries. Default {@link LIBRARIES}. */
  readonly libraries?: string;
  /** Memory of one node. Default 512 MB. */
  readonly heap?: string;
}

interface Ports {
  readonly http: number;
  readonly transport: number;
}

/** A node that runs. */
class TestNode {
  #child: ChildProcess | undefined;

  constructor(
    readonly url: string,
    readonly args: readonly string[],
    readonly options: NodeOptions,
  ) {}

  /** Resolves when it answers requests. */
  async start(): Promise<void> {
    const { libraries = LIBRARIES, heap = '512m' } = this.options;
    const java = [`-Xmx${heap}`, '-XX:+UseSerialGC', '-Dlog4j2.disable.jmx=true'];
    const child = spawn('nice', ['java', ...java, '-cp', join(libraries, '*'), SOURCE, ...this.args], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout })) if (line === 'started') return;
    throw new Error('OpenSearch does not start');
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
}

/** Nodes of one cluster. They end with the test. */
export class TestCluster implements AsyncDisposable {
  private constructor(readonly nodes: readonly TestNode[]) {}

  /** @param directory for their data */
  static async start(directory: string, count: number, options: NodeOptions = {}): Promise<TestCluster> {
    const ports: Ports[] = [];
    for (let i = 0; i < count; i++) ports.push({ http: await freePort(), transport: await freePort() });
    const seeds = ports.map(({ transport }) => `127.0.0.1:${transport}`).join(',');
    const names = ports.map((_, i) => `node${i + 1}`);
    const nodes = ports.map(({ http, transport }, i) => {
      const name = names[i]!;
      const args = [name, join(directory, name), String(http), String(transport), seeds, names.join(',')];
      return new TestNode(`http://127.0.0.1:${http}`, args, options);
    });
    const cluster = new TestCluster(nodes);
    const started = await Promise.allSettled(nodes.map((node) => node.start()));
    const failure = started.find((result) => result.status === 'rejected');
    if (failure === undefined) return cluster;
    await cluster[Symbol.asyncDispose]();
    throw failure.reason;
  }

  get urls(): string[] {
    return this.nodes.map(({ url }) => url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }
}
