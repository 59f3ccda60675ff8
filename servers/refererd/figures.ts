import type { MonitoredServer } from '../monitor/figures.js';
import type { RefererService } from './service.js';

/** A References Server as its monitor sees it. Its counters are those of the statistics page; `/clean` clears them. */
export function monitoredRefererd(service: RefererService): MonitoredServer {
  const { counts } = service.statistics;
  return {
    name: 'refererd',
    problems: () => (service.references.current === undefined ? ['no links are published'] : []),
    figures: [
      {
        name: 'refererd_connections',
        kind: 'gauge',
        help: 'Open connections.',
        read: () => service.clients,
      },
      {
        name: 'refererd_events_total',
        kind: 'counter',
        help: 'The counters of /stat: requests by kind, errors, time-outs, bytes.',
        label: 'event',
        read: () => Object.entries(counts),
      },
      {
        name: 'refererd_generation',
        kind: 'gauge',
        help: 'Number of the generation of links that is served.',
        read: () => service.references.current?.generation,
      },
      {
        name: 'refererd_documents',
        kind: 'gauge',
        help: 'Documents in that generation.',
        read: () => service.references.current?.counts.documents,
      },
      {
        name: 'refererd_links',
        kind: 'gauge',
        help: 'Links in that generation.',
        read: () => service.references.current?.counts.links,
      },
    ],
  };
}
