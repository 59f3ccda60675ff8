// The administrative commands (BRK-5).
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import { type AdminCommand, fatalItem, REPLY, type ResultItem } from '../../protocols/broker/index.js';
import { withTimeout } from '../../protocols/clock.js';
import { KitError, UsageError } from '../../protocols/errors.js';
import { equalSecrets } from '../web/secrets.js';
import type { Broker } from './broker.js';
import { indexerSection } from './broker-parts.js';
import { sharedCollections } from './collect/shared-state.js';
import { oidOfName } from './query/object-path.js';

/** Options for executing commands. */
export interface AdminOptions {
  /**
   * Longest time for which the reply waits for a deletion or an addition. After that the reply says that the
   * work continues, and the outcome is only logged (BRK-5.4). Default 2000.
   */
  readonly patienceMs?: number;
}

/** An administrative message and its sender. */
export interface AdminRequest {
  readonly password: string;
  readonly command: AdminCommand;
  /** Address of the sender, for the log. */
  readonly address: string;
}

const DEFAULT_PATIENCE_MS = 2000;

/** Names of the jobs of which at most one runs at a time. */
const COLLECTION = 'Collection';
const FULL_INDEX = 'Index corpus';
const CHANGES_INDEX = 'Index changes';
const RESTART = 'Restart';

/**
 * Compares a message's password with the configured one in constant time. An empty configured password matches
 * none (BRK-5.2).
 */
export function passwordMatches(given: string, configured: string): boolean {
  return equalSecrets(given, configured) && configured !== '';
}

/**
 * Answers an administrative message: checks its password, logs it, executes it (BRK-5.1, 5.2, 5.4). Passwords
 * are never logged. After too many wrong ones, its address must wait, whatever the password, and the log counts
 * the refusals.
 */
export async function* administer(
  broker: Broker,
  { password, command, address }: AdminRequest,
  options: AdminOptions = {},
): AsyncGenerator<ResultItem, void, void> {
  const seconds = broker.passwords.secondsToWait(address);
  if (seconds > 0) {
    const refused = broker.passwords.recordRefusal(address);
    if (refused !== undefined) {
      const times = refused === 1 ? '' : ` ${refused} times`;
      const text = `${address}: #${command.kind} refused${times}: too many wrong passwords, the address must wait ${seconds} s`;
      broker.log.warn(`Admin: ${text}`);
      broker.events.write('Admin', text);
    }
    yield REPLY.tooManyPasswords(seconds);
    return;
  }
  if (!passwordMatches(password, broker.config.adminPassword)) {
    broker.passwords.recordFailure(address);
    broker.log.warn(`Admin: ${address}: #${command.kind} refused: invalid password`);
    broker.events.write('Admin', `${address}: #${command.kind} refused: invalid password`);
    yield REPLY.invalidPassword();
    return;
  }
  if (broker.events.isEnabled('Admin')) {
    broker.log.info(`Admin: ${address}: #${command.kind}`);
    broker.events.write('Admin', `${address}: #${command.kind}`);
  }
  yield* executeAdmin(broker, command, options);
}

/**
 * Executes a command whose password the caller has checked (BRK-5.1). Long work continues after the reply, and
 * its outcome is logged (BRK-5.4). Yields `101` for each line of the outcome, or one `111`.
 */
export async function* executeAdmin(
  broker: Broker,
  command: AdminCommand,
  options: AdminOptions = {},
): AsyncGenerator<ResultItem, void, void> {
  try {
    for (const text of await execute(broker, command, options.patienceMs ?? DEFAULT_PATIENCE_MS)) {
      broker.events.write('Admin-Return', `#${command.kind}: ${text}`);
      yield { kind: 'message', text };
    }
  } catch (error) {
    // A file that the command names cannot be used.
    const ofSystem = error instanceof Error && 'syscall' in error;
    if (!(error instanceof KitError || ofSystem)) throw error;
    broker.events.write('Admin-Return', `#${command.kind}: ${error.message}`);
    yield fatalItem(error.message);
  }
}

