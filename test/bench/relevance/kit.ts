// The kit as a searcher: `harvest run` over a directory, its search page and its Broker.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { BrokerClient } from '../../../clients/broker/index.js';
import { BulkClient } from '../../../clients/bulk/index.js';
import { PROGRAM } from '../../helpers/cli.js';

const PAGE = '/Harvest/cgi-bin/BrokerQuery.cgi';
/**
 * The fields of the search form with its default flags, but for matched lines, which the order does not need.
 */
const FIELDS = { caseflag: 'on', wordflag: 'on', forms: 'on', descflag: 'on', verbose: 'on', format: 'json' };

const pageResult = z.object({ asked: z.string(), objects: z.array(z.object({ url: z.string() })) });

/** A running kit. */
export class Kit implements AsyncDisposable {
  readonly #stop: () => Promise<void>;

  private constructor(
    /** The directory of its data. */
    readonly data: string,
    readonly root: string,
    readonly web: string,
    readonly broker: { readonly host: string; readonly port: number },
    readonly objects: number,
    stop: () => Promise<void>,
  ) {
    this.#stop = stop;
  }

  /**
   * Gathers a directory and serves it, until the caller disposes of it.
   *
   * @param openSearch the URL of a node of OpenSearch that has the index; default the embedded engine
   */
  static async start(root: string, directory: string, openSearch?: string): Promise<Kit> {
    if (openSearch !== undefined) {
      const admin = join(directory, 'data', 'broker', 'admin');
      await mkdir(admin, { recursive: true });
      const conf = `Broker-Name harvest\nMax-Results 1000\nIndexer-Type OpenSearch\nOpenSearch-URL ${openSearch}\n`;
      await writeFile(join(admin, 'broker.conf'), `${conf}OpenSearch-Index relevance-${randomUUID()}\n`);
      await writeFile(join(admin, 'Collection.conf'), '');
    }
    const data = join(directory, 'data');
    const ports = ['gatherd', 'broker', 'web', 'references'].flatMap((name) => [`--${name}-port`, '0']);
    const child = spawn(process.execPath, [PROGRAM, 'run', root, '--data', data, ...ports], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const stop = async (): Promise<void> => {
      child.kill('SIGTERM');
      await closed;
    };
    let output = '';
    let messages = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      messages += text;
    });
    const ready = await new Promise<RegExpExecArray>((resolve, reject) => {
      child.once('close', (code) => reject(new Error(`harvest run ended with ${code}: ${messages}`)));
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const found = /^ready .*broker=([\d.]+):(\d+) web=(\S+)$/m.exec(output);
        if (found !== null) resolve(found);
      });
    });
    const [, host = '', port = '', web = ''] = ready;
    const objects = Number(/has (\d+) objects/.exec(messages)?.[1] ?? 0);
    return new Kit(data, root, web.replace(/\/$/, ''), { host, port: Number(port) }, objects, stop);
  }

  /** The pages that the search page lists for a query as a person types it. */
  async page(query: string, limit: number): Promise<string[]> {
    const result = await this.#ask(query, limit);
    return (result?.objects ?? []).map(({ url }) => this.#page(url));
  }

  /** The message that the search page sends to the Broker for a query; undefined if it sends none. */
  async asked(query: string): Promise<string | undefined> {
    return (await this.#ask(query, 1))?.asked;
  }

  async #ask(query: string, limit: number): Promise<z.infer<typeof pageResult> | undefined> {
    const fields = new URLSearchParams({ ...FIELDS, query, maxobjflag: String(limit) });
    const response = await fetch(`${this.web}${PAGE}?${fields}`);
    return response.ok ? pageResult.parse(await response.json()) : undefined;
  }

  /** The pages of all objects, by their URLs. */
  async pages(): Promise<Map<string, string>> {
    const pages = new Map<string, string>();
    for await (const { object } of new BulkClient(this.broker).changes({}))
      pages.set(object.url, this.#page(object.url));
    return pages;
  }

  /** The pages that the Broker lists for a query for all the words. */
  async wire(query: string, limit: number): Promise<string[]> {
    const words = query.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
    const client = new BrokerClient(this.broker);
    const pages: string[] = [];
    const expression = words.map((word) => `"${word}"`).join(' and ');
    for await (const { url } of client.query(expression, {
      maxFiles: limit,
      matchWord: true,
      matchedLines: false,
    }))
      pages.push(this.#page(url));
    return pages;
  }

  /** Writes the objects for other searchers, one JSON object a line; returns the file. */
  async documents(directory: string): Promise<string> {
    const lines: string[] = [];
    const client = new BulkClient(this.broker);
    for await (const { object } of client.changes({})) {
      const text = (name: string) => object.text(name) ?? '';
      lines.push(
        JSON.stringify({
          page: this.#page(object.url),
          title: text('title'),
          headings: text('headings'),
          description: text('description'),
          body: `${text('body')}\n${text('full-text')}\n${text('partial-text')}`,
        }),
      );
    }
    const file = join(directory, 'documents.jsonl');
    await writeFile(file, `${lines.join('\n')}\n`);
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  #page(url: string): string {
    const path = fileURLToPath(url.replace(/^file:\/\/localhost\//, 'file:///'));
    return relative(this.root, path).replace(/\.html$/, '');
  }
}
