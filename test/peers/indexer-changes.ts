// Random histories of a store: after adds, updates, deletions, restarts and failed runs, Glimpse and Swish find
// what the embedded engine finds. Prints TAP and, with a failure, the seed. Needs Debian's glimpse and swish-e;
// the runner installs them. SEED repeats a history, SEEDS runs more of them.
import { spawnSync } from 'node:child_process';
import { chmod, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DEFAULT_FLAGS, parseQuery } from '../../protocols/broker/index.js';
import { type Broker, executeAdmin } from '../../servers/broker/index.js';
import { type Indexer, openIndexer, type SearchOptions } from '../../storage/indexers/index.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { document, NOW, openBroker, ScriptedGatherd } from '../servers/broker/helpers.js';
import {
  EmbeddedFixture,
  expressionOf,
  type ObjectAttributes,
  objectOf,
  PLAIN_SEARCH,
} from '../storage/indexers/embedded-fixture.js';

const isInstalled = (program: string) => spawnSync(program, ['-V']).error === undefined;
const skip =
  isInstalled('glimpseindex') && isInstalled('swish-e') ? false : 'glimpse or swish-e is not installed';

const SEED = Number(process.env.SEED ?? 20_261);
/** Histories of each engine, with this seed and the following ones. */
const SEEDS = Number(process.env.SEEDS ?? 1);
/** Changes of one history; more are made only within {@link HISTORY_MS}. */
const MIN_STEPS = 20;
const MAX_STEPS = 200;
const HISTORY_MS = 10_000;
const QUERIES_PER_STEP = 4;

/** Pseudorandom choices, equal for equal seeds. */
class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * bound);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

const WORDS = [
  ...['wheat', 'Wheat', 'rye', 'barley', 'oats', 'common', 'wheatfield', 'human', 'computer', 'a', 'x1'],
  ...['1234', 'foo_bar', 'café', 'МИР', 'and', 'title', 'naïve', 'pre-war', 'e.g.', "it's", 'q', 'zzz'],
];

/** A line; some are longer than the records of glimpse, or have words that are longer than its words. */
function randomLine(choices: Choices): string {
  const words = Array.from({ length: 1 + choices.below(8) }, () => choices.of(WORDS));
  switch (choices.below(14)) {
    case 0:
      words.splice(1, 0, 'filler '.repeat(200 + choices.below(4000)).trim());
      break;
    case 1:
      words.push(`${'k'.repeat(40 + choices.below(60))}barleycorn`);
      break;
  }
  return words.join(choices.of([' ', ' ', ' ', ', ', '-', '\t', '  ']));
}

function randomObject(choices: Choices, number: number): ObjectAttributes {
  const body = Array.from({ length: 1 + choices.below(4) }, () => randomLine(choices)).join('\n');
  return {
    url: `http://h/${number}`,
    title: `${choices.of(WORDS)} u${number}`,
    body: choices.below(20) === 0 ? '' : body,
    size: String(choices.below(300)),
  };
}

function randomQuery(choices: Choices, can: Indexer['capabilities'], newest: number): string {
  const term = (): string => {
    const all = [...WORDS, `u${newest}`, 'http', 'filler', 'nowhere', 'barleycorn'];
    const word = choices.of(can.regexp ? all : all.filter((one) => !one.includes('.')));
    const quoted = /^[\w]+$/.test(word) && !['and', 'title'].includes(word) ? word : `"${word}"`;
    switch (choices.below(7)) {
      case 0:
        return `title : ${quoted}`;
      case 1:
        return `"${word.replaceAll('.', '\\.')} ${choices.of(['rye', 'oats', 'wheat'])}"`;
      case 2:
        return can.substrings && word.length > 3 && /^\w+$/.test(word) ? word.slice(1, 4) : quoted;
      case 3:
        return can.comparison ? `size less-than ${choices.below(300)}` : quoted;
      default:
        return quoted;
    }
  };
  const operator = () => choices.of(['and', 'and', 'or', 'and not', 'except']);
  switch (choices.below(3)) {
    case 0:
      return term();
    case 1:
      return `${term()} ${operator()} ${term()}`;
    default:
      return `(${term()} ${operator()} ${term()}) ${operator()} ${term()}`;
  }
}

