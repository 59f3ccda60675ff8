// kill -9 while a crawl follows a session: the cookie of a page is stored before the page is, so that no page
// is refused after a restart.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cli, killCli } from '../helpers/cli.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { type Page, page, Site } from '../helpers/site.js';

const KILLS = byTier(3, 5);
/** More than the runs that are killed can fetch. */
const PAGE_COUNT = 24 * KILLS;

/** Pages in a chain: each needs the cookie of the one before, or its own if it was fetched already. */
function chainedPages(): Record<string, Page> {
  const all: Record<string, Page> = {};
  for (let i = 0; i < PAGE_COUNT; i++)
    all[`/p${i}.html`] = ({ headers }, response) => {
      const step = Number(/(?:^|; )step=(\d+)/.exec(headers.cookie ?? '')?.[1] ?? -1);
      if (i > 0 && step !== i - 1 && step !== i) response.writeHead(403).end(`the session is at ${step}`);
      else
        response
          .writeHead(200, { 'content-type': 'text/html', 'set-cookie': `step=${i}; HttpOnly` })
          .end(page(`Page ${i}`, i + 1 < PAGE_COUNT ? [`/p${i + 1}.html`] : []));
    };
  return all;
}

t.test(`CRAWL-11.8: kill -9 at random moments of a session (seed ${SEED})`, async (t) => {
  const random = new Random(SEED);
  await using site = await Site.start(chainedPages());
  const directory = t.testdir();
  const conf = join(directory, 'test.cf');
  const order = { logs: false, settings: { cookies: true, delayFactor: 0, minDelayMs: 0 } };
  writeFileSync(join(directory, 'order.json'), JSON.stringify(order));
  const roots = `${site.url}/p0.html URL=1000 Depth=1000 Delay=0`;
  writeFileSync(
    conf,
    `Gatherer-Name: Test\nCrawl-Order: ${join(directory, 'order.json')}\n<RootNodes>\n${roots}\n</RootNodes>\n`,
  );
  const args = ['gatherer', conf, '--no-daemon', '--json', '--data', join(directory, 'data')];
  for (let round = 0; round < KILLS; round++)
    t.ok(
      await killCli(site.served.further(random.between(5, 23)), ...args),
      'a run is killed before its end',
    );
  const last = await cli(...args);
  t.equal(last.code, 0, last.stderr);
  const fetched = new Set(site.paths);
  t.equal(fetched.size, PAGE_COUNT, 'the whole chain was followed');
  t.notMatch(last.stdout, /"failed":\s*[1-9]/, 'and no page was refused');
});
