// Brokers that collect from each other, and changes as their Gatherers send them. Times are in Unix seconds.
import type { CollectionPoint } from '../../../../protocols/config/index.js';
import { decodeSoif } from '../../../../protocols/soif/index.js';
import type { Broker, BrokerOptions, BrokerServer } from '../../../../servers/broker/index.js';
import type { CollectedChange } from '../../../../storage/index.js';
import {
  type BrokerFixture,
  document,
  NOW,
  openBroker,
  serveBroker,
  soif,
  type Teardown,
} from '../helpers.js';

/** A clock that only the test advances. */
export class Clock {
  now = NOW;
  readonly read = (): number => this.now;

  advance(seconds = 1): void {
    this.now += seconds;
  }
}

/** A broker that serves a port and collects from its points. */
export interface Peer extends BrokerFixture {
  readonly server: BrokerServer;
  readonly clock: Clock;
  /** Tests add points to it, as an administrator edits Collection.conf. */
  readonly points: CollectionPoint[];
}

/** Starts a broker without collection points. */
export async function startPeer(
  t: Teardown,
  clock = new Clock(),
  options: Partial<BrokerOptions> & { readonly conf?: string } = {},
): Promise<Peer> {
  const points: CollectionPoint[] = [];
  const opened = await openBroker(t, { now: clock.read, points, ...options });
  return { ...opened, server: await serveBroker(t, opened), clock, points };
}

/** Returns a collection point that names this broker. */
export function pointAt(
  { server }: { readonly server: BrokerServer },
  type: CollectionPoint['type'],
  filter?: CollectionPoint['filter'],
): CollectionPoint {
  const point = { host: '127.0.0.1', port: server.address.port, type, line: 1 };
  return filter === undefined ? point : { ...point, filter };
}

/** The attributes that identify the Gatherer of an object. */
export const GATHERER = {
  'Gatherer-Name': 'Example Gatherer',
  'Gatherer-Host': 'gatherer.example.org',
  'Gatherer-Version': '1.8',
} as const;

export function urlOf(n: number | string): string {
  return `http://www.example.org/${n}`;
}

/** Returns the update of an object as its Gatherer sends it. */
export function update(n: number | string, updateTime: number, title = `title ${n}`): CollectedChange {
  return change('update', document(urlOf(n), { Title: title }, updateTime));
}

export function refresh(n: number | string, updateTime: number): CollectedChange {
  return change('refresh', soif(urlOf(n), { ...GATHERER, 'Update-Time': String(updateTime) }));
}

export function deletion(n: number | string, updateTime: number): CollectedChange {
  return change('delete', soif(urlOf(n), { ...GATHERER, 'Update-Time': String(updateTime) }));
}

export function change(kind: CollectedChange['kind'], text: string): CollectedChange {
  const bytes = Buffer.from(text);
  return { kind, object: decodeSoif(bytes), bytes };
}

/** Applies changes like a collection from the objects' own Gatherer. */
export async function applyChanges(
  { broker }: { readonly broker: Broker },
  ...changes: CollectedChange[]
): Promise<void> {
  await broker.store.apply(changes);
  await broker.keeper.settle();
}

/**
 * Returns `NAME TIME` of each object in the broker, sorted: the last part of its URL, its Update-Time minus
 * NOW.
 */
export async function listContents({ broker }: { readonly broker: Broker }): Promise<string[]> {
  const lines: string[] = [];
  for await (const page of broker.store.all()) {
    for (const entry of page) {
      lines.push(`${entry.url.replace('http://www.example.org/', '')} ${entry.updateTime - NOW}`);
    }
  }
  return lines.sort();
}