/** Executes a command and returns the lines of its outcome. */
async function execute(
  broker: Broker,
  command: AdminCommand,
  patienceMs: number,
): Promise<readonly string[]> {
  const { events, jobs, maintenance } = broker;
  const runAndWait = (name: string, work: () => Promise<readonly string[]>): Promise<readonly string[]> =>
    waitForJob(broker, name, work, patienceMs);
  switch (command.kind) {
    case 'collection':
      if (broker.collections.running) return ['Collection is running already'];
      return inBackground(broker, COLLECTION, async () => {
        const { received, expired, points } = await broker.collections.run();
        const broken = points.filter((point) => !point.complete).length;
        return `${received} objects received, ${expired} expired, ${broken} of ${points.length} points incomplete`;
      });
    case 'full-index':
      await requireWriter(broker);
      return inBackground(broker, FULL_INDEX, async () => {
        broker.debug(indexerSection(broker.config), 1, 'reindexing everything');
        await broker.keeper.rebuild();
        return `${broker.store.count} objects indexed`;
      });
    case 'incremental-index':
      return inBackground(broker, CHANGES_INDEX, async () => {
        const { lag } = broker.keeper;
        await broker.keeper.settle();
        return `${lag} changes indexed`;
      });
    case 'restart':
      return inBackground(broker, RESTART, async () => {
        const waiting = await broker.restart();
        const rest = waiting.length === 0 ? '' : `; effective at the next start: ${waiting.join(', ')}`;
        return `configuration and Registry read again, everything indexed${rest}`;
      });
    case 'clean-broker':
      return runAndWait('Delete expired objects', async () => [
        `Deleted ${await maintenance.clean(true)} expired objects`,
      ]);
    case 'compress-registry':
      return runAndWait('Compress Registry', async () => [
        `Compressed the Registry: ${await maintenance.compress()} deleted records removed`,
      ]);
    case 'rem-object-oid':
      return runAndWait('Delete objects by oid', async () =>
        deletionLines(await maintenance.remove(command.oids)),
      );
    case 'rem-object-path':
      return runAndWait('Remove object by name', async () => {
        return deletionLines(await maintenance.remove(await oidsByName(broker, command.path)));
      });
    case 'rem-object-query':
      return runAndWait('Delete objects by query', async () => {
        const { removed, complete } = await maintenance.removeMatching(command.query);
        const rest = complete
          ? []
          : ['The search took too long: there may be more objects. Repeat the command'];
        return [...deletionLines(removed), ...rest];
      });
    case 'rem-dups':
      return runAndWait('Delete older objects of duplicate URLs', async () =>
        deletionLines(await maintenance.removeDuplicates()),
      );
    case 'add-object':
      return runAndWait('Add objects by file', async () => {
        const { added, updated, duplicates, rejected, faults, reasons } = await maintenance.addFiles(
          command.files,
        );
        const counts = `${added} added, ${updated} updated, ${duplicates} unchanged`;
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
      return ['Log closed; events are dropped until a log is opened'];
    case 'flush-log':
      if (events.file === undefined) return ['The log is closed'];
      return [(await events.flush()) ? 'Log flushed' : 'The log cannot be written now'];
    case 'rotate-log':
      return [`Log rotated: the old one is ${events.rotate()}`];
    case 'set':
      return [`${broker.settings.set(command.name, command.value)} is set until the broker ends`];
    case 'do-stats':
      return statisticsLines(broker, jobs.names);
    case 'shutdown':
      broker.requestShutdown();
      return ['Shutdown started'];
  }
}

/** BRK-5.4: starts a job, unless one of this name is running, and returns the reply. The outcome is logged. */
function inBackground(broker: Broker, name: string, work: () => Promise<string>): readonly string[] {
  if (broker.jobs.names.includes(name)) return [`${name} is running already`];
  void broker.jobs.start(name, work);
  return [`${name} started`];
}

/**
 * Starts a job that is usually short and waits for it. After `patienceMs` the reply is sent, and the job
 * continues.
 */
async function waitForJob(
  broker: Broker,
  name: string,
  work: () => Promise<readonly string[]>,
  patienceMs: number,
): Promise<readonly string[]> {
  let lines: readonly string[] = [];
  const job = broker.jobs.start(name, async () => {
    lines = await work();
    return lines.join('; ');
  });
  const outcome = await withTimeout(monotonicClock, patienceMs, job, () => undefined);
  if (outcome === undefined) return [`${name} started; the log will have the outcome`];
  if (!outcome.ok) throw outcome.error;
  return lines;
}

/**
 * Lines of the reply to a deletion. BRK-5.6 tells the administrator to index the corpus, but this index is
 * already up to date.
 */
function deletionLines(count: number): readonly string[] {
  return [`Deleted ${count} objects`, 'The index is up to date; Index corpus is not needed'];
}

/**
 * Returns the identifiers of the objects that a name in `#rem-object-path` denotes: the path or the URL of a
 * content summary (BRK-4.10), its last segment `OBJn`, or the URL of the document itself.
 */
async function oidsByName({ store, config }: Broker, name: string): Promise<readonly number[]> {
  const entries = await store.byUrl(name);
  if (entries.length > 0) return entries.map((entry) => entry.oid);
  const oid = oidOfName(config.brokerName, name);
  if (oid === undefined || (await store.entries.get(oid)) === undefined) {
    throw new UsageError('there is no object of that name');
  }
  return [oid];
}

/** @throws UsageError if another Broker writes the index, which has to be asked */
async function requireWriter({ keeper }: Broker): Promise<void> {
  const writer = await keeper.writer();
  if (writer !== undefined) throw new UsageError(`${writer} writes the index: give it this command`);
}

function typesLine({ events }: Broker): string {
  return `Log types now: ${events.types.length === 0 ? 'none' : events.types.join(', ')}`;
}

async function statisticsLines(broker: Broker, jobs: readonly string[]): Promise<string[]> {
  const statistics = await broker.statistics.get(broker.now());
  const { damage, events, indexer, keeper, maintenance, store } = broker;
  const { refreshMarks } = maintenance;
  const writer = await keeper.writer();
  return [
    `Objects: ${store.count}`,
    `Indexer: ${indexer.name}${indexer.objects === undefined ? '' : `, ${indexer.objects} objects`}`,
    ...(keeper.failure === undefined ? [] : [`Index failure: ${keeper.failure}`]),
    ...(damage.sentence === undefined ? [] : [`Store damage: ${damage.sentence}`]),
    // What follows costs a walk over the Registry, so it may be a few minutes old.
    `Counted: ${isoTime(statistics.computedAt)}${statistics.objects === store.count ? '' : `, ${statistics.objects} objects`}`,
    `Bytes: ${statistics.bytes}`,
    ...(statistics.newestUpdate === undefined ? [] : [`Newest Update-Time: ${statistics.newestUpdate}`]),
    ...(writer === undefined ? [] : [`Index: ${writer} writes it`]),
    `Changes not yet indexed: ${keeper.lag}`,
    `Records deleted since the last compression: ${maintenance.deletedRecords}`,
    ...(refreshMarks === undefined ? [] : [`Due for refresh: ${refreshMarks.due}`]),
    ...statistics.gatherers.map(({ name, objects }) => `Gatherer ${name}: ${objects}`),
    ...statistics.types.map(({ name, objects }) => `Type ${name}: ${objects}`),
    `Log: ${events.file ?? 'closed'}`,
    typesLine(broker),
    ...jobs.map((name) => `Running: ${name}`),
    ...(await sharedCollections(store)).map(({ point, state }) => `Collection ${point}: ${state}`),
    ...broker.timetable.rows().map((row) => {
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
