// Runs a Gatherer in this process and reads its export.
import { type GathererConfig, parseGathererConf } from '../../../protocols/config/index.js';
import { SoifDecoder } from '../../../protocols/soif/index.js';
import {
  type DocumentEvent,
  documentChannel,
  Gatherer,
  type GathererOptions,
  type GatherReport,
} from '../../../servers/gatherer/index.js';
import { Generations } from '../../../storage/index.js';

/** What differs between the configurations of tests. */
export interface ConfigurationParts {
  /** Lines of RootNodes; see {@link unlimitedRoot}. */
  readonly roots?: readonly string[];
  readonly leaves?: readonly string[];
  /** Lines before the lists, such as `FTP-Auth: host user password`. */
  readonly lines?: readonly string[];
}

/** The line of a RootNode without delays, URL limits and filters. */
export function unlimitedRoot(url: string, options = ''): string {
  return `${url} URL=100000,/dev/null Delay=0 ${options}`.trimEnd();
}

/** Renders the text of a configuration file. */
export function renderConfiguration({ roots = [], leaves = [], lines = [] }: ConfigurationParts): string {
  const head = ['Gatherer-Name: Test', 'Gatherer-Host: g.example.org', 'Access-Delay: 0', ...lines];
  const list = (name: string, nodes: readonly string[]) =>
    nodes.length === 0 ? [] : [`<${name}>`, ...nodes, `</${name}>`];
  return `${[...head, ...list('RootNodes', roots), ...list('LeafNodes', leaves)].join('\n')}\n`;
}

export function parseConfiguration(parts: ConfigurationParts): GathererConfig {
  return parseGathererConf(renderConfiguration(parts), 'test.cf', {}).config;
}

/** The outcome of a run. */
export interface Gathered {
  readonly report: GatherReport;
  /** Final event of every URI, in order. */
  readonly events: readonly DocumentEvent[];
  /** Exported objects by URL, with repetitions. */
  readonly exported: readonly { readonly url: string; readonly text: (name: string) => string | undefined }[];
}

/** Runs a Gatherer and publishes its objects. */
export async function gather(
  directory: string,
  parts: ConfigurationParts,
  options: Partial<GathererOptions> & { readonly signal?: AbortSignal } = {},
): Promise<Gathered> {
  const { signal = AbortSignal.timeout(100_000), ...gathererOptions } = options;
  const events: DocumentEvent[] = [];
  const listen = (message: unknown): void => {
    events.push(message as DocumentEvent);
  };
  documentChannel.subscribe(listen);
  try {
    await using gatherer = await Gatherer.open({
      directory,
      config: parseConfiguration(parts),
      essenceWorkers: 0,
      retryDelayMs: 5,
      ...gathererOptions,
    });
    const report = await gatherer.run(signal);
    await gatherer.publish();
    return { report, events, exported: await readExport(gatherer.generationsDirectory) };
  } finally {
    documentChannel.unsubscribe(listen);
  }
}

/** Reads the objects that gatherd would send from a directory of generations. */
export async function readExport(generations: string): Promise<Gathered['exported']> {
  await using snapshot = await new Generations(generations).open();
  const objects: Gathered['exported'][number][] = [];
  const decoder = new SoifDecoder({ mode: 'strict' });
  for await (const { bytes } of snapshot.exportSince(0)) {
    for (const item of decoder.push(bytes)) {
      if (item.kind !== 'object') continue;
      const { object } = item;
      objects.push({ url: object.url, text: (name) => object.text(name) });
    }
  }
  decoder.end();
  return objects;
}

/** The exported URLs, sorted, with repetitions. */
export function urlsOf({ exported }: Pick<Gathered, 'exported'>): string[] {
  return exported.map(({ url }) => url).sort();
}

/** The last event of a URL. */
export function finalEventOf(gathered: Pick<Gathered, 'events'>, url: string): DocumentEvent | undefined {
  return gathered.events.findLast((event) => event.url === url);
}
