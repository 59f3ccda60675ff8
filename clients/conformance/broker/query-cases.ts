import { check, Mismatch, must, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import { checkIncludes, checkNotRefused, checkSameUrls } from './checks.js';
import { type BrokerCase, finds, PLAIN_FLAGS, surveyed } from './context.js';
import {
  intersect,
  minus,
  pickOverlapping,
  pickPhrase,
  pickReversed,
  pickTriple,
  pickWord,
  SURVEY_MS,
  union,
  wordsOf,
} from './survey.js';

/** Words whose complements are compared with the dump. */
const MAX_COMPLEMENTS = 5;

/** The results of words, operators and phrases on the Broker's own data: section 2.2. */
export const queryCases: readonly BrokerCase[] = [
  must('query/all', 'BRK-2.11 BRK-2.20', 'M1.2; RC')
    .title('#allb selects every object, and words of its objects find objects')
    .within(SURVEY_MS)
    .run(async (context) => context.requireSurvey()),
  must('query/dump-complete', 'BRK-2.11', 'M1.2; RC')
    .title('no query finds an object that #allb does not select')
    .does(surveyed, async (survey, context) => {
      if (!survey.complete) throw new NotApplicable('the dump is too large to be compared');
      const words = new Set(survey.samples.flatMap(({ text, url }) => wordsOf(`${text} ${url}`)));
      // Without a common word, the other objects are found by what they lack.
      const queries = [...words].slice(0, MAX_COMPLEMENTS).map((word) => `not ${word}`);
      for (const query of ['not zzyzxplugh', ...queries]) {
        checkSameUrls(new Set(), minus(await context.found(query, 'skip'), survey.all), survey, query);
      }
    }),
  must('query/word', 'BRK-2.20', 'M1.4; QH')
    .title('a word finds the objects whose texts have it')
    .does(surveyed, ({ words, samples, shared }) => {
      for (const { text, urls } of words) {
        const having = samples.filter(
          (sample) => !shared.has(sample.url) && wordsOf(sample.text).includes(text),
        );
        checkIncludes(new Set(having.map(({ url }) => url)), urls, text);
      }
    }),
  must('query/nothing', 'BRK-4.12', 'inferred: S, RC')
    .title('a query that nothing matches has an empty result and is not an error')
    .within(SURVEY_MS)
    .run(async (context) => {
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} #END zzyzxplugh`);
      checkNotRefused(reply, 'zzyzxplugh');
      check(reply.objects.length === 0, 'objects for a word that does not occur', {
        expected: 'no object',
        received: `${reply.objects.length} objects`,
      });
    }),
  must('query/and', 'BRK-2.21', 'M1.2; M1.4')
    .title('a and b selects the objects that match both')
    .does(finds, 'fail', ['{a} and {b}', 'and']),
  must('query/or', 'BRK-2.21', 'M1.2; M1.4')
    .title('a or b selects the objects that match either')
    .does(finds, 'fail', ['{a} or {b}', 'or']),
  must('query/except', 'BRK-2.13', 'M1.2; inferred')
    .title('a except b selects the objects that match a and not b')
    .does(finds, 'skip', ['{a} except {b}', 'except']),
  must('query/and-not', 'BRK-2.13 BRK-2.21', 'M1.2')
    .title('not applies to the primary after it: a and not b')
    .does(finds, 'skip', ['{a} and not {b}', 'except']),
  must('query/not-group', 'BRK-2.13', 'M1.2')
    .title('not applies to a group in parentheses: a and not (a and b)')
    .does(finds, 'skip', ['{a} and not ({a} and {b})', 'except']),
  must('query/not', 'BRK-2.13 BRK-2.21', 'M1.2')
    .title('not a selects all other objects')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      const query = `not ${word.text}`;
      const urls = await context.found(query, 'skip');
      checkSameUrls(minus(urls, word.urls), urls, survey, query);
      // The dump may be truncated at a limit, so that missing objects prove something only if it is complete.
      if (survey.complete && urls.size < survey.all.size) {
        checkSameUrls(minus(survey.all, word.urls), urls, survey, query);
      }
    }),
  must('query/not-binds-tightly', 'BRK-2.13', 'M1.2')
    .title('not a or b is (not a) or b')
    .does(surveyed, async (survey, context) => {
      const [a, b] = pickOverlapping(survey);
      const query = `not ${a.text} or ${b.text}`;
      const urls = await context.found(query, 'skip');
      checkIncludes(intersect(a.urls, b.urls), urls, query);
      const wrong = minus(minus(urls, b.urls), minus(urls, a.urls));
      checkSameUrls(new Set(), wrong, survey, query);
    }),
  must('query/right-grouping', 'BRK-2.12', 'inferred; a deployed help page')
    .title('operators have no precedence and group to the right: a and b or c is a and (b or c)')
    .does(surveyed, async (survey, context) => {
      const [a, b, c] = pickTriple(survey);
      const query = `${a.text} and ${b.text} or ${c.text}`;
      await context.checkFinds(query, intersect(a.urls, union(b.urls, c.urls)), 'fail');
    }),
  must('query/left-group', 'BRK-2.12 BRK-2.4', 'M1.2; DB')
    .title('parentheses group: (a and b) or c')
    .does(surveyed, async (survey, context) => {
      const [a, b, c] = pickTriple(survey);
      const query = `(${a.text} and ${b.text}) or ${c.text}`;
      await context.checkFinds(query, union(intersect(a.urls, b.urls), c.urls), 'fail');
    }),
  must('query/except-groups-right', 'BRK-2.12 BRK-2.13', 'inferred')
    .title('except groups to the right like the others: a except b or c is a except (b or c)')
    .does(surveyed, async (survey, context) => {
      const [a, b, c] = pickTriple(survey);
      const query = `${c.text} except ${b.text} or ${a.text}`;
      await context.checkFinds(query, minus(c.urls, union(b.urls, a.urls)), 'skip');
    }),
  must('query/phrase', 'BRK-2.5 BRK-2.20', 'QH; RC; DB')
    .title('a string with blanks in quotes is one phrase')
    .does(surveyed, async (survey, context) => {
      const { url, words } = pickPhrase(survey);
      const quoted = `"${words.join(' ')}"`;
      const urls = await context.found(quoted, 'skip');
      checkIncludes(new Set([url]), urls, quoted);
      const both = await context.found(words.join(' and '), 'fail');
      checkSameUrls(new Set(), minus(urls, both), survey, quoted);
      const never = await context.found(`"${words[0]} zzyzx ${words[1]}"`, 'skip');
      checkSameUrls(new Set(), never, survey, 'a phrase with a word that does not occur');
    }),
  must('query/phrase-order', 'BRK-2.5 BRK-2.20', 'QH; RC; DB')
    .title('a phrase is not its words joined by and: they are side by side, in their order')
    .does(surveyed, async (survey, context) => {
      const wrong: string[] = [];
      const pairs = pickReversed(survey);
      for (const { url, words } of pairs) {
        const quoted = `"${words.join(' ')}"`;
        const urls = await context.found(quoted, 'skip');
        // A text that the Broker did not send may hold these words side by side, but not those of every pair.
        if (!urls.has(url)) return;
        wrong.push(quoted);
      }
      throw new Mismatch('phrases find objects that have their words, but not side by side', {
        expected: 'an object only if its text has the phrase',
        received: printable(wrong.join(', ')),
      });
    }),
];
