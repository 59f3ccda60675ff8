import { createHash, timingSafeEqual } from 'node:crypto';
import { type AdminCommand, fatalItem, type ResultItem } from '../../protocols/broker/index.js';
import type { Broker } from './broker.js';

/** What of a broker the commands touch. */
export type AdministeredBroker = Pick<
  Broker,
  'clean' | 'collecting' | 'collectInBackground' | 'indexLag' | 'statistics'
>;

/** What an administrative message works on. */
export interface AdminContext {
  readonly broker: AdministeredBroker;
  /** `#shutdown`: begins a clean end of the program; must not wait for it. */
  readonly shutdown: () => void;
}

/**
 * Whether the password of a message is the configured one. Takes the same time wherever the two differ and
 * however long they are; an empty configured password refuses everybody (BRK-5.2).
 */
export function passwordMatches(given: string, configured: string): boolean {
  const same = timingSafeEqual(digest(given), digest(configured));
  return configured !== '' && same;
}

function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/** Runs an administrative command whose password has been checked; what takes long goes on behind (BRK-5.4). */
export async function runAdminCommand(command: AdminCommand, context: AdminContext): Promise<ResultItem[]> {
  const { broker } = context;
  switch (command.kind) {
    case 'collection': {
      const running = broker.collecting;
      broker.collectInBackground();
      return [message(running ? 'Collection is running already' : 'Collection started')];
    }
    case 'clean-broker':
      return [message(`Deleted ${await broker.clean()} expired objects`)];
    case 'do-stats':
      return (await statisticsLines(broker)).map(message);
    case 'shutdown':
      context.shutdown();
      return [message('Shutdown started')];
    default:
      return [fatalItem(`#${command.kind} is not available in this version`)];
  }
}

async function statisticsLines(broker: AdministeredBroker): Promise<string[]> {
  const statistics = await broker.statistics();
  return [
    `Objects: ${statistics.objects}`,
    `Bytes: ${statistics.bytes}`,
    ...(statistics.newestUpdate === undefined ? [] : [`Newest Update-Time: ${statistics.newestUpdate}`]),
    `Changes not yet indexed: ${broker.indexLag}`,
    ...statistics.gatherers.map(({ name, objects }) => `Gatherer ${name}: ${objects}`),
    ...statistics.types.map(({ name, objects }) => `Type ${name}: ${objects}`),
  ];
}

function message(text: string): ResultItem {
  return { kind: 'message', text };
}
