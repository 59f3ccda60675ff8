// The clock of a Gatherer jumps before, between and during its runs.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { leafNodes, Runs } from '../../helpers/gatherer-runs.js';
import { page, Site } from '../../helpers/site.js';

/** 2027: a present time for a program of 2026. */
const START = 1_800_000_000;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const JUMPS: readonly (readonly [name: string, seconds: number])[] = [
  ['a minute', MINUTE],
  ['an hour', HOUR],
  ['a year', YEAR],
  ['ten years', 10 * YEAR],
].flatMap(([name, seconds]) => [
  [`${name} ahead`, Number(seconds)] as const,
  [`${name} behind`, -Number(seconds)] as const,
]);

for (const [name, jump] of JUMPS) {
  t.test(`a run with the clock ${name}, between two with the right one`, async (t) => {
    await using site = await Site.start({ '/a.html': page('First', []), '/b.html': page('Same', []) });
    const urls = [`${site.url}/a.html`, `${site.url}/b.html`];
    const runs = new Runs(t.testdir(), leafNodes(...urls));
    const problems: string[] = [];
    const run = async (now: number, force = false): Promise<number> => {
      runs.now = now;
      let published = 0;
      await runs.run({ force, onProblem: ({ message }) => problems.push(message) }, async (gatherer) => {
        await gatherer.publish();
        published = gatherer.store.summaries.count;
      });
      return published;
    };
    t.equal(await run(START), 2);
    site.pages.set('/a.html', page('Second', []));
    t.equal(await run(START + DAY + jump, true), 2, 'nothing is lost with the wrong clock');
    site.pages.set('/a.html', page('Third', []));
    // A week later everything is due in any case.
    t.equal(await run(START + 9 * DAY), 2, 'nothing is lost with the right clock');
    t.match((await runs.object(urls[0]!))?.text('title'), 'Third', 'the change is seen');
    const time = Number((await runs.object(urls[0]!))?.text('Update-Time'));
    t.ok(time >= START + 9 * DAY && time <= START + 9 * DAY + HOUR + 1, `Update-Time ${time} is the present`);
    t.equal(
      problems.some((problem) => problem.includes('had an Update-Time more than a day in the future')),
      // Ten years earlier this program did not exist: the clock is wrong, not the times.
      Math.abs(jump) > DAY && jump !== -10 * YEAR,
      'a repair is reported',
    );
  });
}

t.test('a document from a run with the clock ahead is due at once', async (t) => {
  await using site = await Site.start({ '/a.html': page('First', []) });
  for (const jump of [MINUTE, HOUR, YEAR, 10 * YEAR]) {
    site.pages.set('/a.html', page('First', []));
    const url = `${site.url}/a.html`;
    // Two enumerations: a document that was requested since the run began is not requested again (G-68).
    const runs = new Runs(
      t.testdir(),
      `<RootNodes>\n${url} Depth=1\n${site.url}/a.html?other Depth=1\n</RootNodes>\n`,
    );
    runs.now = START + jump;
    await runs.run();
    site.pages.set('/a.html', page('Second', []));
    runs.now = START + 1;
    await runs.run();
    t.match((await runs.object(url))?.text('title'), 'Second', `${jump} s ahead`);
  }
});

t.test('GATHERD-13.6 the times of an object rise although the clock was a little ahead', async (t) => {
  await using site = await Site.start({ '/a.html': page('First', []) });
  const url = `${site.url}/a.html`;
  const runs = new Runs(t.testdir(), leafNodes(url));
  const times: number[] = [];
  for (const now of [START + HOUR, START, START + 10, START + 20]) {
    runs.now = now;
    site.pages.set('/a.html', page(`Version ${times.length}`, []));
    await runs.run({ force: true });
    times.push(Number((await runs.object(url))?.text('Update-Time')));
  }
  t.same(times, [START + HOUR, START + HOUR + 1, START + HOUR + 2, START + HOUR + 3]);
});

