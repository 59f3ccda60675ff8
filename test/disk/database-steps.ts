// Numbered steps of a database file, and the check that a file has the state of one whole step.
import { decodeSoif } from '../../protocols/soif/index.js';
import type { DatabaseFile } from '../../storage/databases/index.js';
import { recordOf } from '../../storage/databases/record.js';
import { expect } from './expect.js';
import { changesOf, modelAfter, objectBytes, STEP_URL } from './steps.js';

/** The whole export after a step, ordered by Update-Time and URL. */
export function exportAfter(k: number): string {
  const order = [...modelAfter(k)].sort(([a, s], [b, u]) => s - u || (a < b ? -1 : 1));
  return order.map(([url, time]) => objectBytes(url, time).toString('latin1')).join('');
}

/** Makes the changes of step `k` in one transaction. */
export function databaseStep(database: DatabaseFile, k: number): Promise<void> {
  return database.transaction(() => {
    for (const { kind, object } of changesOf(k)) {
      const { url } = object;
      if (kind === 'delete') database.delete(url);
      else if (kind === 'update' || database.has(url))
        database.put(recordOf(decodeSoif(objectBytes(url, k))));
    }
  });
}

/** @throws Error if the file has less than step `atLeast`, or not the records of one step. @returns its step */
export function checkDatabase(database: DatabaseFile, atLeast: number): number {
  const step = database.get(STEP_URL)?.updateTime ?? 0;
  if (step < atLeast)
    throw new Error(`${database.path}: step ${atLeast} was acknowledged, step ${step} is there`);
  const records = [...database.entries()].map(({ url, updateTime }) => [url, updateTime]);
  expect(`the records after step ${step}`, records, [...modelAfter(step)].sort());
  for (const { url, soif } of database.entries()) expect('the URL in the object', decodeSoif(soif).url, url);
  expect('the number of records', database.count, modelAfter(step).size);
  return step;
}
