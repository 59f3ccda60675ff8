import { check, checkEqual, must, NotApplicable, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import { checkHas, checkIncludes, checkNotRefused, checkRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS, refused, surveyed } from './context.js';
import { formatReply, type Reply, textsOf } from './reply.js';
import { intersect, pickOverlapping, pickWord, SURVEY_MS, type Survey, type Word } from './survey.js';

/** Words that are queried with and without `#opaque`. */
const MAX_OPAQUE = 5;
/** BRK-3.6: `#attribute` flags of a message. */
const MAX_ATTRIBUTES = 256;

/** BRK-2.27: the attribute with the words that an object lacks. */
const MISSING_WORDS = 'Missing-Words';

/** Flags: section 3. */
export const flagCases: readonly BrokerCase[] = [
  must('flags/insensitive', 'BRK-3.1', 'M1.4; RC')
    .title('case insensitive ignores case')
    .does(oddCaseFinds, true, 'case insensitive'),
  must('flags/insenstive', 'BRK-3.1', 'S')
    .title('the spelling of the developer notes is understood too')
    .does(oddCaseFinds, true, 'case insenstive'),
  must('flags/sensitive', 'BRK-3.1', 'M1.4; RC')
    .title('case sensitive respects case')
    .does(oddCaseFinds, false, 'case sensitive'),
  must('flags/default-case', 'BRK-3.7', 'RC: the gateway of 1998 sends a flag only for "case sensitive"')
    .title('without a flag case is ignored')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      const odd = oddCase(word);
      await context.checkFinds(odd, word.urls, 'fail', '#opaque #index matchword');
      checkIncludes(word.urls, await context.found(odd, 'fail', '#opaque'), odd);
    }),
  should('flags/later-overrides', 'BRK-3.6', 'project choice')
    .title('a later flag overrides an earlier one of its kind')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      const odd = oddCase(word);
      const both = '#opaque #index matchword #index case sensitive #index case insensitive';
      await context.checkFinds(odd, word.urls, 'fail', both);
      const reversed = '#opaque #index matchword #index case insensitive #index case sensitive';
      await context.checkFinds(odd, new Set(), 'fail', reversed);
    }),
  should('flags/any-order', 'BRK-3.6', 'project choice')
    .title('flags may come in any order')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      const flags = ['#opaque', '#index matchword', '#desc', '#index case insensitive'];
      const expected = describeObjects(await context.ask(`#USER ${flags.join(' ')} #END ${word.text}`));
      for (const order of [flags.toReversed(), [...flags.slice(2), ...flags.slice(0, 2)]]) {
        const received = describeObjects(await context.ask(`#USER ${order.join(' ')} #END ${word.text}`));
        const show = (text: string) => printable(text, 300);
        checkEqual(received, expected, 'another order of flags changes the reply', show);
      }
    }),
  must('flags/matchword', 'BRK-2.20', 'S; M1.4')
    .title('matchword matches whole words only')
    .does(surveyed, async (survey, context) => {
      const { part } = partOfWord(survey);
      await context.checkFinds(part, new Set(), 'skip');
    }),
  should('flags/parts', 'BRK-2.20', 'M1.4 (Glimpse)')
    .title('without matchword parts of words match')
    .does(surveyed, async (survey, context) => {
      const { word, part } = partOfWord(survey);
      checkIncludes(word.urls, await context.found(part, 'skip', '#opaque #index case insensitive'), part);
    }),
  must('flags/errors', 'BRK-2.23 BRK-2.20', 'S; M1.4 (Glimpse)')
    .title('error 1 allows one spelling error, error 0 none')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey, 6);
      const middle = Math.floor(word.text.length / 2);
      const letter = word.text.charAt(middle) === 'q' ? 'x' : 'q';
      const misspelled = `${word.text.slice(0, middle)}${letter}${word.text.slice(middle + 1)}`;
      const flags = '#opaque #index case insensitive';
      const tolerant = await context.found(misspelled, 'skip', `${flags} #index error 1`);
      checkIncludes(word.urls, tolerant, `${misspelled} with one error`);
      for (const exact of [flags, `${flags} #index error 0`]) {
        await context.checkFinds(misspelled, new Set(), 'skip', exact);
      }
    }),
  must('flags/opaque', 'BRK-3.2', 'S; M1.4')
    .title('#opaque decides whether matched lines are sent')
    .does(surveyed, async (survey, context) => {
      const { text } = pickWord(survey);
      const flags = '#index case insensitive #index matchword';
      const [without, given] = [
        await context.ask(`#USER ${flags} #END ${text}`),
        await context.ask(`#USER #opaque ${flags} #END ${text}`),
      ].map(linesOf);
      if (without === 0 && given === 0) throw new NotApplicable('the engine sends no matched lines');
      check(without === 0 || given === 0, 'matched lines are sent both with and without #opaque', {
        expected: '122 items with it or without it',
        received: `${without} without, ${given} with`,
      });
    }),
  should('flags/opaque-mode', 'BRK-3.2', 'S; M1.4')
    .title('#opaque means the same in each query: no matched lines, or matched lines')
    .does(surveyed, async ({ words }, context) => {
      const sent = { without: 0, given: 0 };
      const flags = '#index case insensitive #index matchword';
      for (const { text } of words.slice(0, MAX_OPAQUE)) {
        sent.without += linesOf(await context.ask(`#USER ${flags} #END ${text}`));
        sent.given += linesOf(await context.ask(`#USER #opaque ${flags} #END ${text}`));
      }
      check(sent.without === 0 || sent.given === 0, 'matched lines are sent both with and without #opaque', {
        expected: '122 items always with it, or always without it',
        received: `${sent.without} without, ${sent.given} with`,
      });
    }),
  must('flags/maxresult', 'BRK-8.11', 'S')
    .title('maxresult limits the results')
    .does(surveyed, async (survey, context) => {
      const { text } = commonWord(survey);
      for (const limit of [1, 2]) {
        const reply = await context.ask(`#USER ${PLAIN_FLAGS} #index maxresult ${limit} #END ${text}`);
        checkNotRefused(reply, `maxresult ${limit}`);
        checkObjectCount(reply, limit);
        // BRK-4.16: a result that is cut is a result.
        check(reply.objects.length > 0, 'no object', {
          expected: '1 object',
          received: formatReply(reply),
        });
      }
    }),
  must('flags/maxresult-lines', 'BRK-8.11', 'inferred: G')
    .title('maxresult counts the matched lines of the whole reply')
    .does(surveyed, async (survey, context) => {
      const { text } = commonWord(survey);
      const reply = await context.ask(`#USER #index case insensitive #index maxresult 2 #END ${text}`);
      checkNotRefused(reply, 'maxresult 2');
      const lines = textsOf(reply, 122).length;
      check(lines <= 2, 'more matched lines than requested', {
        expected: 'at most 2',
        received: String(lines),
      });
    }),
  must('flags/maxfiles', 'BRK-8.11', 'RC')
    .title('maxfiles limits the objects')
    .does(surveyed, async (survey, context) => {
      const word = commonWord(survey);
      const reply = await askWithLateFlag(context, `#index maxfiles 1`, word.text);
      checkObjectCount(reply, 1);
      check(reply.objects.length === 1, 'no object', {
        expected: '1 object',
        received: formatReply(reply),
      });
    }),
  must('flags/no-limit', 'BRK-8.11', 'G')
    .title('the limit 0 is no limit')
    .does(surveyed, async (survey, context) => {
      const word = commonWord(survey);
      const reply = await askWithLateFlag(context, '#index maxresult 0 #index maxfiles 0', word.text);
      checkSameUrls(word.urls, urlsOf(reply), survey, word.text);
    }),
  should('flags/maxlines', 'BRK-3.3 BRK-8.11', 'project choice')
    .title('maxlines limits the matched lines of an object')
    .does(surveyed, async ({ words }, context) => {
      for (const { text } of words) {
        const reply = await context.ask(`#USER #index case insensitive #index maxlines 1 #END ${text}`);
        checkNotRefused(reply, '#index maxlines 1');
        for (const { items, url } of reply.objects) {
          const lines = items.filter(({ code }) => code === 122).length;
          check(lines <= 1, `more matched lines than requested: ${printable(url)}`, {
            expected: '1',
            received: String(lines),
          });
        }
      }
    }),
  should('flags/lifetime', 'BRK-3.4 BRK-8.14', 'project choice')
    .title('a lifetime is accepted, and any number is clamped')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      for (const seconds of [1, 30, 100_000]) {
        const flags = `${PLAIN_FLAGS} #index lifetime ${seconds}`;
        await context.checkFinds(word.text, word.urls, 'fail', flags);
      }
    }),
  should('flags/accents', 'BRK-2.25 BRK-2.27 BRK-3.5', 'an extension of harvest-kit')
    .title(
      'without accents, or with most of the words, a word finds at least what it finds, or the flag is ignored',
    )
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      for (const flag of ['#index accents insensitive', '#index words most']) {
        const reply = await context.ask(`#USER ${PLAIN_FLAGS} ${flag} #END ${word.text}`);
        checkNotRefused(reply, flag);
        checkIncludes(word.urls, urlsOf(reply), word.text);
      }
    }),
  should('flags/scope', 'BRK-2.26 BRK-3.5', 'an extension of harvest-kit')
    .title('a word in the content of objects is in the objects, or the flag is ignored')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      const flag = '#index scope content';
      const reply = await context.ask(`#USER #opaque ${flag} #END ${word.text}`);
      checkNotRefused(reply, flag);
      checkIncludes(urlsOf(reply), await context.found(word.text, 'fail', '#opaque'), word.text);
    }),
  should('flags/most-words', 'BRK-2.27 BRK-3.5', 'an extension of harvest-kit')
    .title(
      'with most of the words, objects with all are found, and no object lacks a word that it has; or the flag is ignored',
    )
    .does(surveyed, async (survey, context) => {
      const [a, b] = pickOverlapping(survey);
      const query = `${a.text} and ${b.text}`;
      const attribute = survey.attributes ? `#attribute ${MISSING_WORDS} ` : '';
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} ${attribute}#index words most #END ${query}`);
      checkNotRefused(reply, '#index words most');
      checkIncludes(intersect(a.urls, b.urls), urlsOf(reply), query);
      for (const { url, items } of reply.objects) {
        if (survey.shared.has(url)) continue;
        const missing = items.find(({ code, text }) => code === 127 && text.startsWith(MISSING_WORDS));
        const named = missing?.value?.toString('latin1').toLowerCase();
        // An object may have a form of a word in its place.
        const may = [a, b].filter(({ urls }) => !urls.has(url)).map(({ text }) => text);
        const allowed = [undefined, ...may, may.join(' ')];
        check(allowed.includes(named), `wrong ${MISSING_WORDS} of ${printable(url)}`, {
          expected: may.length === 0 ? 'none' : printable(may.join(' ')),
          received: printable(named ?? ''),
        });
      }
    }),
  should('flags/unknown-index', 'BRK-3.5', 'project choice')
    .title('an unknown #index flag is ignored after a 101 notice')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      for (const unknown of ['#index zzyzx', '#index zzyzx plugh']) {
        const reply = await context.ask(`#USER ${PLAIN_FLAGS} ${unknown} #END ${word.text}`);
        checkNotRefused(reply, unknown);
        checkSameUrls(word.urls, urlsOf(reply), survey, word.text);
        checkHas(reply, 101, 'no notice');
      }
    }),
  must('flags/incomplete', 'BRK-3 BRK-4.14', 'S; RC')
    .title('an #index flag without its value is malformed')
    .within(SURVEY_MS)
    .does(refused, '#USER #index #END zzyzx', '#USER #index error #END zzyzx'),
  should('flags/numbers', 'BRK-3.6', 'project choice')
    .title('a number has 1 to 10 digits and is at most 4294967295; another one is malformed')
    .run(async (context) => {
      const message = (number: string) => `#USER #opaque #index maxresult ${number} #END zzyzx`;
      for (const number of ['0000000001', '4294967295'])
        checkNotRefused(await context.ask(message(number)), number);
      for (const number of ['00000000001', '4294967296', '99999999999', '-1', '1x'])
        checkRefused(await context.ask(message(number)), message(number));
    }),
  should('flags/attribute-limit', 'BRK-3.6', 'project choice')
    .title(`a message has at most ${MAX_ATTRIBUTES} #attribute flags; one more is malformed`)
    .does(surveyed, async ({ attributes }, context) => {
      if (!attributes) throw new NotApplicable('the broker does not know #attribute (late)');
      const message = (count: number) => {
        const flags = Array.from({ length: count }, (_, at) => `#attribute zzyzx-${at}`);
        return `#USER #opaque ${flags.join(' ')} #END zzyzx`;
      };
      checkNotRefused(await context.ask(message(MAX_ATTRIBUTES)), `${MAX_ATTRIBUTES} #attribute flags`);
      const more = message(MAX_ATTRIBUTES + 1);
      checkRefused(await context.ask(more), more);
    }),
];

