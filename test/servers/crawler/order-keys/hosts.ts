// One crawl for many settings: each setting has a host whose sheet sets it, and a second host, with the same
// pages, whose sheet does not.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloseStack } from '../../../../protocols/close-stack.js';
import { parseGathererConf } from '../../../../protocols/config/index.js';
import type { CrawlControl, QueueReport } from '../../../../servers/crawler/index.js';
import { parseCrawlLogLine } from '../../../../servers/crawler/logs/crawl-log.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../../../servers/crawler/order/order.js';
import { Gatherer } from '../../../../servers/gatherer/index.js';
import { type Page, Site } from '../../../helpers/site.js';
import { waitUntil } from '../../../helpers/wait-until.js';

export type Settings = NonNullable<CrawlOrderInput['settings']>;

/** A setting and what shows its effect. */
export interface HostRow {
  /** Path of the setting in the order. */
  readonly key: string;
  /** The setting with its value. */
  readonly set: Settings;
  /** Settings of both hosts. */
  readonly both?: Settings | ((elsewhere: string) => Settings);
  /** Like `set`, for a value that contains the URL of the other host. */
  readonly setElsewhere?: (elsewhere: string) => Settings;
  /** @param elsewhere URL of a host that is no RootNode */
  readonly pages: (elsewhere: string) => Readonly<Record<string, Page>>;
  /** Pages of a host that is no RootNode. */
  readonly elsewhere?: Readonly<Record<string, Page>>;
  /** Documents besides `/` that are gathered without a link to them. */
  readonly leaves?: readonly string[];
  /** Nothing listens on the host. */
  readonly dead?: true;
  /** Whether the host shows the effect: true with the setting, false without it. */
  readonly shows: (host: HostView) => boolean;
}

type LogLine = NonNullable<ReturnType<typeof parseCrawlLogLine>>;

/** What happened on one host of the crawl. */
export class HostView {
  constructor(
    readonly url: string,
    readonly site: Site,
    readonly elsewhere: Site,
    readonly lines: readonly LogLine[],
    /** Its queues before the first fetch. */
    readonly queuesAtStart: readonly QueueReport[],
    /** Its queues when everything that did not wait was fetched. */
    readonly queuesAtEnd: readonly QueueReport[],
  ) {}

  count(path: string): number {
    return this.site.requests.filter((request) => request.path === path).length;
  }

  fetched(path: string): boolean {
    return this.count(path) > 0;
  }

  /** Whether the first path was requested before the second one. */
  before(first: string, second: string): boolean {
    const { paths } = this.site;
    return paths.includes(first) && paths.indexOf(first) < paths.indexOf(second);
  }

