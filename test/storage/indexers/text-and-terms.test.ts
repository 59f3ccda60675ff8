// The embedded engine's units: folding and splitting of text, sets of OIDs, approximate matching, literals and
// patterns.
import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import { lettersOf, normalize, onlyParts } from '../../../protocols/broker/index.js';
import { decodeText } from '../../../protocols/soif/index.js';
import { OidSet } from '../../../storage/broker/oid-set.js';
import { ColumnText } from '../../../storage/indexers/columns/column-text.js';
import { ApproximateMatcher } from '../../../storage/indexers/query/approximate.js';
import { AttributeText, VIEW, viewOf } from '../../../storage/indexers/query/object-text.js';
import { requiredLiterals } from '../../../storage/indexers/query/required-literals.js';
import { parseTerm } from '../../../storage/indexers/query/term-pattern.js';
import {
  BREAK,
  fold,
  indexText,
  isWordAt,
  isWordBefore,
  phraseOf,
  wordsOf,
} from '../../../storage/indexers/query/words.js';
import { assertProperty } from '../../helpers/property.js';

/** All characters of the first two planes. */
const CODE_POINTS = Array.from({ length: 0x20000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

t.test('folding keeps the boundaries of words', async (t) => {
  const wrong = CODE_POINTS.filter((c) => {
    const folded = Array.from(fold(c));
    return folded.length === 0 || folded.some((f) => isWordAt(f, 0) !== isWordAt(c, 0));
  });
  t.same(wrong, []);
});

t.test('characters that a regular expression equates ignoring case fold to the same text', async (t) => {
  const groups = new Map<string, string[]>();
  for (const c of CODE_POINTS) {
    for (const key of new Set([c.toLowerCase(), c.toUpperCase()]))
      groups.set(key, [...(groups.get(key) ?? []), c]);
  }
  const wrong: string[] = [];
  for (const group of groups.values()) {
    for (const a of group) {
      for (const b of group) {
        if (a !== b && fold(a) !== fold(b) && new RegExp(`^${a}$`, 'iu').test(b)) wrong.push(a + b);
        if (a === b || fold(a) === fold(b) || !/\p{L}/u.test(a)) continue;
        if (RE2JS.compile(RE2JS.quote(a), RE2JS.CASE_INSENSITIVE).test(b)) wrong.push(a + b);
      }
    }
  }
  t.same(wrong, []);
});

t.test('folding maps each character independently', async () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'Σ', 'ς', 'İ', 'ß', 'ẞ', ' ', '.', 'ſ', '\u0345', '😀', 'Dž'),
  });
  assertProperty(fc.property(text, text, (a, b) => fold(a + b) === fold(a) + fold(b)));
});

