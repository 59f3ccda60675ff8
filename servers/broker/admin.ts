import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type AdminCommand, fatalItem, REPLY, type ResultItem } from '../../protocols/broker/index.js';
import { KitError, UsageError } from '../../protocols/errors.js';
import type { Broker } from './broker.js';
import { oidOfName } from './object-path.js';

/** What of a broker the commands touch. */
export type AdministeredBroker = Pick<
  Broker,
  | 'clean'
  | 'collect'
  | 'collecting'
  | 'compress'
  | 'config'
  | 'events'
  | 'indexLag'
  | 'jobs'
  | 'log'
  | 'logs'
  | 'maintenance'
  | 'refreshMarks'
  | 'reindexAll'
  | 'reindexChanges'
  | 'requestShutdown'
  | 'restart'
  | 'set'
  | 'statistics'
  | 'store'
  | 'timetable'
>;

/** How commands are carried out. */
export interface AdminOptions {
  /**
   * Milliseconds that an answer waits for a deletion or an addition to end; after that it says that the work goes on, and
   * the outcome is only logged (BRK-5.4). Default 2000.
   */
  readonly patienceMs?: number;
}

/** An administrative message, and where it came from. */
export interface AdminRequest {
  readonly password: string;
  readonly command: AdminCommand;
  /** For the log. */
  readonly address: string;
}

const DEFAULT_PATIENCE_MS = 2000;

/** Names of the jobs that must not run twice at once. */
const COLLECTION = 'Collection';
const FULL_INDEX = 'Index corpus';
const CHANGES_INDEX = 'Index changes';
const RESTART = 'Restart';

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

/**
 * Answers an administrative message: checks its password, logs it, carries it out (BRK-5.1, 5.2, 5.4). The log never shows a
 * password.
 */
export async function* administer(
  broker: AdministeredBroker,
  { password, command, address }: AdminRequest,
  options: AdminOptions = {},
): AsyncGenerator<ResultItem, void, void> {
  if (!passwordMatches(password, broker.config.adminPassword)) {
    broker.log.warn(`Admin: ${address}: #${command.kind} refused: invalid password`);
    broker.events.write('Admin', `${address}: #${command.kind} refused: invalid password`);
    yield REPLY.invalidPassword();
    return;
  }
  if (broker.logs('Admin')) {
    broker.log.info(`Admin: ${address}: #${command.kind}`);
    broker.events.write('Admin', `${address}: #${command.kind}`);
  }
  yield* executeAdmin(broker, command, options);
}

/**
 * Carries out a command for a caller that has checked who asks (BRK-5.1). What takes long goes on behind the answer, and its
 * outcome is logged (BRK-5.4). Yields `101` for each line of outcome, or one `111`.
 */
export async function* executeAdmin(
  broker: AdministeredBroker,
  command: AdminCommand,
  options: AdminOptions = {},
): AsyncGenerator<ResultItem, void, void> {
  try {
    for (const text of await carryOut(broker, command, options.patienceMs ?? DEFAULT_PATIENCE_MS)) {
      broker.events.write('Admin-Return', `#${command.kind}: ${text}`);
      yield { kind: 'message', text };
    }
  } catch (error) {
    if (!(error instanceof KitError)) throw error;
    broker.events.write('Admin-Return', `#${command.kind}: ${error.message}`);
    yield fatalItem(error.message);
  }
}

/** The lines of a command's outcome. */
async function carryOut(
  broker: AdministeredBroker,
  command: AdminCommand,
  patienceMs: number,
): Promise<readonly string[]> {
  const { events, jobs, maintenance } = broker;
  const soon = (name: string, work: () => Promise<readonly string[]>): Promise<readonly string[]> =>
    waitFor(broker, name, work, patienceMs);
  switch (command.kind) {
    case 'collection':
      if (broker.collecting) return ['Collection is running already'];
      return behind(broker, COLLECTION, async () => {
        const { received, expired, points } = await broker.collect();
        const broken = points.filter((point) => !point.complete).length;
        return `${received} objects received, ${expired} expired, ${broken} of ${points.length} points incomplete`;
      });
    case 'full-index':
      return behind(broker, FULL_INDEX, async () => `${await broker.reindexAll()} objects indexed`);
    case 'incremental-index':
      return behind(broker, CHANGES_INDEX, async () => `${await broker.reindexChanges()} changes indexed`);
    case 'restart':
      return behind(broker, RESTART, async () => {
        const waiting = await broker.restart();
        const rest = waiting.length === 0 ? '' : `; not before the next start: ${waiting.join(', ')}`;
        return `configuration and Registry read again, everything indexed${rest}`;
      });
    case 'clean-broker':
      return soon('Delete expired objects', async () => [`Deleted ${await broker.clean()} expired objects`]);
    case 'compress-registry':
      return soon('Compress Registry', async () => [
        `Compressed the Registry: ${await broker.compress()} deleted records gone`,
      ]);
    case 'rem-object-oid':
      return soon('Delete objects by oid', async () => deleted(await maintenance.remove(command.oids)));
    case 'rem-object-path':
      return soon('Remove object by name', async () => {
        return deleted(await maintenance.remove(await oidsNamed(broker, command.path)));
      });
    case 'rem-object-query':
      return soon('Delete objects by query', async () => {
        const { removed, complete } = await maintenance.removeMatching(command.query);
        const rest = complete ? [] : ['The search took too long: there may be more. Give the command again'];
        return [...deleted(removed), ...rest];
      });
    case 'rem-dups':
      return soon('Delete older objects of duplicate URLs', async () =>
        deleted(await maintenance.removeDuplicates()),
      );
    case 'add-object':
      return soon('Add objects by file', async () => {
        const { added, updated, duplicates, rejected, faults, reasons } = await maintenance.addFiles(
          command.files,
        );
        const counts = `${added} added, ${updated} updated, ${duplicates} known already`;
        return [`Objects: ${counts}, ${rejected} rejected; ${faults} faults in the files`, ...reasons];
      });
    case 'add-log':
      return [`Log types switched on: ${events.switch(command.event, true).join(', ')}`, typesLine(broker)];
    case 'rem-log':
      return [`Log types switched off: ${events.switch(command.event, false).join(', ')}`, typesLine(broker)];
    case 'open-log':
      return [`Log opened: ${events.openFile(command.file)}`];
    case 'close-log':
      if (events.file === undefined) return ['The log is closed already'];
      events.close();
      return ['Log closed; nothing is logged in it until a log is opened'];
    case 'flush-log':
      if (events.file === undefined) return ['The log is closed'];
      events.flush();
      return ['Log flushed'];
    case 'rotate-log':
      return [`Log rotated: the old one is ${events.rotate()}`];
    case 'set':
      return [`${broker.set(command.name, command.value)} is set until the broker ends`];
    case 'do-stats':
      return statisticsLines(broker, jobs.names);
    case 'shutdown':
      broker.requestShutdown();
      return ['Shutdown started'];
  }
}

