/**
 * The program that storage-kill.test.ts kills. It continues from the state of the stores in argv[2] with numbered steps and reports each
 * commit on stdout. `modelAfter` describes the state after any step, so that it can be checked.
 */
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

/** URLs that step `k` changes at time `k`; the step's own object is always among them, so that a state identifies its step. */
function actions(k: number): StepAction[] {
  const url = (i: number) => `http://u${i % URLS}.test/`;
  const list: StepAction[] = [
    ['update', STEP_URL],
    ['update', url(k)],
  ];
  if (k % 4 === 0) list.push(['refresh', url(k * 7)]);
  if (k % 5 === 0) list.push(['delete', url(k * 3)]);
  return list;
}

/** URL to Update-Time after step `k`. */
export function modelAfter(k: number): Map<string, number> {
  const model = new Map<string, number>();
  for (let step = 1; step <= k; step++) {
    for (const [kind, url] of actions(step)) {
      if (kind === 'delete') model.delete(url);
      else if (kind === 'update' || model.has(url)) model.set(url, step);
    }
  }
  return model;
}

export function objectBytes(url: string, time: number): Buffer {
  const at = String(time);
  return Buffer.from(
    `@FILE { ${url}\nGatherer-Name{1}:\tG\nGatherer-Host{6}:\tg.test\nGatherer-Version{1}:\t1\n` +
      `Update-Time{${at.length}}:\t${at}\nTitle{900}:\t${'x'.repeat(900)}\n}\n`,
  );
}

export async function stepOf(store: GathererStore): Promise<number> {
  return Number((await store.meta.get('step')) ?? 0);
}

async function gather(directory: string): Promise<never> {
  await using store = await GathererStore.open(join(directory, 'working'), { writeBufferBytes: 64 * 1024 });
  const generations = join(directory, 'generations');
  const window: Promise<void>[] = [];
  for (let k = (await stepOf(store)) + 1; ; k++) {
    const batch = store.batch().putMeta('step', k);
    for (const [kind, url] of actions(k)) {
      const known = kind !== 'refresh' || modelAfter(k - 1).has(url) || actions(k)[1]?.[1] === url;
      const summary: Summary = { url, updateTime: k, timeToLive: 0, soif: objectBytes(url, k) };
      if (kind === 'delete') batch.deleteSummary(url);
      else if (known) batch.putSummary(summary);
    }
    window.push(batch.commit().then(() => tell(`gatherer ${k}`)));
    if (window.length >= 4) await window.shift();
    if (k % 9 === 0) tell(`published ${await store.publish(generations)}`);
    if (k % 27 === 0) await (await new Generations(generations).open()).close();
  }
}

async function collect(directory: string): Promise<never> {
  await using store = await BrokerStore.open(join(directory, 'broker'), { writeBufferBytes: 64 * 1024 });
  for (let k = ((await store.collectionState(POINT))?.last ?? 0) + 1; ; k++) {
    const changes = actions(k).map(([kind, url]): CollectedChange => {
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
    await store.apply(changes, { key: POINT, last: k });
    tell(`broker ${k}`);
  }
}

/** Synchronous, so that a report is complete before the process can be killed. */
function tell(line: string): void {
  writeSync(1, `${line}\n`);
}

const [, script = '', directory] = process.argv;
if (directory !== undefined && import.meta.url === pathToFileURL(script).href) {
  await Promise.all([gather(directory), collect(directory)]);
}
