// Cases about the objects that a transfer selects: `#SINCE` and queries.
import { PLAIN_FLAGS } from '../broker/context.js';
import { check, checkEqual, checkNone, must, NotApplicable, objectCount, type Procedure } from '../case.js';
import type { StreamObject } from '../gatherd/stream-check.js';
import { printable } from '../printable.js';
import { type BulkCase, type BulkContext, EVERYTHING, surveyed, TRANSFER_MS } from './context.js';
import { type Survey, urlOf } from './survey.js';
import {
  checkSameUpdates,
  digestOf,
  isRefused,
  type OnObject,
  requireTransfer,
  type Transfer,
  updatesOf,
} from './transfer.js';

/** Times in the future, on both sides of 2^31, and the largest one (BT-4). */
const FUTURE = [0x8000_000a, 4_102_444_800, 0xffff_ffff];
/** Times above 4294967295, which are 0 and 10 modulo 2^32 and 2^64. */
const TOO_LARGE = ['4294967296', '4294967306', '18446744073709551626'];
const OTHER_BYTES = 'an object with other bytes than in the transfer of everything';
/** A word that no object has. */
const UNKNOWN_WORD = 'zzyzxqqv';

/** The selection of objects by `#SINCE` and queries. */
export const selectionCases: readonly BulkCase[] = [
  must('since/future', 'BT-4', 'RC')
    .title('for a time in the future, up to 4294967295, nothing is sent that is not newer')
    .within(TRANSFER_MS)
    .run(async (context) => {
      for (const time of FUTURE) await checkNewer(context, String(time), time);
    }),
  must('since/modulo', 'BT-4 BRK-3', 'RC; project choice')
    .title('a time above 4294967295 is not taken for an earlier one: it is refused, or selects nothing')
    .within(TRANSFER_MS)
    .run(async (context) => {
      for (const digits of TOO_LARGE) await checkNewer(context, digits, Number(digits), 'skip');
    }),
  must('since/newer-is-sent', 'BT-4 BT-5', 'RC; inferred')
    .title(
      'every object with an Update-Time after the time is sent, because a collector would lose it otherwise',
    )
    .does(surveyed, async (survey, context) => {
      const { times } = survey;
      const sorted = [...times.values()].sort((a, b) => a - b);
      const since = sorted[sorted.length >> 1];
      if (since === undefined || since === 0)
        throw new NotApplicable('the broker has no objects with a time');
      const expected = new Set([...times].filter(([, time]) => time > since).map(([url]) => url));
      if (expected.size === 0) throw new NotApplicable('all objects are of one time');
      const other = new First();
      await requestTransfer(context, `#BULK #SINCE ${since} #END #ALLB`, (item) => {
        if (item.section !== 'delete') expected.delete(urlOf(item));
        if (isChanged(item, survey)) other.add(item);
      });
      const [missing] = expected;
      check(missing === undefined, `${expected.size} objects newer than ${since} are not sent`, {
        expected: printable(missing ?? ''),
        received: 'others',
      });
      other.check(OTHER_BYTES, 'whole objects, unchanged');
    }),
  must('since/absent', 'BT-6', 'inferred: M1.4, RC')
    .title('without #SINCE everything is sent')
    .does(surveyed, async ({ transfer }, context) => {
      checkSameUpdates(transfer, await requestTransfer(context, '#BULK #END #ALLB'));
    }),
  must('flags/no-effect', 'BT-8', 'inferred')
    .title('#desc and #opaque are accepted and have no effect')
    .does(surveyed, async ({ transfer }, context) => {
      checkSameUpdates(transfer, await requestTransfer(context, '#BULK #SINCE 0 #desc #opaque #END #ALLB'));
    }),
  must('query/matches', 'BT-6 BT-8', 'inferred: M1.4, RC')
    .title('with a query and #index flags, exactly the matching objects are sent, whole')
    .does(surveyed, async (survey, context) => {
      const word = requireWord(survey);
      const missing = new Set(survey.having);
      const without = new First();
      const other = new First();
      const answer = await requestTransfer(
        context,
        `#BULK #SINCE 0 ${PLAIN_FLAGS} #END ${word}`,
        (item) => {
          if (item.section !== 'update') return;
          missing.delete(urlOf(item));
          if (!textOf(item).toLowerCase().includes(word)) without.add(item);
          if (isChanged(item, survey)) other.add(item);
        },
        'skip',
      );
      const [lost] = missing;
      check(lost === undefined, `an object that matches ${word} is not sent`, {
        expected: printable(lost ?? ''),
        received: `${updatesOf(answer)} other objects`,
      });
      without.check(`an object that does not match ${word}`, 'objects that have the word');
      other.check(OTHER_BYTES, 'whole objects, unchanged');
    }),
  must('query/case', 'BT-8 BRK-3.1', 'M1.4; S')
    .title('#index case sensitive selects the objects that have the word in these letters')
    .does(surveyed, async (survey, context) => {
      const word = requireWord(survey).toUpperCase();
      const without = new First();
      await requestTransfer(
        context,
        `#BULK #SINCE 0 #index case sensitive #index matchword #END ${word}`,
        (item) => {
          if (item.section === 'update' && !textOf(item).includes(word)) without.add(item);
        },
        'skip',
      );
      without.check(
        `an object without ${word}`,
        'objects that have the word in these letters, if there are any',
      );
    }),
  must('query/limit', 'BT-8 BRK-8.11', 'S; M1.4')
    .title('#index maxresult selects as many of the matching objects')
    .does(limited, 'maxresult'),
  must('query/maxfiles', 'BT-8 BRK-8.11', 'RC')
    .title('#index maxfiles selects as many of the matching objects')
    .does(limited, 'maxfiles'),
  must('query/nothing', 'BT-6 BT-15', 'inferred: M1.4')
    .title('a query that matches nothing is a transfer without updates and not an error')
    .does(surveyed, async ({ word }, context) => {
      const message = `#BULK #SINCE 0 ${PLAIN_FLAGS} #END `;
      // A Broker that answers queries must not refuse this one.
      if (word !== undefined) await requestTransfer(context, message + word, undefined, 'skip');
      const onRefusal = word === undefined ? 'skip' : 'fail';
      const answer = await requestTransfer(context, message + UNKNOWN_WORD, undefined, onRefusal);
      checkEqual(updatesOf(answer), 0, 'objects for a word that nothing has', objectCount);
    }),
];

