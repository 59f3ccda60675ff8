// The figures of a gatherd for metrics and health checks.
import { counter, gauge, type MonitoredServer, newcomerFigures } from '../monitor/figures.js';
import type { GatherdServer } from './server.js';

/** Describes a gatherd to the monitor. */
export function monitoredGatherd(
  server: GatherdServer,
  notes: () => readonly string[] = () => [],
): MonitoredServer {
  const { counts, database } = server.service;
  return {
    name: 'gatherd',
    problems: () => {
      if (database.serving === undefined) return ['no generation is published'];
      const { damage } = counts;
      return damage?.generation === database.serving.generation ? [damage.message] : [];
    },
    notes,
    figures: [
      gauge('gatherd_connections', 'Open sessions.', () => server.connections),
      ...newcomerFigures('gatherd', () => server.newcomers),
      counter('gatherd_sessions_total', 'Sessions that have ended.', () => counts.sessions),
      counter('gatherd_denied_total', 'Connections that the access list refused.', () => counts.denied),
      counter('gatherd_commands_total', 'Commands, by kind.', () => counts.commands, 'command'),
      counter('gatherd_transfers_total', 'Updates that were sent completely.', () => counts.transfers),
      counter(
        'gatherd_failures_total',
        'Transfers that ended because the database could not be read.',
        () => counts.failures,
      ),
      counter(
        'gatherd_sent_objects_total',
        'Objects sent in sessions that have ended.',
        () => counts.objects,
      ),
      counter('gatherd_sent_bytes_total', 'Bytes sent in sessions that have ended.', () => counts.bytes),
      gauge(
        'gatherd_generation',
        'Number of the generation that is served.',
        () => database.serving?.generation,
      ),
      gauge(
        'gatherd_generation_opened_seconds',
        'When that generation was opened, in seconds since 1970.',
        () => database.serving?.since,
      ),
      gauge('gatherd_objects', 'Objects in that generation.', () => database.serving?.objects),
    ],
  };
}
