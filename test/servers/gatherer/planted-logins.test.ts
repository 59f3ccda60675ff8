// G-81: logins come from the configuration; one that a document plants in a URL is not sent, and counted.
import t from 'tap';
import { type DocumentEvent, documentChannel } from '../../../servers/gatherer/index.js';
import { EventCount } from '../../helpers/event-count.js';
import {
  type ConfigurationParts,
  type Gathered,
  gather,
  unlimitedRoot,
  urlsOf,
} from '../../helpers/gather-peers/gather.js';
import { ftpServer } from '../../helpers/gather-peers/scripted-ftp.js';
import { type Page, page, Site } from '../../helpers/site.js';

const basic = (user: string): string => `Basic ${Buffer.from(user).toString('base64')}`;
const HONEST = basic('joe:se@cret');

/** Answers each login with a page of its own, and none with a challenge. */
const personal: Exclude<Page, string> = (request, response) => {
  const { authorization } = request.headers;
  if (authorization === undefined) response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
  else
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(page(authorization === HONEST ? 'Honest' : 'Planted', []));
};

/** The paths of A that B links with a login, each in another way. */
const PLANTED = ['/link', '/area', '/frame', '/refresh', '/moved', '/based/x', '/slashes', '/twice', '/user'];

/** Starts the site A, and B, whose pages plant logins of A. */
async function twoSites(delayed: boolean) {
  const paths = ['/', ...PLANTED];
  const a = await Site.start(Object.fromEntries(paths.map((path) => [path, personal])));
  a.pages.set('/', (request, response) => {
    if (request.headers.authorization !== HONEST) personal(request, response);
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page('Start', PLANTED));
  });
  const planted = a.url.replace('://', '://evil:planted@');
  const host = a.url.slice('http://'.length);
  const start = page(
    'B',
    [
      `${planted}/link`,
      '/moved',
      '/based',
      `http:\\\\evil:planted@${host}\\slashes`,
      `//a@b:c@${host}/twice`,
      `http://evil@${host}/user`,
    ],
    `<map><area href="${planted}/area"></map><iframe src="${planted}/frame"></iframe>`,
  ).replace('<head>', `<head><meta http-equiv="refresh" content="9; url=${planted}/refresh">`);
  const b = await Site.start({
    '/robots.txt': (_, response) => response.writeHead(301, { location: `${planted}/robots.txt` }).end(),
    '/': async (_, response) => {
      // A slow B: A has been crawled, so that a planted answer would replace the honest one.
      if (delayed) await a.served.reached(paths.length + 1);
      response.writeHead(200, { 'content-type': 'text/html' }).end(start);
    },
    '/moved': (_, response) => response.writeHead(302, { location: `${planted}/moved` }).end(),
    '/based': page('Based', ['x']).replace('<head>', `<head><base href="${planted}/based/">`),
  });
  return { a, b };
}

const titlesOf = ({ exported }: Gathered, site: Site): (string | undefined)[] =>
  PLANTED.map((path) =>
    exported
      .find(({ url }) => url === site.url + path)
      ?.text('title')
      ?.trim(),
  );

for (const delayed of [false, true])
  for (const by of ['URL of the RootNode', 'HTTP-Basic-Auth'] as const)
    t.test(`G-81: a login in content is not sent, ${by}, ${delayed ? 'slow' : 'fast'} B`, async (t) => {
      const { a, b } = await twoSites(delayed);
      t.teardown(() => Promise.all([a.close(), b.close()]));
      const parts: ConfigurationParts =
        by === 'HTTP-Basic-Auth'
          ? {
              roots: [unlimitedRoot(`${a.url}/`), unlimitedRoot(`${b.url}/`, 'Host=9')],
              lines: [`HTTP-Basic-Auth: ${a.url}/ x joe se@cret`],
            }
          : {
              roots: [
                unlimitedRoot(`${a.url.replace('://', '://joe:se%40cret@')}/`),
                unlimitedRoot(`${b.url}/`, 'Host=9'),
              ],
            };
      const gathered = await gather(t.testdir(), parts);
      t.same(
        [...new Set(a.requests.map(({ headers }) => headers.authorization))].filter(
          (sent) => sent !== HONEST && sent !== undefined,
        ),
        [],
        'A gets no other login than the configured one',
      );
      t.strictSame(
        titlesOf(gathered, a),
        PLANTED.map(() => 'Honest'),
        'every object has the answer to the configured login',
      );
      t.notMatch(JSON.stringify([gathered.events, urlsOf(gathered)]), /planted|evil/);
      t.ok(
        (gathered.report.roots[1]?.refused.login ?? 0) >= PLANTED.length,
        'the planted logins are counted',
      );
    });

