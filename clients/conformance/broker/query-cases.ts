import { check, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS } from './context.js';
import { includesAll, notRefused, type OnRefusal, refused, sameSet, urlsOf } from './judgments.js';
import { textsOf } from './reply.js';
import {
  anyWord,
  intersect,
  minus,
  overlapping,
  phrase,
  SURVEY_MS,
  type Survey,
  triple,
  union,
  type Word,
  wordsOf,
} from './survey.js';

/** What a query selects, shown on the Broker's own data: section 2.2. */
export const queryCases: readonly BrokerCase[] = [
  query(
    'all',
    '#allb selects every object, and words of its objects find objects',
    ['BRK-2.11', 'BRK-2.20'],
    'M1.2; RC',
    'MUST',
    async (context) => {
      await context.survey();
    },
  ),
  query(
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
        includesAll(new Set(having.map(({ url }) => url)), urls, text);
      }
    },
  ),
  query(
    'nothing',
    'a query that nothing matches has an empty result and is not an error',
    ['BRK-4.12'],
    'inferred: S, RC',
    'MUST',
    async (context) => {
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} #END zzyzxplugh`);
      notRefused(reply, 'zzyzxplugh');
      check(reply.objects.length === 0, 'objects for a word that does not occur', {
        expected: 'no object',
        received: `${reply.objects.length} objects`,
      });
    },
  ),
  twoWords(
    'and',
    'a and b selects the objects that match both',
    ['BRK-2.21'],
    'M1.2; M1.4',
    'MUST',
    'fail',
    '{a} and {b}',
    intersect,
  ),
  twoWords(
    'or',
    'a or b selects the objects that match either',
    ['BRK-2.21'],
    'M1.2; M1.4',
    'MUST',
    'fail',
    '{a} or {b}',
    union,
  ),
  twoWords(
    'except',
    'a except b selects the objects that match a and not b',
    ['BRK-2.13'],
    'M1.2; inferred',
    'MUST',
    'skip',
    '{a} except {b}',
    minus,
  ),
  twoWords(
    'and-not',
    'not applies to the primary after it: a and not b',
    ['BRK-2.13', 'BRK-2.21'],
    'M1.2',
    'MUST',
    'skip',
    '{a} and not {b}',
    minus,
  ),
  twoWords(
    'not-group',
    'not applies to a group in parentheses: a and not (a and b)',
    ['BRK-2.13'],
    'M1.2',
    'MUST',
    'skip',
    '{a} and not ({a} and {b})',
    minus,
  ),
  query(
    'not',
    'not a selects all other objects',
    ['BRK-2.13', 'BRK-2.21'],
    'M1.2',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const word = anyWord(survey);
      const query = `not ${word.text}`;
      const urls = await context.found(query, 'skip');
      sameSet(minus(urls, word.urls), urls, survey, query);
      // As many as the dump, which is cut at a limit; missing objects prove nothing.
      if (survey.complete && urls.size < survey.all.size) {
        sameSet(minus(survey.all, word.urls), urls, survey, query);
      }
    },
  ),
  query('not-binds-tightly', 'not a or b is (not a) or b', ['BRK-2.13'], 'M1.2', 'MUST', async (context) => {
    const survey = await context.survey();
    const [a, b] = overlapping(survey);
    const query = `not ${a.text} or ${b.text}`;
    const urls = await context.found(query, 'skip');
    includesAll(intersect(a.urls, b.urls), urls, query);
    const wrong = minus(minus(urls, b.urls), minus(urls, a.urls));
    sameSet(new Set(), wrong, survey, query);
  }),
  query(
    'right-grouping',
    'operators have no precedence and group to the right: a and b or c is a and (b or c)',
    ['BRK-2.12'],
    'inferred; a deployed help page',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const [a, b, c] = triple(survey);
      const query = `${a.text} and ${b.text} or ${c.text}`;
      sameSet(intersect(a.urls, union(b.urls, c.urls)), await context.found(query, 'fail'), survey, query);
    },
  ),
  query(
    'left-group',
    'parentheses group: (a and b) or c',
    ['BRK-2.12', 'BRK-2.4'],
    'M1.2; DB',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const [a, b, c] = triple(survey);
      const query = `(${a.text} and ${b.text}) or ${c.text}`;
      sameSet(union(intersect(a.urls, b.urls), c.urls), await context.found(query, 'fail'), survey, query);
    },
  ),
  query(
    'except-groups-right',
    'except groups to the right like the others: a except b or c is a except (b or c)',
    ['BRK-2.12', 'BRK-2.13'],
    'inferred',
    'SHOULD',
    async (context) => {
      const survey = await context.survey();
      const [a, b, c] = triple(survey);
      const query = `${c.text} except ${b.text} or ${a.text}`;
      sameSet(minus(c.urls, union(b.urls, a.urls)), await context.found(query, 'skip'), survey, query);
    },
  ),
  query(
    'phrase',
    'a string with blanks in quotes is one phrase',
    ['BRK-2.5', 'BRK-2.20'],
    'QH; RC; DB',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const { url, words } = phrase(survey);
      const quoted = `"${words.join(' ')}"`;
      const urls = await context.found(quoted, 'skip');
      includesAll(new Set([url]), urls, quoted);
      const both = await context.found(words.join(' and '), 'fail');
      sameSet(new Set(), minus(urls, both), survey, quoted);
      const never = await context.found(`"${words[0]} zzyzx ${words[1]}"`, 'skip');
      sameSet(new Set(), never, survey, 'a phrase with a word that does not occur');
    },
  ),
  query(
    'url',
    'the URL is searchable as url',
    ['BRK-2.18', 'BRK-2.14'],
    'RC; DB; M1.4',
    'MUST',
    async (context) => {
      const { survey, url, part } = await partOfUrl(context);
      const query = `url : "${part}"`;
      const urls = await structured(context, query);
      includesAll(new Set([url]), urls, query);
      const others = [...urls].filter((one) => !one.toLowerCase().includes(part));
      sameSet(new Set(), new Set(others), survey, query);
    },
  ),
  query(
    'select-blanks',
    'blanks around the colon may be left out',
    ['BRK-2.14', 'BRK-2.8'],
    'M1.4; QH; DB',
    'MUST',
    async (context) => {
      const { survey, part } = await partOfUrl(context);
      const wanted = await structured(context, `url : "${part}"`);
      for (const query of [
        `url:"${part}"`,
        `url: "${part}"`,
        `url :"${part}"`,
        `url:${part}`,
        `(url:${part})`,
      ]) {
        sameSet(wanted, await structured(context, query), survey, query);
      }
    },
  ),
  query(
    'attribute-any-case',
    'names of attributes are compared without regard to case',
    ['BRK-2.16'],
    'inferred: G, RC',
    'MUST',
    async (context) => {
      const { survey, part } = await partOfUrl(context);
      const wanted = await structured(context, `url : "${part}"`);
      for (const name of ['URL', 'Url']) {
        sameSet(wanted, await structured(context, `${name} : "${part}"`), survey, `${name} : ...`);
      }
    },
  ),
  query(
    'attribute-restricts',
    'tag : value looks at that attribute only',
    ['BRK-2.14'],
    'M1.4',
    'MUST',
    async (context) => {
      const { survey, part } = await partOfUrl(context);
      const query = `zzyzx-plugh : "${part}"`;
      sameSet(new Set(), await structured(context, query), survey, query);
    },
  ),
  query(
    'attribute-equals',
    'a quoted "attribute=value" is a structured term',
    ['BRK-2.15'],
    'RC; G',
    'MUST',
    async (context) => {
      const { survey, part } = await partOfUrl(context);
      const wanted = await structured(context, `url : "${part}"`);
      sameSet(wanted, await structured(context, `"url=${part}"`), survey, `"url=${part}"`);
    },
  ),
  query(
    'structured-and',
    'structured terms combine with others',
    ['BRK-2.14', 'BRK-2.21'],
    'DB; M1.4',
    'MUST',
    async (context) => {
      const { survey, part } = await partOfUrl(context);
      const word = anyWord(survey);
      const urls = await structured(context, `url : "${part}"`);
      const query = `${word.text} or (url : "${part}")`;
      sameSet(union(word.urls, urls), await structured(context, query), survey, query);
    },
  ),
  query(
    'exact',
    'url exact "..." finds that URL and no other',
    ['BRK-2.17', 'BRK-2.19'],
    'M1.2; project choice',
    'SHOULD',
    async (context) => {
      const survey = await context.survey();
      const url = plainUrl(survey);
      const found = await context.found(`url exact "${url}"`, 'skip');
      sameSet(new Set([url]), found, survey, `url exact "${url}"`);
      const cut = `url exact "${url.slice(0, -1)}"`;
      check(!(await context.found(cut, 'skip')).has(url), 'exact finds a part', {
        expected: 'not found',
        received: url,
      });
    },
  ),
  query(
    'regexp',
    'url regexp "..." matches a regular expression',
    ['BRK-2.17', 'BRK-2.19'],
    'M1.2; project choice',
    'SHOULD',
    async (context) => {
      const { url, part } = await partOfUrl(context);
      const query = `url regexp "${part.slice(0, 1)}[${part.slice(1, 2)}]${part.slice(2, 20)}"`;
      includesAll(new Set([url]), await context.found(query, 'skip'), query);
      const never = await context.found('url regexp "^zzyzx[pq]lugh$"', 'skip');
      check(never.size === 0, 'a regular expression that nothing matches', {
        expected: 'no object',
        received: `${never.size} objects`,
      });
    },
  ),
  query(
    'less-than',
    'less-than and greater-than compare numbers',
    ['BRK-2.17', 'BRK-2.19'],
    'M1.2; project choice',
    'SHOULD',
    async (context) => {
      const later = await context.found('update-time greater-than 99999', 'skip');
      const earlier = await context.found('update-time less-than 99999', 'skip');
      check(later.size > 0 && earlier.size === 0, 'Update-Times are not compared as numbers', {
        expected: 'objects with an Update-Time greater than 99999, and none with a smaller one',
        received: `${later.size} greater, ${earlier.size} smaller`,
      });
    },
  ),
  query(
    'unsupported',
    'a kind of query that the engine cannot do is an error, not an empty result',
    ['BRK-2.19'],
    'M1.4',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const url = plainUrl(survey);
      // Each of these matches an object that is there, so nothing found means nothing tried.
      const queries = [`url exact "${url}"`, 'url regexp "."', 'url greater-than "!"', 'url less-than "~~"'];
      for (const query of queries) {
        const reply = await context.ask(`#USER #opaque #END ${query}`);
        if (textsOf(reply, 111).length > 0) refused(reply, query);
        else {
          check(reply.objects.length > 0, `neither done nor refused: ${printable(query)}`, {
            expected: 'objects, or 111 - ERROR',
            received: 'no objects',
          });
        }
      }
    },
  ),
];

