// kill -9 of `harvest links load`: refererd and other readers see whole generations only.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { ReferencesClient } from '../../clients/references/index.js';
import { ReferencesReader } from '../../storage/references/index.js';
import { writeTexts } from '../bench/references-graph.js';
import { CliProcess, cli } from '../helpers/cli.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { serveFixture } from '../servers/refererd/helpers.js';

const KILLS = byTier(6, 20);
const DOCUMENTS = byTier(5_000, 20_000);
const LINKS_PER_DOCUMENT = 3;
/** Loads have two colors. In a load of color c each document links to IDs from c times this number. */
const COLOR_STRIDE = 100_000;
/** Maximum number of loads; those that end before their kill do not count as killed. */
const MAX_LOADS = 3 * KILLS;

/** Files that appear in this order while generation `next` is published, before CURRENT is replaced. */
const PUBLICATION_STEPS: readonly ((next: number) => string)[] = [
  (next) => `${next}.tmp/refs.ids`,
  (next) => `${next}.tmp/MANIFEST`,
  (next) => `${next}`,
];

/** Whether a file or directory is newer than `since`; those of a killed load are older. */
function isNewer(path: string, since: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.mtimeMs > since;
}

/** The bytes of the files of a generation that are newer than `since`. */
function bytesOf(directory: string, since: number): number {
  if (!existsSync(directory)) return 0;
  const paths = readdirSync(directory).map((name) => join(directory, name));
  return paths
    .filter((path) => isNewer(path, since))
    .reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Returns the targets of a document in a load of this color; two colors have no target in common. */
function targetsOf(id: number, color: number): readonly number[] {
  return Array.from({ length: LINKS_PER_DOCUMENT }, (_, i) => color * COLOR_STRIDE + id + i);
}

function* linkTexts(color: number): Generator<string> {
  for (let id = 1; id <= DOCUMENTS; id++) {
    yield targetsOf(id, color)
      .map((target) => `${id} ${target}\n`)
      .join('');
  }
}

function* documentTexts(color: number): Generator<string> {
  for (let id = 1; id <= DOCUMENTS; id++)
    yield `{"id":${id},"url":"http://color${color}.example/${id}","length":${color}}\n`;
}

/** Returns the color of the links of a document; throws if they mix two loads. */
function colorOf(id: number, ids: Iterable<number>): number {
  const links = Array.from(ids);
  const color = Math.floor((links[0] ?? 0) / COLOR_STRIDE);
  if (links.join() !== targetsOf(id, color).join())
    throw new Error(`${id}: ${links} are not the links of one load`);
  return color;
}

t.test(`DESIGN 4, R-12: readers of killed loads see whole generations (seed ${SEED})`, async (t) => {
  const random = new Random(SEED);
  const scratch = await temporaryDirectory(t);
  const data = join(scratch, 'data');
  const generations = join(data, 'references');
  const argsFor = (color: number): readonly string[] => [
    ...['links', 'load', '--documents', join(scratch, `documents-${color}`)],
    ...['--refs', join(scratch, `links-${color}`), '--data', data, '--json'],
  ];
  for (const color of [1, 2]) {
    await writeTexts(join(scratch, `documents-${color}`), documentTexts(color));
    await writeTexts(join(scratch, `links-${color}`), linkTexts(color));
  }
  t.equal((await cli(...argsFor(1))).code, 0);
  const whole = bytesOf(join(generations, '1'), 0);
  t.ok(whole > 0);

  // A server reads the generations; its client sends one request after another.
  const server = await serveFixture(t, { data });
  await using client = new ReferencesClient({ host: '127.0.0.1', port: server.address.port });
  let reading = true;
  let replies = 0;
  const reader = (async () => {
    for (let id = 1; reading; id = (id % DOCUMENTS) + 1) {
      const { ids, found } = await client.references({ id });
      if (found !== LINKS_PER_DOCUMENT) throw new Error(`${id}: ${found} links`);
      colorOf(id, ids);
      replies++;
      if (replies % 50 === 0) await setImmediate();
    }
  })();
  // A rejection is handled at the await below.
  reader.catch(() => {});

  let killed = 0;
  let published = 0;
  let leftovers = 0;
  let lastGeneration = 1;
  for (let i = 0; i < MAX_LOADS && (killed < KILLS || leftovers === 0); i++) {
    const color = 1 + ((i + 1) % 2);
    const since = Date.now();
    const numbers = (await readdir(generations)).map((name) => /^\d+$/.exec(name)?.[0] ?? 0).map(Number);
    const next = Math.max(...numbers) + 1;
    const load = new CliProcess(argsFor(color));
    // Every other kill comes when a part of the generation is written, the others during publication.
    const part = random.below(whole);
    const file = join(generations, PUBLICATION_STEPS[(i >> 1) % PUBLICATION_STEPS.length]!(next));
    const isReached = (): boolean =>
      i % 2 === 0 ? bytesOf(join(generations, `${next}.tmp`), since) > part : isNewer(file, since);
    await waitUntil(() => load.child.exitCode !== null || isReached());
    load.kill('SIGKILL');
    if ((await load.finished).signal === 'SIGKILL') killed++;

    const names = await readdir(generations);
    if (names.some((name) => name.endsWith('.tmp'))) leftovers++;
    await using current = await ReferencesReader.openCurrent(data);
    if (current.generation < lastGeneration) t.fail(`after ${lastGeneration} comes ${current.generation}`);
    if (current.generation > lastGeneration) published++;
    lastGeneration = current.generation;
    t.same(
      findWrongIds(current),
      [],
      `kill ${i + 1}: CURRENT names generation ${current.generation}, which is whole`,
    );
  }
  t.comment(JSON.stringify({ killed, published, leftovers, replies }));
  t.ok(killed >= KILLS, `${killed} loads were killed before their end`);
  t.ok(leftovers > 0, 'some loads were killed while they were writing');

  const { code, stdout, stderr } = await cli(...argsFor(2));
  t.equal(code, 0, stderr);
  const last: { readonly generation: number } = JSON.parse(stdout);
  t.match(last, { documents: DOCUMENTS, links: DOCUMENTS * LINKS_PER_DOCUMENT, repeated: 0 });
  const names = (await readdir(generations)).sort();
  t.ok(names.length <= 3, `the next load removes remains: ${names.join(' ')}`);
  t.same(
    names.filter((name) => name !== 'CURRENT' && !/^\d+$/.test(name)),
    [],
    'no unfinished generation is left',
  );
  await waitUntil(() => server.service.references.current?.generation === last.generation);
  t.equal(colorOf(1, (await client.references({ id: 1 })).ids), 2, 'the server serves the last load');
  reading = false;
  await reader;
  t.ok(replies > 0, `${replies} replies, each from one load`);
});

/**
 * Returns the IDs whose links or records are not those of the generation's one load; 0 stands for wrong totals.
 */
function findWrongIds(reader: ReferencesReader): number[] {
  const wrong: number[] = [];
  const color = reader.document(1)?.length;
  const { documents, links } = reader.counts;
  if (documents !== DOCUMENTS || links !== DOCUMENTS * LINKS_PER_DOCUMENT) wrong.push(0);
  for (let id = 1; id <= DOCUMENTS; id++) {
    const list = reader.links('refs', id);
    const hasLinks = list !== undefined && colorOf(id, list.page(0, list.total)) === color;
    const backlink = reader.links('hubs', (color ?? 0) * COLOR_STRIDE + id)?.page(0, 1)[0];
    const url = `http://color${color}.example/${id}`;
    if (!hasLinks || backlink === undefined || reader.document(id)?.url !== url || reader.idByUrl(url) !== id)
      wrong.push(id);
  }
  return wrong;
}
