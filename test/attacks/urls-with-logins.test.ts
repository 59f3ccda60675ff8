// Logins in URLs (G-81): other users of the machine cannot read them in the files of a Gatherer, and messages
// do not contain them.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../protocols/config/index.js';
import { Gatherer } from '../../servers/gatherer/index.js';
import { Generations } from '../../storage/generations/generations.js';
import { CliProcess } from '../helpers/cli.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

/** The directories that contain tables of a database, below a directory. */
async function databases(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return [
    ...new Set(entries.filter(({ name }) => name.startsWith('MANIFEST-')).map((entry) => entry.parentPath)),
  ];
}

/** Whether another user can reach the files of a directory below `root`. */
async function isOpen(root: string, directory: string): Promise<boolean> {
  for (let path = directory; path.length > root.length; path = join(path, '..')) {
    if (((await stat(path)).mode & 0o077) === 0) return false;
  }
  return true;
}

t.test('G-81: generations and the clones of their readers are as private as the working store', async (t) => {
  await using site = await Site.start({ '/': page('Start', ['/b']), '/b': page('B', []) });
  const directory = join(await temporaryDirectory(t), 'data');
  const url = site.url.replace('http://', 'http://ann:s3cret@');
  const { config } = parseGathererConf(
    `Gatherer-Name: Test\nAccess-Delay: 0\n<RootNodes>\n${url}/\n</RootNodes>\n`,
    'test.cf',
    {},
  );
  await using gatherer = await Gatherer.open({ directory, config, essenceWorkers: 0 });
  await gatherer.run(new AbortController().signal);
  await gatherer.publish();
  const generations = new Generations(join(directory, 'generations'));
  await using snapshot = await generations.open();
  t.ok(snapshot.count > 0, 'there are objects');
  const found = await databases(directory);
  t.ok(
    found.some((path) => path.includes('readers')),
    'a reader has a clone',
  );
  t.ok(
    found.some((path) => /generations.\d+$/.test(path)),
    'a generation is published',
  );
  for (const path of found) {
    if (path.includes('references')) continue;
    t.notOk(await isOpen(directory, path), path.slice(directory.length));
  }
});

t.test('G-81: what urlget says about a URL does not contain its login', async (t) => {
  await using site = await Site.start({ '/': page('Start', []) });
  const login = site.url.replace('http://', 'http://ann:s3cret@');
  for (const args of [[`${login}/missing`], ['--json', `${login}/missing`], ['--json', `${login}/`]]) {
    const { stdout, stderr } = await new CliProcess(['urlget', '--no-cache', ...args]).finished;
    t.match(stdout + stderr, site.url, args.join(' '));
    t.notMatch(stdout + stderr, /s3cret/, args.join(' '));
  }
});