t.test('the text for the index has the words of the text, and nothing that would be split', async (t) => {
  assertProperty(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const tokens = indexText(text).split(/[\0\x02-/:-@[-^`{-\x7f]+/);
      const words = wordsOf(fold(text)).map((word) => word.text);
      const indexed = tokens.map(fold).filter((token) => token !== '' && token !== BREAK);
      return JSON.stringify(indexed) === JSON.stringify(words);
    }),
  );
  t.equal(indexText('a—b, C\u00a0d'), `a ${BREAK} b ${BREAK} c d`);
  t.equal(isWordBefore('😀x', 2), false);
  t.equal(isWordBefore('𝒳x', 2), true, 'a letter beyond the first plane');
});

t.test('BRK-2.5 the index has a break where more than blanks separates two words', async (t) => {
  const folded = 'one  two, three\nfour\t\u00a0five';
  t.same(phraseOf(folded, wordsOf(folded)), ['one', 'two', BREAK, 'three', BREAK, 'four', 'five']);
  const value = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    fc
      .string({ unit: fc.constantFrom(...'aBΣΐİ😀 \n,\u00a0_--\u2010\u00ad\u200be\u0301ʼ’', '\r\n') })
      .map((text) => Buffer.from(text)),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.nat(3).map((n) => Buffer.from(`é, ${'ж'.repeat(2_000 + 1_000 * n)} ${'z'.repeat(4_000 + 100 * n)}`)),
  );
  assertProperty(
    fc.property(fc.array(value, { maxLength: 3 }), (values) => {
      const column = new ColumnText();
      for (const bytes of values) column.add(bytes);
      const terms = (text: string) =>
        fold(text)
          .split(' ')
          .filter((term) => term !== '');
      // Bytes and texts give the same result except for breaks at the ends, which separate nothing.
      const joined = (list: readonly string[]) => list.join(' ').replace(/^[ \x01]+|[ \x01]+$/g, '');
      const expected = values
        .map((bytes) => joined(terms(indexText(normalize(decodeText(bytes))))))
        .filter((text) => text !== '');
      t.equal(joined(terms(column.take())), expected.join(` ${BREAK} `));
    }),
  );
});

t.test('a text of marks or of one word without end takes time in proportion to its length', (t) => {
  const marks = '\u0301\u0316'.repeat(500_000);
  t.equal(lettersOf(normalize(`a${marks}`)), 'a');
  t.equal(lettersOf(normalize(marks)), '');
  for (const text of [`a${marks}`, `か${'\u3099'.repeat(1_000_000)}`, 'aB_'.repeat(500_000)]) {
    const column = new ColumnText(true);
    column.add(Buffer.from(text));
    t.ok(column.take().length > 0);
  }
  t.equal(normalize(`e\u0301${'\u0316'.repeat(40)}`), `e\u0301${'\u0316'.repeat(40)}`.normalize('NFC'));
  t.end();
});

t.test('characters have the same spelling whether or not a text needs the long way', async (t) => {
  const long = '\u0430\n';
  t.same(
    CODE_POINTS.filter((c) => normalize(c) !== normalize(`${long}${c}`).slice(long.length)),
    [],
  );
  t.same(
    CODE_POINTS.filter((c) => lettersOf(c) !== lettersOf(`${long}${c}`).slice(long.length)),
    [],
  );
  // Each mark as the first of forty pairs, in which it follows the other one: too many to be put in order.
  const pairs = (mark: string) => `a${`${mark}\u0334`.repeat(40)}`;
  const marks = CODE_POINTS.filter((c) => c !== '\u0334' && /\p{M}/u.test(c));
  const moved = marks.filter((mark) => `a${mark}\u0334`.normalize('NFC') === `a\u0334${mark}`);
  t.ok(moved.length > 500);
  t.same(
    moved.filter((mark) => normalize(pairs(mark)) === pairs(mark).normalize('NFC')),
    [],
  );
});

t.test('the parts of identifiers are those of each word, and words choose the lines', async () => {
  const word = /[\p{L}\p{M}\p{N}_]+|[^\p{L}\p{M}\p{N}_\n]+/gu;
  const border =
    /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=[\p{L}\p{M}\p{N}])_+(?=[\p{L}\p{M}\p{N}])/gu;
  const expected = (text: string) =>
    text.replace(word, (run) => {
      const parts = run.length > 128 ? run : run.replace(border, ' ');
      return parts === run ? '' : `${parts}.`;
    });
  const units = [
    'a',
    'b',
    'C',
    'D',
    '_',
    '1',
    ' ',
    '\n',
    '-',
    '\u0301',
    '\u201c',
    'É',
    '😀',
    '𝐀',
    'a'.repeat(127),
  ];
  const text = fc.string({ unit: fc.constantFrom(...units), maxLength: 24 });
  assertProperty(fc.property(text, (value) => onlyParts(value, '.') === expected(value)));
  const words = fc.array(
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 1, maxLength: 2 }),
    {
      minLength: 1,
      maxLength: 2,
    },
  );
  assertProperty(
    fc.property(
      text,
      words,
      fc.constantFrom(VIEW.folded, VIEW.folded | VIEW.letters | VIEW.phrase),
      (value, phrase, base) => {
        const view = base | VIEW.parts;
        const attribute = new AttributeText('Body', Buffer.from(value), '');
        const has = (line: string) =>
          wordsOf(line).some((_, i, all) => phrase.every((part, k) => all[i + k]?.text === part));
        const linesWith = (found: string) =>
          found.split('\n').flatMap((line, i) => (has(line) ? [[i, line]] : []));
        const some = attribute.parts(view, phrase as [string, ...string[]]);
        const all = viewOf(attribute.raw, view);
        return JSON.stringify(linesWith(some)) === JSON.stringify(linesWith(all));
      },
    ),
  );
});

t.test('a set of OIDs behaves like a Set', async () => {
  const oid = fc.oneof(
    fc.nat(200),
    fc.integer({ min: 65_500, max: 65_600 }),
    fc.constantFrom(0, 0xffff_ffff),
  );
  const oids = fc.array(oid);
  assertProperty(
    fc.property(oids, oids, (a, b) => {
      const sorted = (values: Iterable<number>) => [...new Set(values)].sort((x, y) => x - y).join();
      const set = () => OidSet.of(a);
      const other = OidSet.of(b);
      return (
        set().size === new Set(a).size &&
        a.every((x) => set().has(x)) &&
        b.every((x) => set().has(x) === a.includes(x)) &&
        set().toArray().join() === sorted(a) &&
        set().unite(other).toArray().join() === sorted([...a, ...b]) &&
        set().intersect(other).toArray().join() === sorted(a.filter((x) => b.includes(x))) &&
        set().subtract(other).toArray().join() === sorted(a.filter((x) => !b.includes(x))) &&
        other.clone().toArray().join() === sorted(b)
      );
    }),
  );
});

t.test('BRK-2.23 approximate matches agree with a test of every substring of the line', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '😀'), maxLength: 9 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '😀'), minLength: 2, maxLength: 5 });
  assertProperty(
    fc.property(
      line,
      pattern,
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      (text, term, errors, matchWord) => {
        const characters = Array.from(text);
        const allowed = Math.min(errors, Array.from(term).length - 1);
        let expected = false;
        for (let from = 0; from <= characters.length; from++) {
          for (let to = from; to <= characters.length; to++) {
            const bounded = !/[ab]/.test(`${characters[from - 1] ?? ''}${characters[to] ?? ''}`);
            if (
              (bounded || !matchWord) &&
              distance(characters.slice(from, to), Array.from(term)) <= allowed
            ) {
              expected = true;
            }
          }
        }
        return new ApproximateMatcher(term, errors, matchWord).test(text) === expected;
      },
    ),
    { numRuns: 1000 },
  );
});

/** Returns the edit distance. */
function distance(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length;
  const [x, ...as] = a;
  const [y, ...bs] = b;
  if (x === y) return distance(as, bs);
  return 1 + Math.min(distance(as, b), distance(a, bs), distance(as, bs));
}

t.test('every match of a regular expression contains its required literals', async (t) => {
  for (const [source, literals] of [
    ['abc', ['abc']],
    ['^ab+c$', ['ab', 'c']],
    ['abc?d', ['ab', 'd']],
    ['ab{0,2}c', ['a', 'c']],
    ['a(b|c)d', ['a', 'd']],
    ['ab|cd', []],
    ['a\\.b\\d+c', ['a.b', 'c']],
    ['x[a-z]*y', ['x', 'y']],
    ['\\Qa|b\\E', []],
    ['\\x41', []],
    ['(?i)foo', ['foo']],
    ['a[[:alpha:]]b', []],
  ] as const) {
    t.same(requiredLiterals(source), literals, source);
  }
  const part = fc.constantFrom(...'a b c . [ab] (a|b) (?:ab) \\. x* y? b+ c{0,1} \\w | ^'.split(' '));
  const source = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.', 'x', 'y') });
  assertProperty(
    fc.property(source, text, (pattern, line) => {
      return (
        !new RegExp(pattern).test(line) ||
        requiredLiterals(pattern).every((literal) => line.includes(literal))
      );
    }),
    { numRuns: 2000 },
  );
});

t.test('BRK-2.22 a term is a literal or a pattern', async (t) => {
  t.same(parseTerm('plain'), { kind: 'literal', text: 'plain' });
  t.same(parseTerm('a\\.b'), { kind: 'literal', text: 'a.b' });
  t.same(parseTerm('f(x'), { kind: 'literal', text: 'f(x' });
  t.same(parseTerm('*x'), { kind: 'literal', text: '*x' });
  t.same(parseTerm('a$b^c'), { kind: 'literal', text: 'a$b^c' });
  t.same(parseTerm('a  \\ b'), { kind: 'literal', text: 'a b' });
  t.same(parseTerm('ab.cd*e#f'), { kind: 'pattern', source: 'ab.cd*e.*f', required: ['ab', 'c', 'e', 'f'] });
  t.same(parseTerm('^a[]x-z]$'), { kind: 'pattern', source: '^a[\\]x-z]$', required: ['a'] });
  t.same(parseTerm('a|b'), { kind: 'pattern', source: 'a|b', required: [] });
  // Without it such a term would find every object, and a function could not be searched for.
  for (const text of ['main()', '()', 'a|', '|a', '|', 'a||b', '(a|)', '(|a)', 'a**', '^*a', '[z-a]', '[]'])
    t.same(parseTerm(text), { kind: 'literal', text }, 'not well-formed: it means its characters');
  t.same(
    parseTerm('\\*f(\\)|'),
    { kind: 'literal', text: '*f()|' },
    'also then a backslash takes the next literally',
  );
  assertProperty(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab.#[]^$|*()\\- 😀') }), (term) => {
      const pattern = parseTerm(term);
      return pattern.kind === 'literal' || RE2JS.compile(pattern.source) !== undefined;
    }),
    { numRuns: 2000 },
  );
});

t.test('approximate matching of a long line pauses, and finds the same', async (t) => {
  const line = `${'lorem ipsum dolor '.repeat(60_000)}xylophne ${'sit amet '.repeat(1000)}`;
  for (const [pattern, expected] of [
    ['xylophone', true],
    ['xylophonist', false],
  ] as const) {
    const matcher = new ApproximateMatcher(pattern, 2, false);
    t.equal(matcher.test(line), expected);
    const steps = matcher.steps(line);
    let pauses = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pauses++;
    t.equal(step.value, expected);
    t.ok(pauses > 200, `${pauses} pauses in ${line.length} characters`);
  }
  assertProperty(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\u{1f600}'), minLength: 4_000, maxLength: 9_000 }),
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 6, maxLength: 20 }),
      fc.boolean(),
      (text, pattern, matchWord) => {
        const matcher = new ApproximateMatcher(pattern, 2, matchWord);
        const steps = matcher.steps(text);
        let step = steps.next();
        while (step.done !== true) step = steps.next();
        return step.value === matcher.test(text);
      },
    ),
    { numRuns: 30 },
  );
});
