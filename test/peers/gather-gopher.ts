// Crawls gophernicus and pygopherd by Gopher: finds the same documents as a simple client that follows the
// menus. Prints TAP. Needs gophernicus with socat, pygopherd, and root for setpriv; tests whose programs are
// missing are skipped.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { finalEventOf, gather, unlimitedRoot, urlsOf } from '../helpers/gather-peers/gather.js';
import { listGopherDocuments, requestGopher } from '../helpers/gather-peers/other-clients.js';
import {
  PYGOPHERD,
  PYGOPHERD_CONFIG,
  skipUnless,
  startGophernicus,
  startPygopherd,
} from '../helpers/gather-peers/servers.js';
import { createSite, md5 } from '../helpers/gather-peers/tree.js';

/** Names that pygopherd supports: it gives tildes and semicolons a special meaning. */
const NAMES = 'plain.txt|page.html|README|main.c|with blank.txt|a+b=c&d.txt|(brackets).txt'.split('|');

/** Crawls a server three times and compares the documents with those of its menus. */
async function compareCrawls(t: Test, directory: string, port: number, files: Map<string, Buffer>) {
  const root = `gopher://127.0.0.1:${port}/`;
  const expected = await listGopherDocuments(port);
  const nodes = { roots: [unlimitedRoot(root)] };
  const data = join(directory, 'data');
  const first = await gather(data, nodes);
  const found = urlsOf(first).map((url) => decodeURIComponent(url.slice(root.length)));
  t.comment(
    `the simple client finds ${expected.length} documents, the Gatherer ${found.length}; ${files.size} files`,
  );
  t.equal(expected.length, files.size);
  t.strictSame(found.sort(), expected, `the ${expected.length} documents of the menus, each once`);
  // The server may change line ends, so a text can be shorter than the file.
  for (const item of expected.slice(0, 5)) {
    const url = urlsOf(first).find((each) => decodeURIComponent(each.slice(root.length)) === item) ?? '';
    const sent = (await requestGopher(port, item.slice(1))).toString('latin1').replace(/(^|\n)\.\r\n$/, '$1');
    const own = first.exported.find((object) => object.url === url)?.text('MD5');
    t.equal(own, md5(Buffer.from(sent, 'latin1')), `G-90: ${item}`);
  }
  const second = await gather(data, nodes, { force: true });
  t.equal(second.report.counts.unchanged, files.size, 'G-108 line 3: all are fetched: no dates');
  t.strictSame(urlsOf(second), urlsOf(first));
  const third = await gather(data, nodes);
  t.equal(third.report.counts.kept, files.size, 'G-108 line 1: not due, so not fetched');
  const none = await gather(join(directory, 'none'), {
    leaves: [`${root}0/no/such.txt`, `${root}1/no/such/directory`],
  });
  t.equal(none.report.end, 'finished');
  t.match(finalEventOf(none, `${root}1/no/such/directory`), { disposition: 'failed', status: 404 });
}

const skip = skipUnless(['/usr/sbin/gophernicus', '/usr/bin/socat'], true);
t.test('G-26, G-108 gophernicus', { skip }, async (t) => {
  const { directory, root, files } = createSite(t, NAMES);
  await compareCrawls(t, directory, await startGophernicus(t, root), files);
});

t.test('G-26, G-108 pygopherd', { skip: skipUnless([PYGOPHERD, PYGOPHERD_CONFIG]) }, async (t) => {
  const { directory, root, files } = createSite(t, NAMES);
  await compareCrawls(t, directory, await startPygopherd(t, directory, root), files);
});
