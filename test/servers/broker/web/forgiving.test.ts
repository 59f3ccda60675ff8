// The search page reads plain words as a person means them, says what it did, and offers what was typed.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { document, NOW } from '../helpers.js';
import { openWebsite, QUERY } from './helpers.js';

/** The fields of the form with its default flags. */
const FIELDS = 'caseflag=on&wordflag=on&forms=on&opaqueflag=on&descflag=on&verbose=on&maxobjflag=50';
/** The fields of a query URL of the nineties. */
const OLD_FIELDS = 'caseflag=on&wordflag=on&opaqueflag=on&descflag=on&verbose=on&maxobjflag=50';
const ENGLISH = 'the and of';

function documents(...pages: readonly (readonly [title: string, body: string])[]) {
  return pages.map(([title, body], i) => ({
    updateTime: NOW - 1000 - i,
    text: document(
      `http://a.example.org/${i + 1}`,
      { Type: 'HTML', Title: title, Body: `${ENGLISH} ${body}` },
      NOW - 1000 - i,
    ),
  }));
}

t.test('other forms of the words are found and named; one click gives what was typed', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(
      ['One', 'replication of objects'],
      ['Two', 'an object that is replicated'],
      ['Three', 'other'],
    ),
  });
  const { $, texts } = await get(`${QUERY}?query=object+replication&${FIELDS}`);
  t.same(texts('.results h2').sort(), ['One', 'Two']);
  const said = $('p.reading').text().replace(/\s+/g, ' ').trim();
  t.match(said, 'Also found: objects, replicated. Only what was typed');
  t.match(said, /Only what was typed$/);
  const exact = await get($('p.reading a').attr('href') ?? '');
  t.match(exact.$('h1').text(), /^Nothing found|^0/);
  const strict = await get(`${QUERY}?query=objects+replication&${OLD_FIELDS}`);
  t.same(strict.texts('.results h2'), ['One'], 'an old URL means what it says');
  t.equal(strict.$('p.reading').text().includes('Also found'), false);
});

t.test('objects with all words and with some are in one order, with what each lacks', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(['Both', 'gopher veronica'], ['First', 'gopher'], ['Second', 'veronica']),
  });
  const page = await get(`${QUERY}?query=gopher+veronica&${FIELDS}`);
  t.equal(page.texts('.results h2')[0], 'Both');
  t.equal(page.$('.results h2').length, 3);
  t.match(page.$('p.reading').text(), 'One object has all of the words; 2 more have some of them.');
  t.match(page.$('h1').text(), '3 objects found');
  t.equal(page.texts('.results .without').length, 2);
  t.match(page.$('.results li').has('h2:contains("First")').find('.without').text(), 'Without: veronica');
  const json = JSON.parse((await get(`${QUERY}?query=gopher+veronica&format=json`)).body);
  t.equal(json.reading, 'One object has all of the words; 2 more have some of them.');
  t.equal(json.total, 3);
  t.same(
    Object.fromEntries(
      json.objects.map((object: { title: string; without?: string[] }) => [object.title, object.without]),
    ),
    { Both: undefined, First: ['veronica'], Second: ['gopher'] },
  );
  const all = await get(`${QUERY}?query=gopher&format=json`);
  t.equal(JSON.parse(all.body).reading, undefined, 'one word has nothing to lack');
  const none = await get(`${QUERY}?query=gopher+wais&${FIELDS}`);
  t.match(none.$('p.reading').text(), 'No object has all of the words; these have some of them.');
});

t.test('a page that lacks a word that says little precedes one that only mentions all words', async (t) => {
  const filler = Array.from({ length: 12 }, (_, i) => [`Filler ${i}`, 'get things, other texts'] as const);
  const { get } = await openWebsite(t, {
    documents: documents(
      ['Change log', 'message here, long lists, then get, and much later in another part error'],
      ['Error message', 'the error message of a call: each error has its message'],
      ...filler,
    ),
  });
  const page = await get(`${QUERY}?query=get+error+message`);
  t.same(page.texts('.results h2').slice(0, 2), ['Error message', 'Change log']);
  t.match(page.$('.results .without').first().text(), 'Without: get');
  t.equal(
    page.texts('.results h2').length,
    2,
    'those that have only the word that says little are not listed',
  );
  t.match(page.$('p.reading').text(), 'One object has all of the words; one more has some of them.');
  const quoted = await get(`${QUERY}?query=${encodeURIComponent('"get" error message')}`);
  t.same(quoted.texts('.results h2'), ['Change log'], 'a word in quotes is required');
  const byDate = await get(`${QUERY}?query=get+error+message&sort=by-date`);
  t.equal(byDate.texts('.results h2')[0], 'Change log', 'by date those with all words are first');
  const narrowed = await get(`${QUERY}?query=get+error+message&narrow=type:Other`);
  t.match(narrowed.$('h1').text(), 'Nothing found', 'a narrowing is required');
});

