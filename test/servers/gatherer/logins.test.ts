// G-81: a login in a URL is sent to its server and visible nowhere else; an interrupted crawl continues with it.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { CrawlControl } from '../../../servers/crawler/index.js';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { redactLogins, withLoginOf } from '../../../servers/crawler/redaction.js';
import { Gatherer, logDocuments, logRun } from '../../../servers/gatherer/index.js';
import { createLogger } from '../../../servers/host/index.js';
import { ReferencesReader } from '../../../storage/references/index.js';
import { onLines, scripted } from '../../clients/fetch/scripted.js';
import {
  gather,
  parseConfiguration,
  readExport,
  unlimitedRoot,
  urlsOf,
} from '../../helpers/gather-peers/gather.js';
import { ftpServer } from '../../helpers/gather-peers/scripted-ftp.js';
import { type Page, page, Site } from '../../helpers/site.js';

const never = new AbortController().signal;
/** joe:se@cret */
const LOGIN = 'joe:se%40cret@';
const HEADER = `Basic ${Buffer.from('joe:se@cret').toString('base64')}`;
const SECRET = /joe:|cret/;

/** A page that requires the login. */
const locked =
  (text: string): Page =>
  (request, response) => {
    const open = request.headers.authorization === HEADER;
    if (open) response.writeHead(200, { 'content-type': 'text/html', etag: '"1"' }).end(text);
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
  };

/** Returns the path and the text of every file below a directory. */
function textsBelow(directory: string): [string, string][] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')]);
}

t.test('G-81 links to the same server have the login, others do not', (t) => {
  const links = [
    'http://h.example/a',
    'http://h.example?q',
    'http://h.example',
    'http://h.example:81/a',
    'https://h.example/a',
    'http://h.example.org/a',
    'http://ann:x@h.example/a',
  ].map((url) => ({ url, hop: 'L' as const }));
  t.same(
    withLoginOf('http://joe:x@h.example/dir/page?a@b', links).map(({ url }) => url),
    [
      'http://joe:x@h.example/a',
      'http://joe:x@h.example?q',
      'http://joe:x@h.example',
      'http://h.example:81/a',
      'https://h.example/a',
      'http://h.example.org/a',
      'http://ann:x@h.example/a',
    ],
  );
  t.equal(withLoginOf('http://h.example/a@b', links), links, 'links are unchanged without a login');
  t.equal(
    redactLogins('see ftp://a:b@h/x, http://h/?to=u@v and mail a@b'),
    'see ftp://h/x, http://h/?to=u@v and mail a@b',
  );
  t.end();
});

