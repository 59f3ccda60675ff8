import { check, must, NotApplicable, should } from '../case.js';
import { printable } from '../printable.js';
import { checkIncludes, checkNotRefused, checkRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, type BrokerContext, surveyed } from './context.js';
import { textsOf } from './reply.js';
import { pickWord, SURVEY_MS, type Survey, union, wordsOf } from './survey.js';

/** Queries about one attribute, and the select operators: BRK-2.14 to 2.19. */
export const attributeCases: readonly BrokerCase[] = [
  must('query/url', 'BRK-2.18 BRK-2.14', 'RC; DB; M1.4')
    .title('the URL is searchable as url')
    .does(surveyed, async (survey, context) => {
      const { url, part } = partOfUrl(survey);
      const query = `url : "${part}"`;
      const urls = await findStructured(context, query);
      checkIncludes(new Set([url]), urls, query);
      const others = [...urls].filter((one) => !one.toLowerCase().includes(part));
      checkSameUrls(new Set(), new Set(others), survey, query);
    }),
  must('query/select-blanks', 'BRK-2.14 BRK-2.8', 'M1.4; QH; DB')
    .title('blanks around the colon may be left out')
    .does(surveyed, async (survey, context) => {
      const { part } = partOfUrl(survey);
      const expected = await findStructured(context, `url : "${part}"`);
      for (const query of [
        `url:"${part}"`,
        `url: "${part}"`,
        `url :"${part}"`,
        `url:${part}`,
        `(url:${part})`,
      ]) {
        checkSameUrls(expected, await findStructured(context, query), survey, query);
      }
    }),
  must('query/attribute-any-case', 'BRK-2.16', 'inferred: G, RC')
    .title('names of attributes are compared without regard to case')
    .does(surveyed, async (survey, context) => {
      const { part } = partOfUrl(survey);
      const expected = await findStructured(context, `url : "${part}"`);
      for (const name of ['URL', 'Url']) {
        checkSameUrls(
          expected,
          await findStructured(context, `${name} : "${part}"`),
          survey,
          `${name} : ...`,
        );
      }
    }),
  must('query/attribute-restricts', 'BRK-2.14', 'M1.4')
    .title('tag : value looks at that attribute only')
    .does(surveyed, async (survey, context) => {
      const { part } = partOfUrl(survey);
      const query = `zzyzx-plugh : "${part}"`;
      checkSameUrls(new Set(), await findStructured(context, query), survey, query);
    }),
  must('query/attribute-equals', 'BRK-2.15', 'RC; G')
    .title('a quoted "attribute=value" is a structured term')
    .does(surveyed, async (survey, context) => {
      const { part } = partOfUrl(survey);
      const expected = await findStructured(context, `url : "${part}"`);
      checkSameUrls(expected, await findStructured(context, `"url=${part}"`), survey, `"url=${part}"`);
    }),
  must('query/structured-and', 'BRK-2.14 BRK-2.21', 'DB; M1.4')
    .title('structured terms combine with others')
    .does(surveyed, async (survey, context) => {
      const { part } = partOfUrl(survey);
      const word = pickWord(survey);
      const urls = await findStructured(context, `url : "${part}"`);
      const query = `${word.text} or (url : "${part}")`;
      checkSameUrls(union(word.urls, urls), await findStructured(context, query), survey, query);
    }),
  should('query/exact', 'BRK-2.17 BRK-2.19', 'M1.2; project choice')
    .title('url exact "..." finds that URL and no other')
    .does(surveyed, async (survey, context) => {
      const url = plainUrl(survey);
      const found = await context.found(`url exact "${url}"`, 'skip');
      checkSameUrls(new Set([url]), found, survey, `url exact "${url}"`);
      const cut = `url exact "${url.slice(0, -1)}"`;
      check(
        !(await context.found(cut, 'skip', '#opaque #index case insensitive')).has(url),
        'exact finds a part',
        { expected: 'not found', received: url },
      );
    }),
  should('query/regexp', 'BRK-2.17 BRK-2.19', 'M1.2; project choice')
    .title('url regexp "..." matches a regular expression')
    .does(surveyed, async (survey, context) => {
      const { url, part } = partOfUrl(survey);
      const query = `url regexp "${part.slice(0, 1)}[${part.slice(1, 2)}]${part.slice(2, 20)}"`;
      checkIncludes(new Set([url]), await context.found(query, 'skip'), query);
      const never = await context.found('url regexp "^zzyzx[pq]lugh$"', 'skip');
      check(never.size === 0, 'a regular expression that nothing matches', {
        expected: 'no object',
        received: `${never.size} objects`,
      });
    }),
  should('query/less-than', 'BRK-2.17 BRK-2.19', 'M1.2; project choice')
    .title('less-than and greater-than compare numbers')
    .within(SURVEY_MS)
    .run(async (context) => {
      const later = await context.found('update-time greater-than 99999', 'skip');
      const earlier = await context.found('update-time less-than 99999', 'skip');
      check(later.size > 0 && earlier.size === 0, 'Update-Times are not compared as numbers', {
        expected: 'objects with an Update-Time greater than 99999, and none with a smaller one',
        received: `${later.size} greater, ${earlier.size} smaller`,
      });
    }),
  must('query/unsupported', 'BRK-2.19', 'M1.4')
    .title('a kind of query that the engine does not support is an error, not an empty result')
    .does(surveyed, async (survey, context) => {
      const url = plainUrl(survey);
      // Each of these queries matches an existing object, so an empty result means that the engine ignored the
      // condition.
      const queries = [`url exact "${url}"`, 'url regexp "."', 'url greater-than "!"', 'url less-than "~~"'];
      for (const query of queries) {
        const reply = await context.ask(`#USER #opaque #END ${query}`);
        if (textsOf(reply, 111).length > 0) checkRefused(reply, query);
        else {
          check(reply.objects.length > 0, `neither answered nor refused: ${printable(query)}`, {
            expected: 'objects, or 111 - ERROR',
            received: 'no objects',
          });
        }
      }
    }),
];

/**
 * Returns the URLs that a structured term finds. It matches parts of values, so the flags do not require whole
 * words.
 */
async function findStructured(context: BrokerContext, text: string): Promise<ReadonlySet<string>> {
  const reply = await context.ask(`#USER #opaque #index case insensitive #END ${text}`);
  checkNotRefused(reply, text, 'skip');
  return urlsOf(reply);
}

/** Returns a part of a URL by which the URL is found: only letters, so that no engine reads it as a pattern. */
function partOfUrl(survey: Survey): { readonly url: string; readonly part: string } {
  const most = Math.max(1, Math.min(300, survey.all.size - 1));
  for (const { url } of survey.samples) {
    for (const part of wordsOf(url)
      .filter((word) => word.length >= 4)
      .toSorted((a, b) => b.length - a.length)) {
      const having = [...survey.all].filter((one) => one.toLowerCase().includes(part));
      if (having.length <= most) return { url, part };
    }
  }
  throw new NotApplicable('no URL has a part of letters that other URLs lack');
}

/** Returns a URL that can be quoted without escapes. */
function plainUrl({ samples, shared }: Survey): string {
  const found = samples.find(({ url }) => /^[\w:/.~%+-]+$/.test(url) && !shared.has(url));
  if (found === undefined) throw new NotApplicable('no URL of the dump is plain');
  return found.url;
}
