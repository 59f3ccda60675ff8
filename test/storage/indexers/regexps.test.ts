// Regular expressions of queries: long lines are matched as a whole in bounded pieces, and what is too large is
// refused before it is compiled.
import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import { compileLeaf } from '../../../storage/indexers/query/leaf.js';
import { leastRegexpSize, regexpSteps } from '../../../storage/indexers/query/regexps.js';
import { assertProperty } from '../../helpers/property.js';
import { EmbeddedFixture, expressionOf, PLAIN_SEARCH } from './embedded-fixture.js';

const atom = fc.constantFrom(
  ' ',
  ...String.raw`
    a b B . [a-c] [^b] [[:alpha:]] \d \pL \p{Lu} \b \B ^ $ \x61 \x{1f600} \. 😀 é \A \z (?i:b) (?:) (?P<n>a) ] { \{
  `
    .trim()
    .split(/\s+/),
);
const { source } = fc.letrec<{ source: string }>((tie) => ({
  source: fc.oneof(
    { maxDepth: 4 },
    atom,
    fc.array(tie('source'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    fc.array(tie('source'), { minLength: 2, maxLength: 3 }).map((parts) => parts.join('|')),
    fc
      .tuple(tie('source'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{0,3}', '{3,}', '{0}', '{1,40}'))
      .map(([part, quantifier]) => `(${part})${quantifier}`),
    tie('source').map((part) => `(?:${part})`),
  ),
}));
const line = fc.string({
  unit: fc.constantFrom('a', 'b', 'B', 'c', ' ', '1', '.', 'é', '\u{1f600}', '\ud800'),
  maxLength: 60,
});

function compiled(text: string, flags: number): RE2JS | undefined {
  try {
    return RE2JS.compile(text, flags);
  } catch {
    return undefined;
  }
}

function inSteps(regexp: RE2JS, text: string): { readonly found: boolean; readonly pieces: number } {
  const steps = regexpSteps(regexp, text);
  let pieces = 1;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pieces++;
  return { found: step.value, pieces };
}

t.test('matching in pieces finds what the library finds', async () => {
  assertProperty(
    fc.property(source, line, fc.boolean(), (text, input, ignoreCase) => {
      const regexp = compiled(text, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
      return regexp === undefined || inSteps(regexp, input).found === regexp.test(input);
    }),
    { numRuns: 3_000 },
  );
});

t.test('the estimated size is never above the real one', async () => {
  assertProperty(
    fc.property(source, (text) => {
      const regexp = compiled(text, 0);
      return regexp === undefined || leastRegexpSize(text) <= regexp.programSize();
    }),
    { numRuns: 3_000, examples: [['😀😀😀a'], ['😀{9}a']] },
  );
});

t.test('the estimate sees the repetitions that make an expression large', async (t) => {
  for (const text of [
    'a{1000}'.repeat(36),
    '(a?){1000}'.repeat(25),
    '[a-z]{0,1000}'.repeat(19),
    '[^]]{1001}',
    '((((a{1,10}){1,10}){1,10}){1,2})',
    '\\p{Lu}{1000}\\x{41}{10}',
  ])
    t.ok(leastRegexpSize(text) > 1_000, text);
  t.equal(leastRegexpSize('\\Qa{1000}\\E'), 0, 'quoted text is not understood');
  const leaf = (value: string) =>
    compileLeaf(
      { kind: 'select', attribute: 'body', operator: 'regexp', value, offset: 0 },
      { ignoreCase: true, matchWord: false, errors: 0 },
      { maxRegexpProgram: 1_000, maxRegexpSteps: 200_000, maxRegexpBytes: 65_536, maxPattern: 256 },
      new Set(),
    );
  t.throws(() => leaf('(a?){1000}'.repeat(25)), {
    code: 'ERR_PEER',
    message: /does not support a regular expression of more than 1000 instructions/,
  });
});

t.test('an expression that may keep few states matches the same', async (t) => {
  const value = '(a|b)*a(a|b){100}[xyz]';
  const { test } = compileLeaf(
    { kind: 'select', attribute: 'body', operator: 'regexp', value, offset: 0 },
    { ignoreCase: true, matchWord: false, errors: 0 },
    { maxRegexpProgram: 1_000, maxRegexpSteps: 200_000, maxRegexpBytes: 65_536, maxPattern: 256 },
    new Set(),
  );
  let random = 1;
  const bits = () => {
    random = (random * 48_271) % 2_147_483_647;
    return random % 2 === 0 ? 'a' : 'b';
  };
  const text = () => Array.from({ length: 400 }, bits).join('');
  for (let i = 0; i < 50; i++) {
    const some = text();
    t.equal(
      test.scope === 'text' && test.test(`${some}x`),
      some[299] === 'a',
      'the answer does not depend on the states',
    );
  }
});

t.test('a long line is matched as a whole, with pauses', async (t) => {
  const large = RE2JS.compile('(b{0,50}c){0,9}[xyz]$');
  const { found, pieces } = inSteps(large, `${'ab'.repeat(20_000)}z`);
  t.ok(found);
  t.ok(pieces > 3, `${pieces} pieces`);

  const fixture = await EmbeddedFixture.open({});
  t.teardown(() => fixture[Symbol.asyncDispose]());
  await fixture.put({ Body: `${'lorem ipsum '.repeat(5000)}endofline` }, { Body: 'short' });
  const results = fixture.indexer.query(
    expressionOf('body regexp "([a-z ]{0,40}m ){0,9}endof[a-z]+$"'),
    PLAIN_SEARCH,
  );
  let hits = 0;
  for await (const _ of results) hits++;
  t.equal(hits, 1, 'a match at the end of a line of 60 kB is found');
  t.match(await results.outcome, { complete: true });
});
