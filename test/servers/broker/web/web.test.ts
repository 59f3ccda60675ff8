// The Broker's web pages: search form, results, object pages, errors, statistics; requests are injected without
// a socket.
import t from 'tap';
import { Broker, WebServer } from '../../../../servers/broker/index.js';
import { DEFAULT_FORM, readForm, writeForm } from '../../../../servers/broker/web/form.js';
import { decodeFields } from '../../../../servers/web/form-fields.js';
import { escapeHtml, html, isLinkable } from '../../../../servers/web/html.js';
import { corpus, document, NOW, openBroker, serveBroker, storeObject, type Teardown } from '../helpers.js';
import { openWebsite } from './helpers.js';

const QUERY = '/Harvest/cgi-bin/BrokerQuery.cgi';
const HOME = '/Harvest/brokers/example/';

/** Markup, quotes, a bidirectional control and a control character. */
const HOSTILE = '<script>alert(1)</script>"\'&\u202e\x07';

/** Opens a broker over the small corpus and these additional objects, with its pages. */
function openSite(t: Teardown, { conf = '', extra = [] as readonly string[] } = {}) {
  const more = extra.map((text) => ({ updateTime: NOW - 1000, text }));
  return openWebsite(t, { documents: [...corpus(), ...more], conf, queueWaitMs: 20 });
}

t.test('BRK-9.1: the search page is an accessible form', async (t) => {
  const { get } = await openSite(t);
  for (const path of ['/', HOME, `${HOME}query.html`]) {
    const { status, headers, $ } = await get(path);
    t.equal(status, 200, path);
    t.match(headers['content-security-policy'], /default-src 'none'/);
    t.equal($('html').attr('lang'), 'en');
    t.same(
      $('script')
        .get()
        .map((it) => [$(it).attr('src'), $(it).text()]),
      [['/Harvest/enhance.js', '']],
    );
    t.same(
      ['header', 'nav', 'main', 'footer', 'h1', 'form[role=search]', 'a.skip[href="#main"]'].map(
        (it) => $(it).length,
      ),
      [1, 1, 1, 1, 1, 1, 1],
    );
    for (const field of $('input:not([type=hidden]), select').get()) {
      t.equal($(`label[for="${$(field).attr('id')}"]`).length, 1, `${$(field).attr('name')} has a label`);
    }
    t.not($('input[name=query]').attr('autofocus'), undefined);
    t.same(
      $('input:checked')
        .get()
        .map((box) => $(box).attr('name')),
      ['caseflag', 'wordflag', 'forms', 'opaqueflag', 'descflag', 'verbose', 'fold'],
      'BRK-8.6: the default flags are checked',
    );
    t.equal($('select[name=maxobjflag] option[selected]').attr('value'), '0', 'pages instead of a limit');
    t.match($('main').text(), /3 objects in this broker/);
  }
});

t.test('BRK-9.4: all three programs return results by GET and by POST', async (t) => {
  const { get, post } = await openSite(t);
  const flags = { caseflag: 'on', opaqueflag: 'on', descflag: 'on', verbose: 'on' };
  const fields = { query: 'gopher', ...flags, maxobjflag: '50' };
  for (const program of ['BrokerQuery.cgi', 'BrokerQuery.pl.cgi', 'nph-search.cgi']) {
    const { status, $, links } = await get(`/Harvest/cgi-bin/${program}?${new URLSearchParams(fields)}`);
    t.equal(status, 200);
    t.equal($('h1').text(), '2 objects found');
    const found = ['ftp://ftp.example.org/wais.txt', 'http://www.example.org/gopher.html'];
    t.same(links('.results h2 a').sort(), found);
    t.equal($('meta[name=robots]').attr('content'), 'noindex, nofollow');
    t.match($('.results').text(), /The gopher menu[\s\S]*About gopher/);
    t.ok($('.results mark').length >= 2);
    t.equal($('.lines').length, 0, 'lines of the title, URL and description are not repeated');
    t.equal($('input[name=query]').attr('value'), 'gopher', 'the form shows the query');
    t.equal($('input[name=wordflag]:checked').length, 0);
    const posted = await post(`/Harvest/cgi-bin/${program}`, fields);
    t.equal(posted.$('h1').text(), '2 objects found');
  }
  const lines = await get(`${QUERY}?query=second&opaqueflag=on`);
  t.equal(lines.$('.lines .name').text(), 'Full-Text');
  t.equal(lines.$('.lines mark').text(), 'second');
  const summary = (await get(`${QUERY}?query=Mosaic`)).$('.about a').attr('href') ?? '';
  t.match(
    summary,
    /^\/Harvest\/cgi-bin\/DisplayObject\.cgi\?object=%2FHarvest%2Fbrokers%2Fexample%2Fobjects%2F3%2FOBJ3$/,
  );
  t.equal((await get(summary)).$('h1').text(), 'Mosaic');
});