t.test(
  'pages of a list with some of the words: no object twice, and the counts are those of the whole',
  async (t) => {
    const { get } = await openWebsite(t, {
      documents: documents(
        ...Array.from({ length: 30 }, (_, i) => [`Both ${i}`, 'gopher veronica'] as const),
        ...Array.from({ length: 25 }, (_, i) => [`One ${i}`, i % 2 === 0 ? 'gopher' : 'veronica'] as const),
      ),
    });
    const titles: string[] = [];
    for (const n of [1, 2, 3]) {
      const page = await get(`${QUERY}?query=gopher+veronica&page=${n}`);
      t.match(page.$('h1').text(), '55 objects found');
      t.match(page.$('p.reading').text(), '30 objects have all of the words; 25 more have some of them.');
      titles.push(...page.texts('.results h2'));
    }
    t.equal(new Set(titles).size, 55);
    t.ok(titles.slice(0, 30).every((title) => title.startsWith('Both')));
  },
);

t.test('of five words those that say nothing need not occur; of fewer they must', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(['Guide', 'restore a dump to another server'], ['Other', 'nothing']),
  });
  const many = await get(`${QUERY}?query=how+can+you+restore+dump&${FIELDS}`);
  t.match(many.$('p.reading').text(), /Not required: .?how/);
  t.equal(many.$('.results h2').first().text(), 'Guide');
  const few = await get(`${QUERY}?query=how+restore&${FIELDS}`);
  t.match(few.$('p.reading').text(), 'No object has all of the words');
});

t.test('quotes, attributes and operators are asked as they are', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(['One', 'replicated'], ['Two', 'replication']),
  });
  for (const query of ['"replication"', 'title : two', 'replication and not gopher', 'repl#']) {
    const { $ } = await get(`${QUERY}?query=${encodeURIComponent(query)}&${FIELDS}`);
    t.equal($('.results h2').length <= (query === 'repl#' ? 2 : 1), true, query);
    t.notMatch($('p.reading').text(), 'Also found', query);
  }
});

t.test('hostile texts: nothing of a query becomes markup', async (t) => {
  const { get } = await openWebsite(t, { documents: documents(['One', 'scripts']) });
  const { $, status } = await get(`${QUERY}?query=${encodeURIComponent('script <b>x</b>')}&${FIELDS}`);
  t.ok(status === 200 || status === 400);
  t.equal($('main b').length, 0);
});

t.test('a point is a point, and an apostrophe any apostrophe', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(
      ['What\u2019s new', 'in version 3.11 of robots.txt'],
      ['Other', 'in version 3x11, robotsXtxt'],
    ),
  });
  for (const query of ['robots.txt', '3.11', "what's new"]) {
    const { $ } = await get(`${QUERY}?query=${encodeURIComponent(query)}&${FIELDS}`);
    t.same(
      $('.results h2')
        .get()
        .map((h2) => $(h2).text()),
      ['What\u2019s new'],
      query,
    );
  }
  const exact = await get(`${QUERY}?query=robots.txt&${OLD_FIELDS}`);
  t.equal(exact.$('.results h2').length, 2, 'BRK-2.22: in an old URL a point is any character');
});

t.test('few objects with all of three words: those with two precede those with one', async (t) => {
  const { get } = await openWebsite(t, {
    documents: documents(
      ...['Another', 'More', 'Most'].map((title) => [title, 'wais'] as const),
      ['Two', 'gopher and, much later in a long text of other words, veronica'],
      ['Others', 'gopher, mosaic and veronica'],
      ['Archie', 'archie'],
    ),
  });
  const two = await get(`${QUERY}?query=gopher+veronica+wais`);
  t.same(two.texts('.results h2').slice(0, 2).sort(), ['Others', 'Two'].sort());
  t.equal(two.texts('.results h2').length, 5);
  t.match(two.$('p.reading').text(), 'No object has all of the words; these have some of them.');
  const stopped = await get(`${QUERY}?query=the+archie+gopherspace`);
  t.same(stopped.texts('.results h2'), ['Archie'], 'a word that says nothing is not one of the most');
});

