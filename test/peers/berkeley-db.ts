// Exchanges the link graph with Berkeley DB's tools: db5.3_load reads the output of `harvest links dump`, and
// `harvest links load` reads the output of db5.3_dump with every list in its order. Prints TAP. Needs Debian's
// db5.3-util; the runner installs it.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { cli } from '../helpers/cli.js';
import { words } from '../helpers/words.js';
import { FIXTURE_PAIRS } from '../storage/references/fixture.js';

const isInstalled = spawnSync('db5.3_load', ['-V']).status === 0;

t.test('R-8, R-19: Berkeley DB', { skip: isInstalled ? false : 'db5.3-util is not installed' }, async (t) => {
  const scratch = mkdtempSync(join(tmpdir(), 'harvest-bdb-'));
  t.teardown(() => rmSync(scratch, { recursive: true, force: true }));
  const path = (name: string): string => join(scratch, name);
  const pairs = [...FIXTURE_PAIRS, [4294967295, 5], [5, 4294967295], [2147483648, 10]];
  // A list longer than a database page.
  for (let i = 0; i < 5000; i++) pairs.push([7, (i * 7919) % 100_003]);
  writeFileSync(path('pairs'), pairs.map((pair) => `${pair.join(' ')}\n`).join(''));
  t.equal((await cli('links', 'load', '--refs', path('pairs'), '--data', path('one'))).code, 0);
  const dump = async (data: string, ...args: readonly string[]): Promise<string> =>
    (await cli('links', 'dump', '--data', path(data), ...args)).stdout;

  for (const kind of ['refs', 'hubs']) {
    writeFileSync(path(`${kind}.text`), await dump('one', `--${kind}`));
    execFileSync('db5.3_load', ['-f', path(`${kind}.text`), path(`${kind}.db`)]);
    writeFileSync(path(`${kind}.dump`), execFileSync('db5.3_dump', [path(`${kind}.db`)]));
    writeFileSync(path(`${kind}.print`), execFileSync('db5.3_dump', ['-p', path(`${kind}.db`)]));
  }
  for (const form of ['dump', 'print']) {
    const files = ['--refs', path(`refs.${form}`), '--hubs', path(`hubs.${form}`)];
    const { code, stderr, stdout } = await cli('links', 'load', ...files, '--data', path(form), '--json');
    t.equal(code, 0, stderr);
    t.match(JSON.parse(stdout), { links: pairs.length, repeated: 0 });
    const sorted = (text: string): string[] =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .sort();
    for (const kind of ['--refs', '--hubs']) {
      const before = await dump('one', kind, '--format', 'pairs');
      const after = await dump(form, kind, '--format', 'pairs');
      t.same(sorted(after), sorted(before), `${form} ${kind}: the same links`);
      t.equal(after, before, `${form} ${kind}: every list in its order`);
    }
  }

  await t.test('R-8: the database files themselves are read', async (t) => {
    const files = ['--refs', path('refs.db'), '--hubs', path('hubs.db')];
    const { code, stderr, stdout } = await cli('links', 'load', ...files, '--data', path('files'), '--json');
    t.equal(code, 0, stderr);
    t.match(JSON.parse(stdout), { links: pairs.length, repeated: 0 });
    for (const kind of ['--refs', '--hubs'])
      t.equal(await dump('files', kind, '--format', 'pairs'), await dump('one', kind, '--format', 'pairs'));

    // Version 8 of a btree differs from 9 in its number only; the programs refuse it until it is upgraded.
    const old = readFileSync(path('refs.db'));
    old[16] = 8;
    for (let version = 8; version >= 7; version--) {
      old[16] = version;
      writeFileSync(path(`v${version}.db`), old);
    }
    const eight = await cli('links', 'load', '--refs', path('v8.db'), '--data', path('eight'), '--json');
    t.match(JSON.parse(eight.stdout), { links: pairs.length });
    const seven = await cli('links', 'load', '--refs', path('v7.db'), '--data', path('seven'));
    t.match(seven, { code: 1, stderr: /v7\.db cannot be read by db\S*_dump: / }, 'a copy was upgraded');
    t.equal(readFileSync(path('v7.db'))[16], 7, 'the file itself is not changed');
    writeFileSync(path('damaged.db'), old.fill(0xff, 24).fill(9, 16, 17));
    const damaged = await cli('links', 'load', '--refs', path('damaged.db'), '--data', path('damaged'));
    t.match(damaged, { code: 1, stderr: /damaged\.db cannot be read by db\S*_dump: / });

    const documents = await cli(
      ...words`links load --refs ${path('pairs')} --documents ${path('hubs.db')} --data ${path('d')}`,
    );
    t.match(documents, {
      code: 1,
      stderr: /hubs\.db is a Berkeley DB file \(btree, version 9\), .*R-16.*JSON lines/,
    });
  });
});
