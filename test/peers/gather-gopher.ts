// Whole crawls by Gopher of gophernicus and pygopherd, compared with a plain walk through their menus: the same set of documents.
// Prints TAP. Needs gophernicus with socat, pygopherd, and root for setpriv; tests of missing programs are skipped.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scratch } from '../helpers/daemon.js';
import { endOf, everything, gather, urlsOf } from '../helpers/gather-peers/gather.js';
import { gopherAsk, gopherFinds } from '../helpers/gather-peers/plain-clients.js';
import {
  needs,
  PYGOPHERD,
  PYGOPHERD_CONFIG,
  startGophernicus,
  startPygopherd,
} from '../helpers/gather-peers/servers.js';
import { fillTree, md5 } from '../helpers/gather-peers/tree.js';

/** pygopherd gives tildes and semicolons another meaning. */
const NAMES = [
  'plain.txt',
  'page.html',
  'README',
  'main.c',
  'with blank.txt',
  'a+b=c&d.txt',
  '(brackets).txt',
];

function site(t: Test) {
  const directory = scratch(t);
  chmodSync(directory, 0o755);
  const root = join(directory, 'site');
  return { directory, root, files: fillTree(root, NAMES) };
}

async function compared(t: Test, directory: string, port: number, files: Map<string, Buffer>) {
  const root = `gopher://127.0.0.1:${port}/`;
  const wanted = await gopherFinds(port);
  const nodes = { roots: [everything(root)] };
  const data = join(directory, 'data');
  const first = await gather(data, nodes);
  const found = urlsOf(first).map((url) => decodeURIComponent(url.slice(root.length)));
  t.comment(`a plain walk finds ${wanted.length}, we ${found.length}; ${files.size} files`);
  t.equal(wanted.length, files.size);
  t.strictSame(found.sort(), wanted, `the ${wanted.length} documents of the menus, each once`);
  // The server may change line ends, so a text can be shorter than the file.
  for (const item of wanted.slice(0, 5)) {
    const url = urlsOf(first).find((one) => decodeURIComponent(one.slice(root.length)) === item) ?? '';
    const sent = (await gopherAsk(port, item.slice(1))).toString('latin1').replace(/(^|\n)\.\r\n$/, '$1');
    const own = first.exported.find((object) => object.url === url)?.text('MD5');
    t.equal(own, md5(Buffer.from(sent, 'latin1')), `G-90: ${item}`);
  }
  const second = await gather(data, nodes, { force: true });
  t.equal(
    second.report.counts.unchanged,
    files.size,
    'G-108 line 3: fetched, since Gopher knows no dates; nothing changed',
  );
  t.strictSame(urlsOf(second), urlsOf(first));
  const third = await gather(data, nodes);
  t.equal(third.report.counts.kept, files.size, 'G-108 line 1: not due, so not fetched');
  const none = await gather(join(directory, 'none'), {
    leaves: [`${root}0/no/such.txt`, `${root}1/no/such/directory`],
  });
  t.equal(none.report.end, 'finished');
  t.match(endOf(none, `${root}1/no/such/directory`), { disposition: 'failed', status: 404 });
}

const skip = needs(['/usr/sbin/gophernicus', '/usr/bin/socat'], true);
t.test('G-26, G-108 gophernicus', { skip }, async (t) => {
  const { directory, root, files } = site(t);
  await compared(t, directory, await startGophernicus(t, root), files);
});

t.test('G-26, G-108 pygopherd', { skip: needs([PYGOPHERD, PYGOPHERD_CONFIG]) }, async (t) => {
  const { directory, root, files } = site(t);
  await compared(t, directory, await startPygopherd(t, directory, root), files);
});
