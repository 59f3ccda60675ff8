// The original database tools as processes, under their original names.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { cli, cliWithInput, type Finished, finishedOf, PROGRAM } from '../helpers/cli.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { words } from '../helpers/words.js';
import { exchange } from '../servers/gatherd/helpers.js';
import { BARE, contentOf, databaseOf, ONE, TWO, wrapped } from '../storage/databases/helpers.js';
import { startGatherd } from './gatherd-support.js';
import { gatherSite, writeGatherer } from './gathered-site.js';

// Each test starts processes, which takes long on a busy machine.
const NAMES = ['mktemplate', 'template2db', 'mergedb', 'mkindex', 'consoldb', 'cleandb'];

/** Creates a directory of scripts with the original names, which start links to the program. */
function createOriginalPrograms(directory: string): string {
  const bin = join(directory, 'bin');
  const links = join(directory, 'links');
  mkdirSync(bin);
  mkdirSync(links);
  for (const name of NAMES) {
    symlinkSync(PROGRAM, join(links, name));
    const script = `#!/bin/sh\nexec '${process.execPath}' '${join(links, name)}' "$@"\n`;
    writeFileSync(join(bin, name), script, { mode: 0o755 });
  }
  return bin;
}

/** Runs a line of shell with the original programs in PATH. */
function shell(line: string, cwd: string, bin: string): Promise<Finished> {
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` };
  return finishedOf(spawn('sh', ['-c', line], { cwd, env }));
}

/** Starts a command whose standard input is open. */
function startTool(...args: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [PROGRAM, ...args]);
}

/** Polls until the condition holds. Fails if the child ends first. */
function waitFor(child: ChildProcessWithoutNullStreams, condition: () => boolean): Promise<void> {
  return waitUntil(() => {
    if (child.exitCode !== null) throw new Error(`the process ended (${child.exitCode})`);
    return condition();
  });
}

async function killAndWait(child: ChildProcessWithoutNullStreams): Promise<void> {
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await closed;
}

t.test('G-140: the example of the manual works as printed, up to the objects of gatherd', async (t) => {
  const directory = await temporaryDirectory(t);
  const data = join(directory, 'data');
  mkdirSync(data);
  const bin = createOriginalPrograms(directory);
  const automatic =
    '@FILE { http://www.example.org/paper.ps\nkeywords{16}:\tboulder colorado\nfile-size{4}:\t1034\n' +
    'md5{32}:\tc3d79dc037efd538ce50464089af2fb6\n}\n';
  await databaseOf(join(data, 'PRODUCTION.gdbm'), automatic);
  writeFileSync(
    join(data, 'annotations'),
    '@FILE { http://www.example.org/paper.ps\nmy-manual-attribute:\tthis is a neat attribute\n}\n',
  );
  t.equal((await shell('mkindex', data, bin)).code, 0);
  const port = (await startGatherd(t, '-d', data, '0')).port;
  t.match(await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'), automatic, 'without the annotation');
  for (const line of [
    'mktemplate annotations | template2db annotations.gdbm',
    'mergedb PRODUCTION.new PRODUCTION.gdbm annotations.gdbm',
    'mv PRODUCTION.new PRODUCTION.gdbm',
    'mkindex',
  ]) {
    const { code, stderr } = await shell(line, data, bin);
    t.same([code, stderr], [0, ''], line);
  }
  const merged =
    '@FILE { http://www.example.org/paper.ps\nmy-manual-attribute{24}:\tthis is a neat attribute\n' +
    'keywords{16}:\tboulder colorado\nfile-size{4}:\t1034\nmd5{32}:\tc3d79dc037efd538ce50464089af2fb6\n}\n';
  t.equal(contentOf(join(data, 'PRODUCTION.gdbm')), merged);
  // The daemon notices a new generation after a short delay.
  let served = '';
  await waitUntil(async () => {
    served = await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n');
    return served.includes('my-manual-attribute');
  });
  t.match(served, merged, 'GATHERD-10.5: gatherd serves all four attributes');
  t.notOk(
    readdirSync(data).some((name) => /journal|wal|shm|\.new/.test(name)),
    'no temporary file is left',
  );
});

t.test('G-140: the script that merges annotations is right after any number of runs', async (t) => {
  const directory = await temporaryDirectory(t);
  const data = join(directory, 'data');
  mkdirSync(data);
  const bin = createOriginalPrograms(directory);
  await using site = await Site.start({ '/': page('first', []) });
  const nodes = `<RootNodes>\n${site.url}/ Delay=0\n</RootNodes>\n`;
  const file = writeGatherer(directory, `Refresh-Rate: 0\n${nodes}`);
  writeFileSync(join(data, 'annotations'), `@FILE { ${site.url}/\nmy-manual-attribute:\tneat\n}\n`);
  const script =
    'mktemplate annotations | template2db annotations.gdbm && ' +
    'mergedb PRODUCTION.new PRODUCTION.gdbm annotations.gdbm && mv PRODUCTION.new PRODUCTION.gdbm && mkindex';
  for (const title of ['first', 'second', 'second', 'third']) {
    site.pages.set('/', page(title, []));
    const run = await cli('gatherer', '--force', '--no-daemon', file);
    t.equal(run.code, 0, run.stderr);
    const merged = await shell(script, data, bin);
    t.same([merged.code, merged.stderr], [0, ''], 'the script works');
    const published = (await cli('gdbmutil', 'dump', join(data, 'generations'))).stdout;
    t.match(published, new RegExp(`^title\\{\\d+\\}:\\t${title}$`, 'im'), 'the object of the last run');
    t.match(published, /^my-manual-attribute\{4\}:\tneat$/im, 'and has the annotation');
  }
});

t.test('G-133 to G-135: cleandb, rmbinary and gdbmutil change what a Gatherer has published', async (t) => {
  const pages = { '/': page('one', ['/two']), '/two': page('two', []) };
  const { directory, data, url } = await gatherSite(t, pages);
  const production = join(data, 'PRODUCTION.gdbm');
  const published = async (): Promise<string> =>
    (await cli('gdbmutil', 'list', join(data, 'generations'))).stdout;
  for (const command of [
    ['cleandb', '-truncate', production],
    ['rmbinary', production],
    ['expiredb', production],
    ['gdbmutil', 'reorganize', production],
    ['gdbmutil', 'delete', production, `${url}two`],
  ]) {
    const done = await cli(...command);
    t.equal(done.code, 0, `${command.join(' ')}: ${done.stderr}`);
    t.match(done.stderr, /is made from the 2 published objects; "harvest mkindex" publishes it/);
    if (command[1] !== 'delete') unlinkSync(production);
  }
  t.equal(await published(), `${url}\n${url}two\n`, 'nothing is published by that');
  t.equal((await cli('mkindex', data)).code, 0);
  t.equal(await published(), `${url}\n`);
  const empty = await cli('cleandb', join(directory, 'PRODUCTION.gdbm'));
  t.same([empty.code, /there is no/.test(empty.stderr)], [1, true], 'a directory without objects');
});

t.test('a tool that is killed with -9 leaves the old database intact', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'a.gdbm');
  await databaseOf(path, ONE, TWO);
  const loading = startTool('template2db', path);
  loading.stdin.on('error', () => undefined);
  const many = Array.from(
    { length: 3000 },
    (_, i) => `@FILE { http://n/${i}\nX{10000}:\t${'x'.repeat(10_000)}\n}\n`,
  );
  loading.stdin.write(`@FILE { http://h/1\nTitle{7}:\tchanged\n}\n${many.join('')}`);
  // This is more than the cache, so the file itself has changed without a commit.
  await waitFor(loading, () => statSync(path).size > 4_000_000);
  await killAndWait(loading);
  t.ok(existsSync(`${path}-journal`));
  t.equal(contentOf(path), ONE + TWO, 'template2db');
  t.same(readdirSync(directory), ['a.gdbm'], 'its changes are rolled back');

  const fifo = join(directory, 'fifo');
  t.equal(spawnSync('mkfifo', [fifo]).status, 0);
  const merging = startTool('mergedb', '--force', path, fifo, path);
  await waitFor(merging, () => readdirSync(directory).some((name) => name.startsWith('.a.gdbm.new-')));
  await killAndWait(merging);
  t.equal(contentOf(path), ONE + TWO, 'mergedb');
  writeFileSync(join(directory, 'm'), BARE);
  t.equal((await cli('mergedb', '--force', path, path, join(directory, 'm'))).code, 0);
  t.equal(contentOf(path), ONE + TWO + BARE);
  t.same(readdirSync(directory).sort(), ['a.gdbm', 'fifo', 'm'], 'the next run removes temporary files');
});

