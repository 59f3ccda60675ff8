import { check, Mismatch, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import { checkIncludes, checkNotRefused, checkSameUrls, type OnRefusal } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS } from './context.js';
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
  type Word,
  wordsOf,
} from './survey.js';

/** Words whose complements are compared with the dump. */
const MAX_COMPLEMENTS = 5;

/** The results of words, operators and phrases on the Broker's own data: section 2.2. */
export const queryCases: readonly BrokerCase[] = [
  queryCase(
    'all',
    '#allb selects every object, and words of its objects find objects',
    ['BRK-2.11', 'BRK-2.20'],
    'M1.2; RC',
    'MUST',
    async (context) => {
      await context.requireSurvey();
    },
  ),
  queryCase(
    'dump-complete',
    'no query finds an object that #allb does not select',
    ['BRK-2.11'],
    'M1.2; RC',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      if (!survey.complete) throw new NotApplicable('the dump is too large to be compared');
      const words = new Set(survey.samples.flatMap(({ text, url }) => wordsOf(`${text} ${url}`)));
      // Without a common word, the other objects are found by what they lack.
      const queries = [...words].slice(0, MAX_COMPLEMENTS).map((word) => `not ${word}`);
      for (const query of ['not zzyzxplugh', ...queries]) {
        checkSameUrls(new Set(), minus(await context.found(query, 'skip'), survey.all), survey, query);
      }
    },
  ),
  queryCase(
    'word',
    'a word finds the objects whose texts have it',
    ['BRK-2.20'],
    'M1.4; QH',
    'MUST',
    async (context) => {
      const { words, samples, shared } = await context.survey();
      for (const { text, urls } of words) {
        const having = samples.filter(
          (sample) => !shared.has(sample.url) && wordsOf(sample.text).includes(text),
        );
        checkIncludes(new Set(having.map(({ url }) => url)), urls, text);
      }
    },
  ),
  queryCase(
    'nothing',
    'a query that nothing matches has an empty result and is not an error',
    ['BRK-4.12'],
    'inferred: S, RC',
    'MUST',
    async (context) => {
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} #END zzyzxplugh`);
      checkNotRefused(reply, 'zzyzxplugh');
      check(reply.objects.length === 0, 'objects for a word that does not occur', {
        expected: 'no object',
        received: `${reply.objects.length} objects`,
      });
    },
  ),
  twoWordsCase(
    'and',
    'a and b selects the objects that match both',
    ['BRK-2.21'],
    'M1.2; M1.4',
    'MUST',
    'fail',
    '{a} and {b}',
    intersect,
  ),
  twoWordsCase(
    'or',
    'a or b selects the objects that match either',
    ['BRK-2.21'],
    'M1.2; M1.4',
    'MUST',
    'fail',
    '{a} or {b}',
    union,
  ),
  twoWordsCase(
    'except',
    'a except b selects the objects that match a and not b',
    ['BRK-2.13'],
    'M1.2; inferred',
    'MUST',
    'skip',
    '{a} except {b}',
    minus,
  ),
  twoWordsCase(
    'and-not',
    'not applies to the primary after it: a and not b',
    ['BRK-2.13', 'BRK-2.21'],
    'M1.2',
    'MUST',
    'skip',
    '{a} and not {b}',
    minus,
  ),
  twoWordsCase(
    'not-group',
    'not applies to a group in parentheses: a and not (a and b)',
    ['BRK-2.13'],
    'M1.2',
    'MUST',
    'skip',
    '{a} and not ({a} and {b})',
    minus,
  ),
  queryCase(
    'not',
    'not a selects all other objects',
    ['BRK-2.13', 'BRK-2.21'],
    'M1.2',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const word = pickWord(survey);
      const query = `not ${word.text}`;
      const urls = await context.found(query, 'skip');
      checkSameUrls(minus(urls, word.urls), urls, survey, query);
      // The dump may be truncated at a limit, so that missing objects prove something only if it is complete.
      if (survey.complete && urls.size < survey.all.size) {
        checkSameUrls(minus(survey.all, word.urls), urls, survey, query);
      }
    },
  ),
  queryCase(
    'not-binds-tightly',
    'not a or b is (not a) or b',
    ['BRK-2.13'],
    'M1.2',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const [a, b] = pickOverlapping(survey);
      const query = `not ${a.text} or ${b.text}`;
      const urls = await context.found(query, 'skip');
      checkIncludes(intersect(a.urls, b.urls), urls, query);
      const wrong = minus(minus(urls, b.urls), minus(urls, a.urls));
      checkSameUrls(new Set(), wrong, survey, query);
    },
  ),
  queryCase(
    'right-grouping',
    'operators have no precedence and group to the right: a and b or c is a and (b or c)',
    ['BRK-2.12'],
    'inferred; a deployed help page',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const [a, b, c] = pickTriple(survey);
      const query = `${a.text} and ${b.text} or ${c.text}`;
      checkSameUrls(
        intersect(a.urls, union(b.urls, c.urls)),
        await context.found(query, 'fail'),
        survey,
        query,
      );
    },
  ),
  queryCase(
    'left-group',
    'parentheses group: (a and b) or c',
    ['BRK-2.12', 'BRK-2.4'],
    'M1.2; DB',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const [a, b, c] = pickTriple(survey);
      const query = `(${a.text} and ${b.text}) or ${c.text}`;
      checkSameUrls(
        union(intersect(a.urls, b.urls), c.urls),
        await context.found(query, 'fail'),
        survey,
        query,
      );
    },
  ),
  queryCase(
    'except-groups-right',
    'except groups to the right like the others: a except b or c is a except (b or c)',
    ['BRK-2.12', 'BRK-2.13'],
    'inferred',
    'SHOULD',
    async (context) => {
      const survey = await context.survey();
      const [a, b, c] = pickTriple(survey);
      const query = `${c.text} except ${b.text} or ${a.text}`;
      checkSameUrls(minus(c.urls, union(b.urls, a.urls)), await context.found(query, 'skip'), survey, query);
    },
  ),
  queryCase(
    'phrase',
    'a string with blanks in quotes is one phrase',
    ['BRK-2.5', 'BRK-2.20'],
    'QH; RC; DB',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const { url, words } = pickPhrase(survey);
      const quoted = `"${words.join(' ')}"`;
      const urls = await context.found(quoted, 'skip');
      checkIncludes(new Set([url]), urls, quoted);
      const both = await context.found(words.join(' and '), 'fail');
      checkSameUrls(new Set(), minus(urls, both), survey, quoted);
      const never = await context.found(`"${words[0]} zzyzx ${words[1]}"`, 'skip');
      checkSameUrls(new Set(), never, survey, 'a phrase with a word that does not occur');
    },
  ),
  queryCase(
    'phrase-order',
    'a phrase is not its words joined by and: they are side by side, in their order',
    ['BRK-2.5', 'BRK-2.20'],
    'QH; RC; DB',
    'MUST',
    async (context) => {
      const survey = await context.survey();
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
    },
  ),
];

/** Builds a case about a query; it may have to take the survey first. */
export function queryCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  run: (context: BrokerContext) => Promise<void>,
): BrokerCase {
  return { id: `query/${id}`, title, rules, source, level, timeoutMs: SURVEY_MS, run };
}

/** Builds a case about an operator between two words: `combine` computes the expected URLs from those of the words. */
function twoWordsCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  onRefusal: OnRefusal,
  text: string,
  combine: (a: Word['urls'], b: Word['urls']) => ReadonlySet<string>,
): BrokerCase {
  return queryCase(id, title, rules, source, level, async (context) => {
    const survey = await context.survey();
    const [a, b] = pickOverlapping(survey);
    const spelled = text.replaceAll('{a}', a.text).replaceAll('{b}', b.text);
    checkSameUrls(combine(a.urls, b.urls), await context.found(spelled, onRefusal), survey, spelled);
  });
}
