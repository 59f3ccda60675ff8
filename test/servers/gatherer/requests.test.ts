// Cookies, Referer, further headers and proxies of requests, as a site sees them (CRAWL-11.8, 6.1; RFC 6265bis;
// RFC 9110 10.1.3).
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CrawlOrderInput } from '../../../servers/crawler/order/order.js';
import { readOrder } from '../../../servers/crawler/order/read-order.js';
import { crawlOrdered, openOrdered } from '../../helpers/ordered-crawl.js';
import { page, Site } from '../../helpers/site.js';
import { SocksServer } from '../../helpers/socks-server.js';

async function crawl(t: Test, site: Site, order: CrawlOrderInput, directory = t.testdir()): Promise<void> {
  await crawlOrdered(directory, `${site.url}/`, order);
}

/** The headers of the last request for a path. */
function sent(site: Site, path: string): Readonly<Record<string, unknown>> {
  return site.requests.findLast((request) => request.path === path)?.headers ?? {};
}

/** A site whose pages are for those who have been at its start page. */
async function memberSite(t: Test): Promise<Site> {
  const site = await Site.start({
    '/': (_, response) => {
      const cookies = ['sid=s3cret; HttpOnly', 'area=1; Path=/members', 'tls=1; Secure', 'gone=1; Max-Age=0'];
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': cookies })
        .end(page('Start', ['/members/1.html', '/2.html', '/moved']));
    },
    '/members/1.html': member('Members'),
    '/2.html': member('Two'),
    '/moved': (_, response) => response.writeHead(302, { location: '/3.html', 'set-cookie': 'hop=1' }).end(),
    '/3.html': member('Three'),
  });
  t.teardown(() => site[Symbol.asyncDispose]());
  return site;
}

function member(title: string): Parameters<Site['pages']['set']>[1] {
  return ({ headers }, response) => {
    const isMember = /(?:^|; )sid=s3cret(?:;|$)/.test(headers.cookie ?? '');
    response
      .writeHead(isMember ? 200 : 403, { 'content-type': 'text/html' })
      .end(isMember ? page(title, []) : 'members only');
  };
}

t.test('RFC 6265bis: cookies are sent back to where they belong', async (t) => {
  const site = await memberSite(t);
  await crawl(t, site, { settings: { cookies: true } });
  t.equal(sent(site, '/').cookie, undefined);
  t.same(String(sent(site, '/members/1.html').cookie).split('; ').sort(), ['area=1', 'sid=s3cret']);
  t.equal(sent(site, '/2.html').cookie, 'sid=s3cret');
  t.match(sent(site, '/3.html').cookie, 'hop=1', 'a redirect can set one');
});

t.test('G-67: by default no cookie is kept', async (t) => {
  const site = await memberSite(t);
  await crawl(t, site, {});
  t.equal(sent(site, '/2.html').cookie, undefined);
  t.equal(sent(site, '/2.html').referer, undefined);
});

t.test('CRAWL-19.5: a sheet turns cookies on for a part of the web', async (t) => {
  const site = await memberSite(t);
  const sheet = (surt: string): CrawlOrderInput => ({
    sheets: [{ name: 'members', surts: [surt], settings: { cookies: true } }],
  });
  await crawl(t, site, sheet(`${site.url}/`));
  t.equal(sent(site, '/2.html').cookie, 'sid=s3cret');
  await crawl(t, site, sheet('http://other.test/'));
  t.equal(sent(site, '/2.html').cookie, undefined);
});

t.test('CRAWL-11.8: cookies come from a file and go to one', async (t) => {
  const site = await memberSite(t);
  const directory = t.testdir();
  const load = join(directory, 'in.txt');
  const save = join(directory, 'out.txt');
  const lines = [
    '# Netscape HTTP Cookie File',
    `127.0.0.1\tFALSE\t/\tFALSE\t0\tgiven\tfile`,
    'not a cookie',
    `127.0.0.1\tFALSE\t/\tFALSE\t1\texpired\tlong ago`,
  ];
  writeFileSync(load, `${lines.join('\n')}\n`);
  await crawl(
    t,
    site,
    { cookiesLoadFile: load, cookiesSaveFile: save, settings: { cookies: true } },
    join(directory, 'g'),
  );
  t.equal(sent(site, '/').cookie, 'given=file');
  t.equal(statSync(save).mode & 0o777, 0o600, 'cookies stand for logins');
  const saved = readFileSync(save, 'latin1').split('\n');
  t.equal(saved[0], '# Netscape HTTP Cookie File');
  t.same(saved.slice(1, -1).sort(), [
    '#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\ts3cret',
    '127.0.0.1\tFALSE\t/\tFALSE\t0\tgiven\tfile',
    '127.0.0.1\tFALSE\t/\tFALSE\t0\thop\t1',
    '127.0.0.1\tFALSE\t/members\tFALSE\t0\tarea\t1',
  ]);
  await t.rejects(
    crawl(t, site, { cookiesLoadFile: join(directory, 'none.txt'), settings: { cookies: true } }),
    { code: 'ERR_CONFIG', message: /cookiesLoadFile: it cannot be read/ },
  );
});

