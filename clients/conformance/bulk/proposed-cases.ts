// Cases about the interface of 1995 (Part B), for a Broker that knows `#interface 2`.
import { PLAIN_FLAGS } from '../broker/context.js';
import { check, checkEqual, must, NotApplicable, objectCount, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import { type BulkCase, type BulkContext, surveyed, TRANSFER_MS } from './context.js';
import { isProposed, type ProposedReply, readProposed } from './proposed-reader.js';
import { formatTransfer, readTransfer, updatesOf } from './transfer.js';

const EVERYTHING = '#BULK #SINCE 0 #interface 2 #END #ALLB';
/** BP-12 */
const INFO_FIELDS = [126, 140, 141, 101, 142];
/** BP-21 */
const TRAILERS = [144, 111, 145];
/** BP-23: numbers that have a meaning. */
const ASSIGNED = 6;

/** Part B, the interface proposed in 1995, of a Broker that knows `#interface 2` (BP-29). */
export const proposedCases: readonly BulkCase[] = [
  must('proposed/version', 'BP-11 BP-29', 'S; project choice')
    .title('the reply begins with the Version 1')
    .does(reply, EVERYTHING, ({ major, minor }) =>
      check(major === 1, 'another version', { expected: '1.0', received: `${major}.${minor}` }),
    ),
  must('proposed/order', 'BP-12 BP-14 BP-21 BP-25 BP-28', 'S')
    .title('Header, Body and Trailer come in this order, and at most one Trailer')
    .does(reply, EVERYTHING, ({ items }) => {
      const codes = items.map(({ code }) => code);
      const body = codes.findIndex((code) => !INFO_FIELDS.includes(code));
      const rest = body < 0 ? [] : codes.slice(body);
      const trailers = codes.filter((code) => TRAILERS.includes(code));
      check(
        !rest.some((code) => INFO_FIELDS.includes(code)) &&
          trailers.length <= 1 &&
          (trailers.length === 0 || codes.at(-1) === trailers[0]),
        'another order',
        { expected: 'InfoFields, Body, one Trailer', received: codes.join(' ') },
      );
    }),
  must('proposed/groups', 'BP-15 BP-6', 'S')
    .title('the groups hold well-formed objects, as many as in the shipped format')
    .does(reply, EVERYTHING, ({ groups }, expected) => {
      check(groups !== undefined && groups.malformed === undefined, 'no groups, or malformed ones', {
        expected: '@DELETE {, @REFRESH {, @UPDATE {',
        received: groups?.malformed ?? 'no groups',
      });
      checkEqual(updatesOf(groups), expected, 'other objects than in the shipped format', objectCount);
    }),
  must('proposed/count', 'BP-22', 'S; project choice')
    .title('a count in the Trailer is the number of objects that were sent')
    .does(reply, EVERYTHING, ({ items, groups }) => {
      const count = items.find(({ code }) => code === 144)?.number;
      if (count === undefined) throw new NotApplicable('the Trailer has no count');
      checkEqual(count, groups?.objects ?? 0, 'a wrong count');
    }),
  must('proposed/compressed', 'BP-16', 'S; inferred')
    .title('a compressed Body is one gzip member between its markers, with the same objects')
    .does(reply, '#BULK #SINCE 0 #interface 2 #compress #END #ALLB', ({ items, groups }, expected) => {
      if (!items.some(({ code }) => code === 150)) throw new NotApplicable('the broker does not compress');
      check(
        items.some(({ code }) => code === 151) && groups !== undefined && updatesOf(groups) === expected,
        'not the same objects',
        {
          expected: `${expected} objects, 151 - gzip end`,
          received: `${groups === undefined ? 'no' : updatesOf(groups)} objects: ${codesOf(items)}`,
        },
      );
    }),
  should('proposed/objects', 'BP-17 BP-19 BP-22', 'S')
    .title('a user query is answered by an ObjectList with its parts in order and the right count')
    .does(surveyed, async ({ word }, context) => {
      if (word === undefined) throw new NotApplicable('the data has no word that divides the objects');
      const { items } = await readReply(context, `#USER #desc #interface 2 ${PLAIN_FLAGS} #END ${word}`);
      const codes = items.map(({ code }) => code).filter((code) => !INFO_FIELDS.includes(code));
      const list = codes.filter((code) => !TRAILERS.includes(code)).join(' ');
      const objects = codes.filter((code) => code === 120).length;
      check(
        objects > 0 && /^(?:(?:103 )?120 125 (?:(?:124|122|127|143) )*130(?: |$))+$/.test(list),
        'no ObjectList',
        { expected: '120 125 ... 130 for each object', received: printable(list) || 'no object' },
      );
      const count = items.find(({ code }) => code === 144)?.number;
      check(count === objects, 'a wrong count, or none', {
        expected: `144 - ${objects}`,
        received: String(count),
      });
    }),
  should('proposed/error', 'BP-21 BP-23', 'S; project choice')
    .title('a query that is not supported ends in an ERROR, without a count')
    .within(TRANSFER_MS)
    .run(async (context) => {
      // The query is well-formed, and more than most engines support.
      const { items } = await readReply(context, '#BULK #SINCE 0 #interface 2 #END title regexp "["');
      const error = items.find(({ code }) => code === 111);
      if (error === undefined) throw new NotApplicable('the broker answers the query');
      const { number = 0 } = error;
      check(number >= 1 && number <= ASSIGNED && items.at(-1) === error, 'not an ERROR as a Trailer', {
        expected: '111 - <1 to 6> text, and nothing after it',
        received: codesOf(items),
      });
    }),
];

function codesOf(items: ProposedReply['items']): string {
  return items.map(({ code, number }) => (number === undefined ? code : `${code}(${number})`)).join(' ');
}

/**
 * Sends a message and looks at the reply. @param verify also receives the number of objects in the shipped
 * format
 */
function reply(
  message: string,
  verify: (reply: ProposedReply, expected: number) => void,
): Procedure<BulkContext> {
  return surveyed(async ({ transfer }, context) =>
    verify(await readReply(context, message), updatesOf(transfer)),
  );
}

/** @throws NotApplicable if the Broker does not know this interface or refuses the message */
async function readReply(context: BulkContext, message: string): Promise<ProposedReply> {
  await context.survey();
  const wire = await context.session();
  await wire.send(`${message}\r\n`);
  if (await isProposed(wire)) return readProposed(wire);
  const answer = await readTransfer(wire);
  throw new NotApplicable(`the broker does not know #interface 2: ${formatTransfer(answer)}`);
}
