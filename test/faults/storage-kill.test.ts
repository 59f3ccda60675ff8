// kill -9 of a process that writes to all stores: each store holds the state after one whole step, and no committed step is lost.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { decodeSoif, SoifDecoder } from '../../protocols/soif/index.js';
import { BrokerStore, GathererStore, Generations } from '../../storage/index.js';
import { PLAIN_NODE } from '../helpers/plain-node.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { collect, readExport } from '../storage/helpers.js';
import { modelAfter, objectBytes, POINT, STEP_URL, stepOf } from './storage-kill-child.js';

const ROUNDS = 20;
const MAX_LINES = 80;

/** The last step that the killed process reported as committed, by store. */
type ReportedSteps = Map<string, number>;

/** Kills the writer after this number of lines, and adds its reports. */
async function runAndKill(directory: string, maxLines: number, reported: ReportedSteps): Promise<void> {
  const script = fileURLToPath(new URL('storage-kill-child.js', import.meta.url));
  const child = spawn('env', [...PLAIN_NODE, script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', number] = line.split(' ');
    reported.set(name, Number(number));
    if (++lines === maxLines) child.kill('SIGKILL');
  }
  const [, signal] = await exit;
  if (signal !== 'SIGKILL') throw new Error(`the writer ended without a kill after ${lines} lines`);
}

/** Returns the whole export of a state, ordered by Update-Time and URL. */
function exportOf(model: ReadonlyMap<string, number>): string {
  const order = [...model].sort(([a, s], [b, u]) => s - u || (a < b ? -1 : 1));
  return order.map(([url, time]) => objectBytes(url, time).toString('latin1')).join('');
}

async function checkGatherer(t: Test, directory: string, reported: ReportedSteps): Promise<void> {
  await using store = await GathererStore.open(join(directory, 'working'));
  const step = await stepOf(store);
  t.ok(step >= (reported.get('gatherer') ?? 0), 'no committed step is lost');
  const model = modelAfter(step);
  t.equal(
    (await readExport(store.summaries.exportSince(0))).text,
    exportOf(model),
    'the state is that after one step',
  );
  t.equal(store.summaries.count, model.size, 'the count is that of the state');
  for (const url of [...model.keys(), ...modelAfter(17).keys()]) {
    t.equal(
      await store.summaries.updateTimeOf(url),
      model.get(url),
      'the identity row agrees with the primary row',
    );
  }
}

async function checkGeneration(t: Test, directory: string, reported: ReportedSteps): Promise<void> {
  const generations = new Generations(join(directory, 'generations'));
  const number = await generations.current();
  t.ok((number ?? 0) >= (reported.get('published') ?? 0), 'no published generation is lost');
  if (number === undefined) return;
  await using snapshot = await generations.open();
  const { text } = await readExport(snapshot.exportSince(0));
  const decoder = new SoifDecoder({ mode: 'strict' });
  const items = [...decoder.push(Buffer.from(text, 'latin1')), ...decoder.end()];
  const objects = items.flatMap((item) => (item.kind === 'object' ? [item.object] : []));
  t.equal(objects.length, items.length, 'every object decodes strictly');
  const step = objects.find((object) => object.url === STEP_URL)?.number('Update-Time') ?? 0;
  t.equal(text, exportOf(modelAfter(step)), 'the state is that after one step');
  t.equal(snapshot.count, objects.length);
}

async function checkBroker(t: Test, directory: string, reported: ReportedSteps): Promise<void> {
  await using store = await BrokerStore.open(join(directory, 'broker'));
  const step = (await store.collectionState(POINT))?.last ?? 0;
  t.ok(step >= (reported.get('broker') ?? 0), 'no committed step is lost');
  const model = modelAfter(step);
  const entries = (await collect(store.all())).flat();
  t.same(
    new Map(entries.map((entry) => [entry.url, entry.updateTime])),
    model,
    'the state is that after one step',
  );
  t.same([store.count, entries.length], [model.size, model.size], 'the counts are those of the state');
  const objects = await store.objects(entries.map((entry) => entry.oid));
  for (const [i, entry] of entries.entries()) {
    const bytes = objects[i] ?? Buffer.alloc(0);
    t.equal(
      decodeSoif(bytes, { mode: 'strict' }).number('Update-Time'),
      entry.updateTime,
      'the entry agrees with its object',
    );
    t.same(await store.byUrl(entry.url), [entry], 'the entry agrees with its URL row');
  }
  t.same((await collect(store.all({ since: 1 }))).flat(), entries, 'the entries agree with the time rows');
  // The log is complete, and replaying it gives the stored state.
  const log = await store.changesAfter(0, store.lastSequence + 1);
  t.equal(log.at(-1)?.sequence ?? 0, store.lastSequence);
  t.equal(log.length, store.lastSequence);
  const present = new Set<number>();
  for (const { oid, kind } of log) {
    if (kind === 'put') present.add(oid);
    else present.delete(oid);
  }
  t.same(
    [...present].sort((a, b) => a - b),
    entries.map((entry) => entry.oid),
  );
}

t.test(
  'DESIGN 4: a process killed while it writes, publishes and collects leaves whole states',
  async (t) => {
    const directory = await temporaryDirectory(t);
    const reported: ReportedSteps = new Map();
    for (let round = 0; round < ROUNDS; round++) {
      const lines = 1 + Math.floor(Math.random() * MAX_LINES);
      await runAndKill(directory, lines, reported);
      await t.test(`killed after ${lines} lines`, async (t) => {
        await checkGatherer(t, directory, reported);
        await checkGeneration(t, directory, reported);
        await checkBroker(t, directory, reported);
      });
    }
    t.same(
      await readdir(join(directory, 'generations', 'readers')).catch(() => []),
      [],
      'no copy for a reader is left',
    );
  },
);
