// A server that asks to be left alone for an hour, over several runs of a Gatherer.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { leafNodes, Runs } from '../../helpers/gatherer-runs.js';
import { page, Site } from '../../helpers/site.js';

const START = 1_800_000_000;

/** The texts that runs announce, from now to the end of the test. */
function announced(t: Test): string[] {
  const texts: string[] = [];
  const receive = (message: unknown): void => void texts.push(JSON.stringify(message));
  subscribe('harvest:gatherer:crawl', receive);
  t.teardown(() => unsubscribe('harvest:gatherer:crawl', receive));
  return texts;
}

/** Forms of "in an hour"; the server's clock is its own. */
const FORMS: readonly (readonly [name: string, header: () => Record<string, string>])[] = [
  ['seconds', () => ({ 'retry-after': '3600' })],
  [
    'a date of a server a year behind',
    () => {
      const now = Date.now() - 365 * 86_400_000;
      return { date: new Date(now).toUTCString(), 'retry-after': new Date(now + 3_600_000).toUTCString() };
    },
  ],
];

for (const status of [429, 503])
  for (const where of ['/a.html', '/robots.txt'])
    for (const [name, header] of FORMS)
      t.test(`CRAWL-22.4 ${status} for ${where} with Retry-After of an hour: ${name}`, async (t) => {
        let isBusy = true;
        const busy = (body: string) => (_: unknown, response: ServerResponse) =>
          void (isBusy ? response.writeHead(status, header()).end('wait') : response.end(body));
        await using held = await Site.start({
          '/robots.txt': busy('User-agent: *\nDisallow:\n'),
          '/a.html': page('First', []),
          '/b.html': page('Second', []),
          ...(where === '/a.html' ? { '/robots.txt': '', '/a.html': busy('<title>First</title>words') } : {}),
        });
        await using other = await Site.start({ '/c.html': page('Third', []) });
        const urls = [`${held.url}/a.html`, `${held.url}/b.html`, `${other.url}/c.html`];
        const runs = new Runs(t.testdir(), leafNodes(...urls));
        const texts = announced(t);
        const run = async (now: number): Promise<number> => {
          runs.now = now;
          const before = held.requests.length;
          await runs.run({ force: true }, async (gatherer) => void (await gatherer.publish()));
          return held.requests.length - before;
        };
        const first = await run(START);
        t.ok(first <= 3, `${first} requests: robots.txt, and what was in flight`);
        t.match(await runs.object(urls[2]!), Object, 'the other server is gathered, and the run ends');
        t.match(texts.join('\n'), /asks not to be asked before 2027-01-15T09:\d\d:\d\d/);
        t.equal(await run(START + 600), 0, 'ten minutes later it gets no request');
        t.equal(await run(START + 3200), 0, 'nor when the rest of the hour is still too long for a run');
        isBusy = false;
        t.ok((await run(START + 3700)) >= 2, 'then it is asked again');
        t.ok(await runs.object(urls[0]!), 'and gathered');
        t.ok(await runs.object(urls[1]!));
      });
