// What result pages show of each object, and what they offer when little is found.
import { load } from 'cheerio';
import fc from 'fast-check';
import t from 'tap';
import { besideAtBroker } from '../../../../clients/broker/beside.js';
import { BrokerClient } from '../../../../clients/broker/index.js';
import { findPassages, passageOfHit } from '../../../../clients/broker/passages.js';
import { TermFinder } from '../../../../clients/broker/query-terms.js';
import { RepeatedLines } from '../../../../clients/broker/repeated-lines.js';
import { parseQuery } from '../../../../protocols/broker/index.js';
import { decodeText, textOfUrl } from '../../../../protocols/soif/index.js';
import { describeQuery } from '../../../../servers/broker/web/query-words.js';
import { html } from '../../../../servers/web/html.js';
import { ManualClock } from '../../../helpers/manual-clock.js';
import { assertProperty } from '../../../helpers/property.js';
import { document, NOW } from '../helpers.js';
import { openWebsite, QUERY } from './helpers.js';

const FIELDS = 'caseflag=on&wordflag=on&opaqueflag=on&descflag=on&verbose=on&maxobjflag=50';
/** Finds words anywhere. */
function termsOf(words: string, ignoreCase = false): TermFinder {
  return TermFinder.of(words.split(' '), { ignoreCase, matchWord: false })!;
}

const FILLER = 'Nothing of interest is said in this sentence. '.repeat(20);

function documents(...attributes: readonly (Readonly<Record<string, string>> & { url: string })[]) {
  return attributes.map(({ url, ...rest }, i) => ({
    updateTime: NOW - 1000 - i,
    text: document(url, { Type: 'HTML', ...rest }, NOW - 1000 - i),
  }));
}

t.test('a passage is the stretch with most of the words, and begins with a sentence', async (t) => {
  const text = `A gopher alone. ${FILLER}Here gopher and veronica are neighbors. ${FILLER}`;
  const { passages } = findPassages(text, termsOf('gopher veronica'));
  t.equal(passages.length, 1);
  t.match(passages[0]?.text, /^Here gopher and veronica are neighbors\. Nothing/);
  t.match(passages[0], { cutBefore: true, cutAfter: true });
  const far = `Gopher begins. ${FILLER}A veronica ends.`;
  t.same(
    findPassages(far, termsOf('gopher veronica', true)).passages.map(({ text, cutBefore }) => [
      text.slice(0, 10),
      cutBefore,
    ]),
    [
      ['Gopher beg', false],
      ['A veronica', true],
    ],
    'two passages if the words are far apart',
  );
  t.same(findPassages('none of them', termsOf('gopher')), { passages: [], score: 0 });
});

t.test('passages are parts of the text with a word of the query, of bounded length', async (t) => {
  const word = fc.constantFrom('gopher', 'wais', 'a', 'b.', '\u{1f600}\u{1f600}', 'é'.repeat(300), '? ');
  const text = fc.array(word, { maxLength: 200 }).map((words) => words.join(' '));
  assertProperty(
    fc.property(text, (text) => {
      const { passages } = findPassages(text, termsOf('gopher wais'));
      t.equal(passages.length > 0, /gopher|wais/.test(text));
      let length = 0;
      for (const passage of passages) {
        t.ok(text.includes(passage.text));
        t.match(passage.text, /gopher|wais/);
        t.notMatch(passage.text, /^[\udc00-\udfff]|[\ud800-\udbff]$/);
        length += passage.text.length;
      }
      t.ok(length <= 400, `${length} characters`);
    }),
    { numRuns: 100 },
  );
});

