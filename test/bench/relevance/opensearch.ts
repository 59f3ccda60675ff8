// OpenSearch over the same documents: a node of its own on loopback, English analysis, weights for title,
// headings and description.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TestCluster } from '../../helpers/opensearch/cluster.js';
import type { Judged } from './judgments.js';

const INDEX = 'pages';
const TEXT = { type: 'text', analyzer: 'english' };
const MAPPINGS = {
  properties: {
    page: { type: 'keyword' },
    title: TEXT,
    headings: TEXT,
    description: TEXT,
    body: TEXT,
  },
};
/** Documents of one request. */
const BATCH = 200;

/** How OpenSearch combines fields, and their weights; chosen on the corpora that are not held out. */
const OPENSEARCH_QUERY = {
  type: 'cross_fields',
  fields: ['title^5', 'headings^2', 'description^2', 'body^1'],
};

/** `multi_match` with nothing chosen but the fields. */
export const OPENSEARCH_SHIPPED = { fields: ['title', 'headings', 'description', 'body'] };

const bulkReply = z.object({ errors: z.literal(false) });
const searchReply = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: z.object({ page: z.string() }) })) }),
});

/** A running node. */
export class OpenSearch implements AsyncDisposable {
  readonly #base: string;
  readonly #cluster: TestCluster;

  private constructor(base: string, cluster: TestCluster) {
    this.#base = base;
    this.#cluster = cluster;
  }

  /**
   * Starts a node.
   *
   * @param libraries directory with its jar files, see `test/helpers/opensearch/pom.xml`
   * @param directory where it keeps its data
   */
  static async start(libraries: string, directory: string): Promise<OpenSearch> {
    const cluster = await TestCluster.start(join(directory, 'opensearch'), 1, { libraries, heap: '1g' });
    return new OpenSearch(cluster.urls[0] ?? '', cluster);
  }

  /** The URL of the node. */
  get url(): string {
    return this.#base;
  }

  /** Indexes documents, one JSON object a line; replaces those of before. */
  async load(file: string): Promise<void> {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    await fetch(`${this.#base}/${INDEX}`, { method: 'DELETE' });
    const settings = { number_of_shards: 1, number_of_replicas: 0, refresh_interval: '-1' };
    await this.#ask('PUT', `/${INDEX}`, JSON.stringify({ settings, mappings: MAPPINGS }));
    for (let i = 0; i < lines.length; i += BATCH) {
      const body = lines.slice(i, i + BATCH).flatMap((line) => ['{"index":{}}', line]);
      bulkReply.parse(await this.#ask('POST', `/${INDEX}/_bulk`, `${body.join('\n')}\n`));
    }
    await this.#ask('POST', `/${INDEX}/_refresh`);
  }

  /** Returns the pages of each query. */
  async search(
    judged: readonly Judged[],
    limit: number,
    options: object = OPENSEARCH_QUERY,
  ): Promise<string[][]> {
    const results: string[][] = [];
    for (const { query } of judged) {
      const body = { size: limit, _source: ['page'], query: { multi_match: { query, ...options } } };
      const reply = searchReply.parse(await this.#ask('POST', `/${INDEX}/_search`, JSON.stringify(body)));
      results.push(reply.hits.hits.map(({ _source }) => _source.page));
    }
    return results;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster[Symbol.asyncDispose]();
  }

  async #ask(method: string, path: string, body?: string): Promise<unknown> {
    const init = body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } };
    const response = await fetch(`${this.#base}${path}`, { method, ...init });
    if (!response.ok) throw new Error(`OpenSearch: ${response.status} ${await response.text()}`);
    return response.json();
  }
}
