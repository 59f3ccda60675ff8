// G-103 beside G-108: objects whose time to live runs out before the next run is due.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { configFromRoots } from '../../../servers/all-in-one/roots.js';
import { readJobs } from '../../../servers/cli/schedule/jobs.js';
import { leafNodes, Runs, START, WEEK } from '../../helpers/gatherer-runs.js';
import { page, Site } from '../../helpers/site.js';

const HOUR = 3600;
const DAY = 24 * HOUR;

const five = (): Record<string, string> =>
  Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`/${n}.html`, page(`Page ${n}`, [])]));

/** Runs at these hours, and the number of objects that each publishes. */
async function published(runs: Runs, hours: readonly number[]): Promise<number[]> {
  const counts: number[] = [];
  for (const hour of hours) {
    runs.now = START + hour * HOUR;
    await runs.run({}, async (gatherer) => {
      // The publication follows the last document by some seconds.
      runs.now += 5;
      await gatherer.publish();
      counts.push(gatherer.store.summaries.count);
    });
  }
  return counts;
}

async function daily(t: Test, site: Site, timeToLive: number, variables = ''): Promise<Runs> {
  const directory = t.testdir();
  const rules = join(directory, 'rules');
  writeFileSync(rules, `url ~ /./\n\ttime-to-live = "${timeToLive}"\n`);
  const urls = [...site.pages.keys()].map((path) => `${site.url}${path}`);
  return new Runs(directory, leafNodes(...urls), `Post-Summarizing: ${rules}\n${variables}`);
}

t.test('G-103: with the time-to-live of the manual, a day, a daily run always publishes all', async (t) => {
  await using site = await Site.start(five());
  const runs = await daily(t, site, 86_400);
  t.same(await published(runs, [0, 24, 48, 72]), [5, 5, 5, 5]);
});

t.test('G-103: other lives and other intervals', async (t) => {
  for (const [name, timeToLive, hours, variables] of [
    ['12 hours, daily', 12 * HOUR, [0, 24, 48, 72], ''],
    ['25 hours, daily', 25 * HOUR, [0, 24, 48, 72], ''],
    ['25 hours, and a run that is two hours late', 25 * HOUR, [0, 24, 50, 74], ''],
    ['a day, and a second run on the same day', DAY, [0, 24, 24.2, 24.5, 48, 72], ''],
    ['as long as the Refresh-Rate', DAY, [0, 24, 48, 72], `Refresh-Rate: ${DAY}\n`],
    ['a day, each hour', DAY, [0, 1, 2, 12, 23, 24, 25, 36], ''],
    ['a week, weekly', WEEK, [0, 168, 336, 504], `Refresh-Rate: ${2 * WEEK}\n`],
  ] as const) {
    await using site = await Site.start(five());
    const runs = await daily(t, site, timeToLive, variables);
    t.same(
      await published(runs, hours),
      hours.map(() => 5),
      name,
    );
  }
});

t.test(
  'G-103: a run that takes longer than objects live publishes all, several sources included',
  async (t) => {
    await using first = await Site.start(five());
    await using second = await Site.start({
      '/6.html': page('Page 6', ['/7.html']),
      '/7.html': page('Page 7', []),
    });
    for (const [name, hours] of [
      ['as long as it takes', [0, 12, 24, 36]],
      ['with jitter, and one that is late', [0, 11.9, 24.2, 60, 72.1]],
    ] as const) {
      const runs = await daily(t, first, 2 * HOUR);
      const nodes = `${runs.nodes}<RootNodes>\n${second.url}/6.html Depth=1\n</RootNodes>\n`;
      const slow = new Runs(runs.directory, nodes, runs.variables);
      const counts: number[] = [];
      const soFar: number[] = [];
      for (const hour of hours) {
        slow.now = START + hour * HOUR;
        const processors = {
          'post-process': [
            {
              name: 'Slow',
              process: () => {
                slow.now += HOUR;
                return 'proceed' as const;
              },
            },
          ],
        };
        await slow.run({ processors }, async (gatherer) => {
          soFar.push(gatherer.store.summaries.count);
          await gatherer.publish();
          counts.push(gatherer.store.summaries.count);
        });
      }
      t.same(
        counts,
        hours.map(() => 7),
        name,
      );
      t.same(soFar, counts);
    }
  },
);

t.test('G-103: runs at short intervals that take longer than these publish all', async (t) => {
  await using site = await Site.start(five());
  const runs = await daily(t, site, 2.3 * HOUR, `Refresh-Rate: ${HOUR}\n`);
  const counts: number[] = [];
  const process = (): 'proceed' => {
    runs.now += HOUR / 2;
    return 'proceed';
  };
  for (let round = 0; round < 5; round++) {
    await runs.run({ processors: { 'post-process': [{ name: 'Slow', process }] } }, async (gatherer) => {
      await gatherer.publish();
      counts.push(gatherer.store.summaries.count);
    });
  }
  t.same(counts, [5, 5, 5, 5, 5]);
});

