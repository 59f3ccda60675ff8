// Cases about the layout of replies (BRK section 4).
import {
  check,
  checkEqual,
  checkNone,
  must,
  NotApplicable,
  type Procedure,
  should,
  within,
} from '../case.js';
import { printable } from '../printable.js';
import { checkHas, checkHasNo, checkNotRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS, surveyed } from './context.js';
import { type FoundObject, type Problem, type Reply, textsOf } from './reply.js';
import { pickWord, SURVEY_MS, type Survey } from './survey.js';

/** The codes of a reply (BRK-4.1). */
const KNOWN = new Set([101, 103, 111, 120, 122, 124, 125, 126, 127, 130]);
/** Number of objects of a reply that are checked. */
const CHECKED_OBJECTS = 500;

/** Layout of replies: section 4. */
export const replyCases: readonly BrokerCase[] = [
  must('reply/form', 'BRK-4.1', 'S')
    .title('every line is three digits, space, hyphen, space, text')
    .does(noProblem, 'form', 'every line is three digits, space, hyphen, space, text'),
  must('reply/lf-only', 'BRK-4.1 BRK-1.9', 'inferred: S')
    .title('lines end in LF only')
    .does(noProblem, 'cr', 'lines end in LF only'),
  must('reply/counts', 'BRK-4.1 BRK-4.6', 'S; RC')
    .title('124 has a count of bytes, 127 a name and a count')
    .does(noProblem, 'count', '124 has a count of bytes, 127 a name and a count'),
  must('reply/counted', 'BRK-4.4', 'S; RC')
    .title('after the count and one LF come that many bytes, then an LF')
    .does(noProblem, 'no-lf', 'after the count and one LF come that many bytes, then an LF'),
  must('reply/whole', 'BRK-4.4 BRK-4.12', 'S; RC')
    .title('the reply does not end within an item')
    .does(noProblem, 'cut', 'the reply does not end within an item'),
  must('reply/codes', 'BRK-4.1', 'S; RC')
    .title('only known codes are used')
    .does(wholeReply, ({ items }) => {
      const stranger = items.find(({ code }) => !KNOWN.has(code));
      checkNone(stranger, 'an unknown code', [...KNOWN].join(' '), itemText);
    }),
  must('reply/begins-120', 'BRK-4.3', 'S; RC')
    .title('an object begins with 120 and its URL')
    .does(eachObject, ({ url }) => {
      check(url !== '', 'a 120 without a URL', { expected: '120 - URL', received: '120 - ' });
    }),
  must('reply/inside', 'BRK-4.3', 'RC')
    .title('the items of an object are between its 120 and 130')
    .does(wholeReply, ({ items }) => {
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
    }),
  must('reply/ends-130', 'BRK-4.3', 'RC')
    .title('an object ends with 130')
    .does(eachObject, (found) => {
      check(found.ended, 'an object does not end', {
        expected: '130 - object end',
        received: itemsText(found),
      });
    }),
  must('reply/object-end', 'BRK-4.2', 'RC')
    .title('the end of an object is spelled 130 - object end')
    .does(wholeReply, (reply) => {
      const other = textsOf(reply, 130).find((text) => text !== 'object end');
      checkNone(other, 'another text after 130', '130 - object end', (text) => itemText({ code: 130, text }));
    }),
  should('reply/order', 'BRK-4.3', 'project choice')
    .title('items come in the order 120 125 126 124 127 122 130')
    .does(eachObject, ({ items }) => {
      const order = [120, 125, 126, 124, 127, 122, 130];
      const ranks = items.map(({ code }) => order.indexOf(code)).filter((rank) => rank >= 0);
      check(
        ranks.every((rank, i) => i === 0 || rank >= (ranks[i - 1] ?? 0)),
        'another order',
        { expected: order.join(' '), received: items.map(({ code }) => code).join(' ') },
      );
    }),
  must('reply/object-url', 'BRK-4.10', 'S; M1.4')
    .title('each object has one 125, an HTTP URL of its content summary')
    .does(eachObject, ({ items }) => {
      const urls = items.filter(({ code }) => code === 125).map(({ text }) => text);
      check(urls.length === 1 && /^https?:\/\/[^/\s]+\/\S*$/.test(urls[0] ?? ''), 'not one HTTP URL', {
        expected: '125 - http://host/Harvest/brokers/name/objects/...',
        received: printable(urls.join(' ')) || 'no 125',
      });
    }),
  must('reply/home-page', 'BRK-4.11', 'S; M1.4')
    .title('126 gives the URL of the home page')
    .does(wholeReply, (reply) => {
      const pages = textsOf(reply, 126);
      check(pages.length > 0 && pages.every((url) => /^https?:\/\/[^/\s]+\S*$/.test(url)), 'no home page', {
        expected: '126 - http://host/...',
        received: printable([...new Set(pages)].join(' ')) || 'no 126',
      });
    }),
  must('reply/messages-form', 'BRK-4.1 BRK-1.9', 'S; RC')
    .title('notices and refusals have the form of other items and end in LF only')
    .run(async (context) => {
      for (const message of [
        `#USER ${PLAIN_FLAGS} #END zzyzxplugh`,
        '#USER #index zzyzx #END zzyzxplugh',
        '#USER #END (',
        '#USER zzyzx',
      ]) {
        const [problem] = (await context.ask(message)).problems;
        checkNone(
          problem,
          `not a line of a reply: ${printable(message)}`,
          'NNN - text\\n',
          ({ text }) => text,
        );
      }
    }),
  must('reply/desc-only-asked', 'BRK-4.5', 'S')
    .title('descriptions come only with #desc')
    .does(surveyed, async (survey, context) => {
      const { text } = pickWord(survey);
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} #END ${text}`);
      checkHasNo(reply, 124, 'a 124 without #desc');
    }),
  must('reply/desc-asked', 'BRK-4.5', 'S')
    .title('with #desc some objects have a description, and none has two')
    .does(wholeReply, ({ objects }) => {
      const counts = objects.map(({ items }) => items.filter(({ code }) => code === 124).length);
      if (counts.every((count) => count === 0))
        throw new NotApplicable('no object of the data has a description');
      check(
        counts.every((count) => count <= 1),
        'an object has two descriptions',
        { expected: 'one 124', received: `${Math.max(...counts)}` },
      );
    }),
  must('reply/desc-sent', 'BRK-4.5', 'S; inferred')
    .title('with #desc every object that has a description is sent with it')
    .does(surveyed, async ({ attributes }, context) => {
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
    }),
  must('reply/once', 'BRK-4.10', 'inferred: M1.4')
    .title('no object comes twice in a reply')
    .does(wholeReply, (reply) => {
      const urls = textsOf(reply, 125);
      const [twice] = urls.filter((url, at) => urls.indexOf(url) !== at);
      checkNone(twice, 'an object comes twice', 'each 125 once', printable);
    }),
  should('reply/matched-line', 'BRK-4.8 BRK-4.7', 'M1.4; G (Glimpse)')
    .title('a matched line is "Matched line: attribute# text"')
    .does(surveyed, async (survey, context) => {
      const { text } = pickWord(survey);
      const lines = await matchedLines(context, text);
      const other = lines.find((line) => !/^Matched line: [^\s#]+# /.test(line));
      checkNone(other, 'a matched line in another form', '122 - Matched line: attribute# text', (text) =>
        itemText({ code: 122, text }),
      );
      check(
        lines.some((line) => line.toLowerCase().includes(text)),
        'no matched line has the word',
        { expected: text, received: printable(lines.join('\n')) },
      );
    }),
  should('reply/nothing-matched', 'BRK-4.18', 'project choice')
    .title('a reply without objects has a 101 message')
    .run(async (context) => {
      const reply = await context.ask(`#USER ${PLAIN_FLAGS} #END zzyzxplugh`);
      checkHas(reply, 101, 'no message');
    }),
  must('attribute/returned', 'BRK-4.6', 'RC')
    .title('#attribute returns the value of that attribute, under the name as requested')
    .does(knowingAttributes, async (survey, context) => {
      for (const name of ['update-time', 'Update-Time', 'uPDATE-tIME']) {
        const values = valuesOf(await askForAttributes(survey, context, [name]));
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
          { expected: 'a number of seconds', received: printable(values[0]?.value ?? '') },
        );
      }
    }),
  should('attribute/accumulates', 'BRK-3.6 BRK-4.3', 'RC; project choice')
    .title('#attribute may be repeated; values come in the requested order')
    .does(knowingAttributes, async (survey, context) => {
      for (const names of [
        ['update-time', 'gatherer-name'],
        ['gatherer-name', 'update-time'],
      ]) {
        const { objects } = await askForAttributes(survey, context, names);
        for (const { items, url } of objects) {
          const received = items
            .filter(({ code }) => code === 127)
            .map(({ text }) => text.replace(/ \d+$/, ''));
          const message = `other attributes: ${printable(url)}`;
          checkEqual(received.join(', ') || 'none', names.join(', '), message);
        }
      }
    }),
  should('attribute/missing', 'BRK-4.6', 'project choice')
    .title('an attribute that an object lacks is left out')
    .does(knowingAttributes, async (survey, context) => {
      const reply = await askForAttributes(survey, context, ['zzyzx-plugh', 'update-time']);
      const [value] = valuesOf(reply).filter(({ text }) => text.startsWith('zzyzx'));
      checkNone(value, 'a value of an attribute that no object has', 'no 127', itemText);
    }),
  must('attribute/only-asked', 'BRK-4.1', 'RC')
    .title('127 comes only after #attribute')
    .does(knowingAttributes, async (survey, context) => {
      const { text } = pickWord(survey);
      const reply = await context.ask(`#USER #desc ${PLAIN_FLAGS} #END ${text}`);
      checkHasNo(reply, 127, 'a 127 without #attribute');
    }),
  should('since/later', 'BRK-3.8', 'RC')
    .title('#since selects nothing for a time in the future, and everything for a time long ago')
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      const future = await context.ask(`#USER ${PLAIN_FLAGS} #since 4000000000 #END ${word.text}`);
      checkNotRefused(future, '#since 4000000000', 'skip');
      checkSameUrls(new Set(), urlsOf(future), survey, `${word.text} since the future`);
      const past = await context.ask(`#USER ${PLAIN_FLAGS} #since 1 #END ${word.text}`);
      checkNotRefused(past, '#since 1', 'skip');
      checkSameUrls(word.urls, urlsOf(past), survey, `${word.text} since 1970`);
    }),
];