t.test('an interrupted tool undoes its changes and exits with 130', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'a.gdbm');
  await databaseOf(path, ONE);
  const loading = startTool('template2db', path);
  let stderr = '';
  loading.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  loading.stdin.on('error', () => undefined);
  loading.stdin.write(TWO.repeat(2000));
  await waitFor(loading, () => existsSync(`${path}-journal`));
  const closed = new Promise<number | null>((resolve) => loading.once('close', resolve));
  loading.kill('SIGINT');
  t.equal(await closed, 130);
  t.match(stderr, /^template2db: interrupted$/m);
  t.equal(contentOf(path), ONE);
  t.same(readdirSync(directory), ['a.gdbm']);
});

t.test('G-135: gdbmutil, every command', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'a.gdbm');
  t.match(await cliWithInput(TWO, 'gdbmutil', 'put', path), {
    code: 0,
    stdout: 'gdbmutil: 1 added, 0 replaced, 1 objects\n',
  });
  const [another, several] = await Promise.all([
    cliWithInput(TWO, 'gdbmutil', 'put', path, 'http://h/9'),
    cliWithInput(ONE + TWO, 'gdbmutil', 'put', path),
  ]);
  t.match(another, { code: 1, stderr: /is about http:\/\/h\/2/ });
  t.match(several, { code: 1, stderr: /more than one object/ });
  const update = gzipSync(wrapped({ updated: ONE + BARE }));
  const loaded = await cliWithInput(update, ...words`gdbmutil load ${path} --json`);
  t.same(JSON.parse(loaded.stdout), { read: 2, added: 2, replaced: 0, deleted: 0, objects: 3 });
  const [list, details, get, missing] = await Promise.all([
    cli('gdbmutil', 'list', path),
    cli('gdbmutil', 'list', '--json', path),
    cli('gdbmutil', 'get', path, 'http://h/bare'),
    cli('gdbmutil', 'get', path, 'http://h/9'),
  ]);
  t.equal(list.stdout, 'http://h/1\nhttp://h/2\nhttp://h/bare\n');
  t.same(JSON.parse(details.stdout.split('\n')[0] ?? ''), {
    url: 'http://h/1',
    updateTime: 1000,
    timeToLive: 50,
    bytes: ONE.length,
  });
  t.equal(get.stdout, BARE);
  t.match(missing, { code: 1, stderr: /a\.gdbm has no object with the URL http:\/\/h\/9/ });
  t.match(await cli('gdbmutil', 'delete', path, 'http://h/2', 'http://h/9'), {
    code: 0,
    stdout: 'gdbmutil: 1 deleted, 2 objects\n',
    stderr: 'gdbmutil: 1 of the URLs were not found\n',
  });
  const { stdout: dump } = await cli('gdbmutil', 'dump', path);
  t.equal(dump, ONE + BARE);
  writeFileSync(join(directory, 'dump'), dump);
  const [count, streamed, imported] = await Promise.all([
    cli('gdbmutil', 'count', path),
    cli('gdbmutil', 'count', join(directory, 'dump')),
    cli('gdbmutil', 'import', join(directory, 'dump'), join(directory, 'b')),
  ]);
  t.same([count.stdout, streamed.stdout, imported.code], ['2\n', '2\n', 0]);
  t.equal(contentOf(join(directory, 'b')), dump);
  t.match(await cli('gdbmutil', 'reorganize', path), { code: 0, stdout: 'gdbmutil: 2 objects\n' });
  t.equal((await cliWithInput(TWO, 'gdbmutil', 'load', '--replace', path)).code, 0);
  t.equal(contentOf(path), TWO);
});

