// Result pages of the Broker: facets, the advanced form, JSON and RSS, and templates of BrokerQuery.cf.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'cheerio';
import t from 'tap';
import { parseQuery } from '../../../../protocols/broker/index.js';
import {
  formatNumber,
  mergeBrokerQueryConfig,
  parseBrokerQueryCf,
  parseBrokersCf,
} from '../../../../protocols/config/broker-query-cf.js';
import { applyLineRules, parseLineRules } from '../../../../protocols/config/line-rules.js';
import { hostOfUrl } from '../../../../servers/broker/admin/name-counter.js';
import { composeQuery } from '../../../../servers/broker/web/compose-query.js';
import { FacetCounter } from '../../../../servers/broker/web/facets.js';
import { narrowQuery, readNarrowings } from '../../../../servers/broker/web/narrow.js';
import { objectVariables, renderTemplate } from '../../../../servers/broker/web/templates.js';
import { document, NOW } from '../helpers.js';
import { openWebsite, QUERY } from './helpers.js';

/** Returns 30 objects with the word `many`: 20 HTML, 10 Text; 15 on each host; two Gatherers. */
function thirtyDocuments() {
  return Array.from({ length: 30 }, (_, i) => ({
    updateTime: NOW - 1000 - i,
    text: document(
      `http://${i % 2 === 0 ? 'a' : 'b'}.example.org${i === 4 ? ':8080' : ''}/${i}?from=http://b.example.org/`,
      { Title: `Page ${i}`, Type: i % 3 === 2 ? 'Text' : 'HTML', 'Full-Text': `many\n${'more\n'.repeat(i)}` },
      NOW - 1000 - i,
      i < 6 ? 'First "quoted" Gatherer' : 'Second',
    ),
  }));
}

t.test('facets count the whole result, not only the listed objects, and narrow it', async (t) => {
  const { get } = await openWebsite(t, { documents: thirtyDocuments() });
  const fields = 'query=many&caseflag=on&wordflag=on&maxobjflag=5&opaqueflag=on&verbose=on';
  const page = await get(`${QUERY}?${fields}`);
  t.equal(page.$('h1').text(), '30 objects found');
  t.equal(page.$('.results > li').length, 5);
  t.same(page.texts('.facets li'), [
    'HTML 20',
    'Text 10',
    'a.example.org 15',
    'b.example.org 15',
    'Second 24',
    'First "quoted" Gatherer 6',
  ]);
  const follow = async (from: typeof page, name: string) => {
    const link = from.$('.facets a').filter((_, a) => from.$(a).text() === name);
    return get(link.attr('href') ?? '');
  };
  const onHost = await follow(page, 'a.example.org');
  t.equal(
    onHost.$('h1').text(),
    '15 objects found',
    'the host facet ignores ports, and query strings that contain the host name',
  );
  const texts = await follow(onHost, 'Text');
  t.equal(texts.$('h1').text(), '5 objects found');
  t.same(texts.texts('.chips li span:first-child'), ['Host: a.example.org', 'Type: Text']);
  t.equal(texts.$('.lines .name').filter((_, it) => texts.$(it).text() === 'Type').length, 0);
  t.equal(texts.$('input[name=narrow]').length, 2, 'the form keeps the restrictions');
  const wider = await get(texts.$('.chips a').first().attr('href') ?? '');
  t.equal(wider.$('h1').text(), '10 objects found', 'a chip removes its restriction');
  t.equal((await follow(page, 'First "quoted" Gatherer')).$('h1').text(), '6 objects found');
});

t.test('an object without a title shows its URL once', async (t) => {
  const titles = ['Named', '', ' ', 'http://a.example.org/3', undefined];
  const documents = titles.map((title, i) => ({
    updateTime: NOW - i,
    text: document(
      `http://a.example.org/${i}`,
      { ...(title === undefined ? {} : { Title: title }), 'Full-Text': 'once' },
      NOW - i,
    ),
  }));
  const { get } = await openWebsite(t, { documents });
  const page = await get(`${QUERY}?query=once&caseflag=on&wordflag=on`);
  const shown = page
    .$('.results > li')
    .map((_, item) => page.$(item).find('h2, .url').text())
    .get();
  t.same(shown.sort(), [
    'Namedhttp://a.example.org/0',
    ...[1, 2, 3, 4].map((i) => `http://a.example.org/${i}`),
  ]);
});