t.test('a query in the URL of the search page is answered; without one it is the form', async (t) => {
  const { get } = await openSite(t);
  for (const path of ['/', '/query.html', '/Harvest/query.html', '/index.html', HOME, `${HOME}query.html`]) {
    const { status, $, links, headers } = await get(`${path}?query=gopher`);
    t.equal(status, 200, path);
    t.equal(links('.results h2 a').length, 2, path);
    t.same(links('link[rel=canonical]'), [`${QUERY}?query=gopher`], path);
    t.equal(headers['x-robots-tag'], 'noindex');
    const ids = $('[id]')
      .get()
      .map((it) => it.attribs.id);
    t.equal(new Set(ids).size, ids.length, 'no identifier occurs twice');
    for (const empty of ['?query=', '?query=+', '?page=2'])
      t.equal((await get(`${path}${empty}`)).$('.home').length, 1);
  }
  t.equal(JSON.parse((await get('/?query=gopher&format=json')).body).objects.length, 2);
});

t.test('links to all objects of a type or host leave the query empty', async (t) => {
  const { get } = await openSite(t);
  const home = await get('/');
  const hrefs = home.links('.home .chips a');
  t.ok(hrefs.length >= 2);
  for (const href of hrefs) {
    const page = await get(href ?? '');
    t.equal(page.$('input[name=query]').attr('value'), '', href ?? '');
    t.ok(page.$('.results > li').length > 0);
    t.match(page.$('title').text(), /^[^#]+ – /);
    t.match(page.$('.count').first().text(), /^1 to \d+ of \d+\.$/);
    t.notMatch(page.$('main').text(), 'Understood as');
    t.equal(page.$('input[name=narrow]').length, 1, 'a word that is typed now searches within them');
    t.same(page.links('ul.chips a'), [HOME], 'without the last restriction nothing is asked');
  }
  t.equal((await get(`${QUERY}?query=%23allb`)).$('input[name=query]').attr('value'), '#allb');
});

t.test('BRK-1.10: fields are UTF-8, or Latin-1 as old pages send them', async (t) => {
  t.equal(decodeFields('query=caf%E9+au%2Blait&x').get('query'), 'caf\u00e9 au+lait');
  t.equal(decodeFields('query=caf%C3%A9=%zz&query=b').get('query'), 'caf\u00e9=%zz');
  t.same([...decodeFields('&&a&=b&c=')], [...new URLSearchParams('&&a&=b&c=')]);
});

t.test('BRK-9.1: the form reads and writes its fields', async (t) => {
  const fields =
    'query=a+b&caseflag=on&wordflag=off&errorflag=2&maxresultflag=1000&maxlineflag=50&maxobjflag=25&opaqueflag=on&lifetime=30&sort=by-NML';
  const form = readForm(new URLSearchParams(fields));
  t.match(form, {
    query: 'a b',
    ignoreCase: true,
    matchWord: false,
    errors: 2,
    maxResults: 1000,
    maxLines: 50,
    maxObjects: 25,
    lifetime: 30,
    sort: 'by-NML',
    matchedLines: true,
    descriptions: false,
  });
  t.same(readForm(new URLSearchParams(writeForm(form))), form);
  t.same(readForm(new URLSearchParams(writeForm(DEFAULT_FORM))), DEFAULT_FORM);
  const sensitive = { ...DEFAULT_FORM, ignoreCase: false };
  t.same(readForm(new URLSearchParams(writeForm(sensitive))), sensitive);
  for (const text of [
    'query=a',
    'query=a&page=2&narrow=type:HTML&sort=by-date&format=json&broker=x&other=1',
  ]) {
    const { query, page, narrow, sort, format, broker, ...settings } = readForm(new URLSearchParams(text));
    t.match({ ...DEFAULT_FORM, ...settings }, DEFAULT_FORM, `no settings mean the defaults: ${text}`);
    t.equal(query, 'a');
  }
  t.equal(writeForm({ ...DEFAULT_FORM, query: 'a', page: 2 }), 'query=a&page=2');
  for (const field of [
    'caseflag=on',
    'wordflag=off',
    'errorflag=0',
    'maxobjflag=50',
    'opaqueflag=on',
    'descflag=on',
    'verbose=on',
    'maxlineflag=5',
    'maxresultflag=9',
    'lifetime=20',
  ]) {
    t.match(
      readForm(new URLSearchParams(`query=a&${field}`)),
      { forms: false, fold: false, matchWord: false },
      `BRK-3.7, BRK-9.1: in a form with ${field}, absent is off`,
    );
  }
  for (const [text, ignoreCase] of [
    ['query=a', true],
    ['query=a&caseflag=off', false],
    ['query=a&caseflag=off&caseflag=on', true],
    ['query=a&caseflag=maybe', true],
  ] as const) {
    t.equal(readForm(new URLSearchParams(text)).ignoreCase, ignoreCase, `BRK-3.7, BRK-9.2: ${text}`);
  }
  t.match(readForm(new URLSearchParams('query=x%0d%0a%23ADMIN&errorflag=99&page=-1&maxobjflag=1e9')), {
    query: 'x #ADMIN',
    errors: 0,
    page: 1,
    maxObjects: undefined,
  });
});

t.test('markup in objects and queries is escaped', async (t) => {
  const hostile = document('javascript:alert(1)', {
    Title: HOSTILE,
    Type: 'HTML',
    Description: `word ${HOSTILE}`,
    'URL-References': 'javascript:alert(2)\nhttp://ok.example/?a=1&b="2"',
  });
  const { get } = await openSite(t, { extra: [hostile] });
  const results = await get(
    `${QUERY}?query=${encodeURIComponent('word or "<b>"')}&descflag=on&opaqueflag=on`,
  );
  t.equal(results.status, 200);
  t.equal(results.$('.results > li').length, 1);
  t.equal(results.$('script:not([src]), .results b').length, 0);
  t.equal(results.$('.results h2 a').length, 0, 'no javascript: link');
  t.notMatch(results.body, /[\u202e\x07]/);
  t.equal(results.$('input[name=query]').attr('value'), 'word or "<b>"');
  const view = await get(results.$('.about a').attr('href') ?? '');
  t.equal(view.$('script:not([src])').length, 0);
  t.match(view.$('h1').text(), /<script>alert\(1\)<\/script>"'&/);
  t.same(view.links('.links a'), ['http://ok.example/?a=1&b="2"']);
  t.match(view.$('.links').text(), /javascript:alert\(2\)/);

  t.equal(
    html`<p title="${'"<'}">${['a', html`<br>`, undefined, 1]}</p>`.text,
    '<p title="&quot;&lt;">a<br>1</p>',
  );
  t.equal(escapeHtml('\x00\u0085é\t\n'), '\ufffd\ufffdé\t\n');
  const refused = [
    'javascript:x',
    'data:text/html,x',
    ' http://x',
    'file:///etc/passwd',
    'http://x\n',
    'JAVASCRIPT:x',
  ];
  for (const url of refused) t.equal(isLinkable(url), false, url);
});

t.test('an object is served verbatim and as a page', async (t) => {
  const latin = document('http://www.example.org/latin', { Title: 'x' }).replace(
    'Title{1}:\tx',
    'Title{1}:\t\u00e9',
  );
  const { get, broker } = await openSite(t);
  const raw = await get(`${HOME}objects/1/OBJ1`);
  t.equal(raw.headers['content-type'], 'text/plain; charset=utf-8');
  t.equal(raw.body, corpus()[0]?.text, 'the object has the bytes that were collected');
  await storeObject(broker, Buffer.from(latin, 'latin1'));
  t.equal((await get(`${HOME}objects/4/OBJ4`)).headers['content-type'], 'text/plain; charset=windows-1252');

  const { $ } = await get(`/Harvest/cgi-bin/DisplayObject.cgi?object=${HOME}objects/1/OBJ1`);
  t.equal($('time').first().attr('datetime'), '2025-12-31T21:13:21Z');
  t.match($('dl.attributes').text(), /Time-to-Live4 weeks/);
  for (const path of [
    `${HOME}objects/9/OBJ9`,
    `${HOME}objects/0/OBJ1`,
    `${HOME}objects/1/OBJ01`,
    `${HOME}objects/0/../../x`,
    '/Harvest/cgi-bin/DisplayObject.cgi?object=/etc/passwd',
    '/Harvest/cgi-bin/DisplayObject.cgi',
    '/unknown',
  ]) {
    t.equal((await get(path)).status, 404, path);
  }
});

t.test('BRK-9.8: errors are shown on the page', async (t) => {
  const { get, server, broker } = await openSite(t, { conf: 'Max-Queries 1\n' });
  const malformed = await get(`${QUERY}?query=${encodeURIComponent('gopher and (wais')}&caseflag=on`);
  t.equal(malformed.status, 400);
  t.match(malformed.$('[role=alert]').text(), /cannot be read at position 12/);
  t.match(malformed.$('pre.fault').text(), /^gopher and \(wais\n {11}\^$/);
  t.equal(malformed.$('input[name=query]').attr('aria-invalid'), 'true');
  t.ok(malformed.$(`#${malformed.$('input[name=query]').attr('aria-describedby')}`).length);
  t.match((await get(`${QUERY}?query=nosuchword`)).$('h1').text(), 'Nothing found');

  const slot = await broker.queries.slots.acquire({ waitMs: 0 });
  const busy = await get(`${QUERY}?query=gopher`);
  t.equal(busy.status, 503);
  t.match(busy.$('[role=alert]').text(), /too busy/);
  slot?.[Symbol.dispose]();

  await server.close();
  const down = await get(`${QUERY}?query=gopher`);
  t.equal(down.status, 503);
  t.match(down.$('[role=alert]').text(), /does not answer/);
});

t.test('BRK-4.16: results are paged, and a truncated list says so', async (t) => {
  const extra = Array.from({ length: 45 }, (_, i) =>
    document(`http://many.example/${i}`, { Title: 'many', 'Full-Text': 'many\n'.repeat((i % 3) + 1) }),
  );
  const { get } = await openSite(t, { extra });
  const fields = 'query=many&opaqueflag=on&verbose=on';
  const first = await get(`${QUERY}?${fields}`);
  t.equal(first.$('.results > li').length, 20);
  t.equal(first.$('h1').text(), '45 objects found');
  t.equal(first.$('.count').first().text(), '1 to 20 of 45 for many.');
  t.same(first.texts('.pager li'), ['1', '2', '3', 'Next']);
  const last = await get(first.$('.pager a[rel=next]').attr('href') ?? '').then((page) =>
    get(page.$('.pager a[rel=next]').attr('href') ?? ''),
  );
  t.equal(last.$('.results > li').length, 5);
  t.equal(last.$('.results').attr('start'), '41');
  t.match(last.$('.pager [aria-current=page]').text(), '3');

  const cut = await get(`${QUERY}?${fields}&maxobjflag=10`);
  t.equal(cut.$('h1').text(), '45 objects found', 'the count includes objects that are not listed');
  t.equal(cut.$('.results > li').length, 10);
  t.equal(cut.$('.count').first().text(), '1 to 10 of the first 10 of 45 for many.');
  t.match(cut.$('.note').text(), /Only the first 10 of 45 objects are listed\. List as many/);
  const all = await get(cut.$('.note a').attr('href') ?? '');
  t.equal(all.$('.note').length, 0);
  t.match(all.$('.count').first().text(), '1 to 20 of 45');

  const sorted = await get(`${QUERY}?${fields}&sort=by-NML`);
  const lines = sorted
    .$('.results > li')
    .get()
    .map((li) => sorted.$(li).find('.lines li').length);
  t.same(
    lines,
    [...lines].sort((a, b) => b - a),
  );
});

t.test('every object of a result is on one page, in one order, up to the limit of the Broker', async (t) => {
  const extra = Array.from({ length: 230 }, (_, i) =>
    document(`http://h${i % 23}.example/${i}`, {
      Title: `Page ${i}`,
      'Full-Text': `${'many '.repeat(1 + (i % 7))} ${'other '.repeat(i % 11)}`,
    }),
  );
  const { get } = await openSite(t, { extra, conf: 'Max-Results 200\n' });
  const read = async (fields: string, least: number) => {
    const found: string[] = [];
    let page = await get(`/?query=many${fields}`);
    for (let n = 1; ; n++) {
      t.equal(page.$('.results').attr('start'), String(20 * (n - 1) + 1));
      found.push(...page.links('.results h2 a').map(String));
      const next = page.$('.pager a[rel=next]').attr('href');
      if (next === undefined) break;
      page = await get(next);
    }
    t.equal(new Set(found).size, found.length, 'no object twice');
    t.equal(found.length, least);
    return { found, page };
  };
  const folded = await read('', 46);
  t.equal(folded.page.$('h1').text(), '230 objects found');
  t.match(folded.page.$('.count').first().text(), '41 to 46 of 46 with at most 2 of each host for many.');
  t.match(folded.page.$('.more').first().text(), /^(?:8 more|More) from h/);
  const settings = '&caseflag=on&wordflag=on&forms=on';
  const flat = await read(settings, 200);
  t.match(flat.page.$('.count').first().text(), '181 to 200 of the first 200 of 230 for many.');
  t.match(
    flat.page.$('.note').text(),
    'Only the first 200 of 230 objects are listed. Make the query narrower.',
  );
  t.same((await read(settings, 200)).found, flat.found, 'the order is stable');
  t.equal(
    (await get(`/?query=many${settings}&page=99`)).$('.pager [aria-current=page]').text(),
    '10',
    'the last page',
  );
  const sorted = await read(`${settings}&sort=by-date`, 200);
  t.same([...sorted.found].sort(), [...new Set(sorted.found)].sort());

  const json: { total: number; next?: string; objects: { url: string }[] }[] = [];
  for (let url: string | undefined = `/?query=many&format=json`; url !== undefined; ) {
    const reply = JSON.parse((await get(new URL(url, 'http://x/').href.replace(/^http:\/\/[^/]*/, ''))).body);
    json.push(reply);
    url = reply.next;
  }
  t.match(json[0], { total: 230, totalIsExact: true, first: 1, listed: 20, page: 1, pages: 10, limit: 200 });
  t.match(json[9], { total: 230, first: 181, listed: 20, page: 10, previous: /page=9/ });
  const urls = json.flatMap(({ objects }) => objects.map(({ url }) => url));
  t.equal(new Set(urls).size, 200);
  t.match(JSON.parse((await get('/?query=many&maxobjflag=120&format=json')).body), {
    listed: 120,
    pages: 1,
    limit: 120,
  });
  const rss = (await get('/?query=many&format=rss')).body;
  t.match(rss, '<opensearch:totalResults>230</opensearch:totalResults>');
  t.match(rss, /rel="next"/);
});

t.test('statistics, help, assets and health are served', async (t) => {
  const { get } = await openSite(t);
  const stats = await get(`${HOME}stats.html`);
  t.match(stats.$('dl.tiles').text(), /Objects3/);
  t.match(stats.$('table').first().text(), /HTML2/);
  const help = await get(`${HOME}queryhelp.html`);
  t.equal(help.$('h1').length, 1);
  t.same(
    help
      .$('h1, h2')
      .get()
      .map((heading) => heading.tagName)
      .join(' '),
    'h1 h2 h2 h2 h2 h2 h2',
  );
  for (const link of help.$('link, nav a').get()) {
    t.equal((await get(help.$(link).attr('href') ?? '')).status, 200, help.$(link).attr('href') ?? '');
  }
  t.equal((await get('/Harvest/style.css')).headers['content-type'], 'text/css; charset=utf-8');
  t.same(JSON.parse((await get('/healthz')).body), { status: 'ok', objects: 3 });
  t.match((await get('/robots.txt')).body, /Disallow: \/Harvest\/cgi-bin\//);
});

t.test('the web server listens on a socket next to its broker', async (t) => {
  const fixture = await openBroker(t);
  const server = await serveBroker(t, fixture);
  const { broker } = fixture;
  const options = { broker, brokerAddress: server.address, host: '127.0.0.1', log: broker.log };
  const web = await WebServer.listen({ ...options, port: 0 });
  t.teardown(() => web.close());
  const response = await fetch(`${web.url}healthz`);
  t.equal(response.status, 200);
  fixture.broker.urls.setWebAddress('127.0.0.1', web.address.port);
  t.equal(fixture.broker.urls.objectUrl(1234), `${web.url}Harvest/brokers/example/objects/34/OBJ1234`);
  await t.rejects(WebServer.listen({ ...options, port: web.address.port }), { code: 'ERR_CONNECTION' });
  t.type(fixture.broker, Broker);
});
