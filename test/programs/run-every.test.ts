// `harvest run --every`: rounds that follow one another, by the requests that a site receives and the answers
// of the Broker.
import t from 'tap';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { page, Site, validated } from '../helpers/site.js';
import { waitUntil } from '../helpers/wait-until.js';
import { words } from '../helpers/words.js';

t.test('rounds ask for pages conditionally, find changes, and survive a site that is gone', async (t) => {
  const conditions: (string | undefined)[] = [];
  await using site = await Site.start({
    '/': page('Start', ['/same.html', '/news.html']),
    '/news.html': page('Yesterday', []),
    '/same.html': validated(page('Same', []), ['etag', '"v1"'], conditions),
  });
  const run = new CliProcess(words`run --every 2s --delay 0 --data ${t.testdir()} ${ANY_PORTS} ${site.url}/`);
  const [, broker = ''] = await run.output(/^ready .*broker=(\S+)/m);
  t.match(run.stderr, /The next round begins at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\./);
  const finds = async (word: string): Promise<boolean> => {
    const { stdout } = await cli('query', broker, word, '--json');
    return stdout.includes(`${site.url}/news.html`);
  };
  t.ok(await finds('yesterday'));
  site.pages.set('/news.html', page('Tomorrow', []));
  await waitUntil(() => finds('tomorrow'));
  t.ok(await finds('tomorrow'), 'a later round gathers and collects what changed');
  t.notOk(await finds('yesterday'));
  t.same(conditions.slice(0, 2), [undefined, '"v1"'], 'unchanged pages are asked for conditionally');

  site.pages.delete('/');
  await run.output(/nothing was gathered from this root/, 'stderr');
  t.match(run.stderr, `${site.url}/: nothing was gathered from this root`);
  t.ok(await finds('tomorrow'), 'the servers go on, with what they have');

  site.pages.set('/', page('Back', ['/same.html', '/news.html']));
  site.pages.set('/news.html', page('Later', []));
  await waitUntil(() => finds('later'));
  t.ok(await finds('later'), 'the rounds go on');

  run.kill('SIGTERM');
  const { code, stderr } = await run.finished;
  t.equal(code, 0, stderr);
  t.match(stderr, 'Stopping.');
});

t.test('--every with --once, and what is not a period, are refused', async (t) => {
  for (const [args, message] of [
    [['--every', '1d', '--once'], /--every.*cannot be used with.*--once/],
    [['--every', '0'], /from a second to a year/],
    [['--every', 'daily'], /such as 12h/],
    [['--every', '53w'], /from a second to a year/],
  ] as const) {
    const { code, stderr } = await cli('run', ...args, 'http://127.0.0.1:1/');
    t.equal(code, 2, args.join(' '));
    t.match(stderr, message);
  }
});