t.test('facets are bounded: a truncated count says so; counts beyond the limit are omitted', async (t) => {
  const { broker } = await openWebsite(t, { documents: thirtyDocuments() });
  const matching = { ignoreCase: true, matchWord: true, errors: 0 };
  const signal = new AbortController().signal;
  const cut = await new FacetCounter(broker, { maxFacetObjects: 10, facetValues: 1 }).count(
    parseQuery('many'),
    matching,
    signal,
  );
  t.equal(cut?.complete, false);
  t.equal(cut?.objects, 10);
  for (const { values, others } of cut?.facets ?? []) t.same([values.length, others], [1, 1]);
  t.equal(cut?.facets.length, 3);
  const all = await new FacetCounter(broker).count(parseQuery('#allb'), matching, signal);
  t.match(all, { objects: 30, complete: true });
  const busy = new FacetCounter(broker, { maxFacetCounts: 1 });
  const [first, second] = await Promise.all([
    busy.count(parseQuery('many'), matching, signal),
    busy.count(parseQuery('more'), matching, signal),
  ]);
  t.equal(first?.objects, 30);
  t.equal(second, undefined);
  t.equal((await busy.count(parseQuery('more'), matching, signal))?.objects, 29);
  t.equal(
    await busy.count(parseQuery('a regexp "("'), matching, signal),
    undefined,
    'BRK-2.19: a query that the engine refuses has no facets',
  );
});

t.test('a narrowed query is plain query syntax', async (t) => {
  t.same(readNarrowings(['type:HTML', 'type:HTML', 'kind:x', 'host:', 'gatherer:a:b']), [
    { kind: 'type', value: 'HTML' },
    { kind: 'gatherer', value: 'a:b' },
  ]);
  t.equal(narrowQuery('a or b', [{ kind: 'type', value: 'x\\"y' }]), '(a or b) and type exact "x\\\\\\"y"');
  t.equal(narrowQuery('#allb', [{ kind: 'host', value: 'file:' }]), 'url regexp "^file\\:"');
  t.equal(hostOfUrl('HTTP://u@WWW.Example.org:80/x'), 'www.example.org');
  t.equal(hostOfUrl('file:///etc/motd'), 'file:');
  t.equal(hostOfUrl('http://[::1]:80/'), '[::1]');
});

t.test('BRK-9.1: the advanced form composes a query', async (t) => {
  const compose = (fields: Record<string, string>) => composeQuery(new URLSearchParams(fields));
  t.equal(compose({}), '');
  t.equal(
    compose({ all: 'wheat and "red rye"', none: 'oats' }),
    '"wheat" and "and" and "red rye" and not "oats"',
  );
  t.equal(compose({ any: 'a b', phrase: 'c d' }), '"c d" and ("a" or "b")');
  t.equal(
    compose({
      attribute1: 'title',
      is1: 'exact',
      value1: 'x "y"',
      attribute2: 'not',
      value2: '1',
      attribute3: 'url',
    }),
    'title exact "x \\"y\\"" and "not" : "1"',
  );
  t.equal(compose({ attribute1: 'size', is1: '#ADMIN', value1: '9\\' }), 'size : "9\\\\"');
  t.equal(compose({ attribute1: 'a', value1: '\\\\' }), 'a : "\\\\"', 'two backslashes are one literal one');
  const odd = ['\\', '\\\\', '\\\\\\', '\\"', '\\\\"', 'x\\"y"', '"', '\\"\\'];
  for (const value1 of odd) t.doesNotThrow(() => parseQuery(compose({ attribute1: 'a', value1 })), value1);
  for (const fields of [{ all: 'a"b', any: '( ) :' }, { none: '\\ "' }, { value1: '"', attribute1: 'a b' }]) {
    t.doesNotThrow(() => parseQuery(compose(fields)), JSON.stringify(fields));
  }
  const { get } = await openWebsite(t);
  const page = await get(`${QUERY}?all=gopher&none=wais&caseflag=on`);
  t.equal(page.$('input[name=query]').attr('value'), '"gopher" and not "wais"');
  t.equal(page.$('.results > li').length, 1);
  const form = await get('/advanced.html');
  for (const field of form.$('input:not([type=hidden]), select').get()) {
    const { id = '' } = field.attribs;
    t.ok(
      form.$(`label[for="${id}"]`).length === 1 || field.attribs['aria-label'],
      `${field.attribs.name} has a label`,
    );
  }
});