t.test('a crawl that was stopped continues with its cookies', async (t) => {
  const site = await memberSite(t);
  const directory = t.testdir();
  const save = join(directory, 'cookies.txt');
  const order: CrawlOrderInput = { cookiesSaveFile: save, settings: { cookies: true } };
  const abort = new AbortController();
  const stopAt = site.pages.get('/2.html') ?? '';
  // The request is not answered: only the abort ends it.
  site.pages.set('/2.html', () => abort.abort(new Error('stopped')));
  {
    await using gatherer = await openOrdered(join(directory, 'g'), `${site.url}/`, order);
    await t.rejects(gatherer.run(abort.signal), { message: 'stopped' });
  }
  t.ok(existsSync(save), 'a stopped crawl saves them too');
  site.pages.set('/2.html', stopAt);
  const before = site.requests.length;
  await crawl(t, site, order, join(directory, 'g'));
  const later = site.requests.slice(before).map(({ path }) => path);
  t.notOk(later.includes('/'), 'the page that set the cookie is not fetched again');
  t.match(sent(site, '/2.html').cookie, 'sid=s3cret');
});

t.test('RFC 9110 10.1.3: Referer names the page of the link', async (t) => {
  const site = await memberSite(t);
  await crawl(t, site, { settings: { sendReferer: true } });
  t.equal(sent(site, '/').referer, undefined, 'a seed has none');
  t.equal(sent(site, '/robots.txt').referer, undefined);
  t.equal(sent(site, '/2.html').referer, `${site.url}/`);
});

t.test('further headers by settings, and by sheet for one part of a site', async (t) => {
  const site = await memberSite(t);
  const sheets = [
    {
      name: 'area',
      surts: [`${site.url}/members/`],
      settings: { requestHeaders: { 'X-Area': 'members', Accept: 'text/html' } },
    },
  ];
  await crawl(t, site, { sheets, settings: { requestHeaders: { 'Accept-Language': 'ru, en;q=0.5' } } });
  t.match(sent(site, '/2.html'), { 'accept-language': 'ru, en;q=0.5', accept: '*/*' });
  t.match(sent(site, '/members/1.html'), { 'x-area': 'members', accept: 'text/html' });
  t.equal(sent(site, '/members/1.html')['accept-language'], undefined, 'a sheet replaces all');
});

t.test('CRAWL-19.5: a part of the web is crawled through a proxy, robots.txt included', async (t) => {
  const site = await memberSite(t);
  await using proxy = await SocksServer.start('crawler:secret');
  process.env.TEST_PROXY_LOGIN = 'crawler:secret';
  t.teardown(() => {
    delete process.env.TEST_PROXY_LOGIN;
  });
  // Only the proxy knows the address of this name.
  const url = `http://far.invalid:${site.port}/`;
  const settings = {
    proxy: `socks5://127.0.0.1:${proxy.port}`,
    proxyLoginEnvironment: 'TEST_PROXY_LOGIN',
    cookies: true,
  };
  const order = { sheets: [{ name: 'far', surts: ['far.invalid'], settings }] };
  {
    await using gatherer = await openOrdered(t.testdir(), url, order);
    const { counts } = await gatherer.run(new AbortController().signal);
    t.match(counts, { summarized: 4, failed: 0 });
  }
  t.same([...new Set(site.requests.map(({ path }) => path))].sort(), [
    '/',
    '/2.html',
    '/3.html',
    '/members/1.html',
    '/moved',
    '/robots.txt',
  ]);
  t.same([...new Set(proxy.targets)], [`5 far.invalid:${site.port}`]);
  const before = proxy.targets.length;
  await crawl(t, site, order);
  t.equal(proxy.targets.length, before, 'other hosts are reached directly');
});

t.test('a proxy that is none is refused by name and line', async (t) => {
  for (const proxy of ['https://h', 'socks5://u:p@h', 'socks5://h/x'])
    t.throws(() => readOrder(`{ "settings": {\n"proxy": "${proxy}" } }`, 'order.json'), {
      code: 'ERR_CONFIG',
      message: /order\.json:2: settings\.proxy: /,
    });
});

t.test('an order with a header that cannot be sent is refused by name and line', async (t) => {
  const refused: [header: string, problem: RegExp][] = [
    ['"Host": "x"', /order\.json:3: settings\.requestHeaders\.Host: .*set by the crawler/],
    ['"Cookie": "x"', /set by the crawler/],
    ['"a b": "x"', /not the name of a header/],
    ['"X-Y": "a\\r\\nb"', /characters that no header has/],
    ['"X-Y": "\\u0416"', /characters that no header has/],
  ];
  for (const [header, problem] of refused) {
    const text = `{ "settings": {\n"requestHeaders": {\n${header} } } }`;
    t.throws(() => readOrder(text, 'order.json'), { code: 'ERR_CONFIG', message: problem }, header);
  }
});

t.test('CRAWL-11.2: the archive profile keeps cookies and names pages', async (t) => {
  const { settings } = readOrder('{ "profile": "archive" }', 'order.json');
  t.match(settings, { cookies: true, sendReferer: true });
  const given = readOrder('{ "profile": "archive", "settings": { "cookies": false } }', 'order.json');
  t.match(given.settings, { cookies: false, sendReferer: true });
});