t.test('G-103: a run that was interrupted and continues days later publishes all', async (t) => {
  await using site = await Site.start(five());
  const runs = await daily(t, site, DAY);
  t.same(await published(runs, [0, 24]), [5, 5]);
  runs.now = START + 48 * HOUR;
  let documents = 0;
  const stop = new AbortController();
  const signal = stop.signal;
  await t.rejects(
    runs.run({
      signal,
      processors: {
        'post-process': [
          {
            name: 'Stop',
            process: () => {
              if (++documents === 3) stop.abort();
              return 'proceed' as const;
            },
          },
        ],
      },
    }),
  );
  t.same(await published(runs, [24 * 5, 24 * 6]), [5, 5]);
});

t.test('G-108: an object that outlives the next run is kept', async (t) => {
  await using site = await Site.start(five());
  const runs = await daily(t, site, 3 * DAY);
  await published(runs, [0, 24]);
  t.equal(site.paths.filter((path) => path === '/1.html').length, 1, 'no request on the next day');
  t.same(await published(runs, [48, 72]), [5, 5]);
  t.equal(site.paths.filter((path) => path === '/1.html').length, 2, 'one before it expires');
});

t.test('G-103: a configuration whose objects do not outlive the Refresh-Rate is warned of', async (t) => {
  const directory = t.testdir({ rules: 'url ~ /./\n\ttime-to-live = "86400"\n' });
  const warnings = (variables: string, every?: number): string[] => {
    const file = join(directory, 'my.cf');
    writeFileSync(file, `Gatherer-Name: Test\n${variables}${leafNodes('http://h.example.org/')}`);
    return configFromRoots([file], { refreshRate: every }).warnings.map(({ message }) => message);
  };
  t.same(warnings(''), [], 'a month and a week');
  t.same(warnings('Time-To-Live: 0\n'), [], 'no end of life');
  t.match(warnings('Time-To-Live: 604800\n'), [
    /my\.cf: Time-To-Live: 604800 seconds are not longer than the Refresh-Rate/,
  ]);
  const rules = `Post-Summarizing: ${join(directory, 'rules')}\n`;
  t.match(warnings(rules), [
    /rules:2: time-to-live: 86400 seconds are not longer than the Refresh-Rate \(604800\)/,
  ]);
  t.same(warnings(`${rules}Refresh-Rate: 43200\n`), []);
  t.same(warnings(`${rules}Refresh-Rate: 43200\n`, 86_399), [], '--every');
  t.match(
    warnings(`${rules}Refresh-Rate: 43200\n`, 86_400),
    [/rules:2: .* not longer than the time between two rounds \(86400\)/],
    '--every',
  );
  const jobs = readJobs([join(directory, 'my.cf')], 'daily');
  t.match(jobs[0]?.warnings, [/rules:2: .* not longer than the time between two runs \(86400\)/], 'schedule');
});

t.test('G-103: runs that are further apart than objects live are warned of', async (t) => {
  await using site = await Site.start(five());
  const runs = await daily(t, site, 86_400, 'Refresh-Rate: 43200\n');
  const problems: string[] = [];
  for (const hour of [0, 23, 49]) {
    runs.now = START + hour * HOUR;
    await runs.run({ onProblem: ({ message }) => problems.push(message) });
  }
  t.match(problems, [/rules:2: .* not longer than the longest time between two runs \(93600\)/]);
});

t.test(
  'G-103: the object of a document to which no page links any longer lives until its time is over',
  async (t) => {
    await using site = await Site.start({
      '/': page('Start', ['/2.html']),
      '/2.html': page('Page 2', []),
    });
    const directory = t.testdir();
    const rules = join(directory, 'rules');
    writeFileSync(rules, `url ~ /./\n\ttime-to-live = "${3 * DAY}"\n`);
    const roots = `<RootNodes>\n${site.url}/\n</RootNodes>\n`;
    const runs = new Runs(directory, roots, `Post-Summarizing: ${rules}\nRefresh-Rate: ${DAY}\n`);
    t.same(await published(runs, [0]), [2]);
    site.pages.set('/', page('Start without a link', []));
    t.same(await published(runs, [25, 50, 71]), [2, 2, 2]);
    t.same(await published(runs, [80, 110]), [1, 1], 'it is not requested meanwhile');
    t.equal(site.paths.filter((path) => path === '/2.html').length, 1);
  },
);