t.test('the maintenance tools report their counts and refuse files that they must not change', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = (name: string): string => join(directory, name);
  await databaseOf(path('a'), ONE, TWO, BARE);
  await databaseOf(path('b'), TWO, BARE.replace('bare\n}', 'BARE\n}'));
  const expired = await cli('expiredb', '--now', '1051', '--json', path('a'));
  t.same(JSON.parse(expired.stdout), { deleted: 1, objects: 2 }, 'SOIF-6.8');
  const consolidated = await cli('consoldb', '--json', path('c'), path('a'), path('b'));
  t.same(JSON.parse(consolidated.stdout), { read: 4, added: 2, replaced: 0, kept: 2, objects: 2 }, 'G-136');
  t.match(await cli('cleandb', '-truncate', path('c')), {
    code: 0,
    stdout: 'cleandb: 2 read, 0 deleted, 0 truncated, 2 objects\n',
  });
  const [complete, binary] = await Promise.all([
    cli('cleandb', '--complete', path('c')),
    cli('rmbinary', '--json', path('a')),
  ]);
  t.match(complete, { code: 0, stderr: /h\/2: deleted: no Gatherer-Name/ });
  t.match(binary, { code: 0, stdout: '{"read":2,"changed":0}\n' });

  writeFileSync(path('soif'), ONE);
  const tools = ['expiredb', 'cleandb', 'rmbinary', 'template2db'];
  const refusals = await Promise.all(tools.map((tool) => cliWithInput(ONE, tool, path('soif'))));
  for (const [i, refused] of refusals.entries()) {
    t.match(refused, { code: 1, stdout: '' }, `${tools[i]} refuses`);
    t.match(
      refused.stderr,
      new RegExp(`^${tools[i]}: .*is not a database file, but a text, perhaps a SOIF stream`),
    );
  }
  t.equal(readFileSync(path('soif'), 'latin1'), ONE);
  const [wrongName, wrongUsage, wrongTime, taken] = await Promise.all([
    cliWithInput('', 'template2db', path('x'), path('none')),
    cli('mergedb', path('p'), path('a')),
    cli('expiredb', '--now', 'tomorrow', path('a')),
    cli('mergedb', path('a'), path('a'), path('b')),
  ]);
  t.match(wrongName, { code: 1, stderr: /there is no / });
  t.notOk(existsSync(path('x')), 'a wrong name leaves nothing behind');
  t.same([wrongUsage.code, wrongTime.code], [2, 2], 'usage');
  t.match(taken, { code: 1, stderr: /--force replaces it/ });
});

