// The figures of a References Server: what metrics and health checks tell of it.
import { counter, gauge, type MonitoredServer, newcomerFigures } from '../monitor/figures.js';
import type { RefererService } from './service.js';

/**
 * Describes a References Server to the monitor. Its counters are those of the statistics page; `/clean` clears
 * them.
 *
 * @param mayBeEmpty whether links are not to be expected, since those that were gathered have none
 */
export function monitoredRefererd(
  service: RefererService,
  mayBeEmpty: () => boolean = () => false,
  notes: () => readonly string[] = () => [],
): MonitoredServer {
  const { counts } = service.statistics;
  return {
    name: 'refererd',
    problems: () => {
      if (service.references.current === undefined) return mayBeEmpty() ? [] : ['no links are published'];
      return service.damage === undefined ? [] : [service.damage];
    },
    notes,
    figures: [
      gauge('refererd_connections', 'Open connections.', () => service.clients),
      ...newcomerFigures('refererd', () => service.newcomers?.()),
      counter(
        'refererd_events_total',
        'The counters of /stat: requests by kind, errors, time-outs, bytes.',
        () => Object.entries(counts),
        'event',
      ),
      gauge(
        'refererd_generation',
        'Number of the generation of links that is served.',
        () => service.references.current?.generation,
      ),
      gauge(
        'refererd_documents',
        'Documents in that generation.',
        () => service.references.current?.counts.documents,
      ),
      gauge('refererd_links', 'Links in that generation.', () => service.references.current?.counts.links),
    ],
  };
}