function query(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  run: (context: BrokerContext) => Promise<void>,
): BrokerCase {
  return { id: `query/${id}`, title, rules, source, level, timeoutMs: SURVEY_MS, run };
}

function twoWords(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  onRefusal: OnRefusal,
  text: string,
  combine: (a: Word['urls'], b: Word['urls']) => ReadonlySet<string>,
): BrokerCase {
  return query(id, title, rules, source, level, async (context) => {
    const survey = await context.survey();
    const [a, b] = overlapping(survey);
    const spelled = text.replaceAll('{a}', a.text).replaceAll('{b}', b.text);
    sameSet(combine(a.urls, b.urls), await context.found(spelled, onRefusal), survey, spelled);
  });
}

/** Structured terms match parts of values, so words are not to be whole. */
async function structured(context: BrokerContext, text: string): Promise<ReadonlySet<string>> {
  const reply = await context.ask(`#USER #opaque #index case insensitive #END ${text}`);
  notRefused(reply, text, 'skip');
  return urlsOf(reply);
}

/** A part of a URL by which it is found: letters only, so that no engine reads it as a pattern. */
async function partOfUrl(
  context: BrokerContext,
): Promise<{ readonly survey: Survey; readonly url: string; readonly part: string }> {
  const survey = await context.survey();
  const most = Math.max(1, Math.min(300, survey.all.size - 1));
  for (const { url } of survey.samples) {
    for (const part of wordsOf(url)
      .filter((word) => word.length >= 4)
      .toSorted((a, b) => b.length - a.length)) {
      const having = [...survey.all].filter((one) => one.toLowerCase().includes(part));
      if (having.length <= most) return { survey, url, part };
    }
  }
  throw new NotApplicable('no URL has a part of letters that not all of them have');
}

/** A URL that can be quoted without escapes. */
function plainUrl({ samples, shared }: Survey): string {
  const found = samples.find(({ url }) => /^[\w:/.~%+-]+$/.test(url) && !shared.has(url));
  if (found === undefined) throw new NotApplicable('no URL of the dump is plain');
  return found.url;
}
