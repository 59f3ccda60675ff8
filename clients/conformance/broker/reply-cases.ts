// Cases about the layout of replies (BRK section 4).
import { check, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import { checkNotRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS } from './context.js';
import { type FoundObject, formatReply, type Problem, type Reply, textsOf } from './reply.js';
import { pickWord, SURVEY_MS } from './survey.js';

/** The codes of a reply (BRK-4.1). */
const KNOWN = new Set([101, 103, 111, 120, 122, 124, 125, 126, 127, 130]);
/** Number of objects of a reply that are checked. */
const CHECKED_OBJECTS = 500;

/** Layout of replies: section 4. */
export const replyCases: readonly BrokerCase[] = [
  noProblemCase('form', 'every line is three digits, space, hyphen, space, text', ['BRK-4.1'], 'S', 'form'),
  noProblemCase('lf-only', 'lines end in LF only', ['BRK-1.9'], 'inferred: S', 'cr'),
  noProblemCase(
    'counts',
    '124 has a count of bytes, 127 a name and a count',
    ['BRK-4.1', 'BRK-4.6'],
    'S; RC',
    'count',
  ),
  noProblemCase(
    'counted',
    'after the count and one LF come that many bytes, then an LF',
    ['BRK-4.4'],
    'S; RC',
    'no-lf',
  ),
  noProblemCase('whole', 'the reply does not end within an item', ['BRK-4.4', 'BRK-4.12'], 'S; RC', 'cut'),
  layoutCase('codes', 'only known codes are used', ['BRK-4.1'], 'S; RC', 'MUST', ({ items }) => {
    const stranger = items.find(({ code }) => !KNOWN.has(code));
    check(stranger === undefined, 'an unknown code', {
      expected: [...KNOWN].join(' '),
      received: `${stranger?.code} - ${printable(stranger?.text ?? '')}`,
    });
  }),
  objectCase(
    'begins-120',
    'an object begins with 120 and its URL',
    ['BRK-4.3'],
    'S; RC',
    'MUST',
    ({ url }) => {
      check(url !== '', 'a 120 without a URL', { expected: '120 - URL', received: '120 - ' });
    },
  ),
  layoutCase(
    'inside',
    'the items of an object are between its 120 and 130',
    ['BRK-4.3'],
    'RC',
    'MUST',
    ({ items }) => {
      let isOpen = false;
      for (const { code, text } of items) {
        if (code === 120) isOpen = true;
        const belongs = code === 122 || code === 124 || code === 125 || code === 127 || code === 130;
        check(!belongs || isOpen, 'an item outside of any object', {
          expected: '120 before it',
          received: `${code} - ${printable(text)}`,
        });
        if (code === 130) isOpen = false;
      }
    },
  ),
  objectCase('ends-130', 'an object ends with 130', ['BRK-4.3'], 'RC', 'MUST', (found) => {
    check(found.ended, 'an object does not end', {
      expected: '130 - object end',
      received: itemsText(found),
    });
  }),
  layoutCase(
    'object-end',
    'the end of an object is spelled 130 - object end',
    ['BRK-4.2'],
    'RC',
    'MUST',
    (reply) => {
      const other = textsOf(reply, 130).find((text) => text !== 'object end');
      check(other === undefined, 'another text after 130', {
        expected: '130 - object end',
        received: `130 - ${printable(other ?? '')}`,
      });
    },
  ),
  objectCase(
    'order',
    'items come in the order 120 125 126 124 127 122 130',
    ['BRK-4.3'],
    'project choice',
    'SHOULD',
    ({ items }) => {
      const order = [120, 125, 126, 124, 127, 122, 130];
      const ranks = items.map(({ code }) => order.indexOf(code)).filter((rank) => rank >= 0);
      check(
        ranks.every((rank, i) => i === 0 || rank >= (ranks[i - 1] ?? 0)),
        'another order',
        {
          expected: order.join(' '),
          received: items.map(({ code }) => code).join(' '),
        },
      );
    },
  ),
  objectCase(
    'object-url',
    'each object has one 125, an HTTP URL of its content summary',
    ['BRK-4.10'],
    'S; M1.4',
    'MUST',
    ({ items }) => {
      const urls = items.filter(({ code }) => code === 125).map(({ text }) => text);
      check(urls.length === 1 && /^https?:\/\/[^/\s]+\/\S*$/.test(urls[0] ?? ''), 'not one HTTP URL', {
        expected: '125 - http://host/Harvest/brokers/name/objects/...',
        received: printable(urls.join(' ')) || 'no 125',
      });
    },
  ),
  layoutCase('home-page', '126 gives the URL of the home page', ['BRK-4.11'], 'S; M1.4', 'MUST', (reply) => {
    const pages = textsOf(reply, 126);
    check(pages.length > 0 && pages.every((url) => /^https?:\/\/[^/\s]+\S*$/.test(url)), 'no home page', {
      expected: '126 - http://host/...',
      received: printable([...new Set(pages)].join(' ')) || 'no 126',
    });
  }),
  {
    id: 'reply/messages-form',
    title: 'notices and refusals have the form of other items and end in LF only',
    rules: ['BRK-4.1', 'BRK-1.9'],
    source: 'S; RC',
    level: 'MUST',
    async run(context) {
      for (const message of [
        `#USER ${PLAIN_FLAGS} #END zzyzxplugh`,
        '#USER #index zzyzx #END zzyzxplugh',
        '#USER #END (',
        '#USER zzyzx',
      ]) {
        const [problem] = (await context.ask(message)).problems;
        check(problem === undefined, `not a line of a reply: ${printable(message)}`, {
          expected: 'NNN - text\\n',
          received: problem?.text ?? '',
        });
      }
    },
  },
  {
    id: 'reply/desc-only-asked',
    title: 'descriptions come only with #desc',
    rules: ['BRK-4.5'],
    source: 'S',
    level: 'MUST',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { text } = pickWord(await context.survey());
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} #END ${text}`);
      check(!reply.items.some(({ code }) => code === 124), 'a 124 without #desc', {
        expected: 'no 124',
        received: formatReply(reply),
      });
    },
  },
  layoutCase(
    'desc-asked',
    'with #desc some objects have a description, and none has two',
    ['BRK-4.5'],
    'S',
    'MUST',
    ({ objects }) => {
      const counts = objects.map(({ items }) => items.filter(({ code }) => code === 124).length);
      if (counts.every((count) => count === 0))
        throw new NotApplicable('no object of the data has a description');
      check(
        counts.every((count) => count <= 1),
        'an object has two descriptions',
        {
          expected: 'one 124',
          received: `${Math.max(...counts)}`,
        },
      );
    },
  ),
  {
    id: 'reply/desc-sent',
    title: 'with #desc every object that has a description is sent with it',
    rules: ['BRK-4.5'],
    source: 'S; inferred',
    level: 'MUST',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { attributes } = await context.survey();
      if (!attributes)
        throw new NotApplicable('the broker does not know #attribute, which shows descriptions');
      const reply = await context.ask('#USER #desc #attribute description #END #allb', {
        maxObjects: CHECKED_OBJECTS,
      });
      checkNotRefused(reply, '#allb');
      for (const { items, url } of reply.objects) {
        const known = items.some(({ code, value }) => code === 127 && (value?.length ?? 0) > 0);
        check(!known || items.some(({ code }) => code === 124), `no description: ${printable(url)}`, {
          expected: '124 - <bytes>',
          received: items.map(({ code }) => code).join(' '),
        });
      }
    },
  },
  layoutCase(
    'once',
    'no object comes twice in a reply',
    ['BRK-4.10'],
    'inferred: M1.4',
    'SHOULD',
    (reply) => {
      const urls = textsOf(reply, 125);
      const [twice] = urls.filter((url, at) => urls.indexOf(url) !== at);
      check(twice === undefined, 'an object comes twice', {
        expected: 'each 125 once',
        received: printable(twice ?? ''),
      });
    },
  ),
  {
    id: 'reply/matched-line',
    title: 'a matched line is "Matched line: attribute# text"',
    rules: ['BRK-4.8', 'BRK-4.7'],
    source: 'M1.4; G (Glimpse)',
    level: 'SHOULD',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { text } = pickWord(await context.survey());
      const lines = await matchedLines(context, text);
      const other = lines.find((line) => !/^Matched line: [^\s#]+# /.test(line));
      check(other === undefined, 'a matched line in another form', {
        expected: '122 - Matched line: attribute# text',
        received: `122 - ${printable(other ?? '')}`,
      });
      check(
        lines.some((line) => line.toLowerCase().includes(text)),
        'no matched line has the word',
        {
          expected: text,
          received: printable(lines.join('\n')),
        },
      );
    },
  },
  {
    id: 'reply/nothing-matched',
    title: 'a reply without objects has a 101 message',
    rules: ['BRK-4.18'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} #END zzyzxplugh`);
      check(textsOf(reply, 101).length > 0, 'no message', {
        expected: '101 - ...',
        received: formatReply(reply),
      });
    },
  },
  attributeCase(
    'attribute/returned',
    '#attribute returns the value of that attribute, under the name as requested',
    ['BRK-4.6'],
    'RC',
    'MUST',
    async (context) => {
      for (const name of ['update-time', 'Update-Time', 'uPDATE-tIME']) {
        const values = valuesOf(await askForAttributes(context, [name]));
        check(
          values.length > 0 && values.every(({ text }) => text.startsWith(`${name} `)),
          'the reply has another name',
          {
            expected: `127 - ${name} <bytes>`,
            received: values[0] === undefined ? 'no 127' : `127 - ${printable(values[0].text)}`,
          },
        );
        check(
          values.every(({ value }) => /^\d+\s*$/.test(value?.toString('latin1') ?? '')),
          'not an Update-Time',
          {
            expected: 'a number of seconds',
            received: printable(values[0]?.value ?? ''),
          },
        );
      }
    },
  ),
  attributeCase(
    'attribute/accumulates',
    '#attribute may be repeated; values come in the requested order',
    ['BRK-3.6', 'BRK-4.3'],
    'RC; project choice',
    'SHOULD',
    async (context) => {
      for (const names of [
        ['update-time', 'gatherer-name'],
        ['gatherer-name', 'update-time'],
      ]) {
        const { objects } = await askForAttributes(context, names);
        for (const { items, url } of objects) {
          const received = items
            .filter(({ code }) => code === 127)
            .map(({ text }) => text.replace(/ \d+$/, ''));
          check(received.join() === names.join(), `other attributes: ${printable(url)}`, {
            expected: names.join(', '),
            received: received.join(', ') || 'none',
          });
        }
      }
    },
  ),
  attributeCase(
    'attribute/missing',
    'an attribute that an object lacks is left out',
    ['BRK-4.6'],
    'project choice',
    'SHOULD',
    async (context) => {
      const reply = await askForAttributes(context, ['zzyzx-plugh', 'update-time']);
      const [value] = valuesOf(reply).filter(({ text }) => text.startsWith('zzyzx'));
      check(value === undefined, 'a value of an attribute that no object has', {
        expected: 'no 127',
        received: `127 - ${printable(value?.text ?? '')}`,
      });
    },
  ),
  attributeCase(
    'attribute/only-asked',
    '127 comes only after #attribute',
    ['BRK-4.1'],
    'RC',
    'MUST',
    async (context) => {
      const { text } = pickWord(await context.survey());
      const reply = await context.ask(`#USER #desc ${PLAIN_FLAGS} #END ${text}`);
      check(valuesOf(reply).length === 0, 'a 127 without #attribute', {
        expected: 'no 127',
        received: formatReply(reply),
      });
    },
  ),
  {
    id: 'since/later',
    title: '#since selects nothing for a time in the future, and everything for a time long ago',
    rules: ['BRK-3.6'],
    source: 'RC',
    level: 'SHOULD',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const survey = await context.survey();
      const word = pickWord(survey);
      const future = await context.ask(`#USER ${PLAIN_FLAGS} #since 4000000000 #END ${word.text}`);
      checkNotRefused(future, '#since 4000000000', 'skip');
      checkSameUrls(new Set(), urlsOf(future), survey, `${word.text} since the future`);
      const past = await context.ask(`#USER ${PLAIN_FLAGS} #since 1 #END ${word.text}`);
      checkNotRefused(past, '#since 1', 'skip');
      checkSameUrls(word.urls, urlsOf(past), survey, `${word.text} since 1970`);
    },
  },
];

