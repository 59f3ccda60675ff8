// The summarizer of HTML: attributes by the extraction table, links, robots directives, keywords, descriptions, character sets.

import t from 'tap';
import { ConfigError } from '../../../protocols/errors.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { compileEssence, readEssenceSources } from '../../../servers/essence/index.js';
import { parseExtractionTable } from '../../../servers/essence/sgml/table.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { contentOf, IDENTITY, inputOf, summarize } from './helpers.js';
import { latin1 } from './unnest-fixtures.js';

const PAGE = 'http://a.test/dir/page.html';

/** Returns the summary object of a page as Latin-1 text. */
async function soifText(html: string, options: Parameters<typeof summarize>[2] = {}): Promise<string> {
  return Buffer.from((await summarize(PAGE, html, options)).soif ?? new Uint8Array()).toString('latin1');
}

/** Returns the content attributes of a page that is summarized with a custom table. */
async function contentWithTable(table: string, html: string): Promise<Record<string, string>> {
  const sources = {
    ...(await readEssenceSources({})),
    'HTML.sum.tbl': { file: 'HTML.sum.tbl', text: table },
  };
  const context = compileEssence({ ...IDENTITY, keywords: false, description: false }, sources);
  return contentOf(await summarizeDocument(inputOf(PAGE, html), context));
}

t.test('E-98 the printed examples are reproduced byte for byte (vectors 1 to 3)', async (t) => {
  t.match(await soifText('<TITLE>My Home Page</TITLE>'), '\ntitle{13}:\tMy Home Page\n\n');
  t.match(
    await soifText('<META NAME="author" CONTENT="Joe T. Slacker">'),
    '\nauthor{15}:\tJoe T. Slacker\n\n',
  );
  const raw = await soifText('<A HREF="http://harvest.cs.colorado.edu/">Harvest</A>', {
    rawReferences: true,
  });
  t.match(raw, '\nurl-references{32}:\thttp://harvest.cs.colorado.edu/\n\n');
});

t.test('E-68 without the option, no newline is added to values', async (t) => {
  t.match(
    await soifText('<TITLE>My Home Page</TITLE>', { trailingNewline: false }),
    '\ntitle{12}:\tMy Home Page\n}\n',
  );
});

t.test(
  'E-110, E-115 an object begins with its bookkeeping attributes, in the order of SOIF-3.4',
  async (t) => {
    const output = await summarize(PAGE, '<title>T</title>', {}, { lastModificationTime: 900_000_000 });
    t.equal(
      Buffer.from(output.soif!).toString('latin1'),
      [
        '@FILE { http://a.test/dir/page.html',
        'Time-to-Live{7}:\t2419200',
        'Last-Modification-Time{9}:\t900000000',
        'Refresh-Rate{6}:\t604800',
        'Gatherer-Name{16}:\tExample Gatherer',
        'Gatherer-Host{16}:\tgatherer.example',
        'Gatherer-Version{3}:\t0.1',
        'Update-Time{10}:\t1000000000',
        'Type{4}:\tHTML',
        'File-Size{2}:\t16',
        // printf '<title>T</title>' | md5sum
        'MD5{32}:\t17d43fc901658f060c6ebcbecce3867c',
        'title{2}:\tT\n',
        '}\n',
      ].join('\n'),
    );
  },
);

