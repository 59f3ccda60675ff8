import { check } from '../case.js';
import { printable } from '../printable.js';
import { checkNotRefused, checkRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS } from './context.js';
import {
  intersect,
  minus,
  pickOverlapping,
  pickPhrase,
  pickWord,
  SURVEY_MS,
  type Survey,
  union,
} from './survey.js';

/** What a spelling of two words must find. */
const MEANINGS = { and: intersect, or: union, except: minus } as const;
type Meaning = keyof typeof MEANINGS;

/** Words, quotes, keywords, malformed messages: section 2.1 and the grammar. */
export const grammarCases: readonly BrokerCase[] = [
  {
    id: 'grammar/keywords-any-case',
    title: 'keywords with # are matched without regard to case',
    rules: ['BRK-2.2'],
    source: 'inferred: M1.2, FAQ, RC',
    level: 'MUST',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const survey = await context.survey();
      const word = pickWord(survey);
      const reply = await context.ask(
        `#user #Opaque #INDEX case insensitive #Index matchword #end ${word.text}`,
      );
      checkNotRefused(reply, '#user ... #end');
      checkSameUrls(word.urls, urlsOf(reply), survey, word.text);
      const all = await context.ask('#USER #Opaque #End #ALLB');
      checkNotRefused(all, '#ALLB');
      checkSameUrls(survey.all, urlsOf(all), survey, '#ALLB');
    },
  },
  spellingCase(
    'operators-any-case',
    'and, or, not are matched in any case',
    ['BRK-2.3'],
    'RC; M1.4; DB',
    'MUST',
    [
      ['{a} AND {b}', 'and'],
      ['{a} And {b}', 'and'],
      ['{a} OR {b}', 'or'],
      ['{a} Or {b}', 'or'],
      ['{a} and NOT {b}', 'except'],
    ],
  ),
  spellingCase(
    'parentheses',
    'parentheses need no blanks around them, and may have them',
    ['BRK-2.4'],
    'RC; DB',
    'MUST',
    [
      ['({a})and({b})', 'and'],
      ['( {a} ) and ( {b} )', 'and'],
      ['((({a} and {b})))', 'and'],
    ],
  ),
  spellingCase('blanks', 'any white space separates tokens', ['BRK-2.4'], 'RC; DB', 'MUST', [
    ['\t{a}  \t and \t{b}  ', 'and'],
  ]),
  spellingCase('quoted-word', 'a word in double quotes is that word', ['BRK-2.5'], 'QH; RC; DB', 'MUST', [
    ['"{a}" and "{b}"', 'and'],
    ['"{a}"and"{b}"', 'and'],
  ]),
  spellingCase(
    'side-by-side',
    'two terms without an operator are joined by and',
    ['BRK-2.13a'],
    'project choice',
    'SHOULD',
    [
      ['{a} {b}', 'and'],
      ['"{a}" "{b}"', 'and'],
    ],
  ),
  spellingCase(
    'a-not-b',
    'a not b, as the deployed gateway sends it, means a and not b',
    ['BRK-2.13a'],
    'RC; project choice',
    'SHOULD',
    [
      ['{a} not {b}', 'except'],
      ['"{a}" not "{b}"', 'except'],
    ],
  ),
  {
    id: 'grammar/quoted-operator',
    title: 'an operator word in double quotes is a word',
    rules: ['BRK-2.6'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      for (const query of ['"and"', '"not" or "zzyzx"', '"except" and "or"']) {
        checkNotRefused(await context.ask(`#USER ${PLAIN_FLAGS} #END ${query}`), query);
      }
    },
  },
  {
    id: 'grammar/quoted-keyword',
    title: 'a keyword in double quotes is a word: "#allb" does not select everything',
    rules: ['BRK-2.6'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { all } = await context.survey();
      const reply = await context.ask('#USER #opaque #END "#allb"');
      checkNotRefused(reply, '"#allb"');
      check(urlsOf(reply).size < all.size, 'a quoted keyword works as a keyword', {
        expected: `fewer than ${all.size} objects`,
        received: `${urlsOf(reply).size} objects`,
      });
    },
  },
  {
    id: 'grammar/backslash',
    title: 'a backslash in quotes reaches the engine: "one\\ two" is the phrase',
    rules: ['BRK-2.7'],
    source: 'RC',
    level: 'MUST',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { words, url } = pickPhrase(await context.survey());
      const query = `"${words.join('\\ ')}"`;
      const urls = await context.found(query, 'fail', '#opaque #index case insensitive');
      check(urls.has(url), `an object is not found by ${printable(query)}`, {
        expected: printable(url),
        received: `${urls.size} other objects`,
      });
    },
  },
  {
    id: 'grammar/escaped-quote',
    title: 'a double quote in a quoted string is written \\"',
    rules: ['BRK-2.7'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const query = '"zzyzx \\"plugh\\""';
      checkNotRefused(await context.ask(`#USER #opaque #END ${query}`), query);
    },
  },
  {
    id: 'grammar/no-flags',
    title: 'a query may have no flags',
    rules: ['BRK-2.10'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      checkNotRefused(await context.ask('#USER #END zzyzx'), '#USER #END zzyzx');
    },
  },
  malformedCase('no-end', 'a message without #END is malformed', ['BRK-2.9', 'BRK-4.14'], 'M1.2; RC', [
    '#USER zzyzx',
    '#USER #opaque zzyzx',
  ]),
  malformedCase(
    'no-message',
    'anything that is not a message is malformed',
    ['BRK-4.14', 'BRK-2.1'],
    'M1.2; RC',
    ['zzyzx', 'GET / HTTP/1.0', '#zzyzx #END plugh', 'HELLO client.example.org'],
  ),
  malformedCase('no-query', 'a message without a query is malformed', ['BRK-2.9', 'BRK-4.14'], 'M1.2; RC', [
    '#USER #opaque #END',
    '#USER #opaque #END ()',
  ]),
  malformedCase(
    'parentheses',
    'parentheses that do not match are malformed',
    ['BRK-2.4', 'BRK-4.14'],
    'M1.2; RC',
    ['#USER #opaque #END (zzyzx', '#USER #opaque #END zzyzx)'],
  ),
  malformedCase(
    'operands',
    'an operator without its operand is malformed',
    ['BRK-2.3', 'BRK-4.14'],
    'M1.2; RC',
    [
      '#USER #opaque #END zzyzx and',
      '#USER #opaque #END or zzyzx',
      '#USER #opaque #END not',
      '#USER #opaque #END and',
    ],
  ),
  malformedCase('flag', 'an unknown short flag makes the message malformed', ['BRK-3.5'], 'project choice', [
    '#USER #zzyzx #END plugh',
  ]),
];

