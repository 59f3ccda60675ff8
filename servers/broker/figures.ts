// The figures of a Broker: what metrics and health checks tell of it.
import { counter, gauge, type MonitoredServer, newcomerFigures } from '../monitor/figures.js';
import type { Broker } from './broker.js';
import { type CollectEvent, collectChannel, type PointReport } from './collect/report.js';
import type { BrokerServer } from './server.js';
import type { WebServer } from './web/server.js';

/** The last collections from each point, by `host:port`. */
interface PointHistory {
  /** Seconds since 1970 of the last complete one; 0 before it. */
  readonly lastComplete: number;
  readonly failures: number;
  readonly objects: number;
}

/** Describes a Broker and its web pages to the monitor, until disposed. */
export function monitoredBroker(
  broker: Broker,
  server: BrokerServer,
  pages?: Pick<WebServer, 'newcomers'>,
): MonitoredServer & Disposable {
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
    problems: () => [
      ...(broker.keeper.failure === undefined ? [] : [`the index: ${broker.keeper.failure}`]),
      ...(broker.damage.sentence === undefined ? [] : [broker.damage.sentence]),
    ],
    [Symbol.dispose]: () => collectChannel.unsubscribe(onCollect),
    figures: [
      gauge('broker_connections', 'Open connections of the port.', () => server.connections),
      ...newcomerFigures('broker', () => server.newcomers),
      ...(pages === undefined ? [] : newcomerFigures('web', () => pages.newcomers)),
      counter('broker_messages_total', 'Messages to the port, by kind.', () => counts.messages, 'kind'),
      counter('broker_queries_total', 'Queries, by their end.', () => counts.queries, 'end'),
      counter(
        'broker_query_seconds_total',
        'Seconds from the messages of queries to the ends of their replies.',
        () => counts.querySeconds,
      ),
      counter('broker_query_objects_total', 'Objects in the replies to queries.', () => counts.objects),
      gauge('broker_running_queries', 'Queries that are being answered.', () => broker.queries.slots.inUse),
      gauge('broker_objects', 'Stored objects.', () => broker.store.count),
      gauge(
        'broker_index_lag',
        'Changes of the store that are not yet in the index.',
        () => broker.keeper.lag,
      ),
      gauge('broker_collecting', '1 while a collection runs.', () => (broker.collections.running ? 1 : 0)),
      gauge(
        'broker_collected_seconds',
        'When everything was last received from a collection point, in seconds since 1970; 0: not since the start.',
        byPoint(({ lastComplete }) => lastComplete),
        'point',
      ),
      counter(
        'broker_collection_failures_total',
        'Collections from a point that were not complete.',
        byPoint(({ failures }) => failures),
        'point',
      ),
      counter(
        'broker_collected_objects_total',
        'Objects received from a collection point.',
        byPoint(({ objects }) => objects),
        'point',
      ),
      gauge(
        'broker_event_failed',
        '1 if the last run of a timed event failed.',
        () => broker.timetable.rows().map(({ name, lastFailed }) => [name, lastFailed ? 1 : 0] as const),
        'event',
      ),
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
