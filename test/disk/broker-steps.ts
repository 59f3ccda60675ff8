// Numbered steps of a Broker's store, and the check that it has the state of one whole step.
import { decodeSoif } from '../../protocols/soif/index.js';
import type { BrokerStore } from '../../storage/index.js';
import { collect } from '../storage/helpers.js';
import { expect } from './expect.js';
import { changesOf, modelAfter, POINT } from './steps.js';

/** Applies step `k` with the collection mark in one batch; every 9th step also trims the change log. */
export async function collectStep(store: BrokerStore, k: number): Promise<void> {
  await store.apply(changesOf(k), { key: POINT, last: k });
  if (k % 9 === 0) await store.trimChanges(store.lastSequence - 10);
}

/**
 * @throws Error if the store has less than step `atLeast`, or its tables are not those of one step. @returns
 *   its step
 */
export async function checkBrokerStore(store: BrokerStore, atLeast: number): Promise<number> {
  const step = (await store.points.get(POINT))?.last ?? 0;
  if (step < atLeast) throw new Error(`step ${atLeast} was acknowledged, the store has step ${step}`);
  const model = modelAfter(step);
  const entries = (await collect(store.all())).flat();
  const times = entries.map(({ url, updateTime }) => [url, updateTime]).sort();
  expect(`the entries after step ${step}`, times, [...model].sort());
  expect('the number of objects', store.count, model.size);
  const objects = await store.objects(entries.map(({ oid }) => oid));
  for (const [i, entry] of entries.entries()) {
    const bytes = objects[i] ?? Buffer.alloc(0);
    expect('its time', decodeSoif(bytes, { mode: 'strict' }).number('Update-Time'), entry.updateTime);
    expect('the row of the URL', await store.byUrl(entry.url), [entry]);
  }
  expect('the rows by time', (await collect(store.all({ since: 1 }))).flat(), entries);
  await checkChangeLog(
    store,
    entries.map(({ oid }) => oid),
  );
  return step;
}

/** The log is complete from its beginning on, and its last change of each OID agrees with the objects. */
async function checkChangeLog(store: BrokerStore, oids: readonly number[]): Promise<void> {
  const { trimmedSequence, lastSequence } = store;
  const log = await store.changesAfter(trimmedSequence, lastSequence + 1);
  expect(
    'the change log',
    log.map(({ sequence }) => sequence),
    Array.from({ length: lastSequence - trimmedSequence }, (_, i) => trimmedSequence + 1 + i),
  );
  const present = new Set(oids);
  for (const { oid, kind } of new Map(log.map((change) => [change.oid, change])).values())
    expect(`the last change of object ${oid}`, kind, present.has(oid) ? 'put' : 'remove');
}
