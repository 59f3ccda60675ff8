// The process that storage-kill.test.ts kills. It opens the stores in DIRECTORY, continues with numbered steps and reports each commit on
// stdout. `modelAfter` returns the expected state after any step. Arguments: DIRECTORY.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SoifObject } from '../../protocols/soif/index.js';
import {
  BrokerStore,
  type CollectedChange,
  GathererStore,
  Generations,
  type Summary,
} from '../../storage/index.js';

const URLS = 17;
export const STEP_URL = 'http://step.test/';
export const POINT = 'gatherer.test:8500';

type StepAction = readonly [kind: CollectedChange['kind'], url: string];

/** Returns the changes of step `k`, at time `k`; one of them updates STEP_URL, so that a state identifies its step. */
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

/** Writes and publishes steps to a Gatherer's store until the process is killed. */
async function gather(directory: string): Promise<never> {
  await using store = await GathererStore.open(join(directory, 'working'), { writeBufferBytes: 64 * 1024 });
  const generations = join(directory, 'generations');
  const pending: Promise<void>[] = [];
  for (let k = (await stepOf(store)) + 1; ; k++) {
    const batch = store.batch().putMeta('step', k);
    for (const [kind, url] of actionsOf(k)) {
      const known = kind !== 'refresh' || modelAfter(k - 1).has(url) || actionsOf(k)[1]?.[1] === url;
      const summary: Summary = { url, updateTime: k, timeToLive: 0, soif: objectBytes(url, k) };
      if (kind === 'delete') batch.deleteSummary(url);
      else if (known) batch.putSummary(summary);
    }
    pending.push(batch.commit().then(() => report(`gatherer ${k}`)));
    if (pending.length >= 4) await pending.shift();
    if (k % 9 === 0) report(`published ${await store.publish(generations)}`);
    if (k % 27 === 0) await (await new Generations(generations).open()).close();
  }
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

/** Applies steps to a Broker's store until the process is killed. */
async function collect(directory: string): Promise<never> {
  await using store = await BrokerStore.open(join(directory, 'broker'), { writeBufferBytes: 64 * 1024 });
  for (let k = ((await store.collectionState(POINT))?.last ?? 0) + 1; ; k++) {
    await store.apply(changesOf(k), { key: POINT, last: k });
    report(`broker ${k}`);
  }
}

/** Writes synchronously, so that a report is complete before the process can be killed. */
function report(line: string): void {
  writeSync(1, `${line}\n`);
}

const [, script = '', directory] = process.argv;
if (directory !== undefined && import.meta.url === pathToFileURL(script).href) {
  await Promise.all([gather(directory), collect(directory)]);
}
