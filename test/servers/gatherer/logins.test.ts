// G-81: the login of a URL is sent to its server only; logs, reports, objects and events do not show it.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { redactLogins } from '../../../protocols/visible-text.js';
import type { CrawlControl } from '../../../servers/crawler/index.js';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { UrlLogins } from '../../../servers/gatherer/configuration/url-logins.js';
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
/** The user joe with the password se@cret, as a URL has them. */
const LOGIN = 'joe:se%40cret@';
const HEADER = `Basic ${Buffer.from('joe:se@cret').toString('base64')}`;
/** Matches any text that contains the login. */
const SECRET = /joe:|cret/;

/** Returns a page that requires the login. */
const protectedPage =
  (text: string): Page =>
  (request, response) => {
    if (request.headers.authorization === HEADER)
      response.writeHead(200, { 'content-type': 'text/html', etag: '"1"' }).end(text);
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
  };

/** Returns the paths of the files below a directory. */
function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Returns the path and the text of every file below a directory. */
function textsBelow(directory: string): [string, string][] {
  return filesBelow(directory).map((file) => [file, readFileSync(file, 'latin1')]);
}

t.test('G-81: the URL of a document decides about its login', (t) => {
  const logins = new UrlLogins([
    'http://joe:x@h.example/dir/page?a@b',
    'http://h.example/open/',
    'http://bob:y@h.example/dir/below/',
    'http://ann:z@h.example/a.txt',
    'http://h.example/a.txt',
    'http://eve:w@h.example/a.txt',
    'ftp://joe:x@h.example/',
  ]);
  const found = {
    'http://h.example/dir/page?a@b': 'joe:x',
    'http://h.example/dir/other': 'joe:x',
    'http://h.example/dir/below/x': 'bob:y',
    'http://h.example/open/x': undefined,
    'http://h.example/a.txt': 'ann:z',
    'http://h.example/b.txt': 'ann:z',
    'http://eve:w@h.example/b.txt': 'ann:z',
    'http://h.example:81/dir/page': undefined,
    'https://h.example/dir/page': undefined,
    'http://h.example.org/dir/page': undefined,
    'ftp://h.example/pub': 'joe:x',
  };
  for (const [url, login] of Object.entries(found)) t.equal(logins.of(url), login, url);
  t.equal(new UrlLogins(['http://joe:x@h.example/dir/']).of('http://h.example/else'), 'joe:x');
  t.ok(logins.isForeign('http://eve:w@h.example/a.txt'));
  t.notOk(logins.isForeign('http://ann:z@h.example/a.txt'));
  t.equal(
    redactLogins('see ftp://a:b@h/x, http://h/?to=u@v and mail a@b'),
    'see ftp://h/x, http://h/?to=u@v and mail a@b',
  );
  t.end();
});