  /** A header of the first request for a path. */
  header(path: string, name: string): string | undefined {
    const value = this.site.requests.find((request) => request.path === path)?.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** The line of a path in crawl.log. */
  line(path: string): LogLine | undefined {
    return this.lines.find(({ url }) => url === this.url + path);
  }

  status(path: string): number | undefined {
    return this.line(path)?.status;
  }

  /** Whether a line of the host has an annotation that begins so. */
  annotated(start: string): boolean {
    return this.lines.some(({ annotations }) => annotations.some((text) => text.startsWith(start)));
  }
}

/**
 * Without pauses. A wait in these tests is an hour, and what waits is never fetched: no test measures a time.
 */
const BASE: Settings = {
  delayFactor: 0,
  minDelayMs: 0,
  maxDelayMs: 3_600_000,
  maxRetries: 10,
  retryDelaySeconds: 0,
  lostRetryDelaySeconds: 0.01,
  busyRetryDelaySeconds: 0.01,
};

/** What must be left of a wait for it to count as endless, milliseconds. */
const LONG_MS = 3000;

/** Crawls the hosts of all rows; returns the views with and without the setting of each row. */
export async function crawlRows(
  directory: string,
  rows: readonly HostRow[],
): Promise<(readonly [HostView, HostView])[]> {
  await using sites = new CloseStack();
  const hosts = await Promise.all(
    rows.flatMap((row, index) =>
      [row.set, {}].map(async (set, side) => {
        const address = `127.0.${side + 1}.${index + 2}`;
        const elsewhere = sites.use(await Site.start(row.elsewhere ?? {}, `127.0.${side + 3}.${index + 2}`));
        const site = sites.use(await Site.start(row.pages(elsewhere.url), address));
        // The port is free on the other address, as nothing else listens on addresses of these networks.
        const url = row.dead === true ? `http://127.0.${side + 5}.${index + 2}:${site.port}` : site.url;
        const both = typeof row.both === 'function' ? row.both(elsewhere.url) : row.both;
        const other = side === 0 ? row.setElsewhere?.(elsewhere.url) : undefined;
        return { row, site, elsewhere, url, settings: { ...both, ...set, ...other } };
      }),
    ),
  );
  const order: CrawlOrderInput = {
    workers: 100,
    holdQueues: false,
    snoozeDeactivateMs: 1_000_000_000,
    pauseAtStart: true,
    settings: BASE,
    sheets: hosts.map(({ url, elsewhere, settings }) => ({
      name: url,
      surts: [`${url}/`, `${elsewhere.url}/`],
      settings,
    })),
  };
  const roots = hosts.map(({ url }) => `${url}/ Delay=0`);
  const leaves = hosts.flatMap(({ url, row }) => (row.leaves ?? []).map((path) => url + path));
  const text = `Gatherer-Name: T\nGatherer-Host: g.example.org\nAccess-Delay: 0\n<RootNodes>\n${roots.join('\n')}\n</RootNodes>\n<LeafNodes>\n${leaves.join('\n')}\n</LeafNodes>\n`;
  let started: readonly QueueReport[] = [];
  let ended: readonly QueueReport[] = [];
  const drive = async (control: CrawlControl): Promise<void> => {
    await waitUntil(() => control.snapshot().state === 'paused');
    started = await control.queues({ limit: 10_000 });
    control.resume();
    await waitUntil(async () => {
      ended = await control.queues({ limit: 10_000 });
      return control.snapshot().state === 'finished' || (await isIdle(control, ended));
    });
    control.stop();
  };
  let driven: Promise<void> = Promise.resolve();
  {
    await using gatherer = await Gatherer.open({
      directory,
      config: parseGathererConf(text, 'test.cf', {}).config,
      order: crawlOrderSchema.parse(order),
      essenceWorkers: 0,
      onControl: (control) => {
        driven = drive(control);
      },
    });
    await gatherer.run(new AbortController().signal);
    await driven;
  }
  const lines = readFileSync(join(directory, 'crawl/logs/crawl.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => parseCrawlLogLine(line))
    .filter((line) => line !== undefined);
  const views = hosts.map(({ site, url, elsewhere }) => {
    const isOwn = (text: string): boolean => text.startsWith(`${url}/`);
    return new HostView(
      url,
      site,
      elsewhere,
      lines.filter((line) => isOwn(line.url)),
      started.filter(({ lastQueued }) => isOwn(lastQueued)),
      ended.filter(({ lastQueued }) => isOwn(lastQueued)),
    );
  });
  return rows.map((_, index) => [views[2 * index]!, views[2 * index + 1]!] as const);
}

/** Whether nothing happens any more within {@link LONG_MS}. */
async function isIdle(control: CrawlControl, queues: readonly QueueReport[]): Promise<boolean> {
  const { busyWorkers, inProcess } = control.snapshot();
  if (busyWorkers > 0 || inProcess > 0) return false;
  const soon = Date.now() + LONG_MS;
  const waits = await control.retries({ limit: 10_000 });
  return (
    waits.every(({ dueTime }) => dueTime > soon) &&
    queues.every(
      ({ state, count, wakeTime }) =>
        count === 0 ||
        state === 'retired' ||
        state === 'exhausted' ||
        (state === 'snoozed' && wakeTime > soon),
    )
  );
}
