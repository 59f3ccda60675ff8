// Documents whose objects have other URLs: exploded files, and objects that a rule renames. Times are in
// seconds.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { page, Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const never = new AbortController().signal;
const DAY = 86_400;

/** Returns a Linux Software Map entry, which is exploded into an object of its own URL. */
const lsm = (title: string, file: string) =>
  `Begin3\nTitle = ${title}\nDesc = A program\nSite = ftp.example.org\nPath = /pub/linux\nFile = ${file} 10k\nEnd\n`;

/** Runs a Gatherer with `--force`; returns its counts, and the Update-Time of each object by URL. */
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

t.test('E-46, E-47: exploded objects have own URLs, and change and go with their file', async (t) => {
  const directory = await temporaryDirectory(t);
  await using site = await Site.start({
    '/': page('Start', ['/one.lsm']),
    '/one.lsm': (_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(lsm('One', 'one.tgz')),
  });
  const text = `Gatherer-Name: T\nGatherer-Host: g\nAccess-Delay: 0\nTime-To-Live: ${10 * DAY}\n<RootNodes>\n${site.url}/\n</RootNodes>\n`;
  const object = 'ftp://ftp.example.org/pub/linux/one.tgz';
  const start = 1_700_000_000;

  const first = await gather(directory, text, start);
  t.match(first.counts, { summarized: 2 });
  t.same(first.objects, { [`${site.url}/`]: String(start), [object]: String(start) });

  const second = await gather(directory, text, start + DAY);
  t.match(second.counts, { unchanged: 2 });
  t.same(second.objects[object], String(start + DAY), 'an unchanged file refreshes its exploded objects');

  site.pages.set('/one.lsm', (_, response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(lsm('Two', 'two.tgz')),
  );
  const third = await gather(directory, text, start + 2 * DAY);
  t.same(Object.keys(third.objects).sort(), ['ftp://ftp.example.org/pub/linux/two.tgz', `${site.url}/`]);

  const late = await gather(directory, text, start + 20 * DAY);
  t.same(late.objects['ftp://ftp.example.org/pub/linux/two.tgz'], String(start + 20 * DAY));
});

t.test('SOIF-6.7: exploded objects with a Time-To-Live of 0 do not expire', async (t) => {
  const directory = await temporaryDirectory(t);
  await using site = await Site.start({
    '/': page('Start', ['/one.lsm']),
    '/one.lsm': (_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(lsm('One', 'one.tgz')),
  });
  const text = `Gatherer-Name: T\nGatherer-Host: g\nAccess-Delay: 0\nTime-To-Live: 0\n<RootNodes>\n${site.url}/\n</RootNodes>\n`;
  const start = 1_700_000_000;
  t.match((await gather(directory, text, start)).counts, { summarized: 2 });
  t.match((await gather(directory, text, start + DAY)).counts, { unchanged: 2 }, 'the file is known');
});

t.test('E-121, E-128, E-130: rules change objects, their URLs and their lifetimes', async (t) => {
  const directory = await temporaryDirectory(t);
  await using site = await Site.start({ '/': page('Start', ['/short']), '/short': page('Short', []) });
  const rules = join(directory, 'rules');
  const from = site.url.replaceAll('/', '\\/').replaceAll('.', '\\.');
  const program = `sed s,^${site.url}/,http://www.example.org/,`;
  await writeFile(
    rules,
    `url ~ /^${from}\\/$/\n\turl | ${program}\nurl ~ /short/\n\ttime-to-live = "${DAY}"\n`,
  );
  const text = `Gatherer-Name: T\nGatherer-Host: g\nAccess-Delay: 0\nTime-To-Live: ${10 * DAY}\nPost-Summarizing: ${rules}\n<RootNodes>\n${site.url}/\n</RootNodes>\n`;
  const start = 1_700_000_000;
  const first = await gather(directory, text, start);
  t.same(Object.keys(first.objects).sort(), [`${site.url}/short`, 'http://www.example.org/'].sort());

  const second = await gather(directory, text, start + 3600);
  t.match(second.counts, { unchanged: 2 });
  t.same(second.objects['http://www.example.org/'], String(start + 3600));

  site.pages.delete('/short');
  const third = await gather(directory, text, start + 3 * DAY);
  t.same(Object.keys(third.objects), ['http://www.example.org/'], 'a short lifetime has expired');
});