t.test('results show passages of the body; the matched lines are there, folded', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(
      {
        url: 'http://a.example.org/1',
        Title: 'One',
        Description: 'The description',
        'Full-Text': `${FILLER}\nAbout the Gopher\nof Minnesota.\n${FILLER}`,
      },
      { url: 'http://a.example.org/2', Title: 'Two', Description: 'By a writer', Author: 'Gopher, A.' },
    ),
  });
  const { $ } = await get(`${QUERY}?query=gopher&${FIELDS}`);
  const byTitle = (title: string) => $('.results > li').filter((_, li) => $(li).find('h2').text() === title);
  t.match(byTitle('One').find('.description').text().trim(), /^… .*About the Gopher of Minnesota\. .* …$/s);
  t.equal(byTitle('One').find('.description mark').text(), 'Gopher');
  t.match(byTitle('One').find('details.matched summary').text(), /^1 matched line/);
  t.match(byTitle('One').find('details.matched .lines li').text(), /About the Gopher/);
  t.equal(byTitle('Two').find('.description').text(), 'By a writer', 'without a passage, the description');
  t.match(byTitle('Two').find('> .lines li').text(), /Gopher, A\./, 'and the lines that matched');
});

t.test('BRK-2.20: a line that pages repeat is no passage, however the query spells its words', async (t) => {
  const pages = Array.from({ length: 9 }, (_, i) => ({
    url: `http://a.example.org/${i}.html`,
    Title: `Page ${i}`,
    Description: 'The description',
    Body: `Tou\u00ads les te\u0301le\u0301chargements\n${i === 3 ? 'Un t\u00e9l\u00e9chargement, des t\u00e9l\u00e9chargements.' : 'Rien.'}`,
  }));
  const { get } = await openWebsite(t, { documents: documents(...pages) });
  const { $ } = await get(`${QUERY}?query=telechargements`);
  const shown = $('.results > li')
    .map((_, li) => $(li).find('.description').text().replace(/\s+/g, ' ').trim())
    .get();
  t.same(
    new Set(shown),
    new Set(['The description', 'Un t\u00e9l\u00e9chargement, des t\u00e9l\u00e9chargements.']),
  );
  t.equal(shown.length, 9);
});

t.test('BRK-2.20: page, JSON and a client of the protocol choose the same passages', async (t) => {
  const chain = 'Prev Up Chapter 9 Gopher Home Next';
  const page = (i: number, more: Readonly<Record<string, string>>) => ({
    url: `http://a.example.org/manual_(1)/${i}.html`,
    Title: `Page ${i}`,
    ...more,
  });
  const menu = 'Tunnels of every gopher are drawn';
  const { get, server } = await openWebsite(t, {
    documents: documents(
      ...Array.from({ length: 9 }, (_, i) =>
        page(i, { Body: `${menu}\nWais, Archie.`, Description: 'Menus' }),
      ),
      page(20, { Body: `${chain}\n${menu}\nHere is a gopher in a sentence.`, Description: 'Both' }),
      page(21, { Body: `${chain}\n${menu}\nNothing.`, Description: 'Links only' }),
      page(22, { Body: `${chain}\n${menu}\nNothing.` }),
      page(23, { Body: `${chain}\n${menu}\nGopher Holes Of Minnesota\nNothing.`, Description: 'A heading' }),
    ),
  });
  const expected: Readonly<Record<string, RegExp>> = {
    'Page 20': /^(?:… )?Here is a gopher in a sentence\.$/,
    'Page 21': /^Links only$/,
    'Page 22': /^Prev Up Chapter 9 Gopher Home Next/,
    'Page 23': /^Gopher Holes Of Minnesota/,
  };
  const check = (from: string, title: string, passage: string) =>
    t.match(passage.replace(/\s+/g, ' ').trim(), expected[title] ?? /^Menus$/, `${from}: ${title}`);
  const { $ } = await get(`${QUERY}?query=gopher`);
  t.equal($('.results > li').length, 13);
  for (const li of $('.results > li').get())
    check('page', $(li).find('h2').text(), $(li).find('.description').text());
  const json = JSON.parse((await get(`${QUERY}?query=gopher&format=json`)).body);
  t.equal(json.objects.length, 13);
  for (const { title, passage } of json.objects) check('JSON', title, passage);

  const client = new BrokerClient({ host: '127.0.0.1', port: server.address.port });
  const flags = { ignoreCase: true, matchWord: true, contentOnly: true, ignoreAccents: true } as const;
  const terms = TermFinder.of(['gopher'], flags)!;
  const repeated = new RepeatedLines(besideAtBroker(client, undefined));
  let count = 0;
  for await (const hit of client.query('gopher', { ...flags, attributes: ['Title'] })) {
    const passage = await passageOfHit(hit, terms, () => repeated.of(textOfUrl(hit.url)));
    check(
      'client',
      decodeText(hit.attributes[0]?.value ?? new Uint8Array()),
      passage ?? hit.description ?? '',
    );
    count++;
  }
  t.equal(count, 13);
});