/**
 * Returns the reply with the most kinds of items: descriptions and matched lines; attributes if the Broker
 * knows them.
 */
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

/** Looks at {@link fullReply}. */
function wholeReply(verify: (reply: Reply) => void): Procedure<BrokerContext> {
  return within(SURVEY_MS, async (context) => verify(await fullReply(context)));
}

/** Looks at each object of {@link fullReply}. */
function eachObject(verify: (found: FoundObject) => void): Procedure<BrokerContext> {
  return wholeReply(({ objects }) => objects.forEach(verify));
}

/** Looks for a defect in the layout of {@link fullReply}. */
function noProblem(kind: Problem['kind'], expected: string): Procedure<BrokerContext> {
  return wholeReply(({ problems }) => {
    const problem = problems.find((one) => one.kind === kind);
    checkNone(problem, 'the layout of the reply is broken', expected, ({ text }) => text);
  });
}

/** Skips the case for a Broker that does not know `#attribute`. */
function knowingAttributes(
  run: (survey: Survey, context: BrokerContext) => Promise<void>,
): Procedure<BrokerContext> {
  return surveyed(async (survey, context) => {
    if (!survey.attributes) throw new NotApplicable('the broker does not know #attribute (late)');
    await run(survey, context);
  });
}

async function askForAttributes(
  survey: Survey,
  context: BrokerContext,
  names: readonly string[],
): Promise<Reply> {
  const { text } = pickWord(survey);
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

function itemText({ code, text }: { readonly code: number; readonly text: string }): string {
  return `${code} - ${printable(text)}`;
}

function itemsText({ items }: FoundObject): string {
  return printable(items.map(({ code, text }) => `${code} - ${text}`).join('\n'));
}
