// Cases about the interface of 1995 (Part B), for a Broker that knows `#interface 2`.
import { PLAIN_FLAGS } from '../broker/context.js';
import { check, checkEqual, checkNone, must, NotApplicable, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import { type BulkCase, type BulkContext, surveyed } from './context.js';
import { codesOf, PROPOSED_EVERYTHING, proposed, readReply, readShipped } from './proposed-context.js';
import type { ProposedReply } from './proposed-reader.js';
import { requireWord } from './selection-cases.js';
import { checkSameUpdates, type GroupFacts, requireTransfer, updatesOf } from './transfer.js';

/** BP-12 */
const INFO_FIELDS = [126, 140, 141, 101, 142];
/** BP-21 */
const TRAILERS = [144, 111, 145];
const COUNT = 144;
const ERROR = 111;
/** BT-15 */
const ORDER = 'delete, refresh, update';
/** BP-23: the number of a malformed message, and the largest number that has a meaning. */
const MALFORMED = 1;
const ASSIGNED = 6;
/** Malformed in ways that a Broker finds at the flags, at the query, and at the end. */
const MALFORMED_MESSAGES = ['#SINCE soon #interface 2 #END #ALLB', '#interface 2 #END (heron'];

/** Part B, the interface proposed in 1995, of a Broker that knows `#interface 2` (BP-29). */
export const proposedCases: readonly BulkCase[] = [
  must('proposed/version', 'BP-11 BP-29 BP-1', 'S; project choice')
    .title('the reply begins with the Version 1, its numbers in network byte order')
    .does(everything, ({ major, minor }) =>
      check(major === 1, 'another version', { expected: '1.0', received: `${major}.${minor}` }),
    ),
  must('proposed/order', 'BP-12 BP-14 BP-21 BP-25 BP-28', 'S')
    .title('Header, Body and Trailer come in this order, and at most one Trailer')
    .does(everything, ({ items }) => {
      const codes = items.map(({ code }) => code);
      const body = codes.findIndex((code) => !INFO_FIELDS.includes(code));
      const rest = body < 0 ? [] : codes.slice(body);
      const trailers = codes.filter((code) => TRAILERS.includes(code));
      check(
        !rest.some((code) => INFO_FIELDS.includes(code)) &&
          trailers.length <= 1 &&
          (trailers.length === 0 || codes.at(-1) === trailers[0]),
        'another order',
        { expected: 'InfoFields, Body, one Trailer', received: codesOf(items) },
      );
    }),
  must('proposed/strings', 'BP-2 BP-12', 'S; project choice')
    .title('strings end in LF alone, and hold no CR')
    .does(everything, ({ name, items }) => {
      const odd = [name, ...items.map(({ text }) => text)].find((text) => text.includes('\r'));
      checkNone(odd, 'a string with a CR', 'bytes other than CR and LF', printable);
    }),
  must('proposed/groups', 'BP-15 BP-6', 'S')
    .title('the groups hold well-formed objects, as many as in the shipped format')
    .does(everything, ({ groups }, all) => {
      check(groups !== undefined && groups.malformed === undefined, 'no groups, or malformed ones', {
        expected: '@DELETE {, @REFRESH {, @UPDATE {',
        received: groups?.malformed ?? 'no groups',
      });
      checkEqual(updatesOf(groups), updatesOf(all), 'other objects than in the shipped format');
    }),
  must('proposed/same-objects', 'BP-15 BT-16', 'S')
    .title('the objects have the bytes that they have in the shipped format')
    .does(everything, ({ groups }, all) => checkSameGroups(groups, all)),
  must('proposed/layout', 'BP-15 BT-17', 'S; RC; project choice')
    .title('the groups are written byte by byte as in the shipped format')
    .does(everything, ({ groups }) => {
      const order = groups?.sections.join(', ');
      const others = order === ORDER ? undefined : `groups in the order ${order}`;
      const misplaced = groups?.misplaced ?? groups?.withinLine ?? others;
      checkNone(misplaced, 'another layout', '@DELETE {\\n}\\n\\n@REFRESH {\\n}\\n\\n@UPDATE {\\n...}\\n');
    }),
  must('proposed/count', 'BP-21 BP-22 BP-1', 'S; project choice')
    .title('the Trailer is the number of objects that were sent')
    .does(everything, ({ items, groups }) => checkCount(items, groups?.objects ?? 0)),
  must('proposed/empty', 'BP-21 BP-22 BP-15', 'S; project choice')
    .title('for a time in the future the Body has no objects, and the Trailer is the count 0')
    .does(proposed, '#BULK #SINCE 4294967295 #interface 2 #END #ALLB', ({ items, groups }) => {
      // Objects that are newer than this time are the fixture's.
      checkCount(items, groups?.objects ?? 0);
      check((groups?.sections.length ?? 0) <= 3, 'other groups', {
        expected: 'three empty groups',
        received: groups?.sections.join(', ') ?? 'none',
      });
    }),
  must('proposed/query', 'BP-15 BT-6', 'S; inferred')
    .title('a query selects the same objects as in the shipped format')
    .does(surveyed, async (survey, context) => {
      const message = (flags: string) => `#BULK #SINCE 0 ${flags} ${PLAIN_FLAGS} #END ${requireWord(survey)}`;
      const { groups, items } = await readReply(context, message('#interface 2'));
      if (items.some(({ code }) => code === ERROR)) throw new NotApplicable('the broker refuses the query');
      const shipped = await readShipped(context, message('#interface 1'));
      checkSameGroups(groups, shipped);
      checkCount(items, groups?.objects ?? 0);
    }),
  must('proposed/interface-1', 'BP-29', 'project choice')
    .title('#interface 1 requests the shipped format')
    .does(surveyed, async ({ transfer }, context) => {
      await readReply(context, PROPOSED_EVERYTHING);
      const answer = await readShipped(context, '#BULK #SINCE 0 #interface 1 #END #ALLB');
      checkSameUpdates(transfer, requireTransfer(answer, '#interface 1'));
    }),
  must('proposed/compressed', 'BP-16 BP-10', 'S; inferred')
    .title('a compressed Body is one gzip member between its markers, with the same objects')
    .does(proposed, '#BULK #SINCE 0 #interface 2 #compress #END #ALLB', ({ items, groups }, all) => {
      const start = items.findIndex(({ code }) => code === 150);
      if (start < 0) throw new NotApplicable('the broker does not compress');
      checkEqual(items[start + 1]?.code, 151, 'another item follows the gzip member', String);
      checkSameGroups(groups, all);
      checkCount(items, groups?.objects ?? 0);
    }),
  must('proposed/malformed', 'BP-23 BP-11 BP-29', 'project choice')
    .title('a malformed message that requests interface 2 is answered with a Version and the ERROR 1')
    .does(surveyed, async (_, context) => {
      for (const message of MALFORMED_MESSAGES) {
        const { items } = await readReply(context, `#BULK ${message}`);
        const [first, ...rest] = items.filter(({ code }) => !INFO_FIELDS.includes(code));
        const isError = first?.code === ERROR && first.number === MALFORMED;
        check(isError && rest.length === 0, `not an ERROR: ${message}`, {
          expected: '111 - <1> text, and nothing after it',
          received: codesOf(items),
        });
      }
    }),
  should('proposed/error', 'BP-21 BP-23', 'S; project choice')
    .title('a query that is not supported ends in an ERROR, without a count')
    .does(surveyed, async (_, context) => {
      // The query is well-formed, and more than most engines support.
      const { items } = await readReply(context, '#BULK #SINCE 0 #interface 2 #END title regexp "["');
      const error = items.find(({ code }) => code === ERROR);
      if (error === undefined) throw new NotApplicable('the broker answers the query');
      const { number = 0 } = error;
      check(number >= 1 && number <= ASSIGNED && items.at(-1) === error, 'not an ERROR as a Trailer', {
        expected: '111 - <1 to 6> text, and nothing after it',
        received: codesOf(items),
      });
    }),
];

/** Requests everything and looks at the reply. @param verify also receives that of the shipped format */
function everything(verify: (reply: ProposedReply, all: GroupFacts) => void): Procedure<BulkContext> {
  return proposed(PROPOSED_EVERYTHING, verify);
}

/** Checks that the groups have the updates of the shipped format. @throws Mismatch */
function checkSameGroups(groups: GroupFacts | undefined, shipped: GroupFacts): void {
  check(groups !== undefined, 'no groups', { expected: '@DELETE {', received: 'none' });
  checkSameUpdates(shipped, groups);
}

/** BP-21, BP-22: checks that the Trailer is this count. @throws Mismatch */
function checkCount(items: ProposedReply['items'], objects: number): void {
  const last = items.at(-1);
  check(last?.code === COUNT && last.number === objects, 'another count, or none', {
    expected: `144 - <${objects}>`,
    received: last === undefined ? 'no Trailer' : codesOf([last]),
  });
}
