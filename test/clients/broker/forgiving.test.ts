// A query as a person means it: what the language cannot read is searched for as words.
import t from 'tap';
import { fewerOf, forgivenSentence, readForgiving, sentenceText } from '../../../clients/broker/forgiving.js';
import { formatQuery, parseQuery } from '../../../protocols/broker/index.js';

function read(text: string): readonly [query: string, sentence: string] | undefined {
  const reading = readForgiving(text);
  return reading && [formatQuery(reading.query), sentenceText(forgivenSentence(reading))];
}

t.test('a query of the language is read by its rules, and nothing is said', async (t) => {
  for (const query of [
    'a',
    'a and b or c',
    'not a',
    'a not b',
    '(a or b) except c',
    'title : (dog and cat) or potato',
    'title : harvest',
    'type exact HTML',
    '"quoted words" "and"',
    '"a=b"',
    '"&"',
    '#allb',
    ' #ALLB ',
    'C++',
    "what's new",
    'repl#',
    'v[12].x',
  ])
    t.same(read(query), [formatQuery(parseQuery(query)), ''], query);
});

t.test('what has no meaning where it stands is left out, or is a word', async (t) => {
  const cases: readonly (readonly [text: string, query: string, sentence: string])[] = [
    ['and', '"and"', '“and” is searched for as text.'],
    ['or not', '"or" and "not"', '“or”, “not” are searched for as text.'],
    ['NOT', '"NOT"', '“NOT” is searched for as text.'],
    ['a AND', 'a', '“AND” is left out, having no meaning there.'],
    ['AND a', 'a', '“AND” is left out, having no meaning there.'],
    ['a and and b', 'a and b', '“and” is left out, having no meaning there.'],
    ['a and or b', 'a and b', '“or” is left out, having no meaning there.'],
    ['not not a', 'not a', '“not” is left out, having no meaning there.'],
    ['a and not', 'a', '“not”, “and” are left out, having no meaning there.'],
    ['(open paren', 'open and paren', '“(” is left out, having no meaning there.'],
    ['a)', 'a', '“)” is left out, having no meaning there.'],
    [')a(', 'a', '“)”, “(” are left out, having no meaning there.'],
    ['a () b', 'a and b', '“()” is left out, having no meaning there.'],
    ['(a and) or b', 'a or b', '“and” is left out, having no meaning there.'],
    ['a and (or) b', 'a and b', '“or”, “()” are left out, having no meaning there.'],
    [': x', 'x', '“:” is left out, having no meaning there.'],
    ['title :', 'title', '“:” is left out, having no meaning there.'],
    ['title:(vacuum', 'title : vacuum', '“(” is left out, having no meaning there.'],
    ['title:(a or b', 'title : a or b', '“(” is left out, having no meaning there.'],
    ['title : (a or )', 'title : (a)', '“or” is left out, having no meaning there.'],
    ['“a b” and „c d“ «e»', '"a b" and "c d" and "e"', ''],
    ['“a b', '"a" and "b"', 'A quote is not closed, so its words are searched for one by one.'],
    ['std::vector', 'std and vector', '“:” is left out, having no meaning there.'],
    ['regexp functions', '"regexp" and functions', '“regexp” is searched for as text.'],
    ['size less-than', 'size and "less-than"', '“less-than” is searched for as text.'],
    ['a & b', 'a and b', '“&” is left out, having no meaning there.'],
    ['a && b - c ...', 'a and b and c', '“&&”, “-”, “...” are left out, having no meaning there.'],
    ['#tag a', '"tag" and a', ''],
    ['# a', 'a', '“#” is left out, having no meaning there.'],
    ['"" a', 'a', '“""” is left out, having no meaning there.'],
    ['"open quote', '"open" and "quote"', 'A quote is not closed, so its words are searched for one by one.'],
    [
      'a and "open and',
      'a and "open" and "and"',
      'A quote is not closed, so its words are searched for one by one.',
    ],
    [
      'http://www.example.org/a.html',
      '"http://www\\.example\\.org/a\\.html"',
      '“http://www.example.org/a.html” is searched for as text.',
    ],
    ['12:30 train', '"12:30" and train', '“12:30” is searched for as text.'],
    ['how, when?', 'how and when', ''],
    ['C#', '"C\\#"', ''],
    ['jsonb @>', 'jsonb and "@>"', ''],
    ['a\\', 'a', ''],
    ['a and?', 'a and "and"', ''],
  ];
  for (const [text, query] of cases) t.same(read(text)?.[0], formatQuery(parseQuery(query)), text);
  for (const [text, , sentence] of cases) t.equal(read(text)?.[1], sentence, text);
});

t.test('signs alone are searched for as they are; a blank text has nothing to search for', async (t) => {
  for (const [text, query] of [
    ['...', '"\\.\\.\\."'],
    ['#', '"\\#"'],
    ['\\', '"\\\\"'],
    [':', '":"'],
    ['( )', '"\\( \\)"'],
    ['"', '"\\""'],
    ['@>', '"@>"'],
  ] as const) {
    t.equal(read(text)?.[0], formatQuery(parseQuery(query)), text);
    t.ok(readForgiving(text));
  }
  t.equal(readForgiving(''), undefined);
  t.equal(readForgiving(' \t'), undefined);
  t.equal(readForgiving('\u200b \u00ad'), undefined);
  t.same(read('a \u200b b'), ['a and b', '']);
});

t.test('whatever a person types is a query', async (t) => {
  const pieces = [
    'a',
    'and',
    'or',
    'not',
    'exact',
    '(',
    ')',
    ':',
    '"',
    '#',
    '\\',
    'x:y',
    '"p q"',
    '&',
    '[',
    'é',
    ' ',
  ];
  let seed = 7;
  const next = (most: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * most);
  };
  for (let i = 0; i < 5_000; i++) {
    const text = Array.from({ length: 1 + next(8) }, () => pieces[next(pieces.length)]).join(
      next(2) === 0 ? ' ' : '',
    );
    if (text.trim() === '') continue;
    t.doesNotThrow(() => readForgiving(text)?.query ?? t.fail(text), text);
  }
});

t.test(
  'most of the words: all but one, all but two, then any; not in queries too long for an index',
  async (t) => {
    const parts = (n: number) =>
      Array.from(
        { length: n },
        (_, i) => ({ kind: 'term', text: `w${i}`, quoted: false, offset: 0 }) as const,
      );
    const texts = (n: number) => fewerOf(parts(n)).map(({ least, query }) => [least, formatQuery(query)]);
    t.same(texts(1), []);
    t.same(texts(2), [[1, 'w0 or w1']]);
    t.same(texts(3), [
      [2, '(w0 and w1 or w2) or w1 and w2'],
      [1, 'w0 or w1 or w2'],
    ]);
    t.same(
      fewerOf(parts(12)).map(({ least }) => least),
      [11, 2, 1],
    );
  },
);