/** Returns the reply with the most kinds of items: descriptions and matched lines; attributes if the Broker knows them. */
async function fullReply(context: BrokerContext): Promise<Reply> {
  const { attributes, words } = await context.survey();
  const flags = attributes ? '#desc #attribute update-time' : '#desc';
  const query = words[0]?.text ?? '#allb';
  const reply = await context.ask(`#USER ${flags} #index case insensitive #END ${query}`, {
    maxObjects: CHECKED_OBJECTS,
  });
  checkNotRefused(reply, query);
  if (reply.objects.length === 0) throw new NotApplicable('no objects to look at');
  return reply;
}

function layoutCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  verify: (reply: Reply) => void,
): BrokerCase {
  const run = async (context: BrokerContext) => verify(await fullReply(context));
  return { id: `reply/${id}`, title, rules, source, level, timeoutMs: SURVEY_MS, run };
}

function objectCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  verify: (found: FoundObject) => void,
): BrokerCase {
  return layoutCase(id, title, rules, source, level, ({ objects }) => objects.forEach(verify));
}

function noProblemCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  kind: Problem['kind'],
): BrokerCase {
  return layoutCase(id, title, rules, source, 'MUST', ({ problems }) => {
    const problem = problems.find((one) => one.kind === kind);
    check(problem === undefined, 'the layout of the reply is broken', {
      expected: title,
      received: problem?.text ?? '',
    });
  });
}

