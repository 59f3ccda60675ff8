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
    t.equal($('select[name=maxobjflag] option[selected]').attr('value'), '50');
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
  const malformed = await get(`${QUERY}?query=${encodeURIComponent('gopher and (wais')}`);
  t.equal(malformed.status, 400);
  t.match(malformed.$('[role=alert]').text(), /cannot be read at position 12/);
  t.match(malformed.$('pre.fault').text(), /^gopher and \(wais\n {11}\^$/);
  t.equal(malformed.$('input[name=query]').attr('aria-invalid'), 'true');
  t.ok(malformed.$(`#${malformed.$('input[name=query]').attr('aria-describedby')}`).length);
  t.match((await get(`${QUERY}?query=+`)).$('[role=alert]').text(), /at least one word/);
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
  t.match(first.$('.count').text(), /matched lines, 1 to 20 of 45 shown here/);
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
  t.match(cut.$('.note').text(), /Only the first 10 objects/);

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
