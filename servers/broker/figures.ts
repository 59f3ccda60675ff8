import type { MonitoredServer } from '../monitor/index.js';
import type { Broker } from './broker.js';
import { type CollectEvent, collectChannel, type PointReport } from './collect/report.js';
import type { BrokerServer } from './server.js';

/** The last collections from each point, by `host:port`. */
interface PointHistory {
  /** Seconds since 1970 of the last complete one; 0 before it. */
  readonly lastComplete: number;
  readonly failures: number;
  readonly objects: number;
}

/** A Broker as its monitor sees it, until disposed. */
export function monitoredBroker(broker: Broker, server: BrokerServer): MonitoredServer & Disposable {
  const { counts } = server;
  const points = new Map<string, PointHistory>();
  const onCollect = (message: unknown): void => {
    const event = message as CollectEvent;
    if (event.event === 'point') remember(points, event.report);
  };
  collectChannel.subscribe(onCollect);
  const byPoint = (read: (history: PointHistory) => number) => () =>
    [...points].map(([name, history]) => [name, read(history)] as const);
  return {
    name: 'broker',
    problems: () => (broker.keeper.failure === undefined ? [] : [`the index: ${broker.keeper.failure}`]),
    [Symbol.dispose]: () => collectChannel.unsubscribe(onCollect),
    figures: [
      {
        name: 'broker_connections',
        kind: 'gauge',
        help: 'Open connections of the port.',
        read: () => server.connections,
      },
      {
        name: 'broker_messages_total',
        kind: 'counter',
        help: 'Messages to the port, by kind.',
        label: 'kind',
        read: () => counts.messages,
      },
      {
        name: 'broker_queries_total',
        kind: 'counter',
        help: 'Queries, by their end.',
        label: 'end',
        read: () => counts.queries,
      },
      {
        name: 'broker_query_seconds_total',
        kind: 'counter',
        help: 'Seconds from the messages of queries to the ends of their replies.',
        read: () => counts.querySeconds,
      },
      {
        name: 'broker_query_objects_total',
        kind: 'counter',
        help: 'Objects in the replies to queries.',
        read: () => counts.objects,
      },
      {
        name: 'broker_running_queries',
        kind: 'gauge',
        help: 'Queries that are being answered.',
        read: () => broker.queries.slots.inUse,
      },
      {
        name: 'broker_objects',
        kind: 'gauge',
        help: 'Stored objects.',
        read: () => broker.store.count,
      },
      {
        name: 'broker_index_lag',
        kind: 'gauge',
        help: 'Changes of the store that are not yet in the index.',
        read: () => broker.keeper.lag,
      },
      {
        name: 'broker_collecting',
        kind: 'gauge',
        help: '1 while a collection runs.',
        read: () => (broker.collections.running ? 1 : 0),
      },
      {
        name: 'broker_collected_seconds',
        kind: 'gauge',
        help: 'When everything was last received from a collection point, in seconds since 1970; 0: not since the start.',
        label: 'point',
        read: byPoint(({ lastComplete }) => lastComplete),
      },
      {
        name: 'broker_collection_failures_total',
        kind: 'counter',
        help: 'Collections from a point that were not complete.',
        label: 'point',
        read: byPoint(({ failures }) => failures),
      },
      {
        name: 'broker_collected_objects_total',
        kind: 'counter',
        help: 'Objects received from a collection point.',
        label: 'point',
        read: byPoint(({ objects }) => objects),
      },
      {
        name: 'broker_event_failed',
        kind: 'gauge',
        help: '1 if the last run of a timed event failed.',
        label: 'event',
        read: () =>
          broker.timetable.rows().map(({ name, lastFailed }) => [name, lastFailed ? 1 : 0] as const),
      },
    ],
  };
}

function remember(points: Map<string, PointHistory>, { host, port, complete, received }: PointReport): void {
  const name = `${host}:${port}`;
  const { lastComplete, failures, objects } = points.get(name) ?? {
    lastComplete: 0,
    failures: 0,
    objects: 0,
  };
  points.set(name, {
    lastComplete: complete ? Math.floor(Date.now() / 1000) : lastComplete,
    failures: failures + (complete ? 0 : 1),
    objects: objects + received,
  });
}