t.test('G-115, GATHERD-10.3: folddb runs all steps in order', async (t) => {
  const directory = await temporaryDirectory(t);
  await databaseOf(
    join(directory, 'PRODUCTION.gdbm'),
    ONE,
    TWO,
    '@FILE { http://h/bad\nUpdate-Time{1}:\tx\n}\n',
    '@FILE { http://h/bin\nUpdate-Time{4}:\t1999\nTitle{4}:\ta\u0001bc\n}\n',
  );
  await databaseOf(join(directory, 'WORKING.gdbm'), BARE);
  const folded = await cli('folddb', '--now', '2000', '--json', directory);
  t.equal(folded.code, 0, folded.stderr);
  const steps = JSON.parse(folded.stdout) as Record<string, Record<string, unknown>>;
  const order = 'consoldb expiredb cleandb rmbinary mkindex mkcompressed mkgathererstats';
  t.equal(Object.keys(steps).join(' '), order);
  t.match(steps, {
    consoldb: { added: 1 },
    expiredb: { deleted: 1 },
    cleandb: { deleted: 1 },
    rmbinary: { changed: 1 },
    mkindex: { objects: 3, added: 3, generation: 1 },
    mkcompressed: { objects: 3 },
    mkgathererstats: { objects: 3 },
  });
  const exported = `${BARE}@FILE { http://h/bin\nUpdate-Time{4}:\t1999\nTitle{3}:\tabc\n}\n${TWO}`;
  const templates = readFileSync(join(directory, 'All-Templates.gz'));
  t.equal(gunzipSync(templates).toString('latin1'), wrapped({ updated: exported }), 'GATHERD-10.2');
  const info = readFileSync(join(directory, 'INFO.soif'), 'latin1');
  t.match(info, /^@GATHERER \{ -\n[\s\S]*Number-Of-Objects\{1\}:\t3\n/, 'GATHERD-8.4');
  const [printed, compressed] = await Promise.all([
    cli('mkgathererstats', '--now', '2000', directory),
    cli('mkcompressed', '--json', directory),
  ]);
  t.equal(printed.stdout, info, 'mkgathererstats prints the same');
  t.equal(compressed.stdout, `{"objects":3,"bytes":${templates.length}}\n`);
  const lines = (await cli('folddb', '--now', '2000', directory)).stdout.split('\n');
  t.match(lines[4], /^mkindex: 3 objects, 0 added, 0 changed, 0 refreshed, 0 deleted, generation 2, source /);
});

t.test('G-115: an original data directory is folded without touching it', async (t) => {
  const directory = await temporaryDirectory(t);
  const templates = gzipSync(ONE + TWO);
  writeFileSync(join(directory, 'All-Templates.gz'), templates);
  const folded = await cli('folddb', '--keep-expired', '--json', directory);
  t.match(JSON.parse(folded.stdout), { cleandb: { read: 2 }, mkindex: { objects: 2 } });
  t.notMatch(folded.stdout, /expiredb|mkcompressed/);
  t.ok(readFileSync(join(directory, 'All-Templates.gz')).equals(templates));
  const port = (await startGatherd(t, '-d', directory, '0')).port;
  t.match(await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'), `@UPDATE {\n${ONE}${TWO}}\n`, 'the objects');
  const none = join(directory, 'none');
  const [nothing, unpublished] = await Promise.all([cli('folddb', none), cli('mkcompressed', none)]);
  t.match(nothing, { code: 1, stderr: /nothing to export/ });
  t.match(unpublished, { code: 1, stderr: /no generation was published/ });
  t.notOk(existsSync(none), 'reading creates no directory');
});
