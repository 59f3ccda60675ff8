// The logins of an order: by realm (G-82) and by HTML form (CRAWL-12.4), as the sites see them.
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { crawlChannel } from '../../../servers/crawler/events.js';
import type { CrawlOrderInput } from '../../../servers/crawler/order/order.js';
import { readOrder } from '../../../servers/crawler/order/read-order.js';
import { crawlOrdered } from '../../helpers/ordered-crawl.js';
import { type Page, page, Site } from '../../helpers/site.js';

/** Crawls a site with an order. */
function crawl(t: Test, site: Site, order: CrawlOrderInput, directory = t.testdir()) {
  return crawlOrdered(directory, `${site.url}/`, order);
}

function setVariable(t: Test, name: string, value: string): void {
  process.env[name] = value;
  t.teardown(() => {
    delete process.env[name];
  });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('latin1')) body += String(chunk);
  return body;
}

/** A site whose members' pages redirect to its form. `answer` decides about a form. */
async function clubSite(t: Test, answer: (form: string) => number): Promise<{ site: Site; forms: string[] }> {
  const forms: string[] = [];
  const member =
    (title: string): Page =>
    ({ headers }, response) => {
      if (/(?:^|; )session=ok(?:;|$)/.test(headers.cookie ?? ''))
        response.writeHead(200, { 'content-type': 'text/html' }).end(page(title, []));
      else response.writeHead(403).end();
    };
  const login: Page = (request, response) => {
    void bodyOf(request).then((body) => {
      const form = `${request.method} ${request.headers['content-type'] ?? '-'} ${body}`;
      forms.push(form);
      const status = answer(form);
      const cookies = status < 400 ? { 'set-cookie': 'session=ok; HttpOnly' } : {};
      response.writeHead(status, { location: '/', ...cookies }).end();
    });
  };
  const site = await Site.start({
    '/': page('Start', ['/club/1.html', '/club/2.html', '/open.html']),
    '/open.html': page('Open', []),
    '/club/1.html': member('One'),
    '/club/2.html': member('Two'),
    '/login?next=/club/': login,
  });
  t.teardown(() => site[Symbol.asyncDispose]());
  return { site, forms };
}

const clubOrder = (site: Site): CrawlOrderInput => ({
  settings: { cookies: true },
  credentials: [
    {
      kind: 'form',
      loginUrl: `${site.url}/login?next=/club/`,
      url: `${site.url}/club/`,
      fields: { user: 'räuber & co', remember: '1' },
      fieldsFromEnvironment: { password: 'TEST_CLUB_PASSWORD' },
    },
  ],
});

t.test('CRAWL-12.4: a form is sent once, before the first document that needs it', async (t) => {
  setVariable(t, 'TEST_CLUB_PASSWORD', 's3cret=&');
  const { site, forms } = await clubSite(t, () => 302);
  t.match(await crawl(t, site, clubOrder(site)), { summarized: 4, failed: 0 });
  t.same(forms, [
    'POST application/x-www-form-urlencoded user=r%C3%A4uber+%26+co&remember=1&password=s3cret%3D%26',
  ]);
  const paths = site.paths;
  t.ok(paths.indexOf('/') < paths.indexOf('/login?next=/club/'), 'the start page needs no login');
  t.ok(paths.indexOf('/login?next=/club/') < paths.indexOf('/club/1.html'));
  t.equal(paths.filter((path) => path.startsWith('/club/')).length, 2, 'each page is fetched once');
});

t.test('a refused login is tried three times, and named without its password', async (t) => {
  setVariable(t, 'TEST_CLUB_PASSWORD', 'hidden-word');
  const { site, forms } = await clubSite(t, () => 403);
  const alerts: string[] = [];
  const onMessage = (message: unknown): void => {
    const { text } = message as { text?: string };
    if (text !== undefined) alerts.push(text);
  };
  crawlChannel.subscribe(onMessage);
  t.teardown(() => crawlChannel.unsubscribe(onMessage));
  t.match(await crawl(t, site, clubOrder(site)), { summarized: 2, failed: 2 });
  t.equal(forms.length, 3);
  const logins = alerts.filter((text) => text.startsWith('login at'));
  t.match(logins, [
    /login at http.*: status 403; attempt 1 of 3, it is tried again/,
    /attempt 2 of 3, it is tried again/,
    /attempt 3 of 3, its documents are fetched without it/,
  ]);
  t.notOk(alerts.some((text) => text.includes('hidden-word')));
});