async function findOids(
  indexer: Indexer,
  query: string,
  options: Partial<SearchOptions>,
): Promise<readonly number[]> {
  const results = indexer.query(expressionOf(query), { ...PLAIN_SEARCH, ...options, wantLines: false });
  const found: number[] = [];
  for await (const { oid } of results) found.push(oid);
  const { complete, warnings } = await results.outcome;
  // Both engines say it.
  const unexpected = warnings.filter((warning) => !warning.startsWith('Spelling errors do not apply'));
  if (!complete || unexpected.length > 0) throw new Error(`${query}: incomplete ${unexpected.join()}`);
  return found.sort((a, b) => a - b);
}

/** One history of a store, with an engine and the embedded one beside it. */
class History {
  readonly #choices: Choices;
  readonly #embedded: Indexer;
  readonly #live = new Map<number, number>();
  #next = 1;
  #time = 1;
  readonly log: string[] = [];

  constructor(
    readonly base: EmbeddedFixture,
    readonly open: () => Promise<Indexer>,
    public engine: Indexer,
    seed: number,
  ) {
    this.#embedded = base.indexer;
    this.#choices = new Choices(seed);
  }

  async step(): Promise<void> {
    const { base } = this;
    const choices = this.#choices;
    switch (choices.below(12)) {
      case 0:
      case 1:
      case 2:
        await this.#put(Array.from({ length: 1 + choices.below(6) }, () => this.#next++));
        break;
      case 3:
      case 4:
        await this.#put([this.#any()]);
        break;
      case 5:
      case 6:
        await this.#remove(1 + choices.below(4));
        break;
      case 7:
        // In one run: deletions, updates and new objects.
        await this.#store([this.#any(), this.#next++]);
        await base.store.remove(this.#oids(1 + choices.below(3)));
        await this.#store([this.#next++]);
        this.log.push('mixed run');
        break;
      case 8:
        this.log.push('restart');
        await this.engine.close();
        this.engine = await this.open();
        break;
      case 9:
        await this.#crash();
        break;
      case 10:
        if (choices.below(3) > 0) break;
        this.log.push('all deleted');
        await base.store.remove(this.#oids(Number.POSITIVE_INFINITY));
        break;
      default:
        await this.#rebuild();
    }
    for (const indexer of [this.#embedded, this.engine]) {
      base.indexer = indexer;
      await base.catchUp();
    }
    base.indexer = this.#embedded;
  }

  /** Compares the engines. @returns the number of objects found */
  async compare(t: Test): Promise<number> {
    const choices = this.#choices;
    let count = 0;
    for (let i = 0; i < QUERIES_PER_STEP; i++) {
      const { capabilities } = this.engine;
      const options = {
        ignoreCase: choices.below(2) === 0,
        matchWord: !capabilities.substrings || choices.below(3) === 0,
        errors: capabilities.errors > 0 && choices.below(6) === 0 ? 1 : 0,
      };
      // The newest object is the one that a faulty index does not find.
      const query = i === 0 ? `u${this.#next - 1}` : randomQuery(choices, capabilities, this.#next - 1);
      const expected = await findOids(this.#embedded, query, options);
      const actual = await findOids(this.engine, query, options);
      count += expected.length;
      if (actual.join() === expected.join()) continue;
      t.same(actual, expected, `${query} ${JSON.stringify(options)} after ${this.log.slice(-12).join('; ')}`);
    }
    for (const { name, objects } of [this.engine, this.#embedded]) {
      if (objects !== this.base.store.count)
        t.equal(objects, this.base.store.count, `${name}: objects after ${this.log.slice(-12).join('; ')}`);
    }
    return count;
  }

  #any(): number {
    const numbers = [...this.#live.keys()];
    return numbers.length === 0 ? this.#next++ : this.#choices.of(numbers);
  }

  #oids(count: number): number[] {
    const oids: number[] = [];
    for (let i = 0; i < count && this.#live.size > 0; i++) {
      const number = this.#any();
      oids.push(this.#live.get(number)!);
      this.#live.delete(number);
    }
    return oids;
  }

  async #store(numbers: readonly number[]): Promise<void> {
    const { base } = this;
    const objects = numbers.map((number) =>
      objectOf({ ...randomObject(this.#choices, number) }, ++this.#time),
    );
    // Without an index: the engines follow later.
    const { putSoif } = EmbeddedFixture.prototype;
    await putSoif.call({ store: base.store, catchUp: async () => undefined }, objects);
    for await (const page of base.store.all()) {
      for (const { oid, url } of page) {
        const number = Number(url.slice('http://h/'.length));
        if (numbers.includes(number)) this.#live.set(number, oid);
      }
    }
  }

  async #put(numbers: readonly number[]): Promise<void> {
    this.log.push(`put ${numbers.join()}`);
    await this.#store(numbers);
  }

  async #remove(count: number): Promise<void> {
    const oids = this.#oids(count);
    this.log.push(`remove ${oids.join()}`);
    await this.base.store.remove(oids);
  }

  /** The process ends in the middle of a run. */
  async #crash(): Promise<void> {
    this.log.push('crash in a run');
    await this.#store([this.#any(), this.#next++]);
    await this.base.store.remove(this.#oids(1));
    await this.engine.beginUpdate();
    for (const { oid } of await this.base.store.changesAfter(this.engine.watermark, 1000)) {
      const [object] = await this.base.store.objects([oid]);
      if (object === undefined) await this.engine.remove(oid);
      else await this.engine.add(oid, object);
    }
    await this.engine.close();
    this.engine = await this.open();
  }

  /** BRK-8.1 Index_Full. */
  async #rebuild(): Promise<void> {
    this.log.push('rebuild');
    const { store } = this.base;
    await this.engine.clear();
    const sequence = store.lastSequence;
    for await (const page of store.all()) {
      for (const { oid } of page) {
        const [object] = await store.objects([oid]);
        if (object !== undefined) await this.engine.add(oid, object);
      }
    }
    await this.engine.flush(sequence);
  }
}

for (const [type, option] of [
  ['glimpse', '-b'],
  ['glimpse', '-o'],
  ['swish', ''],
] as const) {
  for (let seed = SEED; seed < SEED + SEEDS; seed++)
    t.test(
      `BRK-8.2 ${type} ${option} finds what the embedded engine finds, whatever happened, seed ${seed}`,
      { skip },
      async (t) => {
        await using base = await EmbeddedFixture.open();
        const { directory: brokerDirectory, storeDirectory } = base;
        const open = () =>
          openIndexer({
            type,
            brokerDirectory,
            storeDirectory,
            ...(option === '' ? {} : { glimpseIndexOption: option }),
          });
        const history = new History(base, open, await open(), seed);
        const end = performance.now() + HISTORY_MS;
        let found = 0;
        let steps = 0;
        try {
          for (
            ;
            steps < MAX_STEPS && (steps < MIN_STEPS || performance.now() < end) && t.counts.fail === 0;
            steps++
          ) {
            await history.step();
            found += await history.compare(t);
          }
        } catch (error) {
          t.fail(`${String(error)} after ${history.log.slice(-12).join('; ')}`);
        } finally {
          await history.engine.close();
        }
        t.ok(found > 0, `seed ${seed}: ${steps} changes, ${found} objects found`);
      },
    );
}

/** The URLs that a query of a client finds. */
async function findUrls(broker: Broker, query: string): Promise<string[]> {
  const urls: string[] = [];
  const flags = { ...DEFAULT_FLAGS, opaque: true };
  for await (const page of broker.queries.search(parseQuery(query), flags))
    for (const item of page) if (item.kind === 'match') urls.push(item.url);
  return urls.sort();
}

t.test('BRK-5.1 #do-stats says what the engine has, and why it failed', { skip }, async (t) => {
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  const programs = await temporaryDirectory(t);
  const { PATH } = process.env;
  t.teardown(async () => {
    process.env.PATH = PATH;
  });
  process.env.PATH = `${programs}:${PATH}`;
  // Works until there is a file `broken`.
  const program = join(programs, 'glimpseindex');
  await writeFile(
    program,
    `#!/bin/sh
if [ -e ${programs}/broken ]; then cat >/dev/null; echo first >&2; echo second >&2; exit 3; fi
PATH=${PATH} exec glimpseindex "$@"
`,
  );
  await chmod(program, 0o755);
  const { broker, log } = await openBroker(t, { conf: 'Indexer-Type Glimpse', points: [gatherd.point(0)] });
  const statistics = async (): Promise<string> => {
    const lines: string[] = [];
    for await (const item of executeAdmin(broker, { kind: 'do-stats' }))
      if (item.kind === 'message') lines.push(item.text);
    return lines.join('\n');
  };
  const collect = (...titles: readonly string[]) => {
    gatherd.documents = titles.map((title, i) => ({
      updateTime: NOW - 1000,
      text: document(`http://h/${i + 1}`, { title }, NOW - 1000),
    }));
    return broker.collections.run();
  };
  await collect('wheat', 'rye');
  t.match(await statistics(), /^Objects: 2\nIndexer: glimpse, 2 objects\nCounted: \S+Z\nBytes: \d+\n/);
  await writeFile(join(programs, 'broken'), '');
  const [outcome] = await Promise.allSettled([collect('wheat', 'rye', 'oats')]);
  const failed = await statistics();
  t.match(
    failed,
    /^Objects: 3\nIndexer: glimpse, 2 objects\nIndex failure: glimpseindex failed \(exit status 3\): first \| second\nCounted: \S+Z, 2 objects\n/,
  );
  t.match(failed, /\nChanges not yet indexed: [1-9]/);
  t.match(`${log.join('')}${outcome.status === 'rejected' ? String(outcome.reason) : ''}`, /first \| second/);
  await rm(join(programs, 'broken'));
  await broker.keeper.settle();
  const repaired = await statistics();
  t.match(repaired, /^Objects: 3\nIndexer: glimpse, 3 objects\nCounted/);
  t.match(repaired, /\nChanges not yet indexed: 0\n/);
  t.same(await findUrls(broker, 'oats'), ['http://h/3']);
});

for (const type of ['Glimpse', 'Swish']) {
  t.test(`BRK-6.2 ${type}: a Broker collects, deletes, begins anew and restarts`, { skip }, async (t) => {
    const choices = new Choices(SEED + 1);
    const gatherd = await ScriptedGatherd.listen();
    t.teardown(() => gatherd.close());
    const fixture = await openBroker(t, { conf: `Indexer-Type ${type}`, points: [gatherd.point(0)] });
    let { broker } = fixture;
    const documents = new Map<string, string>();
    let next = 1;
    const collect = async () => {
      gatherd.documents = [...documents].map(([url, text]) => ({
        updateTime: NOW - 1000,
        text: document(url, { title: text }, NOW - 1000),
      }));
      const report = await broker.collections.run();
      t.same(
        report.points.map((point) => point.error),
        [undefined],
      );
    };
    const add = () => {
      const number = next++;
      documents.set(`http://www.example.org/${number}`, `${choices.of(['wheat', 'rye'])} only${number}x`);
    };
    const check = async (what: string) => {
      t.equal(broker.keeper.lag, 0, what);
      t.equal(broker.store.count, documents.size, what);
      for (const query of ['wheat', 'rye', `only${next - 1}x`, 'only1x', 'not rye']) {
        const expected = [...documents].filter(([, text]) =>
          query === 'not rye' ? !text.includes('rye') : text.split(' ').includes(query),
        );
        t.same(await findUrls(broker, query), expected.map(([url]) => url).sort(), `${what}: ${query}`);
      }
    };
    const reopen = async () => {
      await broker.close();
      broker = await fixture.open();
    };
    for (let i = 0; i < 5; i++) add();
    await collect();
    await check('a collection');
    for (let round = 0; round < 3; round++) {
      const oids = [...documents.keys()].slice(0, 2 + choices.below(2));
      for (const url of oids) documents.delete(url);
      const doomed: number[] = [];
      for await (const page of broker.store.all())
        doomed.push(...page.filter(({ url }) => oids.includes(url)).map(({ oid }) => oid));
      await broker.maintenance.remove(doomed);
      for (let i = 0; i < 3; i++) add();
      await collect();
      await check(`deletions, then a collection, round ${round}`);
      if (round === 1) {
        await reopen();
        await check('a restart');
      }
    }
    documents.clear();
    for (let i = 0; i < 4; i++) add();
    await reopen();
    await broker.drop();
    await collect();
    await check('-new');
    add();
    await collect();
    await check('a collection after -new');
    const folder = join(fixture.directory, type.toLowerCase());
    await broker.close();
    for (const name of await readdir(folder, { recursive: true }))
      if (/glimpse_index$|idx$/.test(name)) await rm(join(folder, name), { recursive: true });
    broker = await fixture.open();
    await check('a restart without files of the index');
  });
}