t.test('lines that most pages of a host have are no passages', async (t) => {
  const pages = (host: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      url: `http://${host}/manual/${i}.html`,
      Title: `${host} ${i}`,
      Description: 'The description',
      Body: `Downloads of gopher software, with support.\n${i === 3 ? 'All about gopher holes and tools.' : 'Nothing here.'}\nCopyright Gopher Inc`,
    }));
  const { get } = await openWebsite(t, {
    documents: documents(
      ...pages('large.example.org', 9),
      ...pages('small.example.org', 4),
      ...Array.from({ length: 3 }, (_, i) =>
        pages('wide.example.org', 4).map((page) => ({
          ...page,
          url: page.url.replace('manual', `part${i}`),
        })),
      ).flat(),
    ),
  });
  const { $ } = await get(`${QUERY}?query=gopher&${FIELDS}`);
  const shown = (title: string) =>
    $('.results > li')
      .filter((_, li) => $(li).find('h2').text() === title)
      .map((_, li) => $(li).find('.description').text().replace(/\s+/g, ' ').trim())
      .get();
  t.same(shown('large.example.org 3'), ['All about gopher holes and tools.']);
  t.same(shown('large.example.org 4'), ['The description'], 'without another passage, the description');
  t.match(shown('small.example.org 2')[0], /Downloads of gopher software/, 'a small site loses nothing');
  t.same(
    [...new Set(shown('wide.example.org 2'))],
    ['The description'],
    'small directories: the host counts',
  );
});

t.test('nothing found: what was understood, and queries that find something', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(
      { url: 'http://a.example.org/1', Title: 'Vacuum cleaning', 'Full-Text': 'error: x is a message' },
      { url: 'http://a.example.org/2', Title: 'Vacuum tubes', 'Full-Text': 'cleaner' },
      { url: 'http://a.example.org/3', Title: 'Vacuum', 'Full-Text': 'other' },
    ),
  });
  const alternatives = async (query: string, more = '') => {
    const page = await get(`${QUERY}?query=${encodeURIComponent(query)}&${FIELDS}${more}`);
    const rows = page.texts('.alternatives li').map((text) => text.replace(/\s+/g, ' '));
    return { page, rows };
  };
  const spelling = await alternatives('vaucum');
  t.equal(spelling.page.$('h1').text(), 'Nothing found');
  t.match(spelling.page.$('.reading').text(), /^Understood as: the word vaucum\./);
  t.same(spelling.rows, ['Did you mean vacuum? 3 objects']);
  const corrected = await get(spelling.page.$('.alternatives a').attr('href') ?? '');
  t.equal(corrected.$('h1').text(), '3 objects found');

  const missed = await alternatives('vacum');
  t.same(missed.rows, ['Did you mean vacuum? 3 objects', 'Allow one spelling error in each word 3 objects']);

  const attribute = await alternatives('error: x');
  t.match(attribute.page.$('.reading').text(), /^Understood as: x in the attribute error\./);
  t.same(attribute.rows, [
    'As text, not as an attribute: "error: x" 1 object',
    'As words, not as an attribute: error x 1 object',
  ]);
  t.same((await alternatives('error: vaucum cleaning')).rows, [
    'As words, not as an attribute: error vacuum cleaning 1 object',
    'Without error : vaucum 1 object',
  ]);
  t.match(
    (await get(attribute.page.$('.alternatives a').attr('href') ?? '')).$('h1').text(),
    /^1 object found/,
  );

  t.same((await alternatives('vacuum cleaner tape')).rows, [
    'Without tape 1 object',
    'One of the words suffices 3 objects',
  ]);
  t.same((await alternatives('vacu')).rows, ['Also find parts of words 3 objects']);
  t.same((await alternatives('tubes', '&narrow=type%3AText')).rows, [
    'Without narrowing the result 1 object',
  ]);
  t.same((await alternatives('zzzzzz')).rows, []);
  const many = await alternatives('vacuum');
  t.same(many.rows, [], 'enough was found');
  t.equal(many.page.$('.reading').length, 0, 'plain words need no explanation');
});