t.test('a login that sets no cookie is no login', async (t) => {
  setVariable(t, 'TEST_CLUB_PASSWORD', 'x');
  const { site } = await clubSite(t, () => 302);
  let sent = 0;
  site.pages.set('/login?next=/club/', (_, response) => {
    sent++;
    response.writeHead(200).end('wrong password');
  });
  await crawl(t, site, clubOrder(site));
  t.equal(sent, 3);
});

t.test('a form that is sent by GET', async (t) => {
  const { site } = await clubSite(t, () => 302);
  site.pages.set('/enter?user=u', (_, response) =>
    response.writeHead(204, { 'set-cookie': 'session=ok' }).end(),
  );
  const credentials = [
    { kind: 'form', loginUrl: `${site.url}/enter`, method: 'get', fields: { user: 'u' } },
  ] as const;
  t.match(await crawl(t, site, { settings: { cookies: true }, credentials: [...credentials] }), {
    summarized: 4,
    failed: 0,
  });
  t.equal(site.paths[0], '/enter?user=u', 'without url the whole server needs it');
});

t.test('each crawl logs in', async (t) => {
  setVariable(t, 'TEST_CLUB_PASSWORD', 'x');
  const { site, forms } = await clubSite(t, () => 302);
  const directory = join(t.testdir(), 'g');
  await crawl(t, site, clubOrder(site), directory);
  await crawl(t, site, clubOrder(site), directory);
  t.equal(forms.length, 2, 'a session of an earlier run may have ended');
});

t.test('G-82: a login by realm, with the password of the environment', async (t) => {
  setVariable(t, 'TEST_REALM_PASSWORD', 's3cret');
  const guarded: Page = ({ headers }, response) => {
    const right = `Basic ${Buffer.from('u:s3cret').toString('base64')}`;
    if (headers.authorization === right)
      response.writeHead(200, { 'content-type': 'text/html' }).end(page('In', []));
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="Area"' }).end();
  };
  const site = await Site.start({ '/': page('Start', ['/area/1.html', '/other/1.html']) });
  t.teardown(() => site[Symbol.asyncDispose]());
  site.pages.set('/area/1.html', guarded).set('/other/1.html', guarded);
  const credential = {
    kind: 'basic',
    url: `${site.url}/area/`,
    realm: 'Area',
    user: 'u',
    passwordEnvironment: 'TEST_REALM_PASSWORD',
  } as const;
  t.match(await crawl(t, site, { credentials: [credential] }), { summarized: 2, failed: 1 });
  const authorized = site.requests.filter(({ headers }) => headers.authorization !== undefined);
  t.same(
    authorized.map(({ path }) => path),
    ['/area/1.html'],
    'not for other directories',
  );
  await t.rejects(crawl(t, site, { credentials: [{ ...credential, passwordEnvironment: 'TEST_NO_SUCH' }] }), {
    code: 'ERR_CONFIG',
    message: /credentials\[0\]: the environment has no TEST_NO_SUCH/,
  });
});

t.test('an order without cookies, or with a password in it, is refused', async (t) => {
  const form = '"kind": "form", "loginUrl": "http://h/login"';
  t.throws(() => readOrder(`{ "credentials": [\n{ ${form} }] }`, 'order.json'), {
    code: 'ERR_CONFIG',
    message: /order\.json:2: credentials\[0\]: a form requires settings\.cookies/,
  });
  const basic = '"kind": "basic", "url": "http://h/", "realm": "R", "user": "u"';
  for (const wrong of [`${basic}, "password": "x"`, basic, `${form}, "method": "put"`, '"kind": "digest"'])
    t.throws(
      () => readOrder(`{ "settings": { "cookies": true }, "credentials": [{ ${wrong} }] }`, 'order.json'),
      {
        code: 'ERR_CONFIG',
        message: /credentials\[0\]/,
      },
    );
});
