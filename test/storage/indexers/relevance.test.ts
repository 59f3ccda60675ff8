// The order of hits: words, their forms, phrases and titles.
import fc from 'fast-check';
import t from 'tap';
import { lettersOf } from '../../../protocols/broker/index.js';
import { isStopWord, WordForms } from '../../../storage/indexers/embedded/words/word-forms.js';
import { assertProperty } from '../../helpers/property.js';
import { EmbeddedFixture, type ObjectAttributes, objectOf } from './embedded-fixture.js';

const PAGE = { ignoreCase: true, matchWord: true, wantLines: false } as const;
/** Text without a word of the queries, so that bodies have similar lengths. */
const FILLER = 'nothing of interest is said in this sentence and the next one of them '.repeat(8);

/** Returns the titles of the hits in their order. */
async function titlesFor(fixture: EmbeddedFixture, query: string, options = {}): Promise<string[]> {
  const hits = await fixture.search(query, { ...PAGE, ...options });
  return Promise.all(hits.map(async ({ oid }) => titles.get(oid) ?? ''));
}

/** The titles of the objects, by OID. */
const titles = new Map<number, string>();

async function fixtureOf(...objects: readonly ObjectAttributes[]): Promise<EmbeddedFixture> {
  const fixture = await EmbeddedFixture.open();
  await fixture.put(...objects);
  titles.clear();
  for (const [i, { Title }] of objects.entries()) titles.set(i + 1, String(Title));
  return fixture;
}

t.test('a title that is the query, then one that holds it, then headings, then the text', async (t) => {
  await using fixture = await fixtureOf(
    { Title: 'Text', Body: `${FILLER} how to create an index ${FILLER}` },
    { Title: 'Far apart', Body: `create ${FILLER} ${FILLER} ${FILLER} index` },
    { Title: 'Headings', Headings: 'create index', Body: FILLER },
    { Title: 'Progress of create index and other commands', Body: FILLER },
    { Title: 'CREATE INDEX', Body: FILLER },
  );
  t.same(await titlesFor(fixture, 'create and index'), [
    'CREATE INDEX',
    'Progress of create index and other commands',
    'Headings',
    'Text',
    'Far apart',
  ]);
});

t.test('the words of the URLs that a page links to do not weigh; they are found', async (t) => {
  const links = Array.from({ length: 50 }, (_, i) => `http://h/vacuum-${i}.html`).join('\n');
  await using fixture = await fixtureOf(
    { Title: 'Links', Body: FILLER, 'URL-References': links },
    { Title: 'Text', Body: `${FILLER} vacuum ${FILLER}` },
  );
  t.same(await titlesFor(fixture, 'vacuum'), ['Text', 'Links']);
  t.same(await titlesFor(fixture, 'url-references : vacuum'), ['Links']);
});

t.test('other forms of a word count, but do not match: the answer stays exact', async (t) => {
  const body = `the and of ${FILLER}`;
  await using fixture = await fixtureOf(
    { Title: 'One', Body: `${body} replication` },
    { Title: 'Both', Body: `${body} replication replicated replicate replicates` },
    { Title: 'Other', Body: `${body} replicated` },
  );
  t.same(await titlesFor(fixture, 'replication'), ['Both', 'One']);
  t.same((await titlesFor(fixture, 'replicated')).sort(), ['Both', 'Other']);
});

t.test('two words that an object spells as one count as both, but do not match', async (t) => {
  const body = `data ${FILLER} types ${FILLER}`;
  await using fixture = await fixtureOf(
    { Title: 'Apart', Body: body },
    { Title: 'Datatypes', Body: `${body} ${FILLER} the datatype of a column` },
    { Title: 'Only as one', Body: `${FILLER} datatype` },
    ...Array.from({ length: 20 }, (_, i) => ({ Title: `Other ${i}`, Body: FILLER })),
  );
  t.same(await titlesFor(fixture, 'data and types'), ['Datatypes', 'Apart']);
  t.same(
    await titlesFor(fixture, 'types and data'),
    ['Apart', 'Datatypes'],
    'in the order of the query only',
  );
});

