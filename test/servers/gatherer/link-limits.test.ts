// Documents with more links than are followed (G-173), and directories, which have no such limit.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { openOrdered } from '../../helpers/ordered-crawl.js';
import { Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const never = new AbortController().signal;

const pageOf = (links: number): string =>
  `<title>Many</title>${Array.from({ length: links }, (_, i) => `<a href="/${i}.html">${i}</a>`).join('')}`;

t.test('G-173: a page with too many links: the report counts those that are left out', async (t) => {
  await using site = await Site.start({ '/': pageOf(5), '/0.html': 'zero', '/1.html': 'one' });
  for (const embeds of ['frames', 'root'] as const) {
    const directory = await temporaryDirectory(t);
    await using gatherer = await openOrdered(directory, site.url, { settings: { maxOutlinks: 2, embeds } });
    const { counts, roots } = await gatherer.run(never);
    t.match(counts, { summarized: 3 }, embeds);
    t.same(roots[0]?.refused, { outlinks: 3 }, embeds);
  }
});

t.test('G-173: the setting can also be larger than the default', async (t) => {
  await using site = await Site.start({ '/': pageOf(10_100) });
  const directory = await temporaryDirectory(t);
  const root = `${site.url} URL=1,/dev/null`;
  await using gatherer = await openOrdered(directory, root, { settings: { maxOutlinks: 10_050 } });
  const { roots } = await gatherer.run(never);
  t.same(roots[0]?.refused, { 'url-max': 10_050, outlinks: 50 });
});

t.test('G-173: the limit is one of documents; all entries of a directory are gathered', async (t) => {
  const directory = await temporaryDirectory(t);
  const files = join(directory, 'files');
  await mkdir(files);
  for (let i = 0; i < 5; i++) await writeFile(join(files, `${i}.txt`), `file ${i}`);
  const url = pathToFileURL(`${files}/`).href;
  await using gatherer = await openOrdered(join(directory, 'data'), url, { settings: { maxOutlinks: 2 } });
  t.match(await gatherer.run(never), { counts: { summarized: 5 }, roots: [{ refused: {} }] });
});
