// The kit's own documents over HTTP.
import { posix } from 'node:path';
import { load } from 'cheerio';
import t, { type Test } from 'tap';
import { request } from 'undici';
import {
  createDocument,
  DocumentsServer,
  type OwnDocument,
  readOwnDocuments,
} from '../../../servers/all-in-one/index.js';
import { COMMANDS } from '../../../servers/cli/commands.js';
import { commandDocuments } from '../../../servers/cli/help/command-documents.js';

const MODIFIED = new Date('2024-05-06T07:08:09.5Z');
const DOCUMENTS = [
  createDocument('/README.md', '# The kit\n\nSee [soif](protocols/soif/README.md).\n', MODIFIED),
  createDocument('/protocols/soif/README.md', '# `SOIF`\n\n| a | b |\n| - | - |\n| 1 | 2 |\n', MODIFIED),
  createDocument('/notes.md', 'No heading.\n', MODIFIED),
];

async function start(t: Test, documents: readonly OwnDocument[] = DOCUMENTS): Promise<string> {
  const log = { error: (line: string) => t.fail(line) };
  const server = await DocumentsServer.listen({ host: '127.0.0.1', port: 0, documents, log });
  t.teardown(() => server.close());
  return server.url;
}

t.test('programs get Markdown, browsers get a page', async (t) => {
  const url = `${await start(t)}protocols/soif/README.md`;
  const plain = await request(url);
  t.equal(plain.headers['content-type'], 'text/markdown; charset=utf-8');
  t.equal(plain.headers['last-modified'], 'Mon, 06 May 2024 07:08:09 GMT');
  t.equal(plain.headers.vary, 'Accept');
  t.equal(await plain.body.text(), DOCUMENTS[1]?.markdown);
  const page = await request(url, { headers: { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' } });
  t.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  const $ = load(await page.body.text());
  t.equal($('title').text(), 'SOIF - Documents of harvest-kit');
  t.equal($('main table td').length, 2);
  t.not(page.headers.etag, plain.headers.etag, 'they are different representations');
});

t.test('the first page links to every document by its title', async (t) => {
  const url = await start(t);
  const $ = load(await (await request(url)).body.text());
  const links = $('main a').map((_, a) => `${$(a).attr('href')} ${$(a).text()}`);
  t.same(links.get(), ['/README.md The kit', '/notes.md notes.md', '/protocols/soif/README.md SOIF']);
});

t.test('RFC 9110: conditional requests', async (t) => {
  const url = await start(t);
  for (const path of ['', 'README.md']) {
    const { headers, body } = await request(url + path);
    await body.dump();
    const conditions = [
      [{ 'if-none-match': String(headers.etag) }, 304],
      [{ 'if-none-match': `"x", W/${headers.etag}` }, 304],
      [{ 'if-none-match': '"x"' }, 200],
      [{ 'if-modified-since': String(headers['last-modified']) }, 304],
      [{ 'if-modified-since': 'Mon, 06 May 2024 07:08:08 GMT' }, 200],
      [{ 'if-modified-since': 'yesterday' }, 200],
      [{ 'if-none-match': '"x"', 'if-modified-since': String(headers['last-modified']) }, 200],
    ] as const;
    for (const [condition, status] of conditions) {
      const answer = await request(url + path, { headers: condition });
      t.equal(answer.statusCode, status, JSON.stringify(condition));
      t.equal((await answer.body.text()) === '', status === 304);
    }
  }
});

t.test('only the documents are served', async (t) => {
  const url = await start(t);
  for (const path of ['package.json', '..%2fpackage.json', 'servers', '%00', 'README.md/', 'readme.md']) {
    const { statusCode, body } = await request(url + path);
    await body.dump();
    t.equal(statusCode, 404, path);
  }
  const folder = await request(`${url}protocols/soif/`);
  await folder.body.dump();
  t.equal(folder.statusCode, 301);
  t.equal(folder.headers.location, '/protocols/soif/README.md');
  const posted = await request(`${url}README.md`, { method: 'POST' });
  await posted.body.dump();
  t.equal(posted.statusCode, 404);
  t.equal(await (await request(`${url}robots.txt`)).body.text(), 'User-agent: *\nDisallow:\n');
});

t.test('pictures of the documents are served, and pages may show them', async (t) => {
  const url = await start(t);
  for (const name of ['search.png', 'conformance.png']) {
    const { statusCode, headers, body } = await request(`${url}docs/images/${name}`);
    t.equal(statusCode, 200);
    t.equal(headers['content-type'], 'image/png');
    t.match(headers['content-security-policy'], /img-src 'self'/);
    t.same((await body.bytes()).subarray(1, 4), Buffer.from('PNG'));
  }
});

t.test("the kit's documents: READMEs and commands, without a link that leads nowhere", async (t) => {
  const files = await readOwnDocuments();
  const commands = await commandDocuments(COMMANDS, MODIFIED);
  t.equal(commands.length, COMMANDS.length);
  t.match(commands.find(({ path }) => path === '/commands/run.md')?.markdown, /--documents-port <port>/);
  const paths = new Set([...files, ...commands].map(({ path }) => path));
  t.ok(paths.has('/README.md') && paths.has('/protocols/soif/README.md'));
  const dead: string[] = [];
  for (const { path, markdown } of [...files, ...commands]) {
    for (const [, target = ''] of markdown.matchAll(/\]\(([^)\s#]+)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const linked = posix.resolve(posix.dirname(path), target);
      if (linked.endsWith('.png')) continue;
      if (!paths.has(linked) && !paths.has(`${linked}/README.md`)) dead.push(`${path}: ${target}`);
    }
  }
  t.same(dead, []);
});