t.test('the clock jumps during a run, between two publications', async (t) => {
  for (const [name, jump] of JUMPS) {
    await using site = await Site.start({ '/a.html': page('A', ['/b.html']), '/b.html': page('B', []) });
    const runs = new Runs(t.testdir(), `<RootNodes>\n${site.url}/ Depth=2\n</RootNodes>\n`);
    site.pages.set('/', page('Start', ['/a.html']));
    let documents = 0;
    const count = (): 'proceed' => {
      documents++;
      return 'proceed';
    };
    runs.now = START;
    await runs.run({
      // The clock is right only before the first document and after the second.
      now: () => (documents === 1 ? START + jump : START + documents),
      processors: {
        'post-process': [{ name: 'Jump', process: () => count() }],
      },
    });
    runs.now = START + 10;
    await runs.run({ force: true }, async (gatherer) => {
      await gatherer.publish();
      const found = new Map<string, number>();
      for await (const page of gatherer.store.summaries.iterate())
        for (const { url, soif } of page) found.set(url, decodeSoif(soif).number('Update-Time') ?? 0);
      t.equal(found.size, 3, `${name}: all objects are there`);
      for (const [url, time] of found)
        t.ok(time >= START && time <= START + HOUR + 10, `${name}: ${url} has the time ${time}`);
    });
  }
});

t.test(
  'G-103.1 a run after a jump by a year, with every server out of reach, loses nothing at once',
  async (t) => {
    await using site = await Site.start({ '/': page('Start', ['/a.html', '/b.html']) });
    site.pages.set('/a.html', page('A', []));
    site.pages.set('/b.html', page('B', []));
    const runs = new Runs(t.testdir(), `<RootNodes>\n${site.url}/ Depth=1\n</RootNodes>\n`);
    const problems: string[] = [];
    const publish = async (now: number): Promise<number> => {
      runs.now = now;
      let count = 0;
      await runs.run({ onProblem: ({ message }) => problems.push(message) }, async (gatherer) => {
        await gatherer.publish();
        count = gatherer.store.summaries.count;
      });
      return count;
    };
    t.equal(await publish(START), 3);
    for (const path of site.pages.keys())
      site.pages.set(path, (_, response) => void response.writeHead(503).end());
    t.equal(await publish(START + YEAR), 3, 'the clock may be wrong');
    t.match(problems.at(-1), /^3 of 3 objects have expired since the last run 365 days ago/);
    t.equal(await publish(START + YEAR + DAY), 0, 'it is not: a run that reaches nothing ends them');
  },
);

t.test('a document whose Last-Modified was of a wrong clock is fetched again', async (t) => {
  // A server that compares dates, as many do: it has nothing newer than the time that it is asked for.
  const conditions: (string | undefined)[] = [];
  let modified = 0;
  let title = '';
  const folder = t.testdir({ 'a.txt': '' });
  const file = join(folder, 'a.txt');
  await using site = await Site.start({
    '/a.html': ({ headers }, response) => {
      const condition = headers['if-modified-since'];
      conditions.push(condition);
      const isOld = condition !== undefined && modified * 1000 <= Date.parse(condition);
      const head = { 'content-type': 'text/html', 'last-modified': new Date(modified * 1000).toUTCString() };
      if (isOld) response.writeHead(304, head).end();
      else response.writeHead(200, head).end(page(title, []));
    },
  });
  const put = (name: string, time: number): void => {
    [title, modified] = [name, time];
    writeFileSync(file, `${name} text.\n`);
    utimesSync(file, time, time);
  };
  const now = Math.floor(Date.now() / 1000);
  for (const who of ['the site', 'both']) {
    for (const jump of [MINUTE, HOUR, YEAR, 10 * YEAR]) {
      const directory = join(folder, `${who} ${jump}`);
      mkdirSync(directory);
      const runs = new Runs(directory, leafNodes(`${site.url}/a.html`, `file://${file}`));
      const run = async (time: number): Promise<void> => {
        runs.now = time;
        await runs.run({ force: true });
      };
      put('First', now + jump);
      await run(who === 'both' ? now + jump : now);
      put('Second', now - 30);
      await run(now + 1);
      const name = `the clock of ${who}, ${jump} s`;
      t.match((await runs.object(`${site.url}/a.html`))?.text('title'), 'Second', `${name}: by HTTP`);
      t.equal(
        (await runs.object(`file://localhost${file}`))?.text('Last-Modification-Time'),
        String(now - 30),
        `${name}: a file`,
      );
      conditions.length = 0;
      await run(now + 10);
      t.same(conditions, [new Date((now - 30) * 1000).toUTCString()], `${name}: a right time is sent`);
    }
  }
});
