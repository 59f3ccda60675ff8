import type { CollectionPoint } from '../../../protocols/config/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import type { Broker, BrokerOptions, BrokerServer } from '../../../servers/broker/index.js';
import type { CollectedChange } from '../../../storage/index.js';
import { document, NOW, type Scene, scene, serve, soif, type Teardown } from './scene.js';

/** A clock that a test sets. */
export class Clock {
  now = NOW;
  readonly read = (): number => this.now;

  tick(seconds = 1): void {
    this.now += seconds;
  }
}

/** A broker with a port that collects from the given points. */
export interface Peer extends Scene {
  readonly server: BrokerServer;
  /** Edit it as one edits Collection.conf. */
  readonly points: CollectionPoint[];
}

export async function peer(
  t: Teardown,
  clock: Clock,
  options: Partial<BrokerOptions> & { readonly conf?: string } = {},
): Promise<Peer> {
  const points: CollectionPoint[] = [];
  const opened = await scene(t, { now: clock.read, points, ...options });
  return { ...opened, server: await serve(t, opened), points };
}

/** A collection point at that broker. */
export function pointAt(
  { server }: { readonly server: BrokerServer },
  type: CollectionPoint['type'],
  filter?: CollectionPoint['filter'],
): CollectionPoint {
  const point = { host: '127.0.0.1', port: server.address.port, type, line: 1 };
  return filter === undefined ? point : { ...point, filter };
}

export const WHO = {
  'Gatherer-Name': 'Example Gatherer',
  'Gatherer-Host': 'gatherer.example.org',
  'Gatherer-Version': '1.8',
} as const;

export function url(n: number | string): string {
  return `http://www.example.org/${n}`;
}

/** An object as its Gatherer sends it. */
export function update(n: number | string, updateTime: number, title = `title ${n}`): CollectedChange {
  return change('update', document(url(n), { Title: title }, updateTime));
}

export function refresh(n: number | string, updateTime: number): CollectedChange {
  return change('refresh', soif(url(n), { ...WHO, 'Update-Time': String(updateTime) }));
}

export function deletion(n: number | string, updateTime: number): CollectedChange {
  return change('delete', soif(url(n), { ...WHO, 'Update-Time': String(updateTime) }));
}

export function change(kind: CollectedChange['kind'], text: string): CollectedChange {
  const bytes = Buffer.from(text);
  return { kind, object: decodeSoif(bytes), bytes };
}

/** Does as a collection from the objects' own Gatherer does. */
export async function gather(
  { broker }: { readonly broker: Broker },
  ...changes: CollectedChange[]
): Promise<void> {
  await broker.store.apply(changes);
  await broker.reindexChanges();
}

/** What a broker has: `URL Update-Time`, in order. */
export async function contents({ broker }: { readonly broker: Broker }): Promise<string[]> {
  const lines: string[] = [];
  for await (const page of broker.store.all()) {
    for (const entry of page) {
      lines.push(`${entry.url.replace('http://www.example.org/', '')} ${entry.updateTime - NOW}`);
    }
  }
  return lines.sort();
}