t.test('a query is described in words', async (t) => {
  const described = (query: string) => load(html`${describeQuery(parseQuery(query))}`.text).text();
  for (const [query, text] of [
    ['#allb', 'every object'],
    ['a b', 'the word a and the word b'],
    ['"a b"', 'the phrase a b'],
    ['a or (b and not c)', 'the word a or (the word b and (not the word c))'],
    ['a except title : b', 'the word a but not b in the attribute title'],
    ['type exact HTML', 'the attribute type is exactly HTML'],
    ['size less-than 5', 'the attribute size is less than 5'],
    ['title regexp "^a"', 'the attribute title matches the regular expression ^a'],
  ] as const) {
    t.equal(described(query), text);
  }
});

t.test('results of many hosts: two objects of each, unless the form lists all', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(
      ...[1, 2, 3, 4, 5].map((n) => ({ url: `http://a.example.org/${n}`, Title: `many ${n}` })),
      { url: 'http://b.example.org/', Title: 'many others' },
    ),
  });
  const all = await get(`${QUERY}?query=many&${FIELDS}`);
  t.equal(all.$('.results > li').length, 6, 'old addresses list all');
  const folded = await get(`${QUERY}?query=many&fold=on&${FIELDS}`);
  t.equal(folded.$('h1').text(), '6 objects found');
  t.equal(folded.$('.results > li').length, 3);
  t.equal(folded.$('.more a').text(), '3 more from a.example.org');
  const host = await get(folded.$('.more a').attr('href') ?? '');
  t.equal(host.$('.results > li').length, 5, 'one host alone is not folded');
});

t.test('newest first: the newest of the whole result', async (t) => {
  const times = [3, 1, 5, 2, 4];
  const { get } = await openWebsite(t, {
    documents: documents(
      ...times.map((time) => ({
        url: `http://a.example.org/${time}`,
        Title: `dated ${time}`,
        'Last-Modification-Time': String(800_000_000 + time),
      })),
    ),
  });
  const fields = FIELDS.replace('maxobjflag=50', 'maxobjflag=3');
  const { $, texts } = await get(`${QUERY}?query=dated&sort=by-date&${fields}`);
  t.same(texts('.results h2'), ['dated 5', 'dated 4', 'dated 3']);
  t.equal($('.tools [aria-current]').text(), 'Newest first');
});

t.test('suggestions complete titles, then words; each title finds its page', async (t) => {
  const titles = [
    'Routine vacuuming',
    'Vacuum',
    'vacuum',
    'VACUUM: cost of it (in "milliseconds")',
    'Progress of vacuum and analyze',
    'Is not vacuum',
    'A <b>bold</b> vacuum & more',
    `Long ${'vacuum '.repeat(30)}`,
  ];
  const { get } = await openWebsite(t, {
    documents: documents(
      ...titles.map((title, i) => ({
        url: `http://a.example.org/${i}`,
        Title: title,
        Body: `text of ${i} about wais`,
      })),
      { url: 'http://a.example.org/none', Body: 'vacuumed without a title' },
    ),
  });
  const suggestions = async (text: string): Promise<string[]> =>
    JSON.parse((await get(`/Harvest/suggestions?query=${encodeURIComponent(text)}`)).body)[1];
  const found = await suggestions('vacu');
  t.equal(found.length <= 8, true);
  const firstWord = found.findIndex((text) => text === 'vacuumed' || text === 'vacuuming');
  t.equal(firstWord, 4, 'four titles first');
  t.match(found[0], /^vacuum/i, 'those that begin with the text');
  t.equal(new Set(found.map((text) => text.toLowerCase())).size, found.length);
  t.same(await suggestions('routine vac'), ['Routine vacuuming', 'routine vacuum', 'routine vacuumed']);
  t.ok((await suggestions('analyze vacu')).includes('Progress of vacuum and analyze'), 'words in any order');
  t.ok(
    (await suggestions('wais vacu')).every((text) => text.startsWith('wais ')),
    'all words in the title',
  );
  for (const typed of ['vacu', 'cost of it', 'bold', 'progress of', 'routine'])
    for (const text of await suggestions(typed)) {
      const page = await get(`/?query=${encodeURIComponent(text)}`);
      t.equal(page.status, 200, text);
      t.ok(page.$('.results > li').length > 0, `${typed}: ${text}`);
    }
  t.ok(
    (await suggestions('cost')).includes('VACUUM cost of it in milliseconds'),
    'without signs of the language',
  );
  t.ok((await suggestions('is not va')).includes('Is "not" vacuum'), 'words of the language in quotes');
  for (const odd of ['"va', '(va', 'title : va', 'a or va', '\\va', '# va'])
    t.type(await suggestions(odd), Array, odd);
});