t.test('a title that is the query after the name of what the objects are about', async (t) => {
  const english = `the and of ${FILLER}`;
  const about = `acme ${english}`;
  const others = (count: number, body: string) =>
    Array.from({ length: count }, (_, i) => ({ Title: `Other ${i}`, Body: body }));
  await using fixture = await fixtureOf(
    { Title: 'Check the glossary of acme', Body: `${about} glossary glossary` },
    { Title: 'acmeglossary(7)', Body: `${about} a glossary of terms` },
    { Title: 'theglossary', Body: `${about} the glossary` },
    { Title: 'betaglossary', Body: `${about} glossary` },
    { Title: 'Text', Body: `${about} glossary acmeterms acme acme` },
    ...others(12, `${about} beta`),
    ...others(2, `${about} rare`),
    ...others(1, english),
  );
  const [first] = await titlesFor(fixture, 'glossary');
  t.equal(first, 'acmeglossary(7)');
  const forms = async (text: string) => {
    const words = await fixture.indexer.words?.({ kind: 'forms', text, limit: 9, lifetimeMs: 60_000 });
    return words?.map(({ word }) => word);
  };
  t.same(
    await forms('glossary'),
    ['glossary', 'acmeglossary'],
    'not after a word of a few, or one that says nothing',
  );
  t.same(await forms('terms'), ['terms'], 'only if it is in a title');
});

t.test('words that say nothing do not decide the order', async (t) => {
  await using fixture = await fixtureOf(
    { Title: 'How to', Body: `how to do this and how to do that, the index of ${FILLER}` },
    { Title: 'Vacuum', Body: `${FILLER} how to vacuum` },
    { Title: 'To', Body: `the and of to ${FILLER} vacuum` },
  );
  const [first] = await titlesFor(fixture, 'how or to or vacuum');
  t.equal(first, 'Vacuum');
  t.same((await titlesFor(fixture, 'to')).length, 3, 'alone they count');
});

t.test('the article of English says nothing, and a letter with an accent is another word', async (t) => {
  await using fixture = await fixtureOf({ Title: 'à', Body: 'the and of a à á' });
  const found: unknown[] = [];
  for (const text of ['a', 'á', 'the']) {
    const signal = new AbortController().signal;
    found.push(
      await fixture.indexer.words?.({
        kind: 'forms',
        text,
        limit: 9,
        lifetimeMs: 10_000,
        client: 'x',
        signal,
      }),
    );
  }
  t.match(found, [[{ word: 'a', isStopWord: true }], [{ word: 'á' }], [{ word: 'the', isStopWord: true }]]);
  t.same(
    found.map((words) => (words as unknown[]).length),
    [1, 1, 1],
  );
});

t.test('accents and case: a page finds other spellings, and the words as typed come first', async (t) => {
  const french = 'les une dans les une dans';
  await using fixture = await fixtureOf(
    { Title: 'Plain', Body: `${french} resume` },
    { Title: 'Accents', Body: `${french} résumé` },
  );
  t.same(await titlesFor(fixture, 'RÉSUMÉ'), ['Accents']);
  for (const [text, expected] of [
    ['Résumé', ['résumé', 'resume']],
    ['resume', ['resume', 'résumé']],
  ] as const) {
    const words = await fixture.indexer.words?.({ kind: 'forms', text, limit: 5, lifetimeMs: 60_000 });
    t.same(
      words?.map(({ word }) => word),
      expected,
    );
  }
});

