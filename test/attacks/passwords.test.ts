// Servers that try to obtain passwords which the configuration has for other servers: by naming their realm, by
// redirects, by links.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createFetcher, type FetchNote, fetchNoteChannel } from '../../clients/fetch/index.js';
import { parseGathererConf } from '../../protocols/config/index.js';
import { Gatherer, logDocuments } from '../../servers/gatherer/index.js';
import { createLoggerOn } from '../../servers/host/index.js';
import { page, Site } from '../helpers/site.js';

const STAFF = `Basic ${Buffer.from('joe:s3cret').toString('base64')}`;
const never = new AbortController().signal;

type Handler = Extract<Parameters<typeof Site.start>[0][string], (...given: never[]) => void>;

/** A page that requires a login for a realm, and serves the content to joe. */
function guarded(content: string, realm = 'Staff'): Handler {
  return (request, response) => {
    if (request.headers.authorization === STAFF) return void response.end(content);
    response.writeHead(401, { 'www-authenticate': `Basic realm="${realm}"` }).end();
  };
}

function redirect(location: string): Handler {
  return (_, response) => void response.writeHead(302, { location }).end();
}

/** Paths that were requested with an Authorization header. */
function authorized(site: Site): string[] {
  return site.requests.filter(({ headers }) => headers.authorization !== undefined).map(({ path }) => path);
}

/**
 * Runs a Gatherer; returns the lines of its logs, its problems, and whatever its files contain of the password.
 */
async function gather(t: Test, text: string): Promise<{ errors: string[]; problems: string[]; log: string }> {
  const lines: string[] = [];
  const problems: string[] = [];
  const write = (line: string): void => {
    const { msg }: { msg: string } = JSON.parse(line);
    lines.push(msg);
  };
  const log = createLoggerOn({ write }, { program: 'essence', level: 'debug' });
  const { config } = parseGathererConf(`Gatherer-Name: Test\nAccess-Delay: 0\n${text}`, 'test.cf', {});
  using _ = logDocuments(log, log);
  await using gatherer = await Gatherer.open({
    directory: join(t.testdir(), 'data'),
    config,
    essenceWorkers: 0,
    retryDelayMs: 5,
    maxRetries: 1,
    onProblem: ({ message }) => problems.push(message),
  });
  await gatherer.run(never);
  return { errors: lines.filter((line) => line.includes('401')), problems, log: lines.join('\n') };
}

const roots = (url: string): string => `<RootNodes>\n${url} URL=50 Host=10 Access=HTTP\n</RootNodes>\n`;

t.test('G-82: a login without a URL goes to hosts of RootNodes, not to any with its realm', async (t) => {
  await using stranger = await Site.start({ '/': guarded('stolen'), '/away': guarded('stolen') });
  await using own = await Site.start({
    '/': page('Start', ['/in', '/away', `${stranger.url}/`]),
    '/in': guarded('inside'),
    '/away': redirect(`${stranger.url}/away`),
  });
  const { errors, log } = await gather(t, `HTTP-Basic-Auth: Staff joe s3cret\n${roots(`${own.url}/`)}`);
  t.ok(authorized(own).includes('/in'), 'the own server gets the login');
  t.ok(stranger.paths.includes('/'), 'the stranger was visited');
  t.ok(stranger.paths.includes('/away'), 'the redirect was followed');
  t.same(authorized(stranger), []);
  const line = errors.find((error) => error.includes(`${stranger.url}/: `)) ?? '';
  t.match(
    line,
    new RegExp(`HTTP-Basic-Auth: ${stranger.url}/ Staff username password`),
    'the remedy names the URL',
  );
  t.notMatch(log, /s3cret/);
});

