// Hidden files of directories, and links that lead out of a directory.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type GathererConfig, parseGathererConf } from '../../../protocols/config/index.js';
import { configFromRoots } from '../../../servers/all-in-one/index.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { page } from '../../helpers/site.js';

const never = new AbortController().signal;

/** A directory of notes with what a person does not want to find, and links to it. */
function notes(t: Test): string {
  const directory = t.testdir({
    site: {
      'a.html': page('A', ['../out/else.html', '.env.html', 'sub/b.html', 'linked.html', 'visible/key.txt']),
      '.env.html': page('Env', []),
      '.git': { config: 'a', objects: { 'x.txt': 'x' } },
      '.ssh': { 'key.txt': 'key' },
      sub: { 'b.html': page('B', []), 'b.html~': page('Backup', []), '#b.html#': 'Unsaved', '#': 'A name' },
    },
    '.notes': { 'n.txt': 'A note', '.private': { 'p.txt': 'private' } },
    out: { 'else.html': page('Else', []) },
  });
  symlinkSync('.ssh', join(directory, 'site/visible'));
  symlinkSync('.ssh/key.txt', join(directory, 'site/key.txt'));
  symlinkSync('../out/else.html', join(directory, 'site/linked.html'));
  symlinkSync('sub', join(directory, 'site/open'));
  return directory;
}

let stores = 0;

async function gather(directory: string, config: GathererConfig) {
  await using gatherer = await Gatherer.open({
    directory: join(directory, `data-${stores++}`),
    config,
    essenceWorkers: 0,
    force: true,
    maxRetries: 1,
  });
  const { counts, roots } = await gatherer.run(never);
  const objects: string[] = [];
  for await (const summaries of gatherer.store.summaries.iterate())
    objects.push(...summaries.map(({ url }) => url.replace(`file://localhost${directory}/`, '')));
  return { counts, hidden: roots.map(({ refused }) => refused.hidden ?? 0), objects: objects.sort() };
}

const VISIBLE = ['site/a.html', 'site/open/%23', 'site/open/b.html', 'site/sub/%23', 'site/sub/b.html'];

t.test('hidden files and directories are left out and counted; a hidden root is gathered', async (t) => {
  const directory = notes(t);
  const of = (...names: readonly string[]) =>
    configFromRoots(
      names.map((name) => join(directory, name)),
      { withoutHidden: true },
    ).config;
  await t.test('a directory', async (t) => {
    const found = await gather(directory, of('site'));
    t.same(found.objects, VISIBLE);
    // .env.html, .git, .ssh and two links to it; two copies of editors, seen under two names of their directory.
    t.same(found.hidden, [9]);
    t.equal(found.counts.failed, 0, 'what is hidden or lies outside has not failed');
    t.equal(found.counts.rejected, 4, 'the links of a page to such files');
  });
  await t.test('a hidden directory itself, alone and beside another one', async (t) => {
    const alone = await gather(directory, of('.notes'));
    t.same(alone.objects, ['.notes/n.txt']);
    t.same(alone.hidden, [1]);
    const both = await gather(directory, of('.notes', 'site', 'site/.ssh'));
    t.same(
      both.objects.filter((name) => !VISIBLE.includes(name)),
      ['.notes/n.txt', 'site/.ssh/key.txt', 'site/key.txt', 'site/visible/key.txt'],
      'a link to a directory that is a root itself is followed',
    );
  });
  await t.test('a LeafNode may be hidden', async (t) => {
    const text = `Gatherer-Name: x\nHidden-Files: no\n<LeafNodes>\nfile://${directory}/site/.env.html\n</LeafNodes>\n`;
    const found = await gather(directory, parseGathererConf(text, 'x.cf', {}).config);
    t.same(found.objects, ['site/.env.html']);
  });
});

t.test(
  'G-87: original configuration files gather hidden files; links out of a directory are rejected',
  async (t) => {
    const directory = notes(t);
    const text = `Gatherer-Name: x\n<RootNodes>\nfile://${directory}/site/ Access=FILE\n</RootNodes>\n`;
    const found = await gather(directory, parseGathererConf(text, 'x.cf', {}).config);
    for (const name of ['site/.env.html', 'site/.ssh/key.txt', 'site/.git/config', 'site/visible/key.txt'])
      t.ok(found.objects.includes(name), name);
    t.same(found.hidden, [0]);
    t.equal(found.counts.failed, 0);
    t.equal(found.counts.rejected >= 2, true);
  },
);
