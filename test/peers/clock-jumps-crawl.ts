// The clock jumps while a crawl runs, and while it is killed: cookies, politeness, a Retry-After, limits of time,
// checkpoints and the journal. Prints TAP. Needs Debian's faketime.
import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { GathererStore } from '../../storage/index.js';
import { CliProcess } from '../helpers/cli.js';
import { FakeClock, JUMPS, NEEDS_FAKETIME, RIGHT } from '../helpers/fake-clock.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { writeGatherer } from '../programs/gathered-site.js';

const HOUR = 3600;

/** A chain of pages, of which all but the first need the cookie of a session. */
class Chain {
  readonly refused: string[] = [];
  /** Called with the number of a page before it is sent. */
  before: (page: number) => void = () => undefined;

  constructor(
    readonly site: Site,
    readonly pages: number,
  ) {
    for (let i = 0; i < pages; i++) this.#add(i);
  }

  #add(i: number): void {
    let isBusy = i % 5 === 3;
    this.site.pages.set(`/p${i}.html`, ({ headers }, response) => {
      this.before(i);
      if (i > 0 && headers.cookie !== 'session=1; life=2') {
        this.refused.push(`/p${i}.html: ${headers.cookie}`);
        response.writeHead(403).end();
      } else if (isBusy) {
        isBusy = false;
        response.writeHead(503, { 'retry-after': '1' }).end();
      } else {
        const cookies = { 'set-cookie': ['session=1', 'life=2; Max-Age=7200'] };
        response
          .writeHead(200, { 'content-type': 'text/html', ...(i === 0 ? cookies : {}) })
          .end(page(`Page ${i}`, i + 1 < this.pages ? [`/p${i + 1}.html`] : []));
      }
    });
  }

  /** The paths that are requested when each page is fetched once, and the busy ones once more. */
  get expected(): string[] {
    return Array.from({ length: this.pages }, (_, i) => `/p${i}.html`).flatMap((path, i) =>
      i % 5 === 3 ? [path, path] : [path],
    );
  }
}

async function writeCrawl(directory: string, site: Site, pages: number): Promise<string> {
  await mkdir(directory, { recursive: true });
  const order = {
    name: 'jumps',
    recoveryJournal: true,
    checkpointMinutes: 60,
    maxSeconds: HOUR,
    warc: { directory: 'warc' },
    settings: { cookies: true, runtimeSeconds: HOUR, delayFactor: 0, minDelayMs: 20, maxDelayMs: 20 },
  };
  writeFileSync(join(directory, 'order.json'), JSON.stringify(order));
  const nodes = `<RootNodes>\n${site.url}/p0.html URL=${pages}\n</RootNodes>\n`;
  return writeGatherer(directory, `Crawl-Order: order.json\n${nodes}`);
}

async function countObjects(directory: string): Promise<number> {
  await using store = await GathererStore.open(join(directory, 'data', 'working'));
  return store.summaries.count;
}

const start = (configuration: string, clock: FakeClock): CliProcess =>
  new CliProcess(['gatherer', '--no-daemon', configuration], clock.variables);

async function checkEnd(
  t: Test,
  run: CliProcess,
  chain: Chain,
  directory: string,
  what: string,
): Promise<void> {
  const { code, stderr } = await run.finished;
  t.equal(code, 0, `${what}: ${stderr}`);
  t.same(chain.refused, [], `${what}: no request lacks its cookies`);
  t.equal(await countObjects(directory), chain.pages, `${what}: every page has its object`);
}

t.test('the clock jumps at each page of a crawl', NEEDS_FAKETIME, async (t) => {
  const directory = await temporaryDirectory(t);
  const clock = new FakeClock(join(directory, 'time'));
  await using site = await Site.start({});
  // What is fetched a year back, or more, has expired at the end: the next test.
  const jumps = JUMPS.filter((jump) => !/^-\d+y/.test(jump));
  const chain = new Chain(site, 2 * jumps.length + 2);
  chain.before = (i) => clock.set(i % 2 === 1 ? (jumps[(i - 1) / 2] ?? RIGHT) : RIGHT);
  const run = start(await writeCrawl(directory, site, chain.pages), clock);
  await checkEnd(t, run, chain, directory, 'all jumps');
  t.same(site.paths, chain.expected, 'each page is requested once, and once more after its Retry-After');
});

t.test(
  'what a clock of a year back has fetched is fetched again by the next run',
  NEEDS_FAKETIME,
  async (t) => {
    const directory = await temporaryDirectory(t);
    const clock = new FakeClock(join(directory, 'time'));
    const jumps = JUMPS.filter((jump) => /^-\d+y/.test(jump));
    const pages = 2 * jumps.length + 2;
    await using site = await Site.start({});
    for (let i = 0; i < pages; i++)
      site.pages.set(`/p${i}.html`, (_, response) => {
        clock.set(i % 2 === 1 ? (jumps[(i - 1) / 2] ?? RIGHT) : RIGHT);
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(page(`Page ${i}`, i + 1 < pages ? [`/p${i + 1}.html`] : []));
      });
    const configuration = await writeCrawl(directory, site, pages);
    const first = await start(configuration, clock).finished;
    t.equal(first.code, 0, first.stderr);
    t.equal(site.paths.length, pages, 'each page is requested once');
    t.ok((await countObjects(directory)) < pages, 'some have expired with the clock that is right again');
    clock.set(RIGHT);
    for (let i = 0; i < pages; i++)
      site.pages.set(`/p${i}.html`, page(`Page ${i}`, i + 1 < pages ? [`/p${i + 1}.html`] : []));
    const second = await start(configuration, clock).finished;
    t.equal(second.code, 0, second.stderr);
    t.equal(await countObjects(directory), pages, 'every page has its object again');
  },
);

t.test('the clock has jumped when a killed crawl goes on', NEEDS_FAKETIME, async (t) => {
  for (const jump of ['-1m', '+1h', '-1h', '-1y', '+14y']) {
    const directory = await temporaryDirectory(t);
    const clock = new FakeClock(join(directory, 'time'));
    await using site = await Site.start({});
    const chain = new Chain(site, 8);
    const configuration = await writeCrawl(directory, site, chain.pages);
    const first = start(configuration, clock);
    chain.before = (i) => {
      if (i === 4) first.child.kill('SIGKILL');
    };
    await first.finished;
    chain.before = () => undefined;
    clock.set(jump);
    // The session has ended for a clock that is years ahead, as for any client.
    if (jump === '+14y') site.pages.set('/p0.html', page('Page 0', ['/p1.html']));
    const what = `${jump} after kill -9`;
    if (jump === '+14y') {
      const { code, stderr } = await start(configuration, clock).finished;
      t.equal(code, 0, `${what}: it ends (${stderr})`);
    } else await checkEnd(t, start(configuration, clock), chain, directory, what);
  }
});
