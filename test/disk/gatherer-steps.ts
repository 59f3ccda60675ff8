// Numbered steps of a Gatherer, the state after each of them, and the check that a store has the state of one
// whole step. A step changes every table in one batch: summaries, documents, queues and links.
import { type GathererStore, Generations } from '../../storage/index.js';
import { ReferencesReader } from '../../storage/references/index.js';
import { Random } from '../helpers/random.js';
import { collect, documentRecord, queuedUri, readExport } from '../storage/helpers.js';
import { exportAfter } from './database-steps.js';
import { expect } from './expect.js';
import { actionsOf, modelAfter, objectBytes, STEP_URL, stepOf } from './steps.js';

const QUEUE = 'queue.test';
/** Entries that stay in the queue. */
const QUEUED = 5;

/** The target of the links of a step's document. */
function linkOf(k: number): string {
  return `http://linked.test/${k}`;
}

/** Text that cannot be compressed, the same for each `k`. */
function paddingOf(k: number, length = 4000): string {
  const random = new Random(k);
  return Array.from({ length }, () => String.fromCharCode(33 + random.below(90))).join('');
}

/** Commits step `k`. */
export async function gatherStep(
  store: GathererStore,
  k: number,
  sync: boolean,
  padding?: number,
): Promise<void> {
  // The padding fills LevelDB's buffers, so that tables are written and merged.
  const batch = store.batch().putMeta('step', k).putMeta('padding', paddingOf(k, padding));
  const model = modelAfter(k - 1);
  for (const [kind, url] of actionsOf(k)) {
    if (kind === 'delete') batch.deleteSummary(url, undefined, { deletedAt: k });
    else if (kind === 'update' || model.has(url) || actionsOf(k)[1]?.[1] === url)
      batch.putSummary({ url, updateTime: k, timeToLive: 0, soif: objectBytes(url, k) });
  }
  batch.putDocument(documentRecord(STEP_URL, { size: k }));
  batch.putReferences({ url: STEP_URL, time: k, checkTime: k, length: k, links: [linkOf(k)] });
  const position = { classKey: QUEUE, directive: 0, precedence: 0 };
  batch.enqueue({ ...position, ordinal: k, uri: queuedUri(linkOf(k)) });
  if (k > QUEUED) batch.dequeue({ ...position, ordinal: k - QUEUED });
  await batch.commit({ sync });
}

/** @throws Error if the store has less than step `atLeast`, or its tables are not those of one step. */
export async function checkStore(store: GathererStore, atLeast: number): Promise<number> {
  const step = await stepOf(store);
  if (step < atLeast) throw new Error(`step ${atLeast} was acknowledged, the store has step ${step}`);
  const model = modelAfter(step);
  const { text } = await readExport(store.summaries.exportSince(0));
  expect(`the objects after step ${step}`, text, exportAfter(step));
  expect('the number of objects', store.summaries.count, model.size);
  for (const url of modelAfter(Math.max(step, 17)).keys())
    expect(`the time of ${url}`, await store.summaries.updateTimes.get(url), model.get(url));
  if (step === 0) return step;
  const padding = String(await store.meta.get('padding'));
  expect('the padding', padding, paddingOf(step, padding.length));
  expect('the document', (await store.documents.get(STEP_URL))?.size, step);
  const entries = (await collect(store.queues.pages())).flat();
  const ordinals = Array.from(
    { length: Math.min(step, QUEUED) },
    (_, i) => Math.max(0, step - QUEUED) + i + 1,
  );
  expect(
    'the queue',
    entries.map(({ ordinal }) => ordinal),
    ordinals,
  );
  const source = await store.links.idOf(STEP_URL);
  const target = await store.links.idOf(linkOf(step));
  const pairs = (await collect(store.links.pairs())).flatMap((pair) => [...pair]);
  expect('the links', pairs, [source, target]);
  expect('the linked documents', (await collect(store.links.documents())).flat().length, step + 1);
  return step;
}

/** @returns the step that the current generation has, 0 without one. @throws Error if it is not whole */
export async function checkGeneration(directory: string): Promise<number> {
  const generations = new Generations(directory);
  if ((await generations.current()) === undefined) return 0;
  await using snapshot = await generations.open();
  const { text } = await readExport(snapshot.exportSince(0));
  const step = Math.max(
    0,
    ...[...text.matchAll(/Update-Time\{\d+\}:\t(\d+)/g)].map(([, time]) => Number(time)),
  );
  expect(`the published objects after step ${step}`, text, exportAfter(step));
  expect('the published number', snapshot.count, modelAfter(step).size);
  const { ready } = snapshot;
  if (ready === undefined) throw new Error('the generation has no export');
  return step;
}

/**
 * @returns the step whose links the current references have, 0 without any. @throws Error if they are not whole
 */
export async function checkReferences(data: string): Promise<number> {
  if ((await new Generations(`${data}/references`).current()) === undefined) return 0;
  await using reader = await ReferencesReader.openCurrent(data);
  const source = reader.idByUrl(STEP_URL);
  const list = source === undefined ? undefined : reader.links('refs', source);
  const [target = 0] = list?.page(0, 1) ?? [];
  const url = reader.document(target)?.url ?? '';
  const step = Number(/\d+$/.exec(url)?.[0] ?? 0);
  expect('the published link', [url, list?.total, reader.counts.documents], [linkOf(step), 1, step + 1]);
  return step;
}
