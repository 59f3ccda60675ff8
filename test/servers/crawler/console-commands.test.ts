// The commands that use a crawl's console: how they find it, and what they show on a terminal.
import { readFile, stat, writeFile } from 'node:fs/promises';
import t from 'tap';
import { StorageError } from '../../../protocols/errors.js';
import { PASSWORD_VARIABLE } from '../../../servers/cli/crawl/crawl-options.js';
import { runningCrawl } from '../../../servers/cli/crawl/find-crawl.js';
import { screenText } from '../../../servers/cli/crawl/screen.js';
import { sparkline } from '../../../servers/cli/crawl/tables.js';
import { readConsoleFile } from '../../../servers/crawler/console/console-file.js';
import { consoleScene, PASSWORD } from './console-scene.js';
import { FakeCrawl } from './fake-control.js';

t.test('the console file has the URL and token, is private, and is removed with the console', async (t) => {
  const scene = await consoleScene(t);
  t.equal((await stat(scene.file)).mode & 0o777, 0o600);
  const { url, token } = scene.crawlConsole;
  t.same(await readConsoleFile(scene.file), { url, token, pid: process.pid, name: 'example' });
  await scene.crawlConsole.close();
  t.equal(await readConsoleFile(scene.file), undefined, 'the file is removed with the console');
  const stop = new AbortController();
  const again = await consoleScene(t, { signal: stop.signal, file: scene.file });
  t.not(again.crawlConsole.token, token, 'each start has a new token');
  stop.abort();
  await again.crawlConsole.close();
  t.equal(await readConsoleFile(scene.file), undefined);
  await writeFile(scene.file, '{"url":');
  await t.rejects(readConsoleFile(scene.file), StorageError);
});

t.test('local commands find the console of a crawl', async (t) => {
  const { directory, crawlConsole, file, crawl } = await consoleScene(t);
  const { url } = crawlConsole;
  t.teardown(() => {
    delete process.env[PASSWORD_VARIABLE];
  });
  const byFile = await runningCrawl({ data: directory });
  t.same(await byFile?.snapshot(), crawl.snapshot());
  await t.rejects(runningCrawl({ data: directory, url }), { name: 'UsageError', message: /PASSWORD/ });
  process.env[PASSWORD_VARIABLE] = PASSWORD;
  t.equal((await (await runningCrawl({ data: 'nothing', url }))?.runAction('stop'))?.ok, true);
  process.env[PASSWORD_VARIABLE] = 'wrong';
  const refused = await runningCrawl({ data: 'nothing', url });
  await t.rejects(async () => refused?.snapshot(), { name: 'PeerError', status: 401 });

  const leftover = JSON.parse(await readFile(file, 'utf8'));
  await crawlConsole.close();
  await t.rejects(async () => byFile?.snapshot(), { name: 'ConnectionError', message: /cannot be reached/ });
  t.equal(await runningCrawl({ data: directory }), undefined, 'without the file no crawl is found');
  // The file of a killed crawl: no system assigns this process ID.
  await writeFile(file, JSON.stringify({ ...leftover, pid: 2 ** 31 - 1 }));
  t.equal(await runningCrawl({ data: directory }), undefined);
  await writeFile(file, JSON.stringify({ ...leftover, pid: process.pid }));
  await t.rejects(runningCrawl({ data: directory }), { name: 'ConnectionError' }, 'a process that is silent');
});

t.test('a screen is never larger than the terminal', async (t) => {
  const crawl = new FakeCrawl();
  const screen = {
    snapshot: crawl.snapshot(),
    rates: [1, 2, 4, 8],
    queues: await crawl.queues(),
    hosts: crawl.servers.report(),
    workers: crawl.workers.reports(),
    errors: crawl.statistics.recentErrors(),
  };
  for (const [columns, rows] of [
    [80, 24],
    [200, 60],
    [40, 10],
    [10, 3],
  ] as const) {
    const lines = screenText(screen, columns, rows);
    t.ok(lines.length <= rows && lines.every((line) => [...line].length <= columns), `${columns} x ${rows}`);
    t.notMatch(lines.join('\n'), /\x1b/);
  }
  const whole = screenText(screen, 200, 60).join('\n');
  t.match(whole, /doc\/s {5}▂▃▅█ max 8\.0/);
  t.match(whole, /c\.example +snoozed +40 +30 +0 {2}its server asked to wait, 3 min 20 s left/);
  t.match(whole, /0 +2 s {2}fetch +http:\/\/a\.example/);
});

t.test('a sparkline is as wide as its data, and never wider than its limit', async (t) => {
  t.equal(sparkline([], 10), '');
  t.equal(sparkline([0, 0], 10), '▁▁');
  t.equal(
    [
      ...sparkline(
        Array.from({ length: 600 }, (_, i) => i),
        40,
      ),
    ].length,
    40,
  );
});
