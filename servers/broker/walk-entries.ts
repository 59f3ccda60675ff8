// A walk over all entries of a store, in turns with the clients of the process.
import type { BrokerStore, RegistryEntry } from '../../storage/index.js';
import { type SessionShare, threadShare } from '../host/fair-share.js';

/** Entries of a page: a quarter of a millisecond of work. */
const PAGE_ENTRIES = 64;
/** The cost of an entry, in milliseconds of processor time. */
const ENTRY_COST_MS = 0.004;

/** A store whose entries are walked over. */
export type EntrySource = Pick<BrokerStore, 'all'>;

/**
 * Yields all entries in small pages, each in a turn of the walk, which pays for it as a session does: a walk
 * over a hundred thousand entries does not stop the clients.
 *
 * @param share default: a share of its own of this thread
 */
export async function* walkEntries(
  store: EntrySource,
  options: Parameters<BrokerStore['all']>[0] = {},
  share: SessionShare = threadShare.join(),
): AsyncGenerator<readonly RegistryEntry[], void, undefined> {
  for await (const page of store.all({ ...options, pageRows: PAGE_ENTRIES })) {
    if (!share.mayContinue()) await share.turn(options.signal);
    share.charge(page.length * ENTRY_COST_MS);
    yield page;
  }
}