/** Builds a case that is skipped for a Broker that does not know `#attribute`. */
function attributeCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  verify: (context: BrokerContext) => Promise<void>,
): BrokerCase {
  const run = async (context: BrokerContext) => {
    const { attributes } = await context.survey();
    if (!attributes) throw new NotApplicable('the broker does not know #attribute (late)');
    await verify(context);
  };
  return { id, title, rules, source, level, timeoutMs: SURVEY_MS, run };
}

async function askForAttributes(context: BrokerContext, names: readonly string[]): Promise<Reply> {
  const { text } = pickWord(await context.survey());
  const flags = names.map((name) => `#attribute ${name}`).join(' ');
  const reply = await context.ask(`#USER ${PLAIN_FLAGS} ${flags} #END ${text}`);
  checkNotRefused(reply, flags);
  return reply;
}

function valuesOf({ items }: Reply) {
  return items.filter(({ code }) => code === 127);
}

/**
 * Returns the matched lines of a reply, for either meaning of `#opaque` (BRK-3.2).
 * @throws NotApplicable if the Broker sends none
 */
async function matchedLines(context: BrokerContext, text: string): Promise<readonly string[]> {
  for (const opaque of ['', '#opaque ']) {
    const reply = await context.ask(`#USER ${opaque}#index case insensitive #index matchword #END ${text}`);
    const lines = textsOf(reply, 122);
    if (lines.length > 0) return lines;
  }
  throw new NotApplicable('the engine sends no matched lines');
}

function itemsText({ items }: FoundObject): string {
  return printable(items.map(({ code, text }) => `${code} - ${text}`).join('\n'));
}