/** BRK-5.4: answers at once; the outcome is logged. A job of that name runs once at a time. */
function behind(broker: AdministeredBroker, name: string, work: () => Promise<string>): readonly string[] {
  if (broker.jobs.names.includes(name)) return [`${name} is running already`];
  void broker.jobs.start(name, work);
  return [`${name} started`];
}

/** Waits for a job that is mostly short; one that is not goes on behind the answer. */
async function waitFor(
  broker: AdministeredBroker,
  name: string,
  work: () => Promise<readonly string[]>,
  patienceMs: number,
): Promise<readonly string[]> {
  let lines: readonly string[] = [];
  const job = broker.jobs.start(name, async () => {
    lines = await work();
    return lines.join('; ');
  });
  const patience = new AbortController();
  const tired = pause(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined);
  const outcome = await Promise.race([job, tired]);
  patience.abort();
  if (outcome === undefined) return [`${name} started; what comes of it will be in the log`];
  if (!outcome.ok) throw outcome.error;
  return lines;
}

/** BRK-5.6 tells the administrator to index the corpus; here the index has followed. */
function deleted(count: number): readonly string[] {
  return [`Deleted ${count} objects`, 'The index has followed; Index corpus is not needed'];
}

/**
 * The objects that a name of `#rem-object-path` means: the path or the URL of a content summary (BRK-4.10), its last part
 * `OBJn`, or the URL of the document itself.
 */
async function oidsNamed({ store, config }: AdministeredBroker, name: string): Promise<readonly number[]> {
  const entries = await store.byUrl(name);
  if (entries.length > 0) return entries.map((entry) => entry.oid);
  const oid = oidOfName(config.brokerName, name);
  if (oid === undefined || (await store.entry(oid)) === undefined) {
    throw new UsageError('there is no object of that name');
  }
  return [oid];
}

function typesLine({ events }: AdministeredBroker): string {
  return `Log types now: ${events.types.length === 0 ? 'none' : events.types.join(', ')}`;
}

async function statisticsLines(broker: AdministeredBroker, jobs: readonly string[]): Promise<string[]> {
  const statistics = await broker.statistics();
  const { refreshMarks, events } = broker;
  return [
    `Objects: ${statistics.objects}`,
    `Bytes: ${statistics.bytes}`,
    ...(statistics.newestUpdate === undefined ? [] : [`Newest Update-Time: ${statistics.newestUpdate}`]),
    `Changes not yet indexed: ${broker.indexLag}`,
    `Records deleted since the last compression: ${broker.maintenance.deletedRecords}`,
    ...(refreshMarks === undefined ? [] : [`Due for refresh: ${refreshMarks.due}`]),
    ...statistics.gatherers.map(({ name, objects }) => `Gatherer ${name}: ${objects}`),
    ...statistics.types.map(({ name, objects }) => `Type ${name}: ${objects}`),
    `Log: ${events.file ?? 'closed'}`,
    typesLine(broker),
    ...jobs.map((name) => `Running: ${name}`),
    ...broker.timetable().map((row) => {
      const next = row.next === undefined ? 'not planned' : `next ${isoTime(row.next)}`;
      const last = row.lastStarted === undefined ? 'not yet run' : `last ${isoTime(row.lastStarted)}`;
      const outcome = row.running ? ', running' : row.lastOutcome === undefined ? '' : `, ${row.lastOutcome}`;
      return `Event ${row.name}: ${next}; ${last}${outcome}`;
    }),
  ];
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
