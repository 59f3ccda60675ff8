// Starts the server of the web as a child process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Site, WebOptions } from './site.js';
import { allSites } from './sites.js';

/** A running server and its sites. */
export class Web implements AsyncDisposable {
  private constructor(
    readonly options: WebOptions,
    readonly sites: readonly Site[],
    readonly child: ChildProcess,
  ) {}

  /** @param log the file into which the server writes its log; see log.ts */
  static async start(options: Omit<WebOptions, 'port'>, log: string): Promise<Web> {
    const program = fileURLToPath(new URL('server.js', import.meta.url));
    const { seed, sites, maxAttempts } = options;
    const args = [program, String(seed), String(sites), String(maxAttempts), log];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      const ready = /^ready (\d+)$/.exec(line);
      if (ready === null) continue;
      const web = { ...options, port: Number(ready[1]) };
      return new Web(web, allSites(web), child);
    }
    throw new Error('the sites did not start');
  }

  /** Returns the RootNodes of a configuration, one line per site. */
  rootNodes(delaySeconds: number): string[] {
    return this.sites.map(
      ({ address, expected }) =>
        `http://${address}:${this.options.port}/ ${expected.rootSpec} Delay=${delaySeconds}`,
    );
  }

  /** Ends the server. Its log is complete afterwards. */
  async close(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const closed = once(this.child, 'close');
    this.child.stdin?.end();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