/** Returns the number of matched lines of a reply. */
function linesOf(reply: Reply): number {
  return textsOf(reply, 122).length;
}

/** Queries a word in alternating case, which finds the same objects as the word, or nothing. */
function oddCaseFinds(findsAll: boolean, setting: string): Procedure<BrokerContext> {
  return surveyed(async (survey, context) => {
    const word = pickWord(survey);
    const odd = oddCase(word);
    const found = await context.found(odd, 'fail', `#opaque #index matchword #index ${setting}`);
    checkSameUrls(findsAll ? word.urls : new Set(), found, survey, `${odd} (${setting})`);
  });
}

/** Returns the word in alternating case, which texts do not contain. */
function oddCase({ text }: Word): string {
  return [...text].map((letter, at) => (at % 2 === 0 ? letter : letter.toUpperCase())).join('');
}

/** Returns a word without its first and last letter, which is not a word itself. */
function partOfWord(survey: Survey): { readonly word: Word; readonly part: string } {
  const word = pickWord(survey, 6);
  return { word, part: word.text.slice(1, -1) };
}

/** Returns a word that finds several objects. @throws NotApplicable */
function commonWord({ words }: Survey): Word {
  const word = words.find(({ urls }) => urls.size >= 3);
  if (word === undefined) throw new NotApplicable('no word of the data finds three objects');
  return word;
}

/**
 * Sends a query with a flag that older Brokers do not know. @throws NotApplicable if the Broker refuses the
 * flag
 */
async function askWithLateFlag(context: BrokerContext, flags: string, query: string): Promise<Reply> {
  const reply = await context.ask(`#USER ${PLAIN_FLAGS} ${flags} #END ${query}`);
  const [notice] = [
    ...textsOf(reply, 111),
    ...textsOf(reply, 101).filter((text) => /unknown|ignor/i.test(text)),
  ];
  if (notice !== undefined) throw new NotApplicable(`an older broker refuses the flag: ${printable(notice)}`);
  return reply;
}

function checkObjectCount(reply: Reply, limit: number): void {
  check(reply.objects.length <= limit, 'more results than requested', {
    expected: `at most ${limit}`,
    received: `${reply.objects.length} objects`,
  });
}

/** Describes codes and texts of a reply, independent of the order of its objects. */
function describeObjects({ objects }: Reply): string {
  return objects
    .map(({ items }) =>
      items.map(({ code, text, value }) => `${code} ${text} ${value?.length ?? ''}`).join('\n'),
    )
    .toSorted()
    .join('\n');
}
