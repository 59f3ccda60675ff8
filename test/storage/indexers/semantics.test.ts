import t from 'tap';
import { PeerError } from '../../../protocols/errors.js';
import { Base } from './support.js';

const base = await Base.open({ maxLineBytes: 40 });
t.teardown(() => base[Symbol.asyncDispose]());

// OIDs are given in this order, from 1.
await base.put(
  {
    url: 'http://alpha.example/techreports/index.html',
    Title: 'Neural Networks\nand their garbage collection\n',
    Keywords: 'neural\nnetwork\n',
    Year: '1994',
    Author: 'Ada Lovelace\n',
  },
  {
    url: 'http://beta.example/',
    title: 'A network of human-computer interfaces',
    Description: 'It costs US$ 100 and  spans\tblanks; see foo_bar and C++ (draft).',
    Year: '2003',
    Author: 'Lovelace',
  },
  {
    url: 'http://gamma.example/straße',
    Title: 'STRASSE Ünïcode ΣΑΣ İstanbul 😀 naïve',
    'Embed<1>-Title': 'neural inside',
    Body: `first line\r\nsecond humanXcomputer line\nthird and the words\n${'x'.repeat(100)} tail\n`,
    Year: 'unknown',
  },
);

t.test('BRK-2.20 a word matches parts of words unless whole words are asked for', async (t) => {
  t.same(await base.oids('etwor'), [1, 2]);
  t.same(await base.oids('network', { matchWord: true }), [1, 2]);
  t.same(await base.oids('etwor', { matchWord: true }), []);
  t.same(await base.oids('foo', { matchWord: true }), [], 'an underscore belongs to the word');
  t.same(await base.oids('foo_bar', { matchWord: true }), [2]);
  t.same(await base.oids('"C++"', { matchWord: true }), [2], 'bounded by what stands around the whole');
  t.same(await base.oids('C++'), [2]);
});

t.test('BRK-3.7 case counts unless it is to be ignored, in any script', async (t) => {
  t.same(await base.oids('Neural'), [1]);
  t.same(await base.oids('NEURAL'), []);
  t.same(await base.oids('NEURAL', { ignoreCase: true }), [1, 3]);
  t.same(await base.oids('üNÏCODE', { ignoreCase: true }), [3]);
  t.same(await base.oids('σας', { ignoreCase: true }), [3], 'a final sigma is a sigma');
  t.same(await base.oids('σα', { ignoreCase: true }), [3]);
  t.same(await base.oids('😀'), [3]);
});

t.test('BRK-2.5 a phrase lies within one line, runs of blanks being equal', async (t) => {
  t.same(await base.oids('"and spans blanks"'), [2]);
  t.same(await base.oids('"Networks and"'), [], 'not across lines');
  t.same(await base.oids('"garbage collection"', { matchWord: true }), [1]);
  t.same(await base.oids('"arbage collect"'), [1]);
  t.same(await base.oids('"first line"', { matchWord: true }), [3], 'CR LF ends a line too');
});

t.test('BRK-2.12, 2.13, 2.21 and, or, not and except are about the whole object', async (t) => {
  t.same(await base.oids('neural and Lovelace'), [1]);
  t.same(await base.oids('collection or draft'), [1, 2]);
  t.same(await base.oids('not neural'), [2]);
  t.same(await base.oids('network except neural'), [2]);
  t.same(await base.oids('not (neural or draft)'), []);
  t.same(await base.oids('not zzz', { ignoreCase: true, matchWord: true }), [1, 2, 3]);
  t.same(await base.oids('not inside', { ignoreCase: true, matchWord: true, wantLines: false }), [1, 2]);
  t.same(await base.oids('zzz and neural'), []);
});

t.test('BRK-2.14, 2.16, 2.18 a structured term looks at one attribute', async (t) => {
  t.same(await base.oids('title : network'), [2]);
  t.same(await base.oids('KEYWORDS : network'), [1]);
  t.same(await base.oids('url : techreports'), [1]);
  t.same(await base.oids('title : neural'), [], 'not the title of an embedded object');
  t.same(await base.oids('"embed<1>-title" : neural'), [3]);
  t.same(await base.oids('body : second', { ignoreCase: true, matchWord: true, wantLines: false }), [3]);
  t.same(await base.oids('nothing : second'), []);
});

t.test('BRK-2.17 exact, regexp, less-than and greater-than', async (t) => {
  t.same(await base.oids('author exact Lovelace'), [2]);
  t.same(await base.oids('author exact "Ada Lovelace"'), [1], 'a final newline does not count');
  t.same(await base.oids('author exact "ada lovelace"', { ignoreCase: true }), [1]);
  t.same(await base.oids('title regexp "^Neural.*works$"'), [1]);
  t.same(await base.oids('title regexp "H[UM]+AN"', { ignoreCase: true }), [2]);
  t.same(await base.oids('year less-than 2000'), [1]);
  t.same(await base.oids('year greater-than 2000'), [2, 3], 'no number: compared as bytes');
  t.same(await base.oids('year greater-than 1994.5'), [2, 3]);
  t.same(await base.oids('year less-than unknown'), [1, 2]);
  t.same(await base.oids('url exact "http://beta.example/"'), [2]);
});