t.test('most of the words also without whole words, and of another Broker', async (t) => {
  const other = await openWebsite(t, { documents: documents(['One', 'gopher'], ['Two', 'veronica']) });
  const { get, directory } = await openWebsite(t, {
    documents: documents(['Here', 'gopherspace'], ['Too', 'veronicas']),
  });
  await writeFile(join(directory, 'Brokers.cf'), `Other 127.0.0.1 ${other.server.address.port}\n`);
  const parts = await get(`${QUERY}?query=gopher+veronica&caseflag=on&forms=on`);
  t.same(parts.texts('.results h2').sort(), ['Here', 'Too']);
  t.match(parts.$('p.reading').text(), 'No object has all of the words; these have some of them.');
  const there = await get(`${QUERY}?query=gopher+veronica+and&broker=Other`);
  t.same(there.texts('.results h2').sort(), ['One', 'Two']);
  t.match(there.$('p.reading').text(), /and is left out.*No object has all of the words/);
});

t.test(
  'operators without operands and an open quote search words, with a sentence; exactly, they are errors',
  async (t) => {
    const { get } = await openWebsite(t, {
      documents: documents(['Gopher', 'gopher and veronica'], ['Wais', 'wais']),
    });
    const page = async (query: string, fields = '') =>
      get(`${QUERY}?query=${encodeURIComponent(query)}${fields}`);
    for (const [query, titles, sentence] of [
      ['and', ['Gopher', 'Wais'], '“and” is searched for as text.'],
      ['gopher AND', ['Gopher'], '“AND” is left out, having no meaning there.'],
      ['AND gopher', ['Gopher'], '“AND” is left out, having no meaning there.'],
      ['gopher and and veronica', ['Gopher'], '“and” is left out, having no meaning there.'],
      ['"gopher veronica', ['Gopher'], 'A quote is not closed, so its words are searched for one by one.'],
      ['(gopher', ['Gopher'], '“(” is left out, having no meaning there.'],
      ['gopher)', ['Gopher'], '“)” is left out, having no meaning there.'],
      [': gopher', ['Gopher'], '“:” is left out, having no meaning there.'],
      ['gopher & veronica', ['Gopher'], '“&” is left out, having no meaning there.'],
      ['gopher?', ['Gopher'], undefined],
    ] as const) {
      const { status, $, texts } = await page(query);
      t.equal(status, 200, query);
      t.same(texts('.results h2').sort(), titles, query);
      const said = $('p.reading').text();
      t.equal(said.includes('Only what was typed'), sentence !== undefined, query);
      t.equal($('input[name=query]').attr('value'), query);
      const json = JSON.parse((await page(query, '&format=json')).body);
      t.equal(json.objects.length, titles.length, `JSON: ${query}`);
      t.equal(json.reading, sentence, `JSON: ${query}`);
      t.equal((await page(query, '&format=rss')).status, 200, `RSS: ${query}`);
      if (sentence === undefined || query.includes('&')) continue;
      const exact = await page(query, `&${OLD_FIELDS}`);
      t.equal(exact.status, 400, `exactly: ${query}`);
      t.match(exact.$('[role=alert]').text(), /cannot be read/);
    }
  },
);

t.test(
  'signs alone are searched for; nothing at all is answered with a sentence, for a program with 400',
  async (t) => {
    const { get } = await openWebsite(t, { documents: documents(['Code', 'a @> b'], ['Other', 'text']) });
    const page = async (query: string, fields = '') =>
      get(`${QUERY}?query=${encodeURIComponent(query)}${fields}`);
    t.same((await page('@>')).texts('.results h2'), ['Code']);
    for (const query of ['...', '#', '\\', '"', '( )', ':', '&']) {
      const { status, $ } = await page(query);
      t.equal(status, 200, query);
      t.equal($('[role=alert]').length, 0, query);
    }
    for (const query of ['', '  ', '\n', '\u200b', '\u00ad \ufeff']) {
      const { status, $ } = await page(query);
      t.equal(status, 200);
      t.match($('[role=status]').text(), 'Type at least one word');
      t.equal($('[aria-invalid]').length, 0, 'no error');
      t.equal($('[role=alert]').length, 0);
      const json = await page(query, '&format=json');
      t.equal(json.status, 400);
      t.match(JSON.parse(json.body).failure, 'at least one word');
    }
  },
);
