// Queries the Broker with Perl programs that imitate gateways and collectors of 1998 (`clients/*.pl`), and with
// nc. Prints TAP. Needs perl and nc; the runner installs them.
import { join } from 'node:path';
import t from 'tap';
import { cli } from '../helpers/cli.js';
import { words } from '../helpers/words.js';
import {
  document,
  type GathererDocument,
  NOW,
  openBroker,
  ScriptedGatherd,
  serveBroker,
} from '../servers/broker/helpers.js';
import { CLIENTS, run } from './clients/run.js';

/** Objects whose descriptions look like lines of a reply, and objects without a description. */
function documents(): GathererDocument[] {
  return Array.from({ length: 300 }, (_, i) => {
    const updateTime = NOW - 5000 + i;
    const text = document(
      `http://host.example/${i}`,
      {
        Title: `Report ${i} on ${i % 3 === 0 ? 'neural networks' : 'plain networks'}`,
        Author: i === 42 ? 'Ada\nand others' : 'Nobody',
        ...(i % 2 === 0
          ? { Description: `About ${i}\n130 - object end\n120 - http://wrong.example/\n` }
          : {}),
      },
      updateTime,
    );
    return { updateTime, text };
  });
}

t.test('clients of 1998 query the Broker', async (t) => {
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  gatherd.documents = documents();
  const fixture = await openBroker(t, { points: [gatherd.point(0)] });
  await fixture.broker.collections.run();
  const { port } = (await serveBroker(t, fixture)).address;
  const gateway = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('perl', [
      join(CLIENTS, 'gateway.pl'),
      '127.0.0.1',
      `${port}`,
      ...args,
    ]);
    t.equal(code, 0, stderr);
    return stdout.toString('latin1').trimEnd().split('\n');
  };

  await t.test('BRK-1.7, BRK-4.4, BRK-4.16 words of users, and one object more than shown', async (t) => {
    const found = await gateway('200', 'neural', 'and', '(', 'networks', 'or', 'reports', ')');
    t.equal(found.at(-1), 'records 100');
    const urls = found.filter((line) => line.startsWith('url '));
    const expected = Array.from({ length: 100 }, (_, i) => `url http://host.example/${i * 3}`);
    t.same(urls.sort(), expected.sort(), 'no line of a description is read as an item');
    t.same((await gateway('10', 'neural')).slice(-2), ['records 11', 'truncated']);
    t.same((await gateway('100', 'neural')).at(-1), 'records 100', 'a result of this size is whole');
  });

  await t.test('BRK-2.13a, BRK-2.15 the input of users is passed unchanged', async (t) => {
    t.equal((await gateway('300', 'NETWORKS', 'not', 'neural')).at(-1), 'records 200');
    t.same(await gateway('9', 'title=Report 42 on'), ['url http://host.example/42', 'record', 'records 1']);
    t.same(await gateway('9', 'Report\\ 42\\ on'), ['url http://host.example/42', 'record', 'records 1']);
  });

  await t.test('BRK-4.6 values are read by their sizes, under the requested names', async (t) => {
    t.same(
      await gateway('9', ...words`-attribute title -attribute missing -attribute AUTHOR`, 'report 42 on'),
      [
        'url http://host.example/42',
        'title=Report 42 on neural networks',
        'AUTHOR=Ada and others',
        'record',
        'records 1',
      ],
    );
  });

  await t.test('BRK-4.12, BRK-4.14 a query without a match, and errors that it notices', async (t) => {
    t.same(await gateway('9', 'veronica'), ['records 0']);
    const [error, count] = await gateway('9', '(', 'neural');
    t.match(error, /^error 111 - ERROR: Malformed message: /);
    t.equal(count, 'records 0');
  });

  await t.test('BRK-1.3, BRK-1.4, BRK-2.11 a collector reads the greeting, then all objects', async (t) => {
    const dump = (...args: string[]) => run('perl', [join(CLIENTS, 'dumper.pl'), ...args]);
    const { code, stdout, stderr } = await dump('127.0.0.1', `${port}`, 'title', 'author');
    t.equal(code, 0, stderr);
    const lines = stdout.toString().trimEnd().split('\n');
    t.equal(lines.at(-1), 'objects 300');
    t.equal(lines[42], 'http://host.example/42: title(28) author(14)');
    const gathererDump = await dump('127.0.0.1', `${gatherd.port}`, 'title');
    t.equal(gathererDump.stderr, 'a Gatherer\n');
  });

  await t.test('BRK-10.4 another collector of 1998 reads descriptions', async (t) => {
    const { stdout } = await run('perl', [join(CLIENTS, 'centroid.pl'), '127.0.0.1', `${port}`, 'neural']);
    t.same(stdout.toString().trimEnd().split('\n').slice(-2), ['records 100', 'bad 0']);
  });

  await t.test('BRK-1.8 nc ends a message with a line end or with the end of input', async (t) => {
    for (const end of ['\\r\\n', '\\n', '']) {
      const script = `printf '#USER #opaque #END "report 42 on"${end}' | nc -N -w 10 127.0.0.1 ${port}`;
      const { stdout } = await run('bash', ['-c', script.replace('report', 'Report')]);
      t.match(
        stdout.toString(),
        /^200 - .*\n120 - http:\/\/host\.example\/42\n[\s\S]*\n130 - object end\n$/,
        end,
      );
    }
  });

  await t.test('BRK-6.7 brkclient and query', async (t) => {
    const raw = await cli('brkclient', '127.0.0.1', `${port}`, '#USER #opaque #END "Report 42 on"');
    t.equal(raw.code, 0, raw.stderr);
    t.match(raw.stdout, /^200 - .*Broker.*\n120 - http:\/\/host\.example\/42\n/);
    const query = await cli('query', `127.0.0.1:${port}`, '--json', '"Report 42 on"');
    t.equal(JSON.parse(query.stdout).url, 'http://host.example/42');
  });
});