t.test('suggestions complete the last word, and browsers find them by OpenSearch', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(
      { url: 'http://a.example.org/1', Title: 'gopher gophers' },
      { url: 'http://a.example.org/2', Title: 'gopher' },
    ),
  });
  const suggestions = async (text: string) => {
    const { headers, body } = await get(`/Harvest/suggestions?query=${encodeURIComponent(text)}`);
    t.match(headers['content-type'], /^application\/x-suggestions\+json/);
    return JSON.parse(body);
  };
  t.same(await suggestions('wais and GOP'), ['wais and GOP', ['wais and gopher', 'wais and gophers']]);
  t.same(await suggestions('GOP'), ['GOP', ['gopher gophers', 'gopher', 'gophers']], 'no text twice');
  t.same(await suggestions('gopher '), ['gopher ', []]);
  t.same(await suggestions(`${'a '.repeat(200)}go`), [`${'a '.repeat(200)}go`, []]);
  const { $ } = await get(`${QUERY}?query=gopher&${FIELDS}`);
  t.equal($('#query').attr('role'), undefined, 'without a script it is a field');
  t.equal($('#completions').attr('data-source'), '/Harvest/suggestions');
  const link = $('link[rel=search]');
  t.equal(link.attr('type'), 'application/opensearchdescription+xml');
  const { headers, body } = await get(link.attr('href') ?? '');
  t.match(headers['content-type'], /^application\/opensearchdescription\+xml/);
  const description = load(body, { xml: true });
  const templates = new Map(
    description('Url')
      .get()
      .map((url) => [description(url).attr('type'), description(url).attr('template') ?? '']),
  );
  const results = new URL((templates.get('text/html') ?? '').replace('{searchTerms}', 'gopher'));
  const page = await get(`${results.pathname}${results.search}`);
  t.equal(page.$('h1').text(), '2 objects found');
  const completions = new URL(
    (templates.get('application/x-suggestions+json') ?? '').replace('{searchTerms}', 'gop'),
  );
  t.match((await get(`${completions.pathname}${completions.search}`)).body, /gophers/);
});

t.test('passages are looked for in 400 ms; objects after them have their descriptions', async (t) => {
  // Each look at the clock takes 50 ms; the counts of the page look at it, too.
  const clock = new (class extends ManualClock {
    override now(): number {
      this.advance(50);
      return super.now();
    }
  })();
  const { get } = await openWebsite(t, {
    clock,
    documents: documents(
      ...Array.from({ length: 12 }, (_, i) => ({
        url: `http://a.example.org/${i}.html`,
        Body: `${FILLER}Gopher number ${i}.`,
        Description: 'The description',
      })),
    ),
  });
  const { texts } = await get(`${QUERY}?query=gopher`);
  const shown = texts('.results > li .description').map((text) => /Gopher number/.test(text));
  t.equal(shown.length, 12);
  t.same([shown[0], shown.at(-1)], [true, false]);
  t.notOk(shown.lastIndexOf(true) > shown.indexOf(false), 'those at the beginning have passages');
});
