// One machine gathers and publishes in a bucket; gatherd and refererd of others serve copies (G-188, docs/publish.md).
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { BucketServer } from '../helpers/bucket-server.js';
import { CliProcess } from '../helpers/cli.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

const login = { AWS_ACCESS_KEY_ID: 'harvest', AWS_SECRET_ACCESS_KEY: 'TOPSECRET', HOME: '/nonexistent' };

t.test('G-188 what one machine publishes in a bucket, others serve', async (t) => {
  const directory = await temporaryDirectory(t);
  const bucket = await BucketServer.start();
  t.teardown(() => bucket[Symbol.asyncDispose]());
  const site = await Site.start({ '/': page('a', ['/b.html']), '/b.html': page('b', []) });
  t.teardown(() => site[Symbol.asyncDispose]());
  const env = { ...login, AWS_ENDPOINT_URL: bucket.endpoint };
  const configuration = join(directory, 'sample.cf');
  const configure = async (...paths: string[]) =>
    writeFile(
      configuration,
      `Gatherer-Name: Sample\nPublish: s3://bucket/library\n<LeafNodes>\n${paths.map((path) => `${site.url}${path}\n`).join('')}</LeafNodes>\n`,
    );
  const gather = async (...options: string[]) => {
    const data = ['--no-daemon', '--json', '--data', join(directory, 'data'), ...options, configuration];
    return await new CliProcess(['gatherer', ...data], env).finished;
  };
  await configure('/');
  const first = await gather();
  t.match(first, { code: 0 }, first.stderr);
  t.match(JSON.parse(first.stdout), {
    generation: 1,
    elsewhere: {
      place: 's3://bucket/library',
      generations: { number: 1, isNew: true },
      references: { number: 1, isNew: true },
    },
  });

  const readers = join(directory, 'readers');
  const start = (...words: string[]) =>
    new CliProcess([...words, '--from', 's3://bucket/library', '--poll', '0.2'], env);
  const gatherd = start('gatherd', '-d', readers, '--monitor', '0', '0');
  t.teardown(() => gatherd.kill('SIGKILL'));
  const [, port = ''] = await gatherd.output(/ready gatherd=\S+:(\d+)/);
  const [, monitor = ''] = await gatherd.output(/monitor: (\S+)/, 'stderr');
  const refererd = start('refererd', '--data', join(directory, 'links'), '-p', '0');
  t.teardown(() => refererd.kill('SIGKILL'));
  const [, linksPort = ''] = await refererd.output(/ready refererd=\S+:(\d+)/);
  const objects = async () => {
    const { stdout } = await new CliProcess(['gather', '127.0.0.1', port]).finished;
    return stdout.match(/^@FILE \{ .*$/gm) ?? [];
  };
  t.same(await objects(), [`@FILE { ${site.url}/`]);
  const links = ['references', '--to', `127.0.0.1:${linksPort}`, `${site.url}/b.html`];
  t.match((await new CliProcess(links).finished).stdout, `${site.url}/`);

  await configure('/', '/b.html');
  t.match(await gather(), { code: 0 });
  await gatherd.output(/generation 2 was copied from s3:\/\/bucket\/library: \d+ bytes/, 'stderr');
  await gatherd.output(/serving generation 2, 2 objects/, 'stderr');
  t.equal((await objects()).length, 2, 'a new generation is served');

  bucket.fault = () => ({ kind: 'refuse', status: 403, code: 'AccessDenied' });
  await gatherd.output(/ERROR: no copy from s3:\/\/bucket\/library: .* does not permit/, 'stderr');
  const ready = async () => await (await fetch(`http://${monitor}/readyz`)).json();
  t.match(await ready(), { status: 'ready', problems: [], notes: [/^gatherd: no copy from s3:/] });
  t.equal((await objects()).length, 2, 'what is here is served');
  const refused = await gather('--export');
  t.match(refused, {
    code: 1,
    stderr: /the generation is published here, but not at the place of Publish: .* does not permit PUT/,
  });
  bucket.fault = () => undefined;
  await gatherd.output(/s3:\/\/bucket\/library answers again/, 'stderr');
  t.match(await ready(), { status: 'ready', problems: [], notes: undefined });

  const second = await start('gatherd', '-d', readers, '0').finished;
  t.match(second, { code: 1, stderr: /gatherd is already running here/ });
  const own = await start('gatherd', '-d', join(directory, 'data'), '0').finished;
  t.match(own, { code: 1, stderr: /was not copied from s3:\/\/bucket\/library: use another directory/ });

  gatherd.kill('SIGTERM');
  t.match(await gatherd.finished, { code: 0 });
  bucket.fault = () => ({ kind: 'refuse', status: 403, code: 'AccessDenied' });
  const again = start('gatherd', '-d', readers, '0');
  t.teardown(() => again.kill('SIGKILL'));
  await again.output(/serving generation 2, 2 objects/, 'stderr');
  for (const { stdout, stderr } of [first, refused, gatherd, refererd, again])
    t.notMatch(stdout + stderr, /TOPSECRET/, 'no secret is shown');
  t.notMatch(await readFile(join(readers, '.copied-generations.json'), 'utf8'), /TOPSECRET/);
});

t.test('G-188 a directory is a place, too, and run publishes there', async (t) => {
  const directory = await temporaryDirectory(t);
  const site = await Site.start({ '/': page('alone', []) });
  t.teardown(() => site[Symbol.asyncDispose]());
  const shared = join(directory, 'shared');
  await mkdir(shared);
  const run = await new CliProcess([
    'run',
    '--once',
    '--data',
    join(directory, 'data'),
    '--publish',
    shared,
    ...['gatherd', 'broker', 'web', 'references'].flatMap((name) => [`--${name}-port`, '0']),
    `${site.url}/`,
  ]).finished;
  t.match(run, { code: 0 }, run.stderr);
  t.match(JSON.parse(run.stdout), { elsewhere: { place: shared, generations: { number: 1, isNew: true } } });
  const gatherd = new CliProcess(['gatherd', '-d', join(directory, 'copies'), '--from', shared, '0']);
  t.teardown(() => gatherd.kill('SIGKILL'));
  await gatherd.output(/generation 1 was copied/, 'stderr');
  const current = () => readFile(join(directory, 'copies', 'generations', 'CURRENT'), 'utf8');
  await waitUntil(async () => (await current()) !== '');
  t.equal(await current(), '1\n', 'the copy is here');
});

t.test('backups in a bucket', async (t) => {
  const directory = await temporaryDirectory(t);
  const bucket = await BucketServer.start();
  t.teardown(() => bucket[Symbol.asyncDispose]());
  const site = await Site.start({ '/': page('a', ['/b.html']), '/b.html': page('b', []) });
  t.teardown(() => site[Symbol.asyncDispose]());
  const harvest = async (...words: string[]) =>
    await new CliProcess(words, { ...login, AWS_ENDPOINT_URL: bucket.endpoint, TMPDIR: directory }).finished;
  const data = join(directory, 'data');
  const configuration = join(directory, 'sample.cf');
  await writeFile(configuration, `Gatherer-Name: Sample\n<LeafNodes>\n${site.url}/\n</LeafNodes>\n`);
  t.match(await harvest('gatherer', '--no-daemon', '--data', data, configuration), { code: 0 });
  const place = 's3://bucket/backups';
  const first = await harvest('backup', '--json', data, place);
  t.match(first, { code: 0 }, first.stderr);
  const report = JSON.parse(first.stdout);
  t.match(report, { number: 1 });
  t.equal(report.sentFiles > 5, true);
  const again = await harvest('backup', '--json', data, place);
  t.equal(
    JSON.parse(again.stdout).sentBytes < report.sentBytes / 2,
    true,
    'files that are there are not sent',
  );
  t.notOk(
    (await readdir(directory)).some((name) => name.startsWith('harvest-backup-')),
    'the copy is removed',
  );

  const restored = join(directory, 'restored');
  t.match(await harvest('restore', place, restored), { code: 0 });
  t.match(await harvest('store', 'check', restored), { code: 0 });
  const generation = async (root: string) => readFile(join(root, 'generations', '1', 'All-Templates.gz'));
  t.same(await generation(restored), await generation(data));
  t.match(await harvest('restore', place, restored), { code: 1, stderr: /is not empty/ });
  const other = join(directory, 'other');
  t.match(await harvest('restore', 's3://bucket/none', other), { code: 1, stderr: /there is nothing/ });
  t.match(await harvest('backup', data, 's3://nope/x'), { code: 1, stderr: /there is no bucket nope at/ });
  bucket.fault = ({ method, key }) =>
    method === 'PUT' && key.includes('/files/')
      ? { kind: 'refuse', status: 507, code: 'XMinioStorageFull' }
      : undefined;
  await writeFile(join(data, 'gatherd.cf'), 'Allow all\n');
  t.match(await harvest('backup', data, place), {
    code: 1,
    stderr: /has no room for more \(XMinioStorageFull\)/,
  });
  bucket.fault = () => undefined;
  t.match(await harvest('restore', '--json', place, other), { code: 0 }, 'the backups before stay');
});

t.test('G-188 places that are refused', async (t) => {
  for (const place of ['s3://key:TOPSECRET@bucket/x', 'ftp://host/x']) {
    const { code, stderr } = await new CliProcess([
      'run',
      '--once',
      '--publish',
      place,
      'http://127.0.0.1:9/',
    ]).finished;
    t.equal(code, 2, place);
    t.match(stderr, /--publish: must (?:have no login|be s3:\/\/BUCKET\/PREFIX or a directory)/);
    t.notMatch(stderr, /TOPSECRET/);
  }
});