t.test('G-81: a login of FTP in content is not sent', async (t) => {
  const commands: string[] = [];
  const { port } = await ftpServer(t, {
    files: new Map([['pub/a.txt', Buffer.from('The text.\n')]]),
    login: { user: 'joe', password: 'se@cret' },
    onCommand: (line) => commands.push(line),
  });
  await using b = await Site.start({
    '/': page(
      'B',
      ['evil:planted@', 'evil@', '', 'evil%0aX:planted@'].map(
        (login) => `ftp://${login}127.0.0.1:${port}/pub/a.txt`,
      ),
    ),
  });
  const gathered = await gather(t.testdir(), {
    roots: [
      unlimitedRoot(`ftp://joe:se%40cret@127.0.0.1:${port}/pub/`),
      unlimitedRoot(`${b.url}/`, 'Host=9 Access=HTTP|FTP'),
    ],
  });
  t.same(
    commands.filter((line) => /^(?:USER|PASS)/.test(line) && !['USER joe', 'PASS se@cret'].includes(line)),
    [],
  );
  t.strictSame(urlsOf(gathered), [`ftp://127.0.0.1:${port}/pub/a.txt`, `${b.url}/`]);
});

t.test(
  'G-81, E-47: a document that describes others neither names logins nor replaces what was fetched',
  async (t) => {
    const { port } = await ftpServer(t, {
      files: new Map([['pub/a.txt', Buffer.from('The honest text.\n')]]),
    });
    const a = `ftp://127.0.0.1:${port}/pub`;
    const stored = new EventCount();
    const listen = (event: unknown): void => {
      if ((event as DocumentEvent).url === `${a}/a.txt`) stored.add();
    };
    documentChannel.subscribe(listen);
    t.teardown(() => documentChannel.unsubscribe(listen));
    let round = 0;
    const record =
      (site: string, file: string, isLate: () => boolean): Page =>
      async (_, response) => {
        if (isLate()) await stored.reached(round);
        response
          .writeHead(200, { 'content-type': 'text/plain' })
          .end(`Begin3\nTitle = Planted ${round}\nSite = ${site}\nPath = pub\nFile = ${file}\nEnd\n`);
      };
    const host = `127.0.0.1:${port}`;
    await using b = await Site.start({
      '/': page('B', ['/a.lsm', '/b.lsm']),
      '/a.lsm': record(host, 'a.txt', () => round !== 2),
      '/b.lsm': record(`evil:planted@${host}`, 'b.txt', () => false),
    });
    const directory = t.testdir();
    const parts = { roots: [unlimitedRoot(`${a}/`), unlimitedRoot(`${b.url}/`)] };
    for (const at of [1, 2, 3]) {
      round = at;
      // In the last run the record is another one, and what it described is gone.
      if (at === 3)
        b.pages.set(
          '/a.lsm',
          record(host, 'c.txt', () => true),
        );
      const gathered = await gather(directory, parts, { force: true });
      const others = at === 3 ? [`${a}/b.txt`, `${a}/c.txt`] : [`${a}/b.txt`];
      t.strictSame(urlsOf(gathered), [`${a}/a.txt`, ...others, `${b.url}/`], `run ${at}`);
      const text = gathered.exported.find(({ url }) => url.endsWith('/a.txt'));
      t.match(text?.text('partial-text') ?? text?.text('full-text'), /honest/, `run ${at}`);
    }
  },
);