t.test('G-82: a login with a URL goes to that directory only', async (t) => {
  await using own = await Site.start({
    '/': page('Start', [
      '/alice/a',
      '/alice/sub/b',
      '/mallory/c',
      '/alicex',
      '/alice/%2e%2e%2fmallory/d',
      '/public',
    ]),
    '/alice/a': guarded('a'),
    '/alice/sub/b': guarded('b'),
    '/mallory/c': guarded('stolen'),
    '/alicex': guarded('stolen'),
    '/alice/%2e%2e%2fmallory/d': guarded('stolen'),
    '/public': page('p', []),
  });
  await gather(t, `HTTP-Basic-Auth: ${own.url}/alice/ Staff joe s3cret\n${roots(`${own.url}/`)}`);
  t.same(authorized(own).sort(), ['/alice/a', '/alice/sub/b']);
  t.ok(own.paths.includes('/mallory/c'));
  t.ok(own.paths.some((path) => path.includes('%2fmallory')));
});

t.test('G-82: an accepted login is sent again below its directory, not to the whole server', async (t) => {
  await using own = await Site.start({
    '/in/a': guarded('a'),
    '/in/b': guarded('b'),
    '/out': page('o', []),
  });
  await using fetcher = createFetcher({
    userAgent: 'x',
    httpBasicAuth: [{ urls: [`${own.url}/`], realm: 'Staff', user: 'joe', password: 's3cret' }],
  });
  for (const path of ['/in/a', '/out', '/in/b']) await fetcher.fetch({ url: own.url + path });
  t.same(authorized(own), ['/in/a', '/in/b']);
  t.same(
    own.paths,
    ['/in/a', '/in/a', '/out', '/in/b'],
    'the second page of the directory costs one request',
  );
});

t.test('G-82: another port, scheme or name of the same machine is another server', async (t) => {
  const notes: FetchNote[] = [];
  const onNote = (note: unknown): void => void notes.push(note as FetchNote);
  fetchNoteChannel.subscribe(onNote);
  t.teardown(() => fetchNoteChannel.unsubscribe(onNote));
  await using own = await Site.start({ '/': guarded('in') });
  const { port } = own;
  for (const urls of [
    [],
    [`https://127.0.0.1:${port}/`],
    [`http://127.0.0.1:${port + 1}/`],
    ['http://127.0.0.1/'],
    [`http://localhost:${port}/`],
    [`http://127.0.0.1:${port}/x`],
    ['http://127.0.0.1.example/'],
  ]) {
    await using fetcher = createFetcher({
      userAgent: 'x',
      httpBasicAuth: [{ urls, realm: 'Staff', user: 'joe', password: 's3cret' }],
    });
    t.match(await fetcher.fetch({ url: `${own.url}/` }), { status: 401 }, `bound to ${urls.join()}`);
  }
  t.same(authorized(own), []);
  t.ok(notes.length > 0 && notes.every((note) => note.kind === 'login' && note.login === 'elsewhere'));
});

t.test('G-83: an FTP-Auth without a port is for port 21 and the ports of the RootNodes', async (t) => {
  const { config } = parseGathererConf(
    'Gatherer-Name: x\nFTP-Auth: ftp.example joe s3cret\n<RootNodes>\nftp://ftp.example:2121/ Access=FTP\n</RootNodes>\n',
    'x.cf',
  );
  const { boundLogins } = await import('../../servers/gatherer/configuration/logins.js');
  const { ftpAuth } = boundLogins(config);
  t.same(ftpAuth.map(({ port }) => port).sort(), [21, 2121]);
});

t.test('G-82: a login that several servers would get causes a warning that names the remedy', async (t) => {
  const nodes = '<LeafNodes>\nhttp://127.0.0.1:1/a\nhttp://127.0.0.1:2/b\n</LeafNodes>\n';
  const { problems } = await gather(t, `HTTP-Basic-Auth: Staff joe s3cret\n${nodes}`);
  t.match(problems, [
    /HTTP-Basic-Auth: .*127\.0\.0\.1:1.*127\.0\.0\.1:2.*HTTP-Basic-Auth: http:\/\/127\.0\.0\.1:1\/ REALM/,
  ]);
  t.notMatch(problems.join(), /s3cret/);
});