t.test('a query returns JSON or RSS on request', async (t) => {
  const hostile = document('javascript:alert(1)', { Title: ']]><b>&', Description: 'gopher <i>\u0001' });
  const { get, post } = await openWebsite(t, {
    documents: [...thirtyDocuments().slice(0, 3), { updateTime: NOW, text: hostile }],
  });
  const json = await get(`${QUERY}?query=many&opaqueflag=on&format=json`);
  t.equal(json.headers['content-type'], 'application/json; charset=utf-8');
  const value = JSON.parse(json.body);
  t.match(value, {
    query: 'many',
    listed: 3,
    total: 3,
    totalIsExact: true,
    first: 1,
    page: 1,
    pages: 1,
    next: undefined,
  });
  t.match(value.facets.type, {
    values: [
      { value: 'HTML', objects: 2 },
      { value: 'Text', objects: 1 },
    ],
    others: 0,
  });
  const first = value.objects.find(({ title }: { title: string }) => title === 'Page 0');
  t.match(first, {
    url: 'http://a.example.org/0?from=http://b.example.org/',
    type: 'HTML',
    modified: '2025-12-31T23:43:20.000Z',
    summary: /^http:\/\/www\.example\.org:8080\/Harvest\/cgi-bin\/DisplayObject\.cgi\?object=/,
    matchedLines: [{ attribute: 'Full-Text', text: 'many' }],
    matchedLineCount: 1,
  });
  const malformed = await get(`${QUERY}?query=many+and&caseflag=on&format=json`);
  t.equal(malformed.status, 400);
  t.match(JSON.parse(malformed.body).failure, /\w/);

  const rss = await post(QUERY, { query: 'gopher', descflag: 'on', format: 'rss' });
  const xml = load(rss.body, { xmlMode: true });
  t.equal(xml('item').length, 1);
  t.equal(xml('item title').text(), ']]><b>&');
  t.match(xml('item link').text(), /^http:\/\/www\.example\.org:8080\//, 'never to a javascript: URL');
  t.equal(xml('item description').text(), 'gopher &lt;i&gt;\ufffd');
  t.equal(
    xml('channel > link').text(),
    `http://www.example.org:8080${QUERY.replace('.pl', '')}?query=gopher&caseflag=on&descflag=on`,
  );
  const page = await get(`${QUERY}?query=many`);
  t.same(
    page
      .$('link[rel=alternate]')
      .get()
      .map((it) => it.attribs.type),
    ['application/rss+xml', 'application/json'],
  );
});

t.test('results in memory list a bounded number of objects; further queries wait', async (t) => {
  const { get, broker } = await openWebsite(t, { documents: thirtyDocuments(), maxListed: 30 });
  const { indexer } = broker;
  const query = indexer.query.bind(indexer);
  let begun = 0;
  indexer.query = (expression, options) => {
    begun += 1;
    return query(expression, options);
  };
  const replies = Array.from({ length: 6 }, () => get(`${QUERY}?query=many&format=json&maxobjflag=30`));
  await Promise.race(replies);
  t.ok(begun <= 4, 'a query and its count, and the next');
  const all = await Promise.all(replies);
  t.same(
    all.map(({ body }) => JSON.parse(body).objects.length),
    [30, 30, 30, 30, 30, 30],
  );
});

t.test('BRK-9.5: definitions of a BrokerQuery.cf are parsed; bad ones are reported by line', async (t) => {
  const text = `# comment
<Timeout>
30
</Timeout>
<ObjectNumPrintf>
%3d.
</ObjectNumPrintf>
<PrintObject>
<A HREF="$url">\${objectnum}</A> \\$5 $unknown

</PrintObject>
<InitFunction>
system("rm");
</InitFunction>
stray
<Timeout>
soon
</Timeout>
<Nothing>
</Nothing>
<ResultHeader>
never ends
`;
  const { config, warnings } = parseBrokerQueryCf(text, 'x.cf');
  t.equal(config.timeout, 30);
  t.equal(formatNumber(7, config.objectNumber), '  7.');
  t.equal(
    renderTemplate(config.templates.PrintObject, { url: 'http://a/?x=1&y="', objectnum: '7' }).text,
    '<A HREF="http://a/?x=1&amp;y=&quot;">7</A> $5 $unknown\n',
    'BRK-9.5: only the last newline of a definition is dropped',
  );
  t.same(
    warnings.map(({ line, variable }) => [line, variable]),
    [
      [12, 'InitFunction'],
      [15, ''],
      [16, 'Timeout'],
      [19, 'Nothing'],
      [21, 'ResultHeader'],
      [22, ''],
    ],
  );
  const merged = mergeBrokerQueryConfig(
    config,
    parseBrokerQueryCf('<BrokerDown>\nx\n</BrokerDown>', 'y').config,
  );
  t.same(Object.keys(merged.templates), ['PrintObject', 'BrokerDown']);
  t.equal(formatNumber(7, { before: '', after: '', width: 3, fill: 'zeros' }), '007');
  t.same(parseBrokersCf('# c\nExample broker.example.org 8501\nbad\n', 'b').brokers, [
    { name: 'Example', host: 'broker.example.org', port: 8501 },
  ]);
});

t.test("BRK-9.5: the manual's example: a backslash joins lines, and \\n is a newline", async (t) => {
  const { config, warnings } = parseBrokerQueryCf(
    String.raw`<PrintObject>
$objectnum <A HREF="$url"><STRONG>$desc</STRONG></A> \
[<A HREF="$cs_a://$cs_h/Harvest/cgi-bin/DisplayObject.cgi?object=$cs_p">\
indexing data</A>]
$opaque

</PrintObject>
<ObjectNumPrintf>
(%2d)
</ObjectNumPrintf>
<MatchedLineSub>
s/^Matched line: *//;
s/^([\w-]+# )[\w-]+{\d+}:\t/\1/;
s/^([\w-]+#)/<I>\1<\/I>/;
s/^.*/     $&/;
</MatchedLineSub>
<EndBrokerResults>
<STRONG>Found $nopaquelines matched lines, $nobjects objects.</STRONG>
<P>\n
</EndBrokerResults>
<ResultTrailer>
\$5 \"a\@b\" \\n \\\n\ttab \
</ResultTrailer>
<HarvestUrl>
http://harvest.\
example/
</HarvestUrl>
`,
    'custom.cf',
  );
  t.same(warnings, []);
  const { templates } = config;
  const hit = {
    url: 'http://h.example/d/e.html',
    objectUrl: 'http://c.example:80/x/OBJ1',
    description: 'An example',
    lines: [{ raw: 'Matched line: Title# Title{10}:\tAn example', attribute: 'Title', text: 'An example' }],
    lineCount: 1,
  };
  t.equal(
    renderTemplate(templates.PrintObject, objectVariables(hit, 7, config)).text,
    '( 7) <A HREF="http://h.example/d/e.html"><STRONG>An example</STRONG></A> [<A HREF="http://c.example:80/Harvest/cgi-bin/DisplayObject.cgi?object=/x/OBJ1">indexing data</A>]\n     <I>Title#</I> An example\n',
  );
  t.equal(
    renderTemplate(templates.EndBrokerResults, { nobjects: '2', nopaquelines: '3' }).text,
    '<STRONG>Found 3 matched lines, 2 objects.</STRONG>\n<P>\n',
  );
  t.equal(renderTemplate(templates.ResultTrailer, {}).text, '$5 "a@b" \\n \\\n\ttab ');
  t.equal(config.harvestUrl, 'http://harvest.example/');
  const quoted = parseBrokerQueryCf('<PrintObject>\n<a title="\\">$url">\n</PrintObject>', 'x').config;
  t.equal(
    renderTemplate(quoted.templates.PrintObject, { url: 'a b' }).text,
    '<a title="">a b">',
    'what a backslash leaves counts as HTML, so the variable is in text',
  );
});

t.test('BRK-9.9: substitutions are data; program text is never run', async (t) => {
  const { rules, problem } = parseLineRules(
    's/^Matched line: //; s|(\\w+)# |<b>$1</b>: |\n# c\ns/x/[$&\\1]/gi',
  );
  t.equal(problem, 'the pattern has no group 1');
  t.equal(rules.length, 2);
  t.equal(applyLineRules(rules, 'Matched line: title# xX'), '<b>title</b>: xX');
  t.equal(applyLineRules(parseLineRules('s/x/[$&]\\$\\//gi').rules, 'axX'), 'a[x]$/[X]$/');
  t.match(parseLineRules('s/a/b/\nsystem("x")'), { problem: /program text is never run/, line: 2 });
  t.match(parseLineRules('s/a/b/e').problem, /other flags/);
  t.match(parseLineRules('s/(/b/').problem, /not a pattern/);
  t.match(parseLineRules('s/a/b').problem, /lacks its last/);
});

t.test('BRK-9.7: variables are escaped for their context', async (t) => {
  const render = (body: string, variables: Record<string, string>) =>
    renderTemplate(
      parseBrokerQueryCf(`<PrintObject>\n${body}\n</PrintObject>`, 'x').config.templates.PrintObject,
      variables,
    ).text;
  t.equal(render('<b>$url</b>', { url: '<i>' }), '<b>&lt;i&gt;</b>');
  t.equal(render('<a href=$url>x', { url: 'http://x/ onclick=y' }), '<a href=#>x');
  t.equal(render('<a title=$t>x', { t: 'a b=c' }), '<a title=a&#32;b&#61;c>x');
  t.equal(render("<a href='$url'>", { url: 'javascript:alert(1)' }), "<a href='#'>");
  t.equal(render('<a href="$A://$H">', { A: 'javascript', H: 'x' }), '<a href="#://x">');
  t.equal(render('<a href="$A://$H$P">', { A: 'http', H: 'x:80', P: '/y' }), '<a href="http://x:80/y">');
  t.equal(render('<a href="/cgi?object=$cs_p">', { cs_p: '/a/b' }), '<a href="/cgi?object=/a/b">');
  const hit = {
    url: 'http://h.example:81/d/e/f.html?q',
    objectUrl: 'http://c/x/OBJ1',
    lines: [],
    lineCount: 0,
  };
  t.match(objectVariables(hit, 3, { templates: {} }), {
    objectnum: '3',
    A: 'http',
    H: 'h.example:81',
    P: '/d/e/f.html?q',
    D: '/d/e/',
    F: 'f.html?q',
    cs_p: '/x/OBJ1',
    cs_f: 'OBJ1',
  });
});

t.test('BRK-9.8: pages follow the definitions of a file', async (t) => {
  const { get, directory, log, server } = await openWebsite(t, { documents: thirtyDocuments() });
  const classic = `<ResultHeader>
<HTML><TITLE>$query</TITLE><P>$host:$port max $maxresult <TT>$bquery</TT>
</ResultHeader>
<ResultSetBegin>
<DL>
</ResultSetBegin>
<PrintObject>
<DT>$objectnum <A HREF="$url">$F</A><DD>$opaque

</PrintObject>
<ResultSetEnd>
</DL>
</ResultSetEnd>
<TruncateWarning>
<B>cut at $nobjects</B>
</TruncateWarning>
<EndBrokerResults>
<P>$nobjects objects, $nopaquelines lines
</EndBrokerResults>
<FailBrokerResults>
<P>failed
</FailBrokerResults>
<BrokerDown>
<P>down
</BrokerDown>
<ResultTrailer>
</HTML>
</ResultTrailer>
<PerObjectFunction>
die;
</PerObjectFunction>
`;
  await writeFile(join(directory, 'classic.cf'), classic);
  const fields = 'query=many&caseflag=on&opaqueflag=on&maxobjflag=25';
  const { body, $ } = await get(`${QUERY}?${fields}&brokerqueryconfig=classic.cf`);
  t.match(body, /^<HTML><TITLE>many<\/TITLE>/);
  t.match($('tt').text(), /^#USER .*#index case insensitive .*#END many$/);
  t.equal($('dt').length, 25, 'without $pager all results are on one page');
  t.equal($('dd').first().text().trim(), 'Full-Text: many');
  t.match(body, /<\/DL>\n<B>cut at 25<\/B>\n<P>25 objects, 25 lines\n<\/HTML>/);
  t.equal(log.filter((line) => /PerObjectFunction/.test(line)).length, 1);
  t.match((await get(`${QUERY}?query=(&caseflag=on&brokerqueryconfig=classic.cf`)).body, /<P>failed/);
  for (const name of ['../classic.cf', 'admin/broker.conf', 'missing.cf', '']) {
    t.equal((await get(`${QUERY}?${fields}&brokerqueryconfig=${name}`)).$('.results > li').length, 20, name);
  }
  await writeFile(join(directory, 'BrokerQuery.cf'), '<PrintObject>\n<li>$url\n</PrintObject>\n');
  const mixed = await get(`${QUERY}?${fields}`);
  t.equal(mixed.$('.results > li').length, 20, 'BrokerQuery.cf replaces only what it defines');
  t.equal(mixed.$('.results h2').length, 0);
  for (const name of ['missing.cf', '../classic.cf', 'admin/broker.conf', 'BrokerQuery.cf']) {
    const page = await get(`${QUERY}?${fields}&brokerqueryconfig=${name}`);
    t.equal(page.$('.results h2').length, 0, `${name}: the Broker's own file counts`);
  }
  await writeFile(join(directory, 'header.cf'), '<ResultTrailer>\n<i>mine</i>\n</ResultTrailer>\n');
  const layered = await get(`${QUERY}?${fields}&brokerqueryconfig=header.cf`);
  t.match(layered.body, /<i>mine<\/i>/);
  t.equal(layered.$('.results h2').length, 0, "the other definitions are the Broker's own");
  t.equal(mixed.$('.facets').length, 1);
  await server.close();
  const down = await get(`${QUERY}?${fields}&brokerqueryconfig=classic.cf`);
  t.equal(down.status, 503);
  t.match(down.body, /<P>down/);
});

t.test('BRK-9.3: only brokers in Brokers.cf are queried', async (t) => {
  const other = await openWebsite(t, { documents: thirtyDocuments() });
  const { get, directory } = await openWebsite(t);
  await writeFile(join(directory, 'Brokers.cf'), `Other 127.0.0.1 ${other.server.address.port}\n`);
  const countResults = async (fields: string) =>
    (await get(`${QUERY}?query=many&caseflag=on&${fields}`)).$('.results > li').length;
  t.equal(await countResults('broker=other'), 20);
  t.equal(await countResults(`host=127.0.0.1:${other.server.address.port}`), 20);
  t.equal(await countResults(`host=127.0.0.1&port=${other.server.address.port}`), 20);
  t.equal(await countResults('host=127.0.0.1:9'), 0, 'an unlisted address queries our own broker');
});
