// Documents whose objects are stored under other URLs: exploded ones, and those that a rule renamed.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { page, Site } from '../../helpers/site.js';

const never = new AbortController().signal;
const DAY = 86_400;

const lsm = (title: string, file: string) =>
  `Begin3\nTitle = ${title}\nDesc = A program\nSite = ftp.example.org\nPath = /pub/linux\nFile = ${file} 10k\nEnd\n`;

async function gather(directory: string, text: string, now: number) {
  const { config } = parseGathererConf(text, 'test.cf', {});
  await using gatherer = await Gatherer.open({
    directory,
    config,
    essenceWorkers: 0,
    now: () => now,
    force: true,
  });
  const { counts } = await gatherer.run(never);
  await gatherer.publish();
  const objects: Record<string, string> = {};
  for await (const summaries of gatherer.store.summaries.iterate()) {
    for (const { url, soif } of summaries) objects[url] = decodeSoif(soif).text('Update-Time') ?? '';
  }
  return { counts, objects };
}

t.test(
  'E-46, E-47 exploded objects are stored under their own URLs, change with the file, and are deleted with it',
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'objects-'));
    await using site = await Site.start({
      '/': page('Start', ['/one.lsm']),
      '/one.lsm': (_, response) =>
        response.writeHead(200, { 'content-type': 'text/plain' }).end(lsm('One', 'one.tgz')),
    });
    const text = `Gatherer-Name: T\nGatherer-Host: g\nAccess-Delay: 0\nTime-To-Live: ${10 * DAY}\n<RootNodes>\n${site.url}/\n</RootNodes>\n`;
    const object = 'ftp://ftp.example.org/pub/linux/one.tgz';
    const begin = 1_700_000_000;

    const first = await gather(directory, text, begin);
    t.match(first.counts, { summarized: 2 });
    t.same(first.objects, { [`${site.url}/`]: String(begin), [object]: String(begin) });

    const second = await gather(directory, text, begin + DAY);
    t.match(second.counts, { unchanged: 2 });
    t.same(second.objects[object], String(begin + DAY), 'an unchanged file refreshes its exploded objects');

    site.pages.set('/one.lsm', (_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(lsm('Two', 'two.tgz')),
    );
    const third = await gather(directory, text, begin + 2 * DAY);
    t.same(Object.keys(third.objects).sort(), ['ftp://ftp.example.org/pub/linux/two.tgz', `${site.url}/`]);

    const late = await gather(directory, text, begin + 20 * DAY);
    t.same(late.objects['ftp://ftp.example.org/pub/linux/two.tgz'], String(begin + 20 * DAY));
  },
);

t.test(
  'E-121, E-128, E-130 rules of the configuration change the objects, their URLs and their lifetimes',
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'objects-'));
    await using site = await Site.start({ '/': page('Start', ['/short']), '/short': page('Short', []) });
    const rules = join(directory, 'rules');
    const from = site.url.replaceAll('/', '\\/').replaceAll('.', '\\.');
    const program = `sed s,^${site.url}/,http://www.example.org/,`;
    await writeFile(
      rules,
      `url ~ /^${from}\\/$/\n\turl | ${program}\nurl ~ /short/\n\ttime-to-live = "${DAY}"\n`,
    );
    const text = `Gatherer-Name: T\nGatherer-Host: g\nAccess-Delay: 0\nTime-To-Live: ${10 * DAY}\nPost-Summarizing: ${rules}\n<RootNodes>\n${site.url}/\n</RootNodes>\n`;
    const begin = 1_700_000_000;
    const first = await gather(directory, text, begin);
    t.same(Object.keys(first.objects).sort(), [`${site.url}/short`, 'http://www.example.org/'].sort());

    const second = await gather(directory, text, begin + 3600);
    t.match(second.counts, { unchanged: 2 });
    t.same(second.objects['http://www.example.org/'], String(begin + 3600));

    site.pages.delete('/short');
    const third = await gather(directory, text, begin + 3 * DAY);
    t.same(
      Object.keys(third.objects),
      ['http://www.example.org/'],
      'the object with the short lifetime has expired',
    );
  },
);