/** Builds a case about messages that the grammar does not allow. */
function malformedCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  messages: readonly string[],
): BrokerCase {
  return {
    id: `malformed/${id}`,
    title,
    rules: [...rules, 'BRK-4.13'],
    source,
    level: source === 'project choice' ? 'SHOULD' : 'MUST',
    async run(context) {
      for (const message of messages) checkRefused(await context.ask(message), message);
    },
  };
}

/** Builds a case about spellings of `a and b`, `a or b` or `a except b`, for two words of the data. */
function spellingCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  queries: readonly (readonly [query: string, meaning: Meaning])[],
): BrokerCase {
  return {
    id: `grammar/${id}`,
    title,
    rules,
    source,
    level,
    timeoutMs: SURVEY_MS,
    async run(context) {
      const survey = await context.survey();
      for (const [query, meaning] of queries) await checkMeaning(context, survey, query, meaning);
    },
  };
}

/** Checks that a spelling of a query finds the same objects as `a and b`, `a or b` or `a except b`. */
async function checkMeaning(
  context: BrokerContext,
  survey: Survey,
  query: string,
  meaning: Meaning,
): Promise<void> {
  const [a, b] = pickOverlapping(survey);
  const expected = MEANINGS[meaning](a.urls, b.urls);
  const spelled = query.replace('{a}', a.text).replace('{b}', b.text);
  checkSameUrls(expected, await context.found(spelled, 'fail'), survey, spelled);
}