t.test('marks: words of the same letters, whatever their accents', (t) => {
  const matches = (word: string, other: string) => lettersOf(word) === lettersOf(other);
  for (const [word, other] of [
    ['resume', 'résumé'],
    ['résumé', 'resume'],
    ['ecole', 'école'],
    ['елка', 'ёлка'],
    ['μηνυμα', 'μήνυμα'],
    ['cafe', 'cafe\u0301'],
  ] as const)
    t.ok(matches(word, other), `${word} ${other}`);
  t.notOk(matches('мои', 'мой'), 'й is another letter than и');
  t.notOk(matches('resume', 'resumes'));
  t.equal(lettersOf('Việt'), 'Viet');
  t.end();
});

t.test('an order that is not asked for is that of the objects, with the same hits', async (t) => {
  await using fixture = await fixtureOf(
    { Title: 'First', Body: `${FILLER} gopher` },
    { Title: 'Gopher', Body: FILLER },
  );
  t.same(await titlesFor(fixture, 'gopher'), ['Gopher', 'First']);
  t.same(await titlesFor(fixture, 'gopher', { ordered: false }), ['First', 'Gopher']);
});

t.test('the texts of the links to a page count, as long as the pages that link exist', async (t) => {
  const linking = (i: number, text: string) => ({
    url: `http://h/from-${i}`,
    Title: `Linking ${i}`,
    'Link-Text': `http://h/target ${text}\nhttp://h/other Something else`,
  });
  const body = `the and of ${FILLER} thread ${FILLER} pools ${FILLER}`;
  await using fixture = await fixtureOf(
    { url: 'http://h/first', Title: 'First', Body: body },
    { url: 'http://h/target', Title: 'Target', Body: body },
    linking(3, 'Thread Pools'),
    linking(4, 'the thread-pool'),
    linking(5, 'thread'),
  );
  const order = async (query: string) =>
    (await titlesFor(fixture, query)).filter((title) => !title.startsWith('Linking'));
  t.same(await order('thread and pools'), ['Target', 'First'], 'in any case and form');
  t.same(await order('pools and thread'), ['Target', 'First'], 'in any order');
  t.same(
    await titlesFor(fixture, '(the) and thread and pools'),
    ['Target', 'First'],
    'with words that say nothing',
  );
  t.same(
    await titlesFor(fixture, 'link-text : "thread pools"'),
    ['Linking 3'],
    'an attribute like any other',
  );
  const replace = (time: number, ...texts: readonly string[]) =>
    fixture.putSoif(texts.map((text, i) => objectOf({ ...linking(i + 3, 'x'), 'Link-Text': text }, time)));
  await replace(2, 'http://h/first Thread pools', 'http://h/first Thread pools');
  t.same(await order('thread and pools'), ['First', 'Target'], 'replaced');
  await fixture.reopen();
  t.same(await order('thread and pools'), ['First', 'Target'], 'after a restart');
  await replace(3, 'http://h/target thread pools', ' \nx\nhttp://h/first');
  t.same(await order('thread and pools'), ['Target', 'First'], 'replaced again');
  await replace(4, '');
  t.same(await order('thread and pools'), ['First', 'Target'], 'none: the order of the objects');
  await fixture.indexer.clear();
  await replace(5, 'http://h/target thread pools');
  t.same(await order('thread and pools'), ['Target', 'First'], 'after a rebuild');
});

t.test('objects that are replaced many times have the scores of new ones', async (t) => {
  const objects = [
    { Title: 'One', Body: 'the and of rare common' },
    { Title: 'Two', Body: 'the and of common common' },
    { Title: 'Three', Body: 'the and of common' },
  ];
  await using fixture = await fixtureOf(...objects);
  const scores = async () =>
    (await fixture.search('rare or common', PAGE)).map(({ oid, score = 0 }) => [oid, score.toFixed(6)]);
  const before = await scores();
  t.equal(before.length, 3);
  for (let time = 2; time < 12; time++)
    await fixture.putSoif(
      objects.map((object, i) => objectOf({ url: `http://h/${i + 1}`, ...object }, time)),
    );
  t.same(await scores(), before);
});

