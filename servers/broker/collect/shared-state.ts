// Who collects what, of Brokers that share a store, in words.
import type { BrokerStore, CollectionState } from '../../../storage/index.js';

/** A point, and what is known of its collections. */
export interface PointState {
  readonly point: string;
  readonly state: string;
}

/** The points that were ever collected from, in the order of their names; empty if the store is not shared. */
export async function sharedCollections({
  collections,
}: Pick<BrokerStore, 'collections'>): Promise<PointState[]> {
  const states = (await collections?.states()) ?? [];
  return states.map(({ key, ...state }) => ({ point: nameOf(key), state: describe(state) }));
}

/** The first line of a point's key: the query of a Broker's filter may have more. */
function nameOf(key: string): string {
  return key.split('\n', 1)[0]?.trimEnd() ?? '';
}

function describe({ holder, last }: Omit<CollectionState, 'key'>): string {
  const now = holder === undefined ? [] : [`${holder.owner} collects now`];
  if (last === undefined) return [...now, 'not yet collected'].join('; ');
  const ended = new Date(last.ended).toISOString().replace(/\.\d+Z$/, 'Z');
  const outcome = last.complete ? '' : ', incomplete';
  return [...now, `last ${ended} by ${last.owner}, ${last.received} objects received${outcome}`].join('; ');
}
