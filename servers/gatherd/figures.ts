import type { MonitoredServer } from '../monitor/figures.js';
import type { GatherdServer } from './server.js';

/** A gatherd as its monitor sees it. */
export function monitoredGatherd(server: GatherdServer): MonitoredServer {
  const { counts } = server;
  return {
    name: 'gatherd',
    problems: () => (server.serving === undefined ? ['no generation is published'] : []),
    figures: [
      {
        name: 'gatherd_connections',
        kind: 'gauge',
        help: 'Open sessions.',
        read: () => server.connections,
      },
      {
        name: 'gatherd_sessions_total',
        kind: 'counter',
        help: 'Sessions that have ended.',
        read: () => counts.sessions,
      },
      {
        name: 'gatherd_denied_total',
        kind: 'counter',
        help: 'Connections that the access list refused.',
        read: () => counts.denied,
      },
      {
        name: 'gatherd_commands_total',
        kind: 'counter',
        help: 'Commands, by kind.',
        label: 'command',
        read: () => counts.commands,
      },
      {
        name: 'gatherd_transfers_total',
        kind: 'counter',
        help: 'Updates that were sent completely.',
        read: () => counts.transfers,
      },
      {
        name: 'gatherd_failures_total',
        kind: 'counter',
        help: 'Transfers that ended because the database could not be read.',
        read: () => counts.failures,
      },
      {
        name: 'gatherd_sent_objects_total',
        kind: 'counter',
        help: 'Objects sent in sessions that have ended.',
        read: () => counts.objects,
      },
      {
        name: 'gatherd_sent_bytes_total',
        kind: 'counter',
        help: 'Bytes sent in sessions that have ended.',
        read: () => counts.bytes,
      },
      {
        name: 'gatherd_generation',
        kind: 'gauge',
        help: 'Number of the generation that is served.',
        read: () => server.serving?.generation,
      },
      {
        name: 'gatherd_generation_opened_seconds',
        kind: 'gauge',
        help: 'When that generation was opened, in seconds since 1970.',
        read: () => server.serving?.since,
      },
      {
        name: 'gatherd_objects',
        kind: 'gauge',
        help: 'Objects in that generation.',
        read: () => server.serving?.objects,
      },
    ],
  };
}
