// The data of each released version is opened by the present one: nothing is lost, exports are the same bytes,
// an interrupted run continues.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { GatherdServer } from '../../servers/gatherd/index.js';
import { createLogger } from '../../servers/host/index.js';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { words } from '../helpers/words.js';

const ARCHIVES = fileURLToPath(new URL('test/upgrades', import.meta.resolve('#package.json')));
const versions = readdirSync(ARCHIVES).flatMap((name) => /^(.+)\.tar\.gz$/.exec(name)?.[1] ?? []);
t.ok(versions.includes('0.1.0') && versions.includes('0.2.0'), 'there are archives');

/** Runs a command in the directory of an archive, to whose documents the configuration's paths are relative. */
const within = (directory: string, args: readonly string[]) =>
  new CliProcess(args, {}, ['env', '-C', directory]);

for (const version of versions) {
  t.test(`data of version ${version}`, async (t) => {
    const folder = t.testdir();
    const unpacked = spawnSync('tar', ['xzf', join(ARCHIVES, `${version}.tar.gz`), '-C', folder]);
    t.equal(unpacked.status, 0, String(unpacked.stderr));
    const directory = join(folder, version);
    const generation = join(directory, 'finished', 'gatherer', 'generations', '1');
    const exported = gunzipSync(readFileSync(join(generation, 'All-Templates.gz'))).toString();

    await t.test('gatherd exports the same bytes from its generation', async (t) => {
      await using server = await GatherdServer.listen({
        generationsDirectory: join(directory, 'finished', 'gatherer', 'generations'),
        host: '127.0.0.1',
        port: 0,
        log: createLogger({ program: 'gatherd', file: join(folder, 'gatherd.log') }),
        identity: { name: 'old', host: 'localhost', port: 0, version },
      });
      const { stdout, stderr } = await cli('gather', '127.0.0.1', String(server.address.port));
      t.equal(stdout, exported, stderr);
    });

    await t.test('its stores are whole', async (t) => {
      const copy = join(folder, 'checked');
      cpSync(join(directory, 'finished'), copy, { recursive: true });
      for (const store of ['gatherer', 'broker']) {
        const { code, stdout, stderr } = await cli('store', 'check', join(copy, store));
        t.equal(code, 0, `${store}: ${stdout}${stderr}`);
      }
    });

    await t.test('a run goes on: everything is found, the links too', async (t) => {
      const run = within(directory, ['run', 'site.cf', '--data', 'finished', ...ANY_PORTS]);
      const [, broker = ''] = await run.output(/^ready .*broker=(\S+)/m);
      const [, refererd = ''] = await run.output(/^ready refererd=(\S+)/m);
      const found = await cli('query', broker, 'veronica', '--json');
      t.match(found.stdout, 'http://www.example.org/docs/gopher.html', found.stderr);
      const linked = await cli(
        ...words`references --to --urls ${refererd} http://www.example.org/docs/gopher.html`,
      );
      t.match(linked.stdout, 'http://www.example.org/docs/index.html', linked.stderr);
      run.kill('SIGTERM');
      const { code, stderr } = await run.finished;
      t.equal(code, 0, stderr);
      t.match(stderr, /has 3 objects/);
    });

    await t.test('an interrupted run continues', async (t) => {
      const args = ['run', 'site.cf', '--once', '--data', 'interrupted', ...ANY_PORTS];
      const { code, stdout, stderr } = await within(directory, args).finished;
      t.equal(code, 0, stderr);
      t.match(JSON.parse(stdout), { resumed: true, objects: 3, exported: 3 });
    });
  });
}
