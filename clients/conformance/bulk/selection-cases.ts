// Cases about the objects that a transfer selects: `#SINCE` and queries.
import { PLAIN_FLAGS } from '../broker/context.js';
import { check, checkEqual, must, NotApplicable, objectCount, should } from '../case.js';
import { printable } from '../printable.js';
import { type BulkCase, type BulkContext, EVERYTHING, surveyed, TRANSFER_MS, urlOf } from './context.js';
import { requireTransfer, type Transfer, updatesOf } from './transfer.js';

/** 2100-01-01: later than any change. */
const FAR_FUTURE = 4_102_444_800;
/** A word that no object has. */
const UNKNOWN_WORD = 'zzyzxqqv';

/** The selection of objects by `#SINCE` and queries. */
export const selectionCases: readonly BulkCase[] = [
  must('since/future', 'BT-4', 'RC')
    .title('nothing is sent for a time far in the future')
    .within(TRANSFER_MS)
    .run(async (context) => {
      const { objects } = await requestTransfer(context, `#BULK #SINCE ${FAR_FUTURE} #END #ALLB`);
      check(objects === 0, 'objects that changed in the future', {
        expected: 'three empty groups',
        received: `${objects} objects`,
      });
    }),
  must('since/newer-is-sent', 'BT-4 BT-5', 'RC; inferred')
    .title(
      'every object with an Update-Time after the time is sent, because a collector would lose it otherwise',
    )
    .does(surveyed, async ({ times }, context) => {
      const sorted = [...times.values()].sort((a, b) => a - b);
      const since = sorted[sorted.length >> 1];
      if (since === undefined || since === 0)
        throw new NotApplicable('the broker has no objects with a time');
      const expected = new Set([...times].filter(([, time]) => time > since).map(([url]) => url));
      if (expected.size === 0) throw new NotApplicable('all objects are of one time');
      await requestTransfer(context, `#BULK #SINCE ${since} #END #ALLB`, (url, group) => {
        if (group !== 'delete') expected.delete(url);
      });
      const [missing] = expected;
      check(missing === undefined, `${expected.size} objects newer than ${since} are not sent`, {
        expected: printable(missing ?? ''),
        received: 'others',
      });
    }),
  should('since/absent', 'BT-6', 'inferred: M1.4, RC')
    .title('without #SINCE everything is sent')
    .does(surveyed, async ({ transfer }, context) => {
      checkSameCount(transfer, await requestTransfer(context, '#BULK #END #ALLB'));
    }),
  should('flags/no-effect', 'BT-8', 'inferred')
    .title('#desc and #opaque are accepted and have no effect')
    .does(surveyed, async ({ transfer }, context) => {
      checkSameCount(transfer, await requestTransfer(context, '#BULK #SINCE 0 #desc #opaque #END #ALLB'));
    }),
  must('query/matches', 'BT-6 BT-8', 'inferred: M1.4, RC')
    .title('with a query and #index flags, exactly the matching objects are sent, whole')
    .does(surveyed, async ({ word, having, times, complete, transfer }, context) => {
      const missing = new Set(having);
      if (word === undefined) throw new NotApplicable('the data has no word that divides the objects');
      let without: string | undefined;
      let unknown: string | undefined;
      const message = `#BULK #SINCE 0 ${PLAIN_FLAGS} #END ${word}`;
      const answer = await requestTransfer(
        context,
        message,
        (url, group, bytes) => {
          if (group !== 'update') return;
          missing.delete(url);
          if (!bytes.toString('latin1').toLowerCase().includes(word)) without ??= url;
          if (complete && !times.has(url)) unknown ??= url;
        },
        'skip',
      );
      const received = updatesOf(answer);
      check(received > 0 && received < updatesOf(transfer), `the word ${word} does not select`, {
        expected: `some of ${updatesOf(transfer)} objects`,
        received: `${received} objects`,
      });
      const [lost] = missing;
      check(lost === undefined, `an object that matches ${word} is not sent`, {
        expected: printable(lost ?? ''),
        received: `${received} other objects`,
      });
      check(without === undefined && unknown === undefined, `an object that does not match ${word}`, {
        expected: `objects of the broker that have the word, whole`,
        received: printable(without ?? unknown ?? ''),
      });
    }),
  should('query/nothing', 'BT-6 BT-15', 'inferred: M1.4')
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

type Seen = (url: string, group: 'delete' | 'refresh' | 'update', bytes: Buffer) => void;

/** Requests a transfer. @throws Mismatch if it fails; with `skip` NotApplicable if it is refused */
async function requestTransfer(
  context: BulkContext,
  message: string,
  onObject: Seen = () => {},
  onRefusal: 'fail' | 'skip' = 'fail',
): Promise<Transfer> {
  // A Broker that cannot make any transfer fails only once for that.
  if (message !== EVERYTHING) await context.survey();
  const answer = await context.ask(message, (item) =>
    onObject(urlOf(item), item.section, Buffer.from(item.bytes)),
  );
  return requireTransfer(answer, message, onRefusal);
}

/** Checks that a transfer has as many updates as the transfer of everything. @throws Mismatch */
export function checkSameCount(all: Transfer, received: Transfer): void {
  checkEqual(updatesOf(received), updatesOf(all), 'other objects than with #SINCE 0', objectCount);
}
