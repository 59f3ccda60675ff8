// Data that comes back from a backup, a copy or a checkpoint after kill -9, with real programs: a Broker that knows
// later changes than the returned data gets every document as it is now, a Broker that collects from a returned Broker
// too, and the References Server answers from returned links.
import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

const DOCUMENTS = 8;

/** A Gatherer and Brokers that collect from it and from each other, each in a directory of its own. */
class Scene {
  readonly documents: string;
  readonly data: string;
  readonly gatherd: number;
  /** The number of the newest content. */
  #round = 0;
  #run: CliProcess | undefined;
  readonly #directory: string;
  readonly #order: boolean;

  private constructor(directory: string, gatherd: number, order: boolean) {
    this.#directory = directory;
    this.#order = order;
    this.documents = join(directory, 'documents');
    this.data = join(directory, 'data');
    this.gatherd = gatherd;
    mkdirSync(this.documents);
    writeFileSync(
      join(directory, 'g.cf'),
      `Gatherer-Name: G\n${order ? 'Crawl-Order: order.json\n' : ''}<RootNodes>\nfile://${this.documents}/ URL=100\n</RootNodes>\n`,
    );
    this.pause(false);
  }

  static async create(t: Test, order = false): Promise<Scene> {
    const scene = new Scene(await temporaryDirectory(t), await freePort(), order);
    t.teardown(() => scene.kill());
    return scene;
  }

