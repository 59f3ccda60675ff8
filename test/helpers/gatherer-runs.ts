// Runs of one Gatherer on one data directory, with a clock that the test sets.
import { join } from 'node:path';
import { parseGathererConf } from '../../protocols/config/index.js';
import { decodeSoif, type SoifObject } from '../../protocols/soif/index.js';
import { Gatherer, type GathererOptions, type GatherReport } from '../../servers/gatherer/index.js';

const never = new AbortController().signal;
/** Unix seconds. */
export const START = 1_700_000_000;
export const WEEK = 604_800;

/** The test sets the clock between the runs. */
export class Runs {
  now = START;
  /** The lines of the configuration before its nodes. */
  variables: string;

  constructor(
    readonly directory: string,
    readonly nodes: string,
    variables = '',
  ) {
    this.variables = variables;
  }

  async run(
    { signal = never, ...options }: Partial<GathererOptions> & { readonly signal?: AbortSignal } = {},
    afterRun: (gatherer: Gatherer) => Promise<void> = async () => undefined,
  ): Promise<GatherReport> {
    const name = this.variables.includes('Gatherer-Name:') ? '' : 'Gatherer-Name: Test\n';
    const text = `${name}Gatherer-Host: g.example.org\nAccess-Delay: 0\n${this.variables}${this.nodes}`;
    await using gatherer = await Gatherer.open({
      directory: join(this.directory, 'data'),
      config: parseGathererConf(text, 'test.cf', {}).config,
      essenceWorkers: 0,
      retryDelayMs: 5,
      maxRetries: 1,
      now: () => this.now,
      ...options,
    });
    const report = await gatherer.run(signal);
    await afterRun(gatherer);
    return report;
  }

  /** Returns the object of a URL after the last run. */
  async object(url: string): Promise<SoifObject | undefined> {
    await using gatherer = await Gatherer.open({
      directory: join(this.directory, 'data'),
      config: parseGathererConf(`Gatherer-Name: Test\n${this.nodes}`, 'test.cf', {}).config,
      essenceWorkers: 0,
      now: () => this.now,
    });
    const summary = await gatherer.store.summaries.get(url);
    return summary && decodeSoif(summary.soif);
  }
}

/** The configuration's list of documents. */
export const leafNodes = (...urls: string[]): string => `<LeafNodes>\n${urls.join('\n')}\n</LeafNodes>\n`;
