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

export interface Nodes {
  /** Lines of RootNodes; see {@link everything}. */
  readonly roots?: readonly string[];
  readonly leaves?: readonly string[];
  /** Lines before the lists, such as `FTP-Auth: host user password`. */
  readonly lines?: readonly string[];
}

/** A RootNode without pauses, limits on URLs and filters. */
export function everything(url: string, more = ''): string {
  return `${url} URL=100000,/dev/null Delay=0 ${more}`.trimEnd();
}

export function confText({ roots = [], leaves = [], lines = [] }: Nodes): string {
  const head = ['Gatherer-Name: Test', 'Gatherer-Host: g.example.org', 'Access-Delay: 0', ...lines];
  const list = (name: string, of: readonly string[]) =>
    of.length === 0 ? [] : [`<${name}>`, ...of, `</${name}>`];
  return `${[...head, ...list('RootNodes', roots), ...list('LeafNodes', leaves)].join('\n')}\n`;
}

export function conf(nodes: Nodes): GathererConfig {
  return parseGathererConf(confText(nodes), 'test.cf', {}).config;
}

export interface Gathered {
  readonly report: GatherReport;
  /** Final event of every URI, in order. */
  readonly events: readonly DocumentEvent[];
  /** Exported objects by URL, with repetitions. */
  readonly exported: readonly { readonly url: string; readonly text: (name: string) => string | undefined }[];
}

/** A complete run of a Gatherer including the export. */
export async function gather(
  directory: string,
  nodes: Nodes,
  options: Partial<GathererOptions> & { readonly signal?: AbortSignal } = {},
): Promise<Gathered> {
  const { signal = AbortSignal.timeout(100_000), ...more } = options;
  const events: DocumentEvent[] = [];
  const listen = (message: unknown): void => {
    events.push(message as DocumentEvent);
  };
  documentChannel.subscribe(listen);
  try {
    await using gatherer = await Gatherer.open({
      directory,
      config: conf(nodes),
      essenceWorkers: 0,
      retryDelayMs: 5,
      ...more,
    });
    const report = await gatherer.run(signal);
    await gatherer.publish();
    return { report, events, exported: await exportedOf(gatherer.generationsDirectory) };
  } finally {
    documentChannel.unsubscribe(listen);
  }
}

/** The objects that gatherd would send of a directory of generations. */
export async function exportedOf(generations: string): Promise<Gathered['exported']> {
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

/** URLs of the export, sorted, with repetitions. */
export function urlsOf({ exported }: Pick<Gathered, 'exported'>): string[] {
  return exported.map(({ url }) => url).sort();
}

/** The event that a URL ended with. */
export function endOf(gathered: Pick<Gathered, 'events'>, url: string): DocumentEvent | undefined {
  return gathered.events.findLast((event) => event.url === url);
}