t.test('BRK-2.22 pattern characters in words', async (t) => {
  t.same(await base.oids('"human.computer"'), [2, 3]);
  t.same(await base.oids('human.computer', { ignoreCase: true, matchWord: true }), [2, 3]);
  t.same(await base.oids('hum#face'), [2]);
  t.same(await base.oids('"^first"'), [3]);
  t.same(await base.oids('"line$"'), [3]);
  t.same(await base.oids('"US$ 100"'), [2], 'inside a word a dollar is a dollar');
  t.same(await base.oids('"human\\.computer"'), []);
  t.same(await base.oids('ga[p-s]bage'), [1]);
  t.same(await base.oids('"garbage|draft"'), [1, 2]);
  t.same(await base.oids('"dra(ft|gon)"'), [2]);
  t.same(await base.oids('"(draft)"'), [2]);
  t.same(await base.oids('"[abc"'), [], 'no pattern: means its characters');
  t.same(await base.oids('"hello\\ there" or "spans\\ blanks"'), [2]);
});

t.test('BRK-2.23 spelling errors', async (t) => {
  t.same(await base.oids('garbige', { errors: 1 }), [1]);
  t.same(await base.oids('grbage', { errors: 1 }), [1]);
  t.same(await base.oids('garbbage', { errors: 1 }), [1]);
  t.same(await base.oids('grbige', { errors: 1 }), []);
  t.same(await base.oids('grbige', { errors: 2 }), [1]);
  t.same(await base.oids('colection', { errors: 1, matchWord: true }), [1]);
  t.same(await base.oids('collect', { errors: 1, matchWord: true }), []);
  t.same(await base.oids('author : "Ada Lowelace"', { errors: 1 }), [1]);
  t.same(await base.oids('"😁 naive"', { errors: 2 }), [3], 'a character is a code point');
  t.same(await base.oids('Q', { errors: 8 }), [], 'fewer errors than characters');
  const { outcome } = await base.searchAll('"garb.ge"', { errors: 1 });
  t.equal(outcome.warnings.length, 1, 'patterns and errors do not combine, and the user is told');
});

t.test('BRK-4.7, 4.8 matched lines are those of the SOIF text', async (t) => {
  const [first] = await base.search('neural', { ignoreCase: true });
  t.same((await base.search('collection'))[0]?.lines, [
    { attribute: 'Title', text: 'and their garbage collection', first: false },
  ]);
  t.same((await base.search('Neural'))[0]?.lines, [
    { attribute: 'Title', text: 'Title{45}:\tNeural Networks', first: true },
  ]);
  t.same((await base.search('beta'))[0]?.lines, [
    { attribute: 'url', text: '@FILE { http://beta.example/', first: true },
  ]);
  t.same((await base.search('author exact Lovelace'))[0]?.lines, [
    { attribute: 'Author', text: 'Author{8}:\tLovelace', first: true },
  ]);
  t.same(
    (await base.search('tail'))[0]?.lines,
    [{ attribute: 'Body', text: 'x'.repeat(40), first: false }],
    'cut',
  );
  t.same((await base.search('not neural'))[0]?.lines, [], 'a word that is lacking has no line');
  t.same(
    (await base.search('collection or Ada'))[0]?.lines.map((line) => line.attribute),
    ['Title', 'Author'],
    'in the order of the object',
  );
  t.ok(first && first.lines.length > 0);
  t.same((await base.search('neural', { wantLines: false }))[0]?.lines, []);
});

t.test('BRK-8.11 limits on lines in all, objects and lines of an object', async (t) => {
  const all = await base.searchAll('e');
  t.same(all.outcome, { complete: true, warnings: [] });
  const lines = all.hits.reduce((sum, hit) => sum + hit.lines.length, 0);
  t.ok(lines > 6);
  const results = await base.searchAll('e', { maxResults: 2 });
  t.equal(
    results.hits.reduce((sum, hit) => sum + hit.lines.length, 0),
    2,
  );
  t.same(results.outcome, { complete: false, reason: 'limit', warnings: [] });
  t.equal((await base.search('e', { maxFiles: 2 })).length, 2);
  t.ok((await base.search('e', { maxLines: 1 })).every((hit) => hit.lines.length === 1));
  t.equal((await base.search('e', { maxResults: 2, wantLines: false })).length, 2);
  t.same(await base.searchAll('e', { maxResults: 0, maxFiles: 0, maxLines: 0 }), all, '0 means no limit');
});

t.test('best hits come first', async (t) => {
  const hits = await base.search('network', { ignoreCase: true, matchWord: true });
  t.same(
    hits.map(({ oid }) => oid),
    [2, 1],
    'a word in the title weighs more',
  );
  t.ok((hits[0]?.score ?? 0) > (hits[1]?.score ?? 0));
});

t.test('BRK-2.19, 4.18 what cannot be answered is refused at the first hit', async (t) => {
  for (const [query, options] of [
    ['title regexp "(unclosed"', {}],
    ['title regexp "(a{100}b{100}){6}"', {}],
    ['a', { errors: 9 }],
    ['"   "', {}],
    [`"${'a'.repeat(300)}"`, {}],
    [Array.from({ length: 600 }, () => 'a').join(' or '), {}],
  ] as const) {
    const error = await base.search(query, options).then(
      () => undefined,
      (e: unknown) => e,
    );
    t.ok(error instanceof PeerError && error.status === 111, query.slice(0, 40));
    t.match(String(error), /ERROR: embedded does not support /);
  }
  await t.rejects(base.search('a', { errors: -1 }), RangeError);
});
