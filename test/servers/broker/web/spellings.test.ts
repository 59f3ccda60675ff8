// The search page finds text, not code points, and what a person reads, not what programs keep (BRK-2.20).
import t from 'tap';
import { document, NOW } from '../helpers.js';
import { openWebsite, QUERY } from './helpers.js';

const DOCUMENTS = [
  ['NFD', 'une e\u0301le\u0301vation du cafe\u0301'],
  ['Hyphens', 'co\u00adoperate soft\u00adware; the retry\u2010backoff helper; zero\u200bwidth hid\ufeffden'],
  ['Apostrophes', 'Banquo\u2019s ghost, la bataille d\u2019Actium'],
  [
    'Letters',
    'Stra\u00dfe, \u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd, \ufb01le, \u03a7\u03b1\u03c0\u03b9\u03c4\u03ac\u03c2',
  ],
  ['StringBuilder', 'edit pg_hba.conf, call HashMap.computeIfAbsent'],
] as const;

function documents() {
  return DOCUMENTS.map(([title, body], i) => ({
    updateTime: NOW - 1000 - i,
    text: document(
      `http://kit.example.org/harvest/${i + 1}.html`,
      {
        Type: 'HTML',
        Title: title,
        Body: body,
        MD5: `cafe${i}`,
        'Url-References': 'http://other.example/kit',
      },
      NOW - 1000 - i,
    ),
  }));
}

t.test(
  'BRK-2.20: words are found whatever code points spell them, and marked as they are written',
  async (t) => {
    const { get } = await openWebsite(t, { documents: documents() });
    for (const [query, title, marked] of [
      ['\u00e9l\u00e9vation', 'NFD', 'e\u0301le\u0301vation'],
      ['elevation', 'NFD', 'e\u0301le\u0301vation'],
      ['CAF\u00c9', 'NFD', 'cafe\u0301'],
      ['software', 'Hyphens', 'soft\u00adware'],
      ['cooperate', 'Hyphens', 'co\u00adoperate'],
      ['zerowidth', 'Hyphens', 'zero\u200bwidth'],
      ['hidden', 'Hyphens', 'hid\ufeffden'],
      ['hid\ufeffden', 'Hyphens', 'hid\ufeffden'],
      ['"retry backoff"', 'Hyphens', 'retry\u2010backoff'],
      ["Banquo's", 'Apostrophes', 'Banquo'],
      ['"d\'Actium"', 'Apostrophes', 'd\u2019Actium'],
      ['strasse', 'Letters', 'Stra\u00dfe'],
      ['\u05e9\u05dc\u05d5\u05dd', 'Letters', '\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd'],
      ['file', 'Letters', '\ufb01le'],
      ['\u03c7\u03b1\u03c0\u03b9\u03c4\u03b1\u03c3', 'Letters', '\u03a7\u03b1\u03c0\u03b9\u03c4\u03ac\u03c2'],
      ['"string builder"', 'StringBuilder', undefined],
      ['hba', 'StringBuilder', 'hba'],
      ['"compute if absent"', 'StringBuilder', 'computeIfAbsent'],
      ['HashMap.computeIfAbsent', 'StringBuilder', 'HashMap.computeIfAbsent'],
    ] as const) {
      const page = await get(`${QUERY}?${new URLSearchParams({ query })}`);
      t.same(page.texts('.results h2'), [title], query);
      if (marked !== undefined) t.equal(page.$('.results mark').first().text(), marked, query);
    }
  },
);

t.test('BRK-2.20: what programs keep about a page is found by its name only', async (t) => {
  const { get } = await openWebsite(t, { documents: documents() });
  for (const query of ['cafe0', 'kit', 'harvest', 'other', 'localhost', 'html'])
    t.same((await get(`${QUERY}?query=${query}`)).texts('.results h2'), [], query);
  t.same((await get(`${QUERY}?query=md5+:+cafe0`)).texts('.results h2'), ['NFD']);
  t.equal((await get(`${QUERY}?query=url+:+kit`)).$('.results h2').length, DOCUMENTS.length);
});

t.test('only what was typed: accents count', async (t) => {
  const { get } = await openWebsite(t, { documents: documents() });
  const fields = 'caseflag=on&wordflag=on';
  t.same((await get(`${QUERY}?query=elevation&${fields}`)).texts('.results h2'), []);
  const query = encodeURIComponent('\u00e9l\u00e9vation');
  t.same((await get(`${QUERY}?query=${query}&${fields}`)).texts('.results h2'), ['NFD']);
});
