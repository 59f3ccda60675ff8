import { check, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import { checkIncludes, checkNotRefused, checkRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS } from './context.js';
import { formatReply, type Reply, textsOf } from './reply.js';
import { pickWord, SURVEY_MS, type Survey, type Word } from './survey.js';

/** Flags: section 3. */
export const flagCases: readonly BrokerCase[] = [
  caseFlagCase(
    'insensitive',
    'case insensitive ignores case',
    ['BRK-3.1'],
    'M1.4; RC',
    'MUST',
    'case insensitive',
    true,
  ),
  caseFlagCase(
    'insenstive',
    'the spelling of the developer notes is understood too',
    ['BRK-3.1'],
    'S',
    'MUST',
    'case insenstive',
    true,
  ),
  caseFlagCase(
    'sensitive',
    'case sensitive respects case',
    ['BRK-3.2'],
    'M1.4; RC',
    'MUST',
    'case sensitive',
    false,
  ),
  flagCase(
    'default-case',
    'without a flag case is ignored',
    ['BRK-3.7'],
    'RC: the gateway of 1998 sends a flag only for "case sensitive"',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const word = pickWord(survey);
      const odd = oddCase(word);
      checkSameUrls(word.urls, await context.found(odd, 'fail', '#opaque #index matchword'), survey, odd);
      checkIncludes(word.urls, await context.found(odd, 'fail', '#opaque'), odd);
    },
  ),
  flagCase(
    'later-overrides',
    'a later flag overrides an earlier one of its kind',
    ['BRK-3.6'],
    'project choice',
    'SHOULD',
    async (context) => {
      const survey = await context.survey();
      const word = pickWord(survey);
      const odd = oddCase(word);
      const both = '#opaque #index matchword #index case sensitive #index case insensitive';
      checkSameUrls(word.urls, await context.found(odd, 'fail', both), survey, odd);
      const reversed = '#opaque #index matchword #index case insensitive #index case sensitive';
      checkSameUrls(new Set(), await context.found(odd, 'fail', reversed), survey, odd);
    },
  ),
  flagCase(
    'any-order',
    'flags may come in any order',
    ['BRK-3.6'],
    'project choice',
    'SHOULD',
    async (context) => {
      const survey = await context.survey();
      const word = pickWord(survey);
      const flags = ['#opaque', '#index matchword', '#desc', '#index case insensitive'];
      const expected = describeObjects(await context.ask(`#USER ${flags.join(' ')} #END ${word.text}`));
      for (const order of [flags.toReversed(), [...flags.slice(2), ...flags.slice(0, 2)]]) {
        const received = describeObjects(await context.ask(`#USER ${order.join(' ')} #END ${word.text}`));
        check(received === expected, 'another order of flags changes the reply', {
          expected: printable(expected, 300),
          received: printable(received, 300),
        });
      }
    },
  ),
  flagCase(
    'matchword',
    'matchword matches whole words only',
    ['BRK-2.20'],
    'S; M1.4',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const { part } = partOfWord(survey);
      checkSameUrls(new Set(), await context.found(part, 'skip'), survey, part);
    },
  ),
  flagCase(
    'parts',
    'without matchword parts of words match',
    ['BRK-2.20'],
    'M1.4 (Glimpse)',
    'SHOULD',
    async (context) => {
      const { word, part } = partOfWord(await context.survey());
      checkIncludes(word.urls, await context.found(part, 'skip', '#opaque #index case insensitive'), part);
    },
  ),
  flagCase(
    'errors',
    'error 1 allows one spelling error, error 0 none',
    ['BRK-2.23', 'BRK-2.20'],
    'S; M1.4 (Glimpse)',
    'MUST',
    async (context) => {
      const survey = await context.survey();
      const word = pickWord(survey, 6);
      const middle = Math.floor(word.text.length / 2);
      const letter = word.text.charAt(middle) === 'q' ? 'x' : 'q';
      const misspelled = `${word.text.slice(0, middle)}${letter}${word.text.slice(middle + 1)}`;
      const flags = '#opaque #index case insensitive';
      const tolerant = await context.found(misspelled, 'skip', `${flags} #index error 1`);
      checkIncludes(word.urls, tolerant, `${misspelled} with one error`);
      for (const exact of [flags, `${flags} #index error 0`]) {
        checkSameUrls(new Set(), await context.found(misspelled, 'skip', exact), survey, misspelled);
      }
    },
  ),
  flagCase(
    'opaque',
    '#opaque decides whether matched lines are sent',
    ['BRK-3.2'],
    'S; M1.4',
    'MUST',
    async (context) => {
      const { text } = pickWord(await context.survey());
      const flags = '#index case insensitive #index matchword';
      const [without, given] = [
        await context.ask(`#USER ${flags} #END ${text}`),
        await context.ask(`#USER #opaque ${flags} #END ${text}`),
      ].map((reply) => textsOf(reply, 122).length);
      if (without === 0 && given === 0) throw new NotApplicable('the engine sends no matched lines');
      check(without === 0 || given === 0, 'matched lines are sent both with and without #opaque', {
        expected: '122 items with it or without it',
        received: `${without} without, ${given} with`,
      });
    },
  ),
  flagCase(
    'opaque-suppresses',
    '#opaque means: no matched lines',
    ['BRK-3.2'],
    'S, against M1.4',
    'SHOULD',
    async (context) => {
      const { text } = pickWord(await context.survey());
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} #END ${text}`);
      check(textsOf(reply, 122).length === 0, 'matched lines are sent with #opaque', {
        expected: 'no 122',
        received: formatReply(reply),
      });
    },
  ),
  flagCase('maxresult', 'maxresult limits the results', ['BRK-8.11'], 'S', 'MUST', async (context) => {
    const { text } = commonWord(await context.survey());
    for (const limit of [1, 2]) {
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} #index maxresult ${limit} #END ${text}`);
      checkNotRefused(reply, `maxresult ${limit}`);
      checkObjectCount(reply, limit);
      // BRK-4.16: a result that is cut is a result.
      check(reply.objects.length > 0, 'no object', { expected: '1 object', received: formatReply(reply) });
    }
  }),
  flagCase(
    'maxresult-lines',
    'maxresult counts the matched lines of the whole reply',
    ['BRK-8.11'],
    'inferred: G',
    'SHOULD',
    async (context) => {
      const { text } = commonWord(await context.survey());
      const reply = await context.ask(`#USER #index case insensitive #index maxresult 2 #END ${text}`);
      checkNotRefused(reply, 'maxresult 2');
      const lines = textsOf(reply, 122).length;
      check(lines <= 2, 'more matched lines than requested', {
        expected: 'at most 2',
        received: String(lines),
      });
    },
  ),
  flagCase('maxfiles', 'maxfiles limits the objects', ['BRK-8.11'], 'RC', 'MUST', async (context) => {
    const word = commonWord(await context.survey());
    const reply = await askWithLateFlag(context, `#index maxfiles 1`, word.text);
    checkObjectCount(reply, 1);
    check(reply.objects.length === 1, 'no object', { expected: '1 object', received: formatReply(reply) });
  }),
  flagCase('no-limit', 'the limit 0 is no limit', ['BRK-8.11'], 'G', 'SHOULD', async (context) => {
    const survey = await context.survey();
    const word = commonWord(survey);
    const reply = await askWithLateFlag(context, '#index maxresult 0 #index maxfiles 0', word.text);
    checkSameUrls(word.urls, urlsOf(reply), survey, word.text);
  }),
  flagCase(
    'maxlines',
    'maxlines limits the matched lines of an object',
    ['BRK-3.3', 'BRK-8.11'],
    'project choice',
    'SHOULD',
    async (context) => {
      for (const { text } of (await context.survey()).words) {
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
    },
  ),
  flagCase(
    'lifetime',
    'a lifetime is accepted, and any number is clamped',
    ['BRK-3.4', 'BRK-8.14'],
    'project choice',
    'SHOULD',
    async (context) => {
      const survey = await context.survey();
      const word = pickWord(survey);
      for (const seconds of [1, 30, 100_000]) {
        const flags = `${PLAIN_FLAGS} #index lifetime ${seconds}`;
        checkSameUrls(word.urls, await context.found(word.text, 'fail', flags), survey, word.text);
      }
    },
  ),
  flagCase(
    'unknown-index',
    'an unknown #index flag is ignored after a 101 notice',
    ['BRK-3.5'],
    'project choice',
    'SHOULD',
    async (context) => {
      const survey = await context.survey();
      const word = pickWord(survey);
      for (const unknown of ['#index zzyzx', '#index zzyzx plugh']) {
        const reply = await context.ask(`#USER ${PLAIN_FLAGS} ${unknown} #END ${word.text}`);
        checkNotRefused(reply, unknown);
        checkSameUrls(word.urls, urlsOf(reply), survey, word.text);
        check(textsOf(reply, 101).length > 0, 'no notice', {
          expected: '101 - ...',
          received: formatReply(reply),
        });
      }
    },
  ),
  flagCase(
    'incomplete',
    'an #index flag without its value is malformed',
    ['BRK-4.14'],
    'S; RC',
    'MUST',
    async (context) => {
      for (const message of ['#USER #index #END zzyzx', '#USER #index error #END zzyzx']) {
        checkRefused(await context.ask(message), message);
      }
    },
  ),
];

function flagCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  run: (context: BrokerContext) => Promise<void>,
): BrokerCase {
  return { id: `flags/${id}`, title, rules, source, level, timeoutMs: SURVEY_MS, run };
}

/** Builds a case in which a word in alternating case finds the same objects as the word, or nothing. */
function caseFlagCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  setting: string,
  finds: boolean,
): BrokerCase {
  return flagCase(id, title, rules, source, level, async (context) => {
    const survey = await context.survey();
    const word = pickWord(survey);
    const flags = `#opaque #index matchword #index ${setting}`;
    const expected = finds ? word.urls : new Set<string>();
    checkSameUrls(
      expected,
      await context.found(oddCase(word), 'fail', flags),
      survey,
      `${oddCase(word)} (${setting})`,
    );
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

/** Sends a query with a flag that older Brokers do not know. @throws NotApplicable if the Broker refuses the flag */
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