/** Requests one of the objects that match. */
function limited(flag: string): Procedure<BulkContext> {
  return surveyed(async (survey, context) => {
    const word = requireWord(survey);
    if (survey.having.size < 2) throw new NotApplicable('no word selects two objects');
    const message = `#BULK #SINCE 0 ${PLAIN_FLAGS} #index ${flag} 1 #END ${word}`;
    const answer = await requestTransfer(context, message, undefined, 'skip');
    checkEqual(updatesOf(answer), 1, `another number with ${flag} 1`, objectCount);
  });
}

/** Whether an update is not one of the transfer of everything, byte for byte. */
function isChanged(item: StreamObject, { known, complete }: Survey): boolean {
  return complete && item.section === 'update' && !known.has(digestOf(item).toString('hex'));
}

/** The first object that breaks a rule. */
class First {
  #url: string | undefined;

  add(item: StreamObject): void {
    this.#url ??= urlOf(item);
  }

  check(message: string, expected: string): void {
    checkNone(this.#url, message, expected, printable);
  }
}

/** @throws NotApplicable if the data has no word of content */
export function requireWord({ word }: Pick<Survey, 'word'>): string {
  if (word === undefined) throw new NotApplicable('the data has no word that divides the objects');
  return word;
}

function textOf({ bytes }: StreamObject): string {
  return Buffer.from(bytes).toString('latin1');
}

/** Requests the changes since a time, of which each must be later. @throws Mismatch */
async function checkNewer(
  context: BulkContext,
  digits: string,
  time: number,
  onRefusal?: 'skip',
): Promise<void> {
  const older = new First();
  const message = `#BULK #SINCE ${digits} #END #ALLB`;
  const answer = await context.ask(message, (item) => {
    if ((item.object.number('Update-Time') ?? 0) <= time) older.add(item);
  });
  if (onRefusal === undefined || !isRefused(answer)) requireTransfer(answer, message);
  older.check(`an object that is not newer than ${digits}`, 'nothing older');
}

/** Requests a transfer. @throws Mismatch if it fails; with `skip` NotApplicable if it is refused */
export async function requestTransfer(
  context: BulkContext,
  message: string,
  onObject?: OnObject,
  onRefusal: 'fail' | 'skip' = 'fail',
): Promise<Transfer> {
  // A Broker that cannot make any transfer fails only once for that.
  if (message !== EVERYTHING) await context.survey();
  return requireTransfer(await context.ask(message, onObject), message, onRefusal);
}
