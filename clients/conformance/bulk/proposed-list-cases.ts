// Cases about user queries in the interface of 1995: the ObjectList.
import { PLAIN_FLAGS } from '../broker/context.js';
import { type FoundObject, readReply as readShipped, textsOf } from '../broker/reply.js';
import { check, checkEqual, must, NotApplicable, type Procedure } from '../case.js';
import { printable } from '../printable.js';
import { type BulkCase, type BulkContext, surveyed } from './context.js';
import { readReply } from './proposed-context.js';
import type { ProposedItem, ProposedReply } from './proposed-reader.js';
import { requireWord } from './selection-cases.js';

const RESOURCE = 120;
const DESCRIPTION = 124;
const OPAQUE = 122;
const ATTRIBUTE = 127;
const OBJECT_END = 130;
const COUNT = 144;
const ERROR = 111;
/** BP-17: an Object, as codes. */
const LIST = /^(?:(?:103 )?120 125 (?:(?:124|122|127|143) )*130 )+$/;
/** Codes of Header and Trailer. */
const OTHERS = [126, 140, 141, 101, 142, COUNT, ERROR, 145];

/** User queries that request interface 2. */
export const proposedListCases: readonly BulkCase[] = [
  must('proposed/objects', 'BP-17 BP-19 BP-22', 'S')
    .title('a user query is answered by an ObjectList with its parts in order and the right count')
    .does(listed, '#desc', ({ items }) => {
      const codes = items.map(({ code }) => code).filter((code) => !OTHERS.includes(code));
      check(LIST.test(`${codes.join(' ')} `), 'no ObjectList', {
        expected: '120 125 ... 130 for each object',
        received: printable(codes.join(' ')) || 'no object',
      });
      const objects = codes.filter((code) => code === RESOURCE).length;
      const last = items.at(-1);
      check(last?.code === COUNT && last.number === objects, 'a wrong count, or none', {
        expected: `144 - ${objects}`,
        received: last === undefined ? 'nothing' : `${last.code} - ${last.number ?? ''}`,
      });
    }),
  must('proposed/urls', 'BP-17', 'S')
    .title('RESOURCE is the URL of each object that matches, once')
    .does(listed, '#desc', ({ items }, having) => {
      const urls = items.filter(({ code }) => code === RESOURCE).map(({ text }) => text);
      const missing = [...having].find((url) => !urls.includes(url));
      check(missing === undefined && new Set(urls).size === urls.length, 'other URLs', {
        expected: `each of ${having.size} URLs once${missing === undefined ? '' : `, also ${printable(missing)}`}`,
        received: `${urls.length} URLs, ${new Set(urls).size} different ones`,
      });
    }),
  must('proposed/descriptions', 'BP-19 BP-4', 'S; project choice')
    .title('an Object has at most one DESCRIPTION, which is the value of the shipped reply')
    .does(sameItems, '#desc', DESCRIPTION),
  must('proposed/attributes', 'BP-13 BP-20 BP-4', 'S')
    .title('ATTRIBUTE is a name with its LF, a Separator and the value of the shipped reply')
    .does(sameItems, '#attribute title #attribute gatherer-name', ATTRIBUTE),
  must('proposed/opaque', 'BP-19 BP-4', 'S; project choice')
    .title('each matched line of the shipped reply is an OPAQUE')
    .does(sameItems, '', OPAQUE),
];

/** Sends a user query with these flags. @param verify also receives the URLs of objects that match */
function listed(
  flags: string,
  verify: (reply: ProposedReply, having: ReadonlySet<string>) => void,
): Procedure<BulkContext> {
  return surveyed(async (survey, context) => {
    const message = `#USER ${flags} #interface 2 ${PLAIN_FLAGS} #END ${requireWord(survey)}`;
    const reply = await readReply(context, message);
    if (reply.items.some(({ code }) => code === ERROR))
      throw new NotApplicable('the broker refuses the query');
    verify(reply, survey.having);
  });
}

/** Compares the items of one code, object by object, with those of the shipped reply. */
function sameItems(flags: string, code: number): Procedure<BulkContext> {
  return surveyed(async (survey, context) => {
    const lines = code === OPAQUE ? PLAIN_FLAGS.replace('#opaque ', '') : PLAIN_FLAGS;
    const message = (more: string) => `#USER ${more} ${flags} ${lines} #END ${requireWord(survey)}`;
    const { items } = await readReply(context, message('#interface 2'));
    if (items.some(({ code }) => code === ERROR)) throw new NotApplicable('the broker refuses the query');
    const wire = await context.session();
    await wire.send(`${message('#interface 1')}\r\n`);
    const shipped = await readShipped(wire);
    if (textsOf(shipped, ERROR).length > 0) throw new NotApplicable('the broker refuses the query');
    const expected = shipped.objects.flatMap(({ url, items }) =>
      items.filter((item) => item.code === code).map((item) => lineOf(url, shippedValue(item))),
    );
    if (expected.length === 0) throw new NotApplicable(`the shipped reply has no ${code}`);
    const received = valuesIn(items, code);
    checkEqual(received.length, expected.length, `another number of ${code}`);
    const wrong = expected.toSorted().findIndex((line, i) => line !== received.toSorted()[i]);
    check(wrong < 0, `another value of ${code}`, {
      expected: printable(expected.toSorted()[wrong] ?? '', 300),
      received: printable(received.toSorted()[wrong] ?? '', 300),
    });
  });
}

/** URL, name and value of each item with this code, one character a byte. */
function valuesIn(items: readonly ProposedItem[], wanted: number): string[] {
  let url = '';
  const lines: string[] = [];
  for (const { code, text, value } of items) {
    if (code === RESOURCE) url = text;
    else if (code === OBJECT_END) url = '';
    else if (code === wanted) lines.push(lineOf(url, [text, value?.toString('latin1') ?? '']));
  }
  return lines;
}

/** Name and value of an item of a shipped reply; the text of a matched line is its value. */
function shippedValue({ code, text, value }: FoundObject['items'][number]): readonly [string, string] {
  if (code === OPAQUE) return ['', text];
  const name = code === ATTRIBUTE ? text.replace(/ \d+$/, '') : '';
  return [name, value?.toString('latin1') ?? ''];
}

function lineOf(url: string, [name, value]: readonly [name: string, value: string]): string {
  return `${url} ${name}: ${value}`;
}
