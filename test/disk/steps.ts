// Numbered steps of stores, and the state after each of them.
import { SoifObject } from '../../protocols/soif/index.js';
import type { CollectedChange, GathererStore } from '../../storage/index.js';

const URLS = 17;
export const STEP_URL = 'http://step.test/';
export const POINT = 'gatherer.test:8500';

type StepAction = readonly [kind: CollectedChange['kind'], url: string];

/**
 * Returns the changes of step `k`, at time `k`; one of them updates STEP_URL, so that a state identifies its
 * step.
 */
export function actionsOf(k: number): StepAction[] {
  const url = (i: number) => `http://u${i % URLS}.test/`;
  const list: StepAction[] = [
    ['update', STEP_URL],
    ['update', url(k)],
  ];
  if (k % 4 === 0) list.push(['refresh', url(k * 7)]);
  if (k % 5 === 0) list.push(['delete', url(k * 3)]);
  return list;
}

/** Returns the Update-Time of each URL after step `k`. */
export function modelAfter(k: number): Map<string, number> {
  const model = new Map<string, number>();
  for (let step = 1; step <= k; step++) {
    for (const [kind, url] of actionsOf(step)) {
      if (kind === 'delete') model.delete(url);
      else if (kind === 'update' || model.has(url)) model.set(url, step);
    }
  }
  return model;
}

/** Returns the object that a step stores. */
export function objectBytes(url: string, time: number): Buffer {
  const updateTime = String(time);
  return Buffer.from(
    `@FILE { ${url}\nGatherer-Name{1}:\tG\nGatherer-Host{6}:\tg.test\nGatherer-Version{1}:\t1\n` +
      `Update-Time{${updateTime.length}}:\t${updateTime}\nTitle{900}:\t${'x'.repeat(900)}\n}\n`,
  );
}

/** Returns the last committed step of a Gatherer's store. */
export async function stepOf(store: GathererStore): Promise<number> {
  return Number((await store.meta.get('step')) ?? 0);
}

/** Returns the changes that a Broker collects in step `k`. */
export function changesOf(k: number): CollectedChange[] {
  return actionsOf(k).map(([kind, url]) => {
    const attributes = {
      'Gatherer-Name': 'G',
      'Gatherer-Host': 'g.test',
      'Gatherer-Version': '1',
      'Update-Time': String(k),
    };
    return {
      kind,
      object: SoifObject.of('FILE', url, Object.entries(attributes)),
      bytes: objectBytes(url, k),
    };
  });
}
