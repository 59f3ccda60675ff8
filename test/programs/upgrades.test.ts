// The data of each released version is opened by the present one: nothing is lost, exports are the same bytes,
// an interrupted run continues, and runs over the same documents double none of them.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { canonicalUrl } from '../../protocols/urls/index.js';
import { GatherdServer } from '../../servers/gatherd/index.js';
import { createLogger } from '../../servers/host/index.js';
import { checkStores } from '../../storage/check/check.js';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { words } from '../helpers/words.js';

const ARCHIVES = fileURLToPath(new URL('test/upgrades', import.meta.resolve('#package.json')));
const archives = readdirSync(ARCHIVES).flatMap((name) => /^(.+)\.tar\.gz$/.exec(name)?.[1] ?? []);
/** Data of documents of a server; those of files of the machine have another name. */
const versions = archives.filter((name) => /^\d+\.\d+\.\d+$/.test(name));
/** Interrupted crawls with a frontier, a filter on the disk, a journal, an archive and a checkpoint. */
const crawls = archives.filter((name) => name.endsWith('-crawl'));

t.test('each released version has its data here', async (t) => {
  const changes = readFileSync(
    fileURLToPath(import.meta.resolve('#package.json')).replace(/[^/]+$/, 'CHANGELOG.md'),
    'utf8',
  );
  const released = [...changes.matchAll(/^## (\d+\.\d+\.\d+)\b/gm)].map(([, version]) => version);
  t.ok(released.length > 0);
  t.same(
    released.filter((version) => !versions.includes(version ?? '')),
    [],
    'see test/upgrades/README.md',
  );
  t.same(
    released.filter((version) => !crawls.includes(`${version}-crawl`)),
    [],
  );
  t.ok(archives.includes('0.1.0') && archives.some((name) => name.endsWith('-files')));
});

/** Runs a command in the directory of an archive, to whose documents the configuration's paths are relative. */
const within = (directory: string, args: readonly string[]) =>
  new CliProcess(args, {}, ['env', '-C', directory]);

/** Unpacks an archive into the directory of a test. */
function unpack(t: Test, archive: string): string {
  const folder = t.testdir();
  const unpacked = spawnSync('tar', ['xzf', join(ARCHIVES, `${archive}.tar.gz`), '-C', folder]);
  t.equal(unpacked.status, 0, String(unpacked.stderr));
  return join(folder, archive);
}

/** The URLs of the objects of the newest generation, in order. */
function exportedUrls(data: string): string[] {
  const generations = join(data, 'gatherer', 'generations');
  const newest = readFileSync(join(generations, 'CURRENT'), 'utf8').trim();
  const text = gunzipSync(readFileSync(join(generations, newest, 'All-Templates.gz'))).toString();
  return [...text.matchAll(/^@FILE \{ (.+)$/gm)].map(([, url]) => url ?? '').sort();
}

/** The objects of the Gatherer's and the Broker's stores. */
async function storedObjects(t: Test, data: string): Promise<(number | undefined)[]> {
  const counts: (number | undefined)[] = [];
  for await (const { directory, objects, problems } of checkStores(data)) {
    t.same(problems, [], directory);
    if (/\/(?:working|store)$/.test(directory)) counts.push(objects);
  }
  return counts;
}

for (const archive of archives.filter((name) => !crawls.includes(name))) {
  t.test(`runs over the documents of ${archive}`, async (t) => {
    const directory = unpack(t, archive);
    const data = join(directory, 'finished');
    const former = exportedUrls(data);
    const urls = former.map((url) => canonicalUrl(url) ?? url).sort();
    const file = archive.endsWith('-files') ? 'files.cf' : 'site.cf';
    const configuration = readFileSync(join(directory, file), 'utf8');
    const other = configuration
      .replaceAll('file://localhost/', 'file:////')
      .replaceAll(/file:\/\/\/(?=\w)/g, 'file://localhost/')
      .replaceAll('file:////', 'file:///');
    writeFileSync(join(directory, `other-${file}`), other);
    for (const [name, ...options] of [[file], [`other-${file}`, '--force']]) {
      const args = ['run', name ?? file, ...options, '--once', '--data', 'finished', ...ANY_PORTS];
      const { code, stdout, stderr } = await within(directory, args).finished;
      t.equal(code, 0, stderr);
      t.match(JSON.parse(stdout), { exported: urls.length, objects: urls.length }, `${name} ${options}`);
      t.same(exportedUrls(data), urls);
      t.same(await storedObjects(t, data), [urls.length, urls.length]);
    }
    const errors = readFileSync(join(data, 'gatherer', 'log.errors'), 'utf8');
    const renamed = former.filter((url) => !urls.includes(url)).length;
    const line = /(\d+) documents of an earlier version/.exec(errors)?.[1] ?? '0';
    t.equal(Number(line), renamed, 'a line says how many were renamed, once');

    const run = within(directory, ['run', file, '--data', 'finished', ...ANY_PORTS]);
    const [, broker = ''] = await run.output(/^ready .*broker=(\S+)/m);
    const found = await cli('query', broker, 'veronica', '--json');
    const results = [...found.stdout.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url ?? '');
    t.ok(results.length > 0, found.stdout + found.stderr);
    t.same(
      results.filter((url, i) => !urls.includes(url) || results.indexOf(url) !== i),
      [],
      'the index has each document once, by its present name',
    );
    run.kill('SIGTERM');
    t.equal((await run.finished).code, 0);
  });
}

for (const version of versions) {
  t.test(`data of version ${version}`, async (t) => {
    const directory = unpack(t, version);
    const folder = dirname(directory);
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

const PAGES = 12;
/** Documents that the crawl of an archive has done, and URLs that it had queued. */
const DONE = 4;
const QUEUED = 3;

for (const archive of crawls) {
  for (const isRecovered of [false, true])
    t.test(`the crawl of ${archive} ${isRecovered ? 'from its checkpoint' : 'continues'}`, async (t) => {
      const directory = unpack(t, archive);
      const data = join(directory, 'crawl');
      if (isRecovered)
        t.match(await cli('crawl', 'recover', 'newest', '--data', data), {
          code: 0,
          stdout: `${DONE} succeeded, ${QUEUED} queued`,
        });
      else t.match(await cli('store', 'check', data), { code: 0 });
      t.match(await cli('crawl', 'report', 'frontier', '--data', data), { stdout: `${QUEUED} queued` });
      const former = exportedUrls(data);
      t.equal(former.length, DONE);
      const run = () =>
        within(directory, ['run', 'site.cf', '--once', '--data', 'crawl', ...ANY_PORTS]).finished;
      const { code, stdout, stderr } = await run();
      t.equal(code, 0, stderr);
      t.match(JSON.parse(stdout), {
        resumed: true,
        gathered: { summarized: PAGES - DONE, failed: 0 },
        collected: { added: PAGES - DONE, deleted: 0 },
        objects: PAGES,
        references: { documents: PAGES },
      });
      const urls = exportedUrls(data);
      t.equal(urls.length, PAGES);
      t.same(
        former.filter((url) => !urls.includes(url)),
        [],
      );
      const lines = readFileSync(join(data, 'gatherer', 'crawl', 'logs', 'crawl.log'), 'utf8');
      const fetched = [...lines.matchAll(/ 200 +\d+ (\S+)/g)].map(([, url]) => url ?? '');
      t.same(
        fetched.filter((url) => former.includes(url)),
        [],
        'nothing is fetched twice',
      );
      const warcs = readdirSync(join(data, 'gatherer', 'crawl', 'warc')).filter((name) =>
        name.endsWith('.gz'),
      );
      t.equal(warcs.length, 2, 'the archive goes on in a new file');
      t.match(await cli('store', 'check', data), { code: 0 });
      // The next run finds everything as it is.
      const again = await run();
      t.equal(again.code, 0, again.stderr);
      t.match(JSON.parse(again.stdout), { resumed: false, gathered: { failed: 0 }, objects: PAGES });
    });
}