t.test('G-81: a crawl over HTTP sends the login of its RootNode and shows it nowhere', async (t) => {
  const shownWorkers: { url: string }[] = [];
  let control: CrawlControl | undefined;
  await using site = await Site.start({
    '/': protectedPage(
      page(
        'Start',
        ['/a.html', '/moved', '/none.html'],
        '<a href="ftp://ann:secret@other.invalid/">files</a>',
      ),
    ),
    '/a.html': (request, response) => {
      shownWorkers.push(...(control?.workers.reports() ?? []));
      const answer = protectedPage(page('A', ['/']));
      if (typeof answer === 'function') answer(request, response);
    },
    '/moved': (_, response) => response.writeHead(302, { location: `${site.url}/new.html` }).end(),
    '/new.html': protectedPage(page('New', [])),
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
      onControl: (crawlControl) => {
        control = crawlControl;
      },
    });
    const report = await logRun(log, errors, config, () => gatherer.run(never));
    await gatherer.publish();
    await gatherer.publishReferences();
    const errorsShown = control?.statistics.recentErrors() ?? [];
    t.notMatch(JSON.stringify([report.roots, errorsShown]), SECRET, 'reports and console lack the login');
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
    shownWorkers.map(({ url }) => url),
    [`${site.url}/a.html`],
    'workers without the login',
  );

  t.equal((await run(true)).counts.unchanged, 3, 'G-108: stored objects are found by their plain URLs');
  t.equal((await run(false)).counts.kept, 3);
  await using references = await ReferencesReader.openCurrent(data);
  t.type(references.idByUrl(`${site.url}/a.html`), 'number', 'R-9: documents have IDs by plain URLs');
  t.equal(references.idByUrl(`${site.url.replace('://', `://${LOGIN}`)}/a.html`), undefined);

  const texts = [...textsBelow(join(data, 'crawl')), ...logFiles.map((f) => [f, readFileSync(f, 'utf8')])];
  const readable = texts.filter(([file]) => !/recover\.gz/.test(file ?? ''));
  t.ok(readable.length > 10, `${readable.length} logs and reports are checked`);
  t.strictSame(
    readable.filter(([, text]) => SECRET.test(text ?? '')).map(([file]) => file),
    [],
    'no log and no report contains the login',
  );
  t.match(readFileSync(logFiles[1], 'utf8'), `${site.url}/none.html: status 404`);
  const published = filesBelow(join(data, 'generations'));
  t.ok(
    published.some((file) => /\.(?:ldb|log)$/.test(file)),
    'the tables of the generations are checked',
  );
  t.strictSame(
    [...published, ...filesBelow(join(data, 'working')), ...filesBelow(join(data, 'references'))].filter(
      (file) => SECRET.test(readFileSync(file, 'latin1')),
    ),
    [],
    'no published table and no row contains the login',
  );
  t.notOk(
    published.some((file) => file.endsWith('LOGIN-KEY')),
    'the key to the logins of the working store is not published',
  );
  const mode = (...path: string[]): number => statSync(join(data, ...path)).mode & 0o077;
  t.same(
    [mode('working'), mode('crawl', 'checkpoints'), mode('crawl', 'logs', 'recover.gz')],
    [0, 0, 0],
    'files that store the login are readable by their owner only',
  );
});

t.test('G-81: over FTP objects have plain URLs', async (t) => {
  const files = new Map([
    ['pub/a.txt', Buffer.from('The first text.\n')],
    ['pub/b.txt', Buffer.from('The second text.\n')],
  ]);
  const { port } = await ftpServer(t, { files, login: { user: 'joe', password: 'se@cret' } });
  const gathered = await gather(t.testdir(), {
    leaves: ['a', 'b'].map((name) => `ftp://${LOGIN}127.0.0.1:${port}/pub/${name}.txt`),
  });
  t.strictSame(urlsOf(gathered), [`ftp://127.0.0.1:${port}/pub/a.txt`, `ftp://127.0.0.1:${port}/pub/b.txt`]);
  t.notMatch(JSON.stringify(gathered.events), SECRET, 'events do not contain the login');
});

t.test('G-81: the same URL with and without a login is one object', async (t) => {
  await using site = await Site.start({ '/a.txt': 'First.\n', '/b.txt': 'Second.\n' });
  const named = site.url.replace('://', `://${LOGIN}`);
  const leaves = [`${site.url}/a.txt`, `${named}/a.txt`, `${named}/b.txt`, `${site.url}/b.txt`];
  const directory = t.testdir();
  const urls = [`${site.url}/a.txt`, `${site.url}/b.txt`];
  let now = 1_700_000_000;
  const run = async (): Promise<void> => {
    const gathered = await gather(directory, { leaves }, { force: true, now: () => now++ });
    t.strictSame(urlsOf(gathered), urls, 'each URL has one object');
    t.equal(gathered.report.counts.summarized + gathered.report.counts.unchanged, 2, 'and is fetched once');
  };
  await run();
  await run();
  site.pages.set('/a.txt', 'Third.\n');
  site.pages.set('/b.txt', 'Fourth.\n');
  await run();
});

t.test('G-83: the refusal of an FTP or news server is logged without the login', async (t) => {
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
    'a word that only starts with the password is shown',
  );
  t.equal(reasons.get('/comp.test'), 'status 401 (480 only for members)');
});
