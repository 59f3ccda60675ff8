// The disk cache of a Gatherer: what is left of it after a run.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { Gatherer, type GathererOptions } from '../../../servers/gatherer/index.js';
import { page, Site } from '../../helpers/site.js';

const never = new AbortController().signal;

t.test(
  'G-92, G-99: a complete run removes the cache unless Keep-Cache, a stopped run does not',
  async (t) => {
    await using site = await Site.start({ '/': page('Start', ['/a.html']), '/a.html': page('A', []) });
    const directory = t.testdir();
    const work = join(directory, 'work');
    mkdirSync(work);
    writeFileSync(join(work, 'notes'), 'not of the cache');
    const run = async (variables: string, signal = never, options: Partial<GathererOptions> = {}) => {
      const text = `Gatherer-Name: T\nAccess-Delay: 0\nWorking-Directory: ${work}\n${variables}<RootNodes>\n${site.url}/\n</RootNodes>\n`;
      const { config } = parseGathererConf(text, 'test.cf', {});
      await using gatherer = await Gatherer.open({
        directory: join(directory, 'data'),
        config,
        essenceWorkers: 0,
        force: true,
        ...options,
      });
      return await gatherer.run(signal);
    };
    /** The names of the cache's entries. */
    const entries = (): string[] =>
      readdirSync(work, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /^[0-9a-f]{62,64}$/.test(entry.name))
        .map(({ name }) => name);

    await run('Keep-Cache: yes\n');
    t.ok(entries().length >= 2, 'Keep-Cache: the documents are in the cache after the run');
    await t.rejects(run('', AbortSignal.abort()), { name: 'AbortError' });
    t.ok(entries().length >= 2, 'G-99: a run that was stopped leaves the cache');
    t.equal((await run('', never, { keepTemporaryFiles: true })).end, 'finished');
    t.ok(entries().length >= 2, 'G-12: -debug keeps temporary files');
    t.equal((await run('')).end, 'finished');
    t.same(entries(), [], 'a complete run leaves no entry');
    t.ok(readdirSync(work).includes('notes'), 'files of others stay');
    t.equal((await run('Keep-Cache: no\n')).end, 'finished');
    t.same(entries(), [], 'and makes no cache');
  },
);
