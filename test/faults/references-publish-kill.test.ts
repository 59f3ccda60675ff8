import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { ReferencesClient } from '../../clients/references/index.js';
import { ReferencesReader } from '../../storage/references/index.js';
import { writeTexts } from '../bench/references-graph.js';
import { CliProcess, cli } from '../helpers/cli.js';
import { serveFixture } from '../servers/refererd/scene.js';

t.setTimeout(600_000);

const KILLS = 20;
const DOCUMENTS = 20_000;
const LINKS_EACH = 3;
/** Loads have two colors. In a load of color c each document links to IDs from c times this number. */
const STRIDE = 100_000;
/** Number of polls for a file, at least a millisecond apart. */
const TRIES = 20_000;
/** Maximum number of loads that end before the kill; they do not count. */
const MOST_LOADS = 3 * KILLS;

/** Files that appear in this order while generation `next` is published, before CURRENT is moved. */
const PUBLISHING: readonly ((next: number) => string)[] = [
  (next) => `${next}.tmp/refs.ids`,
  (next) => `${next}.tmp/MANIFEST`,
  (next) => `${next}`,
];

/** Resolves when a file or directory written after `since` exists; those of a killed load are older. */
async function written(path: string, since: number): Promise<void> {
  const later = async () => (await stat(path)).mtimeMs > since;
  // If it does not appear, the load has ended and the caller no longer waits: then the polling ends too.
  for (let tries = 0; tries < TRIES; tries++) {
    if (await later().catch(() => false)) return;
    await pause(1);
  }
}

/** Targets of the documents of a color: two colors have no link in common. */
function targetsOf(id: number, color: number): readonly number[] {
  return Array.from({ length: LINKS_EACH }, (_, i) => color * STRIDE + id + i);
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

/** The color of an answer; fails if it is mixed. */
function colorOf(id: number, ids: Iterable<number>): number {
  const answer = Array.from(ids);
  const color = Math.floor((answer[0] ?? 0) / STRIDE);
  if (answer.join() !== targetsOf(id, color).join()) throw new Error(`${id}: ${answer} is of no load`);
  return color;
}

t.test(
  'DESIGN 4, R-12: harvest links load killed with -9 at 20 moments: readers see whole generations only',
  async (t) => {
    const scratch = await mkdtemp(join(tmpdir(), 'references-kill-'));
    const data = join(scratch, 'data');
    const generations = join(data, 'references');
    t.teardown(() => rm(scratch, { recursive: true, force: true }));
    const words = (color: number): readonly string[] => [
      ...['links', 'load', '--documents', join(scratch, `documents-${color}`)],
      ...['--refs', join(scratch, `links-${color}`), '--data', data, '--json'],
    ];
    for (const color of [1, 2]) {
      await writeTexts(join(scratch, `documents-${color}`), documentTexts(color));
      await writeTexts(join(scratch, `links-${color}`), linkTexts(color));
    }
    const begin = performance.now();
    t.equal((await cli(...words(1))).code, 0);
    let whole = performance.now() - begin;

    // The reader: a server, and a client that sends one request after another.
    const server = await serveFixture(t, { data });
    await using client = await ReferencesClient.connect({ host: '127.0.0.1', port: server.address.port });
    let reading = true;
    let answers = 0;
    const following = (async () => {
      for (let id = 1; reading; id = (id % DOCUMENTS) + 1) {
        const { ids, found } = await client.references({ id });
        if (found !== LINKS_EACH) throw new Error(`${id}: ${found} links`);
        colorOf(id, ids);
        answers++;
        if (answers % 50 === 0) await pause(1);
      }
    })();
    // A failure is reported where it is awaited.
    following.catch(() => {});

    let killed = 0;
    let published = 0;
    let leftOver = 0;
    let before = 1;
    for (let i = 0; i < MOST_LOADS && (killed < KILLS || leftOver === 0); i++) {
      const color = 1 + ((i + 1) % 2);
      const started = performance.now();
      const since = Date.now();
      const numbers = (await readdir(generations)).map((name) => /^\d+$/.exec(name)?.[0] ?? 0).map(Number);
      const next = Math.max(...numbers) + 1;
      const load = new CliProcess(words(color));
      // Every other kill is at a random moment of the load, the others during publication.
      const moment =
        i % 2 === 0
          ? pause((whole * ((i % KILLS) + 1)) / KILLS)
          : written(join(generations, PUBLISHING[(i >> 1) % PUBLISHING.length]!(next)), since);
      await Promise.race([moment, load.finished]);
      load.kill('SIGKILL');
      const { signal } = await load.finished;
      if (signal === 'SIGKILL') killed++;
      else whole = Math.min(whole, performance.now() - started);

      const names = await readdir(generations);
      if (names.some((name) => name.endsWith('.tmp'))) leftOver++;
      await using reader = await ReferencesReader.openCurrent(data);
      if (reader.generation < before) t.fail(`after ${before} comes ${reader.generation}`);
      if (reader.generation > before) published++;
      before = reader.generation;
      t.same(
        wrongOf(reader),
        [],
        `kill ${i + 1}: CURRENT names generation ${reader.generation}, which is whole`,
      );
    }
    t.comment(JSON.stringify({ killed, published, leftOver, answers }));
    t.ok(killed >= KILLS, `${killed} loads were killed before their end`);
    t.ok(leftOver > 0, 'some of them while they were writing');

    const { code, stdout, stderr } = await cli(...words(2));
    t.equal(code, 0, stderr);
    const last: { readonly generation: number } = JSON.parse(stdout);
    t.match(last, { documents: DOCUMENTS, links: DOCUMENTS * LINKS_EACH, repeated: 0 });
    const names = (await readdir(generations)).sort();
    t.ok(names.length <= 3, `the next load removes remains: ${names.join(' ')}`);
    t.same(
      names.filter((name) => name !== 'CURRENT' && !/^\d+$/.test(name)),
      [],
      'nothing unfinished stays',
    );
    for (;;) {
      if (server.service.references.current?.generation === last.generation) break;
      await pause(10);
    }
    t.equal(
      colorOf(1, (await client.references({ id: 1 })).ids),
      2,
      'the server has gone over to what was loaded last',
    );
    reading = false;
    await following;
    t.ok(answers > 0, `${answers} answers, each of one load`);
  },
);

/** IDs whose answers mix two loads. */
function wrongOf(reader: ReferencesReader): number[] {
  const wrong: number[] = [];
  const color = reader.document(1)?.length;
  const { documents, links } = reader.counts;
  if (documents !== DOCUMENTS || links !== DOCUMENTS * LINKS_EACH) wrong.push(0);
  for (let id = 1; id <= DOCUMENTS; id++) {
    const list = reader.links('refs', id);
    const own = list !== undefined && colorOf(id, list.page(0, list.total)) === color;
    const back = reader.links('hubs', (color ?? 0) * STRIDE + id)?.page(0, 1)[0];
    const url = `http://color${color}.example/${id}`;
    if (!own || back === undefined || reader.document(id)?.url !== url || reader.idByUrl(url) !== id)
      wrong.push(id);
  }
  return wrong;
}
