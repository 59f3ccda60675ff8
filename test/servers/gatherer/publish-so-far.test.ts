// Publications while a run gathers (DESIGN 4): what they contain, and in which order Brokers see the changes.
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { Gatherer, type GathererOptions } from '../../../servers/gatherer/index.js';
import { CommitGate } from '../../../servers/gatherer/run/commit-gate.js';
import { Generations, type SummarySnapshot } from '../../../storage/index.js';
import { gate } from '../../helpers/gate.js';
import { until } from '../../helpers/manual-clock.js';
import { page, Site } from '../../helpers/site.js';

const never = new AbortController().signal;
const START = 1_700_000_000;
const MONTH = 2_419_200;

/** Opens a Gatherer for these LeafNodes. */
function open(
  directory: string,
  urls: readonly string[],
  options: Partial<GathererOptions>,
): Promise<Gatherer> {
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\nAccess-Delay: 0\n<LeafNodes>\n${urls.join('\n')}\n</LeafNodes>\n`;
  const { config } = parseGathererConf(text, 'test.cf', {});
  return Gatherer.open({ directory, config, retryDelayMs: 5, maxRetries: 1, ...options });
}

/** URL and Update-Time of the objects since a time, and the times in their bytes. */
async function since(snapshot: SummarySnapshot, time: number) {
  const found: (readonly [url: string, updateTime: number, written: string | undefined])[] = [];
  for await (const summaries of snapshot.summariesSince(time))
    for (const { url, updateTime, soif } of summaries)
      found.push([url, updateTime, decodeSoif(soif).text('Update-Time')]);
  return found;
}

t.test(
  'GATHERD-13.6 a document that was summarized meanwhile is not older than what was published',
  async (t) => {
    const summarizing = gate();
    const summarized = gate();
    const fetched = gate();
    await using slow = await Site.start({
      '/README': 'a slow document\n',
      '/gate': (_, response) => {
        summarizing.open();
        void summarized.opened.then(() => response.end());
      },
    });
    await using quick = await Site.start(
      {
        '/a.html': (_, response) => {
          void fetched.opened.then(() => response.setHeader('content-type', 'text/html').end(page('A', [])));
        },
      },
      '127.0.0.2',
    );
    const directory = t.testdir({
      'Slow.sum.mjs': `export async function summarize() {
      await fetch('${slow.url}/gate');
      return { attributes: [['Title', 'Slow']] };
    }`,
    });
    let now = START;
    const stored: string[] = [];
    const urls = [`${slow.url}/README`, `${quick.url}/a.html`];
    await using gatherer = await open(join(directory, 'data'), urls, {
      now: () => now,
      modules: { summarizers: { README: join(directory, 'Slow.sum.mjs') } },
    });
    const run = gatherer.run(never, ({ url, disposition }) => {
      if (disposition === 'summarized') stored.push(url);
    });
    // Its summary has the time at which it began.
    await summarizing.opened;
    now += 10;
    fetched.open();
    await until(() => stored.length === 1);
    t.equal(await gatherer.publishSoFar(), 1);
    const generations = new Generations(gatherer.generationsDirectory);
    await using first = await generations.open();
    t.same(await since(first, 0), [[`${quick.url}/a.html`, START + 10, String(START + 10)]]);
    // A clock that is set back changes no order either.
    now -= 5;
    summarized.open();
    await run;
    await gatherer.publish();
    await using second = await generations.open();
    t.same(
      (await since(second, START + 10)).find(([url]) => url === `${slow.url}/README`),
      [`${slow.url}/README`, START + 10, String(START + 10)],
      'a Broker that has the first generation receives it',
    );
    t.equal(first.count, 1, 'a reader of the first generation still sees that moment');
  },
);

t.test('DESIGN 4 a document that was not reached yet stays, whether it has expired or not', async (t) => {
  const held = gate();
  await using site = await Site.start({ '/a.html': page('A', []) });
  await using other = await Site.start({ '/b.html': page('B', []) }, '127.0.0.2');
  const directory = t.testdir();
  const urls = [`${site.url}/a.html`, `${other.url}/b.html`];
  let now = START;
  const options = { now: () => now, essenceWorkers: 0, force: true };
  {
    await using gatherer = await open(directory, urls, options);
    await gatherer.run(never);
    await gatherer.publish();
  }
  now += MONTH + 1;
  site.pages.set('/a.html', page('A is new', []));
  other.pages.set('/b.html', (_, response) => void held.opened.then(() => response.writeHead(404).end()));
  await using gatherer = await open(directory, urls, options);
  const stored: string[] = [];
  const run = gatherer.run(never, ({ url, disposition }) => {
    if (disposition === 'summarized') stored.push(url);
  });
  await until(() => stored.length === 1);
  await gatherer.publishSoFar();
  const generations = new Generations(gatherer.generationsDirectory);
  {
    await using snapshot = await generations.open();
    t.same((await since(snapshot, 0)).map(([url]) => url).sort(), urls);
    for await (const deletions of snapshot.deletionsSince(0)) t.same(deletions, [], 'nothing is deleted');
  }
  held.open();
  await run;
  await gatherer.publish();
  await using snapshot = await generations.open();
  t.same(
    (await since(snapshot, 0)).map(([url]) => url),
    [`${site.url}/a.html`],
    'G-103: the end of the run decides',
  );
});

t.test(
  'CommitGate: a publication waits for the changes that have a time, later changes wait for it',
  async (t) => {
    let now = START;
    const commits = new CommitGate(() => now);
    const uri = (): Parameters<CommitGate['enter']>[0] => ({ onSettled: undefined });
    const early = uri();
    t.equal(await commits.enter(early), START);
    t.equal(await commits.enter(early), START, 'a URI enters once');
    const steps: string[] = [];
    const published = gate();
    now += 1;
    const publication = commits.exclusive(async () => {
      steps.push('publishes');
      await published.opened;
    });
    const late = uri();
    const entered = commits.enter(late).then((time) => steps.push(`enters at ${time - START}`));
    await until(() => true);
    await new Promise(setImmediate);
    t.same(steps, []);
    early.onSettled?.();
    await until(() => steps.length === 1);
    now -= 10;
    published.open();
    await Promise.all([publication, entered]);
    t.same(
      steps,
      ['publishes', 'enters at 1'],
      'not before the publication, although the clock was set back',
    );
    t.equal(commits.horizon, START + 1);
    const failing = commits.exclusive(() => Promise.reject(new Error('the disk is full')));
    late.onSettled?.();
    await t.rejects(failing, /disk is full/);
    t.equal(await commits.enter(uri()), START + 1, 'the gate is open again');
  },
);