t.test('every hit has a score; those without a word where it counts have 0', async (t) => {
  await using fixture = await fixtureOf(
    { Title: 'Text', Body: 'gopher' },
    { Title: 'Part', Body: 'gophers' },
    { Title: 'Links', 'URL-References': 'http://h/gopher' },
  );
  const hits = await fixture.search('gopher', { ...PAGE, matchWord: false });
  t.same(
    hits.map(({ score = Number.NaN }) => score > 0),
    [true, false, false],
  );
  t.ok(hits.every(({ score }) => score !== undefined));
});

t.test('hostile words: any text of a query gets finite scores in a descending order', async (t) => {
  await using fixture = await fixtureOf(
    { Title: 'Alpha', Body: 'alpha beta the gamma gammas' },
    { Title: 'Beta', Body: 'beta beta beta', Keywords: 'alpha' },
    { Title: '', Body: '' },
    { Title: 'the the the', Body: 'x'.repeat(70) },
  );
  const word = fc.constantFrom(
    'alpha',
    'beta',
    'the',
    'gamma',
    'gammas',
    'x'.repeat(70),
    'ſ',
    '\u0301',
    'rest',
    'near',
  );
  const query = fc
    .array(word, { minLength: 1, maxLength: 20 })
    .map((words) => words.map((w) => `"${w}"`).join(' or '));
  await assertProperty(
    fc.asyncProperty(query, async (text) => {
      const hits = await fixture.search(text, PAGE);
      const scores = hits.map(({ score = 0 }) => score);
      t.ok(scores.every(Number.isFinite), text);
      t.same(
        scores,
        [...scores].sort((a, b) => b - a),
      );
    }),
    { numRuns: 60 },
  );
});

t.test('forms: words with the same stem in the languages of the documents', (t) => {
  const isForm = (language: string, word: string, other: string) =>
    new WordForms(word, [language]).includes(other);
  for (const [language, word, other] of [
    ['en', 'index', 'indexes'],
    ['en', 'replication', 'replicated'],
    ['en', 'library', 'libraries'],
    ['en', 'status', 'statuses'],
    ['en', 'statuses', 'status'],
    ['en', 'alias', 'aliases'],
    ['en', 'aliases', 'alias'],
    ['en', 'alias', 'aliased'],
    ['en', 'focused', 'focus'],
    ['en', 'virus', 'viruses'],
    ['en', 'bus', 'buses'],
    ['en', 'buses', 'bus'],
    ['en', 'lens', 'lenses'],
    ['en', 'menu', 'menus'],
    ['en', 'menus', 'menu'],
    ['en', 'process', 'processes'],
    ['ru', 'документ', 'документами'],
    ['ru', 'поиска', 'поиск'],
    ['de', 'datenbank', 'datenbanken'],
    ['fr', 'serveur', 'serveurs'],
    ['fr', 'resume', 'résumé'],
  ] as const) {
    t.ok(isForm(language, word, other), `${word}: ${other}`);
    const { beginnings } = new WordForms(word, [language]);
    t.ok(
      beginnings.some((beginning) => other.startsWith(beginning)) || lettersOf(other) === lettersOf(word),
      `${other} begins as ${word}`,
    );
  }
  t.notOk(isForm('en', 'index', 'index'), 'a word is no form of itself');
  t.notOk(isForm('ru', 'index', 'indexes'), 'another language');
  t.notOk(isForm('en', 'index', 'indicate'));
  t.notOk(isForm('en', 'us', 'uses'));
  t.notOk(isForm('en', 'news', 'newest'));
  t.notOk(isForm('en', 'lens', 'lend'));
  t.same(new WordForms('an', ['en']).beginnings, [], 'too short');
  t.same(new WordForms('index', ['xx']).beginnings, [], 'an unknown language');
  t.ok(isStopWord('the', ['en']));
  t.notOk(isStopWord('the', ['ru']));
  t.ok(isStopWord('и', ['ru']));
  t.end();
});
