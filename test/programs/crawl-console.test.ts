// Runs `harvest crawl` commands as processes against a console.
import { join } from 'node:path';
import t from 'tap';
import { frontierLine } from '../../servers/cli/crawl/tables.js';
import { CliProcess, cli, jsonLines } from '../helpers/cli.js';
import { consoleScene } from '../servers/crawler/console-scene.js';

// Each test starts processes, which takes long on a busy machine.
t.test('harvest crawl report', async (t) => {
  const { directory, crawl } = await consoleScene(t);
  const data = ['--data', directory];
  const [queues, json, all] = await Promise.all([
    cli('crawl', 'report', 'queues', '--state', 'snoozed', ...data),
    cli('crawl', 'report', 'queues', '--json', ...data),
    cli('crawl', 'report', 'all', ...data),
  ]);
  t.equal(
    queues.stdout,
    [
      'QUEUE                         STATE            URIS      SPENT  ERRORS  WAITS',
      'b.example                     snoozed             3         30       0  pause after a contact, 4 s left',
      'c.example                     snoozed            40         30       0  its server asked to wait, 3 min 20 s left',
      '',
    ].join('\n'),
  );
  t.same(jsonLines(json.stdout), crawl.queueReports);
  t.match(all.stdout, /^example: running, crawling for 1 h 2 min\n/);
  t.match(all.stdout, /\nRobots\nSERVER .*\nb\.example:8080 +has rules +7 s +3\n/);
  t.match(all.stdout, /\nChain\nCHAIN .*\nfetch +http +1,240\n/);
  t.match(all.stdout, /1 min 5 s ago +-2 {2}http:\/\/b\.example\/ \[2Jgone/, 'no escape sequences');
  const frontier = frontierLine(crawl.snapshot());
  t.match(frontier, /^71 queued, 1 in process; queues: 11 exhausted, 1 inactive, 0 ready, 1 in process/);
  t.notMatch(frontier, '\n', 'the frontier takes one line');
  for (const { code, stderr } of [queues, json, all]) t.same([code, stderr], [0, '']);
});

t.test('harvest crawl: actions on a running crawl', async (t) => {
  const { directory, crawl } = await consoleScene(t);
  const data = ['--data', directory];
  const [done, deleted, killed, bad, none] = await Promise.all([
    cli('crawl', 'checkpoint', ...data, '--json'),
    cli('crawl', 'delete', 'calendar', '--queues', '^a', ...data),
    cli('crawl', 'kill', '1', ...data),
    cli('crawl', 'delete', '(', ...data),
    cli('crawl', 'pause', '--data', join(directory, 'nothing')),
  ]);
  t.match(JSON.parse(done.stdout), { ok: true, checkpoint: { name: 'cp00008' } });
  t.same([deleted.code, deleted.stdout], [0, '17 URIs deleted.\n']);
  t.same([killed.code, killed.stderr], [1, 'crawl: Worker 1 is idle.\n']);
  t.equal(bad.code, 2);
  t.match(bad.stderr, /not a regular expression/);
  t.same([...crawl.actions].sort(), ['checkpoint', 'delete calendar in ^a', 'kill 1']);
  t.equal(none.code, 1);
  t.match(none.stderr, /^crawl: no crawl is running on .*harvest run starts one\.\n$/);
});

t.test('harvest crawl watch', async (t) => {
  const { directory, crawl } = await consoleScene(t);
  const data = ['--data', directory];
  const once = await cli('crawl', 'watch', '--once', ...data);
  t.equal(
    once.stdout,
    '2026-01-31T12:00:00.000Z running: 1,234 succeeded, 5 failed, 6 disregarded, 71 queued, 12 doc/s, 130 KB/s, 1 of 2 workers\n',
  );
  const watching = new CliProcess(['crawl', 'watch', '--json', '--interval', '0.05', ...data]);
  await watching.output(/"state":"running"[^\n]*\n[^\n]*"state":"running"[^\n]*\n/);
  crawl.stop();
  const { code, stdout } = await watching.finished;
  t.equal(code, 0, 'the command ends with the crawl');
  t.match(jsonLines(stdout).at(-1), { state: 'finished' });
});
