import { check, must, should } from '../case.js';
import { printable } from '../printable.js';
import { checkNotRefused, checkSameUrls, urlsOf } from './checks.js';
import { accepted, type BrokerCase, finds, PLAIN_FLAGS, refused, surveyed } from './context.js';
import { pickPhrase, pickWord } from './survey.js';

/** Words, quotes, keywords, malformed messages: section 2.1 and the grammar. */
export const grammarCases: readonly BrokerCase[] = [
  must('grammar/keywords-any-case', 'BRK-2.2', 'inferred: M1.2, FAQ, RC')
    .title('keywords with # are matched without regard to case')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      const reply = await context.ask(
        `#user #Opaque #INDEX case insensitive #Index matchword #end ${word.text}`,
      );
      checkNotRefused(reply, '#user ... #end');
      checkSameUrls(word.urls, urlsOf(reply), survey, word.text);
      const all = await context.ask('#USER #Opaque #End #ALLB');
      checkNotRefused(all, '#ALLB');
      checkSameUrls(survey.all, urlsOf(all), survey, '#ALLB');
    }),
  must('grammar/operators-any-case', 'BRK-2.3', 'RC; M1.4; DB')
    .title('and, or, not are matched in any case')
    .does(
      finds,
      'fail',
      ['{a} AND {b}', 'and'],
      ['{a} And {b}', 'and'],
      ['{a} OR {b}', 'or'],
      ['{a} Or {b}', 'or'],
      ['{a} and NOT {b}', 'except'],
    ),
  must('grammar/parentheses', 'BRK-2.4', 'RC; DB')
    .title('parentheses need no blanks around them, and may have them')
    .does(
      finds,
      'fail',
      ['({a})and({b})', 'and'],
      ['( {a} ) and ( {b} )', 'and'],
      ['((({a} and {b})))', 'and'],
    ),
  must('grammar/blanks', 'BRK-2.4', 'RC; DB')
    .title('any white space separates tokens')
    .does(finds, 'fail', ['\t{a}  \t and \t{b}  ', 'and']),
  must('grammar/quoted-word', 'BRK-2.5', 'QH; RC; DB')
    .title('a word in double quotes is that word')
    .does(finds, 'fail', ['"{a}" and "{b}"', 'and'], ['"{a}"and"{b}"', 'and']),
  should('grammar/side-by-side', 'BRK-2.13a', 'project choice')
    .title('two terms without an operator are joined by and')
    .does(finds, 'fail', ['{a} {b}', 'and'], ['"{a}" "{b}"', 'and']),
  should('grammar/a-not-b', 'BRK-2.13a', 'RC; project choice')
    .title('a not b, as the deployed gateway sends it, means a and not b')
    .does(finds, 'fail', ['{a} not {b}', 'except'], ['"{a}" not "{b}"', 'except']),
  should('grammar/quoted-operator', 'BRK-2.6', 'project choice')
    .title('an operator word in double quotes is a word')
    .does(accepted, PLAIN_FLAGS, '"and"', '"not" or "zzyzx"', '"except" and "or"'),
  should('grammar/quoted-keyword', 'BRK-2.6', 'project choice')
    .title('a keyword in double quotes is a word: "#allb" does not select everything')
    .does(surveyed, async ({ all }, context) => {
      const reply = await context.ask('#USER #opaque #END "#allb"');
      checkNotRefused(reply, '"#allb"', 'skip');
      check(urlsOf(reply).size < all.size, 'a quoted keyword works as a keyword', {
        expected: `fewer than ${all.size} objects`,
        received: `${urlsOf(reply).size} objects`,
      });
    }),
  must('grammar/backslash', 'BRK-2.7', 'RC')
    .title('a backslash in quotes reaches the engine: "one\\ two" is the phrase')
    .does(surveyed, async (survey, context) => {
      const { words, url } = pickPhrase(survey);
      const query = `"${words.join('\\ ')}"`;
      const urls = await context.found(query, 'fail', '#opaque #index case insensitive');
      check(urls.has(url), `an object is not found by ${printable(query)}`, {
        expected: printable(url),
        received: `${urls.size} other objects`,
      });
    }),
  should('grammar/escaped-quote', 'BRK-2.7', 'project choice')
    .title('a double quote in a quoted string is written \\"')
    .does(accepted, '#opaque', '"zzyzx \\"plugh\\""'),
  should('grammar/no-flags', 'BRK-2.10', 'project choice')
    .title('a query may have no flags')
    .run(async (context) => checkNotRefused(await context.ask('#USER #END zzyzx'), '#USER #END zzyzx')),
  must('malformed/no-end', 'BRK-2.9 BRK-4.14 BRK-4.13', 'M1.2; RC')
    .title('a message without #END is malformed')
    .does(refused, '#USER zzyzx', '#USER #opaque zzyzx'),
  must('malformed/no-message', 'BRK-4.14 BRK-2.1 BRK-4.13', 'M1.2; RC')
    .title('anything that is not a message is malformed')
    .does(refused, 'zzyzx', 'GET / HTTP/1.0', '#zzyzx #END plugh', 'HELLO client.example.org'),
  must('malformed/no-query', 'BRK-2.9 BRK-4.14 BRK-4.13', 'M1.2; RC')
    .title('a message without a query is malformed')
    .does(refused, '#USER #opaque #END', '#USER #opaque #END ()'),
  must('malformed/parentheses', 'BRK-2.4 BRK-4.14 BRK-4.13', 'M1.2; RC')
    .title('parentheses that do not match are malformed')
    .does(refused, '#USER #opaque #END (zzyzx', '#USER #opaque #END zzyzx)'),
  must('malformed/operands', 'BRK-2.3 BRK-4.14 BRK-4.13', 'M1.2; RC')
    .title('an operator without its operand is malformed')
    .does(
      refused,
      '#USER #opaque #END zzyzx and',
      '#USER #opaque #END or zzyzx',
      '#USER #opaque #END not',
      '#USER #opaque #END and',
    ),
  should('malformed/flag', 'BRK-3.5 BRK-4.13', 'project choice')
    .title('an unknown short flag makes the message malformed')
    .does(refused, '#USER #zzyzx #END plugh'),
];