  at(name: string): string {
    return join(this.#directory, name);
  }

  /** Whether a crawl waits at its end. */
  pause(pauseAtFinish: boolean): void {
    if (this.#order)
      writeFileSync(
        this.at('order.json'),
        JSON.stringify({ lowDiskMiB: 0, pauseAtFinish, recoveryJournal: true }),
      );
  }

  /** Gives every document new content, except for the first one, and adds one. */
  change(): void {
    this.#round++;
    for (let i = 0; i < DOCUMENTS; i++)
      if (i > 0 || this.#round === 1)
        this.#write(`${i}.html`, `<a href="${(i + this.#round) % DOCUMENTS}.html">x</a>`);
    for (let i = 1; i <= this.#round; i++) this.#write(`new${i}.html`, '');
  }

  #write(name: string, more: string): void {
    writeFileSync(
      join(this.documents, name),
      `<title>${name}</title><p>every round${this.#round}</p>${more}`,
    );
  }

  /** Starts `harvest run`; it gathers at once. */
  start(): CliProcess {
    const ports = ANY_PORTS.map((word, i) =>
      ANY_PORTS[i - 1] === '--gatherd-port' ? String(this.gatherd) : word,
    );
    this.#run = new CliProcess([
      'run',
      this.at('g.cf'),
      '--data',
      this.data,
      ...ports,
      '--low-disk',
      '0',
      '--every',
      '1d',
      '--force',
    ]);
    return this.#run;
  }

  /** Gathers, and waits until everything is published. */
  async gather(): Promise<CliProcess> {
    const run = this.start();
    await Promise.race([run.output(/What to try/), run.output(/What to try/, 'stderr')]);
    return run;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#run?.kill(signal);
    await this.#run?.finished;
    this.#run = undefined;
  }

  /** Starts a Broker, lets it collect, and asks it; then it ends. @returns the names of documents by round */
  async collect(name: string, from: string): Promise<Record<string, string[]>> {
    const { broker, port } = await this.startBroker(name, from);
    const found = await this.contents(port);
    broker.kill('SIGKILL');
    await broker.finished;
    return found;
  }

  async startBroker(
    name: string,
    from: string,
  ): Promise<{ readonly broker: CliProcess; readonly port: string }> {
    const admin = this.at(join(name, 'admin'));
    mkdirSync(admin, { recursive: true });
    writeFileSync(join(admin, 'broker.conf'), 'Broker-Port 0\nAdmin-Password x\n');
    writeFileSync(join(admin, 'Collection.conf'), `${from}\n`);
    const broker = new CliProcess(['broker', join(admin, 'broker.conf')]);
    const [, port = ''] = await broker.output(/^ready broker=127\.0\.0\.1:(\d+)/m);
    await broker.output(/Collection: \d/, 'stderr');
    return { broker, port };
  }

  async contents(port: string): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    for (let round = 1; round <= this.#round; round++) {
      const { stdout } = await cli('query', `127.0.0.1:${port}`, '--json', `round${round}`);
      const names = [...stdout.matchAll(/"url":"[^"]*\/([^"/]+\.html)"/g)].map(([, name]) => name ?? '');
      if (names.length > 0) found[`round${round}`] = names.sort();
    }
    return found;
  }

  /** What {@link contents} must be. */
  expected(): Record<string, string[]> {
    const changed = Array.from({ length: DOCUMENTS - 1 }, (_, i) => `${i + 1}.html`);
    const added = Array.from({ length: this.#round }, (_, i) => `new${i + 1}.html`);
    if (this.#round === 1) return { round1: ['0.html', ...changed, ...added] };
    return { round1: ['0.html'], [`round${this.#round}`]: [...changed, ...added] };
  }
}

const POINT = (scene: Scene) => `127.0.0.1 ${scene.gatherd} 1 --`;

async function ok(t: Test, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(...args);
  t.equal(code, 0, `${args[0]} ${args[1]}: ${stderr}`);
  return stdout;
}

/** How data are set aside, and come back. */
const WAYS: Readonly<Record<string, (t: Test, scene: Scene) => Promise<() => Promise<unknown>>>> = {
  'a backup while it runs': async (t, scene) => {
    await ok(t, 'backup', scene.data, scene.at('backup'));
    return () => ok(t, 'restore', scene.at('backup'), scene.data);
  },
  'a copy of closed data': async (_, scene) => {
    await scene.kill('SIGTERM');
    cpSync(scene.data, scene.at('copy'), { recursive: true });
    return async () => cpSync(scene.at('copy'), scene.data, { recursive: true });
  },
  'a copy of killed data': async (_, scene) => {
    await scene.kill();
    cpSync(scene.data, scene.at('copy'), { recursive: true });
    return async () => cpSync(scene.at('copy'), scene.data, { recursive: true });
  },
};

for (const [name, setAside] of Object.entries(WAYS))
  t.test(`a Gatherer from ${name}: nothing is lost, nothing frozen`, async (t) => {
    const scene = await Scene.create(t);
    scene.change();
    await scene.gather();
    t.same(await scene.collect('b', POINT(scene)), scene.expected());
    const bringBack = await setAside(t, scene);
    await scene.kill();
    for (const _ of [1, 2]) {
      scene.change();
      await scene.gather();
      t.same(await scene.collect('b', POINT(scene)), scene.expected(), 'changes after it are collected');
      await scene.kill();
    }
    renameSync(scene.data, scene.at('lost'));
    await bringBack();
    await scene.gather();
    const all = scene.expected();
    t.same(await scene.collect('b', POINT(scene)), all, 'what the Broker knows already is as it is');
    t.same(await scene.collect('new', POINT(scene)), all, 'a new Broker gets the same');
    await scene.kill();
    scene.change();
    await scene.gather();
    t.same(await scene.collect('b', POINT(scene)), scene.expected(), 'later changes replace it');
    await scene.kill('SIGTERM');
    await ok(t, 'store', 'check', scene.data);
  });

t.test('a crawl from its checkpoint', async (t) => {
  const scene = await Scene.create(t, true);
  scene.change();
  await scene.gather();
  t.same(await scene.collect('b', POINT(scene)), scene.expected());
  await scene.kill();
  scene.change();
  scene.pause(true);
  const crawl = (...words: string[]) => cli('crawl', ...words, '--data', scene.data);
  scene.start();
  await waitUntil(async () => (await crawl('checkpoint')).code === 0);
  scene.pause(false);
  await crawl('resume');
  await scene.kill();
  scene.change();
  // The first run continues the interrupted one.
  for (const _ of [1, 2]) {
    await scene.gather();
    await scene.kill();
  }
  await scene.gather();
  t.same(await scene.collect('b', POINT(scene)), scene.expected());
  await scene.kill();
  await ok(t, 'crawl', 'recover', 'newest', '--data', scene.data);
  for (const _ of [1, 2]) {
    await scene.gather();
    await scene.kill();
  }
  await scene.gather();
  t.same(
    await scene.collect('b', POINT(scene)),
    scene.expected(),
    'documents after the checkpoint are as they are now',
  );
  t.same(await scene.collect('new', POINT(scene)), scene.expected());
  await scene.kill('SIGTERM');
  await ok(t, 'store', 'check', scene.data);
});

t.test('a Broker from a backup, and one that collects from it', async (t) => {
  const scene = await Scene.create(t);
  scene.change();
  await scene.gather();
  const first = await scene.startBroker('b', POINT(scene));
  const bulk = (port: string) => `127.0.0.1 ${port} 5 --`;
  t.same(await scene.collect('c', bulk(first.port)), scene.expected());
  await ok(t, 'backup', scene.at('b'), scene.at('backup'));
  first.broker.kill('SIGKILL');
  await first.broker.finished;
  await scene.kill();
  scene.change();
  await scene.gather();
  const second = await scene.startBroker('b', POINT(scene));
  t.same(await scene.contents(second.port), scene.expected());
  t.same(await scene.collect('c', bulk(second.port)), scene.expected());
  second.broker.kill('SIGKILL');
  await second.broker.finished;
  renameSync(scene.at('b'), scene.at('lost'));
  await ok(t, 'restore', scene.at('backup'), scene.at('b'));
  for (const isChanged of [false, true]) {
    if (isChanged) {
      await scene.kill();
      scene.change();
      await scene.gather();
    }
    const again = await scene.startBroker('b', POINT(scene));
    t.same(await scene.contents(again.port), scene.expected(), 'it collects what it has lost');
    t.same(await scene.collect('c', bulk(again.port)), scene.expected());
    t.same(await scene.collect(`new${isChanged}`, bulk(again.port)), scene.expected());
    again.broker.kill('SIGKILL');
    await again.broker.finished;
  }
  t.match(await cli('store', 'check', scene.at('b')), { code: 0 });
});

t.test('the References Server from a backup', async (t) => {
  const scene = await Scene.create(t);
  const site = 'http://www.example.org/';
  const file = scene.at('site.cf');
  writeFileSync(
    file,
    `Gatherer-Name: G\nLocal-Mapping: ${site} ${scene.documents}/\n<RootNodes>\n${site}0.html URL=100 Depth=0\n</RootNodes>\n`,
  );
  // Each page links to the next one.
  const link = (to: (i: number) => number) => {
    for (let i = 0; i < DOCUMENTS; i++)
      writeFileSync(
        join(scene.documents, `${i}.html`),
        `<title>${i}</title><a href="${to(i) % DOCUMENTS}.html">x</a>`,
      );
  };
  const gather = () =>
    ok(t, 'run', file, '--data', scene.data, ...ANY_PORTS, '--low-disk', '0', '--once', '--force');
  /** The documents that link to each document. */
  const links = async (signal: NodeJS.Signals) => {
    const data = join(scene.data, 'gatherer');
    const server = new CliProcess(['refererd', '--data', data, '--port', '0', '--foreground']);
    const [, address = ''] = await server.output(/^ready refererd=(\S+)/m);
    const found: string[] = [];
    for (let i = 0; i < DOCUMENTS; i++)
      found.push((await ok(t, 'references', '--to', '--urls', address, `${site}${i}.html`)).trim());
    server.kill(signal);
    await server.finished;
    return found;
  };
  const from = (to: (i: number) => number) =>
    Array.from({ length: DOCUMENTS }, (_, i) => {
      const sources = Array.from({ length: DOCUMENTS }, (_, j) => j).filter((j) => to(j) % DOCUMENTS === i);
      return sources.map((j) => `${site}${j}.html`).join('\n');
    });
  const [first, second, third] = [1, 3, 5].map((step) => (i: number) => i + step) as [
    (i: number) => number,
    (i: number) => number,
    (i: number) => number,
  ];
  link(first);
  await gather();
  t.same(await links('SIGKILL'), from(first));
  await ok(t, 'backup', scene.data, scene.at('backup'));
  link(second);
  await gather();
  t.same(await links('SIGKILL'), from(second));
  renameSync(scene.data, scene.at('lost'));
  await ok(t, 'restore', scene.at('backup'), scene.data);
  t.same(await links('SIGTERM'), from(first), 'the links of the backup');
  link(third);
  await gather();
  t.same(await links('SIGTERM'), from(third), 'the links of now');
});