t.test('E-113 minimal bookkeeping leaves out the optional attributes', async (t) => {
  const text = await soifText('<title>T</title>', { minimalBookkeeping: true, timeToLive: 60 });
  t.match(text, /^@FILE \{ .*\nTime-to-Live\{2\}:\t60\nGatherer-Name/);
  t.notMatch(text, /Refresh-Rate|File-Size|Last-Modification-Time/);
});

t.test('vector 4: two META keywords elements are combined', async (t) => {
  const html = '<meta name="keywords" content="word1 word2"><meta name="keywords" content="word3 word4">';
  t.equal(contentOf(await summarize(PAGE, html)).keywords, 'word1 word2\nword3 word4\n');
  t.equal(contentOf(await summarize(PAGE, html, { keywords: true })).keywords, 'word1 word2\nword3 word4\n');
});

t.test(
  'vector 5, E-92: bold text is in keywords and in body, CODE text in neither, headings only in headings',
  async (t) => {
    const got = contentOf(
      await summarize(PAGE, '<body><h1>Head</h1>One <b>bold</b> word<code>x=1</code>, end.</body>'),
    );
    t.same(got, { headings: 'Head\n', keywords: 'bold\n', body: 'One bold word , end.\n' });
  },
);

t.test('E-98: --code keeps the text in CODE', async (t) => {
  const page =
    '<body><h2>The <code>vacuum</code> command</h2>Run <code>VACUUM <b>full</b></code> daily.</body>';
  t.same(contentOf(await summarize(PAGE, page)), { headings: 'The command\n', body: 'Run daily.\n' });
  t.same(contentOf(await summarize(PAGE, page, { code: true })), {
    headings: 'The vacuum command\n',
    keywords: 'full\n',
    body: 'Run VACUUM full daily.\n',
  });
});

t.test('--link-text: the text of each link after its URL', async (t) => {
  const page =
    '<base href="http://b.test/x/"><a href="../one#part">The <b>first</b>\n page</a> <a href="/one">the first page</a>' +
    '<a href="/one">The first page</a><a href="mailto:a@b">mail</a><a href="two"><img src="p" alt="Two"></a><a href="/x">' +
    '</a><a name=here>here</a><p><a href="http://user:secret@c.test/">Three<script>no</script></a>';
  const lines = async (html: string, options = {}) =>
    contentOf(await summarize(PAGE, html, { linkText: true, keywords: false, ...options }))['Link-Text'];
  t.equal(
    await lines(page),
    'http://b.test/one The first page\nhttp://b.test/one the first page\nhttp://b.test/x/two Two\nhttp://c.test/ Three\n',
    'in absolute and canonical form, without a login (G-81)',
  );
  t.equal(contentOf(await summarize(PAGE, page))['Link-Text'], undefined, 'not unless asked for');
  t.equal(await lines(`<a href="#x">own</a><a href="${PAGE}">own</a>`), undefined, 'not of the page itself');
  t.equal(await lines(`<meta name=robots content=nofollow>${page}`), undefined, 'G-63');
  t.equal(await lines(`<a href="/a">${'long '.repeat(30)}</a><a href=b>b</a>`), 'http://a.test/dir/b b\n');
  t.equal(await lines('<a href=a>a<a href=b>b</a>'), 'http://a.test/dir/b b\n', 'an open link');
  const many = Array.from({ length: 3000 }, (_, i) => `<a href="${i}">link ${i}</a>`).join('');
  t.equal((await lines(many))?.split('\n').length, 1001, 'at most a thousand');
  t.ok(((await lines(many, { maxAttributeLength: 500 }))?.length ?? 0) <= 500);
  const keywords = contentOf(await summarize(PAGE, page, { linkText: true })).keywords ?? '';
  t.notMatch(keywords, /http|test/, 'E-109: its URLs are no keywords');
});

t.test('E-95 white space is collapsed, blocks begin new lines, every occurrence is a line', async (t) => {
  const html =
    '<body>\n  <p>One\n\ttwo &amp; three<br>four</p><div>five<em> six </em>seven</div>\n<table><tr><td>a</td><td>b</td></tr></table><em>x</em>y';
  const got = contentOf(await summarize(PAGE, html));
  t.equal(got.body, 'One two & three\nfour\nfive six seven\na b\nxy\n');
  t.equal(got.keywords, 'six\nx\n');
  t.equal(contentOf(await summarize(PAGE, '<ul><li>one<li>two</ul>')).keywords, 'one\ntwo\n');
});

t.test('the tags html, head and body can be omitted', async (t) => {
  t.same(contentOf(await summarize(PAGE, '<title>T</title><p>Text')), { title: 'T\n', body: 'Text\n' });
  t.same(contentOf(await summarize(PAGE, '<head><title>T</title><p>Text</p>more')), {
    title: 'T\n',
    body: 'Text\nmore\n',
  });
  t.same(contentOf(await summarize(PAGE, 'plain <i>words</i>')), {
    keywords: 'words\n',
    body: 'plain words\n',
  });
  t.same(contentOf(await summarize(PAGE, '<html><head></head><body>in</body></html>after')), {
    body: 'in\nafter\n',
  });
});

t.test('E-104 scripts, styles, templates, comments and the links in them are ignored', async (t) => {
  const html =
    '<body>a<script>var x = "<a href=/no>";</script><style>p{}</style><template><a href="/t">t</a></template><!-- c --><svg><title>s</title></svg>b';
  const output = await summarize(PAGE, html);
  t.same(contentOf(output), { body: 'ab\n' });
  t.same(output.links, []);
});

t.test('E-90 the text that a drawing shows belongs to the page; titles of shapes do not', async (t) => {
  const html =
    '<title>Page</title><body><h1>Syntax</h1>before<svg viewBox="0 0 9 9"><title>drawing</title><style>.a{}</style><g><desc>d</desc>' +
    '<text x="1">SELECT</text><a href="/expr"><text>ex<tspan>pr</tspan></text></a><path d="M0"/>stray</g>' +
    '<foreignObject><div>HTML <b>inside</b></div><p>too</p></foreignObject></svg>after <b>words</b>';
  const output = await summarize(PAGE, html);
  t.match(contentOf(output), { title: 'Page\n', headings: 'Syntax\n', keywords: 'words\n' });
  t.equal(contentOf(output).body, 'before SELECT expr HTML inside too after words\n');
  t.same(output.links, []);
  const open = await summarize(PAGE, 'a<svg><text>b<svg><text>c</text></svg>d');
  t.match(contentOf(open).body, /^a b c ?d\n$/, 'drawings in drawings, and one without an end');
});

t.test('E-105 a page cannot forge bookkeeping, and names are cleaned', async (t) => {
  const html =
    '<meta name="MD5" content="f"><meta name="update-time" content="9"><meta name="a b:c" content="v"><meta name="Embed&lt;1>-x" content="e"><meta name="!" content="n"><meta name="viewport" content="w">';
  t.same(contentOf(await summarize(PAGE, html)), {
    'Meta-MD5': 'f\n',
    'Meta-update-time': '9\n',
    'a-b-c': 'v\n',
    'Embed-1--x': 'e\n',
  });
});

t.test(
  'E-99 references are absolute and canonical, and repetitions are kept; raw ones are as written',
  async (t) => {
    const html =
      '<a href="../x.html#f">1</a><a href="/%7Euser">2</a><a href="/~user">3</a><a href="#here">4</a><img src=i.gif><a href="mailto:a@b.test">m</a>';
    const got = contentOf(await summarize(PAGE, html));
    t.equal(got['url-references'], 'http://a.test/x.html\nhttp://a.test/%7euser\nhttp://a.test/%7euser\n');
    t.equal(got.images, 'http://a.test/dir/i.gif\n');
    const raw = contentOf(await summarize(PAGE, html, { rawReferences: true }));
    t.equal(raw['url-references'], '../x.html#f\n/%7Euser\n/~user\n#here\nmailto:a@b.test\n');
  },
);

t.test('G-60 a page yields the links that enumeration follows', async (t) => {
  const html = `<base href="http://b.test/base/"><meta http-equiv="Refresh" content="3; URL='r.html'">
    <link rel="next" href="n.html"><link rel=stylesheet href="s.css"><link rel="alternate nofollow" href="alt.html">
    <map><area href="area.html"></map><frame src="f.html"><iframe src="i.html"></iframe>
    <code><a href="c.html">in code</a></code><a href="c.html#again">again</a><a href="ftp://f.test/x">f</a>
    <a href="javascript:go()">j</a><a href="mailto:x@y.test">m</a><a href="data:,x">d</a><a href="file:///etc/passwd">p</a><a name=x>no</a>`;
  t.same((await summarize(PAGE, html)).links, [
    { url: 'http://b.test/base/r.html', hop: 'L' },
    { url: 'http://b.test/base/n.html', hop: 'L' },
    { url: 'http://b.test/base/alt.html', hop: 'L' },
    { url: 'http://b.test/base/area.html', hop: 'L' },
    { url: 'http://b.test/base/f.html', hop: 'E' },
    { url: 'http://b.test/base/i.html', hop: 'E' },
    { url: 'http://b.test/base/c.html', hop: 'L' },
    { url: 'ftp://f.test/x', hop: 'L' },
  ]);
});

t.test('G-59, G-60 a link to a part of the page itself is left out, however it is written', async (t) => {
  const parts = [
    '#x',
    'PAGE#x',
    './PAGE#',
    '/dir/PAGE#a#b',
    'HTTP://A.TEST:80/dir/PAGE#x',
    ' PAGE#x',
    '//a.test/dir/PAGE#x',
  ];
  const name = PAGE.slice(PAGE.lastIndexOf('/') + 1);
  const html = parts.map((part) => `<a href="${part.replace('PAGE', name)}">x</a>`).join('');
  const output = await summarize(PAGE, html);
  t.same(output.links, []);
  t.equal(contentOf(output)['url-references'], undefined);
  t.same(output.warnings, [], 'these links are not malformed');
  const others = `<a href="${name}">the page</a><a href="${name}?q#x">another</a><a href="other.html#x">other</a>`;
  t.same(
    (await summarize(PAGE, others)).links.map(({ url }) => url),
    [PAGE, `${PAGE}?q`, new URL('other.html', PAGE).href],
  );
  // With a BASE, names are relative to it; the page is still the page.
  const based = `<base href="http://b.test/"><a href="${name}#x">b</a><a href="${PAGE}#x">a</a>`;
  t.same(
    (await summarize(PAGE, based)).links.map(({ url }) => url),
    [`http://b.test/${name}`],
  );
});

t.test('SOIF-4.7 a value of several lines ends with LF, also when it is cut', async (t) => {
  const html = `<title>t</title>${Array.from({ length: 200 }, (_, i) => `<a href="${i}.html">link ${i} é</a>\n`).join('')}`;
  for (let maxObjectBytes = 700; maxObjectBytes < 900; maxObjectBytes += 7) {
    const { soif } = await summarize(PAGE, html, { maxObjectBytes });
    if (soif === undefined) throw new Error('no object');
    for (const { name, value } of decodeSoif(soif).attributes) {
      if (value.subarray(0, -1).includes(0x0a) && value.at(-1) !== 0x0a)
        t.fail(`${name} at ${maxObjectBytes}: ${Buffer.from(value).toString()}`);
    }
    t.ok(soif.length <= maxObjectBytes);
  }
});

t.test('G-173 the number of links of one page is limited', async (t) => {
  const html = Array.from({ length: 12 }, (_, i) => `<a href="${i}">x</a>`).join('');
  const output = await summarize(PAGE, html, { maxLinks: 10 });
  t.equal(output.links.length, 10);
  t.match(output.warnings[0], /2 links .*G-173/);
});

t.test(
  'G-63 META robots: noindex rejects the page but follows its links, nofollow indexes it but follows no links',
  async (t) => {
    const noindex = await summarize(PAGE, '<meta name="robots" content="noindex"><a href="x">x</a>');
    t.ok(noindex.rejected);
    t.equal(noindex.soif, undefined);
    t.equal(noindex.links.length, 1);
    const nofollow = await summarize(PAGE, '<META NAME="Robots" CONTENT="index, NOFOLLOW"><a href="x">x</a>');
    t.notOk(nofollow.rejected);
    t.same(nofollow.links, []);
    t.notOk('robots' in contentOf(nofollow), 'E-104: robots does not become an attribute');
  },
);

t.test('E-25 the links of a page of a rejected type are followed', async (t) => {
  const output = await summarize(
    'http://a.test/find?q',
    '<html><a href="x">x</a>',
    {},
    { contentType: 'text/html' },
  );
  t.equal(output.type, 'HTTP-Query');
  t.ok(output.rejected);
  t.same(output.links, [{ url: 'http://a.test/x', hop: 'L' }]);
});

t.test('E-89 to E-94 an extraction table maps elements and attributes', async (t) => {
  const table = `
# a condition precedes the plain line, in any order
<DIV> other
<DIV,CLASS="Big News"> news,parent
<P,lang=de>  ignore
<META:CONTENT> $NAME
<META:CONTENT> $PROPERTY
<META,NAME=secret> ignore
<IMG,CLASS=logo:ALT> logo
<Q> quotes,more
`;
  const html =
    '<meta name=x content=1><meta property=og:t content=2><meta name=Secret content=3>' +
    '<div>plain <span>inner</span></div><div class="big news">new <q>cited</q></div><p lang=DE>weg</p>' +
    '<img class=logo alt="The  Logo"><img alt=other>';
  t.same(await contentWithTable(table, html), {
    x: '1\n',
    'og-t': '2\n',
    other: 'plain inner\n',
    quotes: 'cited\n',
    more: 'cited\n',
    news: 'new\n',
    logo: 'The Logo\n',
  });
  for (const line of ['A keywords', '<A>', '<A HREF> x', '<A> k=1', '<A,x> k']) {
    t.throws(() => parseExtractionTable(line, 'HTML.sum.tbl'), ConfigError, line);
  }
});

t.test('E-100 the full-text option uses its own table', async (t) => {
  const html = '<html><head><title>T</title></head><body><h1>H</h1><p>one <b>two</b></body></html>';
  t.same(contentOf(await summarize(PAGE, html, { fullText: true })), {
    title: 'T\n',
    'full-text': 'T\nH\none two\n',
  });
});

t.test(
  'E-109 keywords are the phrases, then the folded, sorted words of the other attributes, without repetitions',
  async (t) => {
    const html =
      '<title>The Zebra and the apple-tree: U.S. zebra X</title><body><a>First Link</a> text <b>FIRST link</b>';
    const got = contentOf(await summarize(PAGE, html, { keywords: true }));
    t.equal(got.keywords, 'First Link\napple-tree\nu.s\nzebra\n');
  },
);

t.test('E-108 keywords are truncated to whole lines', async (t) => {
  const title = Array.from({ length: 50 }, (_, i) => `word${i}`).join(' ');
  const got = contentOf(
    await summarize(PAGE, `<title>${title}</title>`, { keywords: true, maxKeywordBytes: 40 }),
  );
  t.equal(got.Keywords, 'word0\nword1\nword2\nword3\nword4\nword5\n');
});

t.test('E-141 the description is that of META, else the first long paragraph', async (t) => {
  const described = async (html: string) => contentOf(await summarize(PAGE, html, { description: true }));
  const meta = await described(
    '<meta name=description content="Said."><p>A paragraph that is quite long enough to serve.</p>',
  );
  t.equal(meta.description, 'Said.\n');
  const derived = await described(
    `<body>Menu<p>Short.</p><p>Dr. A. Smith wrote the first sentence. ${'And more words follow here. '.repeat(9)}</p>`,
  );
  t.equal(
    derived.Description,
    'Dr. A. Smith wrote the first sentence. And more words follow here. And more words follow here. And more words follow here. And more words follow here. And more words follow here.\n',
  );
});

t.test('E-77 the character set is that of the server, of META, or detected', async (t) => {
  const title = async (bytes: string | Uint8Array, charset?: string) =>
    contentOf(await summarize(PAGE, bytes, {}, charset === undefined ? {} : { charset })).title;
  t.equal(await title('<title>Käse</title>'), 'Käse\n', 'valid UTF-8');
  t.equal(await title(latin1('<title>K\xe4se</title>')), 'Käse\n', 'undeclared, and invalid as UTF-8');
  t.equal(
    await title(latin1('<title>\xcf\xf0\xe8\xe2\xe5\xf2</title>'), 'windows-1251'),
    'Привет\n',
    'declared by the server',
  );
  t.equal(
    await title(latin1('<meta charset=koi8-r><title>\xf0\xd2\xc9\xd7\xc5\xd4</title>')),
    'Привет\n',
    'META charset',
  );
  t.equal(await title(latin1('<title>K\xe4se</title>'), 'utf-8'), 'Käse\n', 'a false declaration of UTF-8');
  t.equal(await title(latin1('\xff\xfe<\0t\0i\0t\0l\0e\0>\0\xe4\0')), 'ä\n', 'byte order mark');
  t.equal(await title('\ufeff<title>x</title>'), 'x\n');
  t.match(
    (await summarize(PAGE, '<p>x', {}, { charset: 'klingon' })).warnings[0],
    /unknown character set klingon/,
  );
});

t.test('an object above its limit is truncated in the running text, at a character boundary', async (t) => {
  const output = await summarize(PAGE, `<title>T</title><body>${'ä'.repeat(2000)}`, { maxObjectBytes: 1001 });
  t.ok(output.soif!.length <= 1001);
  t.match(contentOf(output).body, /^ä+\n$/);
  t.match(output.warnings[0], /body cut/);
});

t.test('deep nesting is read in linear time, up to a limit', async (t) => {
  const output = await summarize(PAGE, `<title>T</title>${'<ul><b>x'.repeat(50_000)}`);
  t.match(output.warnings[0], /nested deeper/);
  t.equal(contentOf(output).title, 'T\n');
});