t.test('G-81 a whole crawl over HTTP with a login in the RootNode', async (t) => {
  const seen: { url: string }[] = [];
  let control: CrawlControl | undefined;
  await using site = await Site.start({
    '/': locked(page('Start', ['/a.html', '/moved', '/none.html', 'ftp://ann:secret@other.invalid/'])),
    '/a.html': (request, response) => {
      seen.push(...(control?.workers() ?? []));
      const answer = locked(page('A', ['/']));
      if (typeof answer === 'function') answer(request, response);
    },
    '/moved': (_, response) => response.writeHead(302, { location: `${site.url}/new.html` }).end(),
    '/new.html': locked(page('New', [])),
  });
  const directory = t.testdir({ data: {} });
  const data = join(directory, 'data');
  const logFiles = ['log.gatherer', 'log.errors'].map((name) => join(directory, name)) as [string, string];
  const [log, errors] = logFiles.map((file) => createLogger({ program: 'essence', file })) as [
    ReturnType<typeof createLogger>,
    ReturnType<typeof createLogger>,
  ];
  const config = parseConfiguration({ roots: [unlimitedRoot(site.url.replace('://', `://${LOGIN}`))] });
  const run = async (force: boolean) => {
    using _log = logDocuments(log, errors);
    await using gatherer = await Gatherer.open({
      directory: data,
      config,
      essenceWorkers: 0,
      force,
      order: crawlOrderSchema.parse({
        recoveryJournal: true,
        sourceTagSeeds: true,
        settings: { delayFactor: 0, minDelayMs: 0, retryDelaySeconds: 0.01, maxRetries: 1 },
      }),
      onControl: (given) => {
        control = given;
      },
    });
    const report = await logRun(log, errors, config, () => gatherer.run(never));
    await gatherer.publish();
    await gatherer.publishReferences();
    const errorsShown = control?.recentErrors() ?? [];
    t.notMatch(JSON.stringify([report.roots, errorsShown]), SECRET, 'reports and the console');
    return report;
  };
  const first = await run(false);
  t.equal(first.counts.summarized, 3, 'the login applies to found URLs and to a redirect');
  const exported = await readExport(join(data, 'generations'));
  t.strictSame(
    urlsOf({ exported }),
    ['/', '/a.html', '/new.html'].map((path) => site.url + path),
  );
  const links = exported.find(({ url }) => url === `${site.url}/`)?.text('url-references') ?? '';
  t.match(links, `${site.url}/a.html`, 'the object contains the URLs of its links');
  t.match(links, 'ftp://other.invalid/');
  t.notMatch(links, /cret/);
  t.strictSame(
    seen.map(({ url }) => url),
    [`${site.url}/a.html`],
    'the workers in the console',
  );

  t.equal((await run(true)).counts.unchanged, 3, 'G-108: the stored objects are found again');
  t.equal((await run(false)).counts.kept, 3);
  await using references = await ReferencesReader.openCurrent(data);
  t.type(references.idByUrl(`${site.url}/a.html`), 'number', 'R-9: links between documents');
  t.equal(references.idByUrl(`${site.url.replace('://', `://${LOGIN}`)}/a.html`), undefined);

  const texts = [...textsBelow(join(data, 'crawl')), ...logFiles.map((f) => [f, readFileSync(f, 'utf8')])];
  const shown = texts.filter(([file]) => !/recover\.gz/.test(file ?? ''));
  t.ok(shown.length > 10, 'logs and reports');
  t.strictSame(
    shown.filter(([, text]) => SECRET.test(text ?? '')).map(([file]) => file),
    [],
    'no log and no report contains the login',
  );
  t.match(readFileSync(logFiles[1], 'utf8'), `${site.url}/none.html: status 404`);
  const mode = (...path: string[]): number => statSync(join(data, ...path)).mode & 0o077;
  t.same(
    [mode('working'), mode('crawl', 'checkpoints'), mode('crawl', 'logs', 'recover.gz')],
    [0, 0, 0],
    'files that keep it are readable by the owner only',
  );
});

t.test('G-81 by FTP: objects have plain URLs, and the objects of older versions are deleted', async (t) => {
  const files = new Map([
    ['pub/a.txt', Buffer.from('The first text.\n')],
    ['pub/b.txt', Buffer.from('The second text.\n')],
  ]);
  const { port } = await ftpServer(t, { files, login: { user: 'joe', password: 'se@cret' } });
  const directory = t.testdir();
  const old = `ftp://${LOGIN}127.0.0.1:${port}/pub/a.txt`;
  {
    await using gatherer = await Gatherer.open({
      directory,
      config: parseConfiguration({}),
      essenceWorkers: 0,
    });
    const soif = Buffer.from(`@FILE { ${old}\nUpdate-Time{1}:\t9\n}\n`);
    await gatherer.store
      .batch()
      .putSummary({ url: old, updateTime: 9, timeToLive: 2_000_000_000, soif })
      .commit();
  }
  const gathered = await gather(directory, {
    leaves: [old, `ftp://${LOGIN}127.0.0.1:${port}/pub/b.txt`],
  });
  t.strictSame(urlsOf(gathered), [`ftp://127.0.0.1:${port}/pub/a.txt`, `ftp://127.0.0.1:${port}/pub/b.txt`]);
  t.notMatch(JSON.stringify(gathered.events), SECRET, 'events');
});

t.test('G-81 the same URL with and without a login is one object', async (t) => {
  await using site = await Site.start({ '/a.txt': 'First.\n', '/b.txt': 'Second.\n' });
  const named = site.url.replace('://', `://${LOGIN}`);
  const leaves = [`${site.url}/a.txt`, `${named}/a.txt`, `${named}/b.txt`, `${site.url}/b.txt`];
  const directory = t.testdir();
  const urls = [`${site.url}/a.txt`, `${site.url}/b.txt`];
  let now = 1_700_000_000;
  const run = async (): Promise<void> => {
    const gathered = await gather(directory, { leaves }, { force: true, now: () => now++ });
    t.strictSame(urlsOf(gathered), urls, 'each URL once');
    t.equal(gathered.report.counts.summarized + gathered.report.counts.unchanged, 4);
  };
  await run();
  await run();
  site.pages.set('/a.txt', 'Third.\n');
  site.pages.set('/b.txt', 'Fourth.\n');
  await run();
});

t.test('G-83 the reply of an FTP or news server that refuses is logged, logins are not', async (t) => {
  const ftp = await scripted(t, (socket) => {
    socket.write('220 hello\r\n');
    onLines(socket, (line) => {
      if (line.startsWith('USER')) socket.write('331 and now?\r\n');
      else if (line.startsWith('PASS')) socket.write('530 joe, se@cret is a wrong secretword\r\n');
      else socket.write('500 what?\r\n');
    });
  });
  const news = await scripted(t, (socket) => {
    socket.write('200 hello\r\n');
    onLines(socket, (line) => {
      if (line === 'QUIT') socket.end('205 bye\r\n');
      else socket.write('480 only for members\r\n');
    });
  });
  const urls = [`ftp://127.0.0.1:${ftp.port}/x`, `ftp://ann:secret@127.0.0.1:${ftp.port}/y`];
  const { events } = await gather(t.testdir(), {
    leaves: [...urls, `news://127.0.0.1:${news.port}/comp.test`],
    lines: [`FTP-Auth: 127.0.0.1:${ftp.port} joe se@cret`],
  });
  const reasons = new Map(events.map(({ url, reason }) => [new URL(url).pathname, reason]));
  t.equal(reasons.get('/x'), 'status 401 (530 [hidden], [hidden] is a wrong secretword)');
  t.equal(
    reasons.get('/y'),
    'status 401 (530 [hidden], [hidden] is a wrong secretword)',
    'a word that only begins like the password is shown',
  );
  t.equal(reasons.get('/comp.test'), 'status 401 (480 only for members)');
});
