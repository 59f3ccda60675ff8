// Cases about SEND-UPDATE in clear (GATHERD sections 3.7 and 4, SOIF section 8).
import type { UnixSeconds } from '../../../protocols/time.js';
import { check, checkEqual, checkNone, must, NotApplicable, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import type { Status } from '../wire.js';
import {
  FAR_FUTURE,
  type GatherdCase,
  type GatherdContext,
  inSession,
  surveyed,
  surveyedWith,
} from './context.js';
import { checkSameStream, type StreamObject } from './stream-check.js';
import type { Survey } from './survey.js';
import { readUpdate, receiveUpdate } from './transfer.js';

/** SEND-UPDATE in clear: sections 3.7, 4, and SOIF-8.8. */
export const updateCases: readonly GatherdCase[] = [
  must('update/everything', 'GATHERD-3.1 GATHERD-4.1', 'beckett; roads; gatherd NOTES')
    .title('SEND-UPDATE 0 is answered 400, the objects, 499')
    .does(surveyed, () => {}),
  must('update/zero', 'GATHERD-4.1', 'gatherd NOTES; roads')
    .title('SEND-UPDATE 0 sends no fewer objects than SEND-UPDATE 1: 0 requests everything')
    .does(surveyed, async ({ transfer }, context) => {
      const { objects } = await receiveUpdate(await context.session(), 1);
      check(transfer.objects >= objects, 'SEND-UPDATE 0 leaves objects out', {
        expected: `${objects} objects`,
        received: `${transfer.objects} objects`,
      });
    }),
  must('update/end-number', 'GATHERD-3.1 GATHERD-3.3', 'beckett; roads; broker NOTES')
    .title('the number of the end line is 499; 099 is a number of Brokers')
    .run(async (context) => {
      const { end } = await receiveUpdate(await context.session(), FAR_FUTURE);
      checkEndNumber(end);
    }),
  must('update/only-data', 'GATHERD-3.7 SOIF-2.2 SOIF-2.3', 'beckett; roads; template.c; soif.pl')
    .title('between 400 and 499 there are only objects in the layout of SOIF with correct sizes')
    .does(surveyed, ({ transfer }) =>
      checkNone(transfer.malformed, 'malformed data', 'objects as SOIF-2.2 writes them'),
    ),
  must('update/wrapped', 'GATHERD-4.4 SOIF-8.1', 'manual 1.2; roads')
    .title('the objects are in the @DELETE, @REFRESH and @UPDATE sections of one stream')
    .does(surveyed, ({ transfer: { sections, bySection } }) => {
      check(sections.includes('update') && bySection.bare === 0, 'objects outside of the sections', {
        expected: 'sections delete, refresh, update; every object in one',
        received: `sections ${sections.join(', ') || 'none'}; ${bySection.bare} objects outside`,
      });
    }),
  must('update/section-order', 'GATHERD-4.4 SOIF-8.1', 'manual 1.2')
    .title('the sections come once each, in the order delete, refresh, update')
    .does(surveyed, ({ transfer }) => checkSectionOrder(transfer.sections)),
  must('update/layout', 'SOIF-8.8', 'project choice')
    .title('the wrappers are written as SOIF-8.8 writes them, which every known client can read')
    .does(surveyed, ({ transfer: { misplaced } }) => {
      checkNone(misplaced, 'another layout', '@DELETE {\\n}\\n@REFRESH {\\n}\\n@UPDATE {\\n...}\\n');
    }),
  must('update/other-sections-empty', 'GATHERD-4.4', 'manual 1.1; roads')
    .title('a client that has not requested changes gets everything in @UPDATE')
    .does(surveyed, async ({ oldest, transfer }, context) => {
      const wire = await context.session();
      // Deletions are only sent for a time stamp after 0 (GATHERD-4.9).
      const since = oldest ?? 1;
      const { bySection } = await receiveUpdate(wire, since);
      for (const found of [transfer.bySection, bySection]) {
        check(found.delete + found.refresh === 0, 'objects in sections that were not requested', {
          expected: '0 objects in @DELETE, 0 in @REFRESH',
          received: `${found.delete} objects in @DELETE, ${found.refresh} in @REFRESH`,
        });
      }
    }),
  should('update/order', 'GATHERD-4.6', 'project choice')
    .title('objects come in ascending order of Update-Time, then URL, each once')
    .does(surveyedWith, 2, ({ transfer: { disorder } }) => {
      checkNone(disorder, 'another order', 'ascending Update-Time, then URL');
    }),
  should('update/required-attributes', 'GATHERD-13.9 SOIF-6.5', 'broker NOTES; Harvest-NG')
    .title(
      'every object has the attributes that Brokers require: Gatherer-Name, -Host, -Version and Update-Time',
    )
    .does(surveyedWith, 1, ({ incomplete }) => {
      checkNone(incomplete, 'an object that old Brokers reject', 'the four attributes in every object');
    }),
  must('update/boundary', 'GATHERD-4.3', 'project choice: an object that is not sent is lost')
    .title('an object whose Update-Time is the time stamp is sent: the comparison is >=')
    .does(surveyedTimes, async ({ newest, atNewest, untimed }, context) => {
      const { objects } = await receiveUpdate(await context.session(), newest);
      check(objects >= atNewest + untimed, `objects of the time ${newest} are missing`, {
        expected: `${atNewest + untimed} objects`,
        received: `${objects} objects`,
      });
    }),
  must('update/only-newer', 'GATHERD-4.2 GATHERD-4.3', 'gatherd NOTES; inferred: manual 1.4, broker NOTES')
    .title('older objects are not sent, and every other one is')
    .does(surveyedTimes, async ({ times, untimed, oldest, newest }, context) => {
      if (oldest === newest) throw new NotApplicable('all objects have one Update-Time');
      const since = middle(times, newest);
      const wire = await context.session();
      let early = '';
      const { objects } = await receiveUpdate(wire, since, ({ object }: StreamObject) => {
        const time = object.number('Update-Time') ?? since;
        if (time < since) early ||= `${object.url} of ${time}`;
      });
      check(early === '', `an object from before ${since}`, {
        expected: `Update-Time >= ${since}`,
        received: early,
      });
      if (times === undefined) return;
      let expected = untimed;
      for (const [time, count] of times) if (time >= since) expected += count;
      // There cannot be too many, because older objects fail the check above.
      check(objects >= expected, `objects since ${since} are missing`, {
        expected: `${expected} objects`,
        received: `${objects} objects`,
      });
    }),
  must('update/large-timestamp', 'GATHERD-4.1 GATHERD-4.2', 'gatherd NOTES; inferred')
    .title('a time stamp larger than 32 bits selects nothing: it is not cut to fewer bits')
    .does(surveyedTimes, async ({ oldest = 0, newest, untimed }, context) => {
      for (const bits of [32, 33, 40]) {
        // Cut to 32 bits or fewer, it is the time of the oldest object.
        const since = 2 ** bits + oldest;
        if (since <= newest) continue;
        const { objects } = await receiveUpdate(await context.session(), since);
        check(objects <= untimed, `objects since ${since}`, {
          expected: `${untimed} objects`,
          received: `${objects} objects`,
        });
      }
    }),
  must('update/nothing-new', 'GATHERD-4.5', 'inferred')
    .title('an update without objects is three empty sections')
    .does(surveyed, async ({ untimed }, context) => {
      if (untimed > 0) throw new NotApplicable(`${untimed} objects have no Update-Time and are always sent`);
      const session = await context.session();
      const { objects, sections, malformed } = await receiveUpdate(session, FAR_FUTURE);
      check(objects === 0 && sections.includes('update') && malformed === undefined, 'not an empty update', {
        expected: 'no objects; sections delete, refresh, update',
        received: malformed ?? `${objects} objects; sections ${sections.join(', ') || 'none'}`,
      });
    }),
  must('update/several', 'GATHERD-4.8', 'inferred')
    .title('several updates in one session, each as if it were the first')
    .does(surveyed, async ({ transfer }, context) => {
      const wire = await context.session();
      for (const since of [0, FAR_FUTURE, 0]) {
        const received = await receiveUpdate(wire, since);
        if (since === 0) checkSameStream(transfer, received, 'another stream than the first time');
      }
    }),
  must('update/bad-timestamp-form', 'GATHERD-1.5 GATHERD-1.6', 'beckett; roads; broker NOTES')
    .title('the answer to a bad time stamp has the form of other status lines and ends in LF only')
    .does(inSession, async (wire) => {
      await wire.send('SEND-UPDATE yesterday\n');
      checkLineForm(await wire.line());
    }),
  must('update/bad-timestamp', 'GATHERD-3.9', 'project choice')
    .title('a bad time stamp is answered 499 without data, since clients wait for 499')
    .does(inSession, async (wire) => {
      for (const argument of ['', ' yesterday', ' -1', ' 1e3', ' 0x10']) {
        const command = `SEND-UPDATE${argument}`;
        await wire.send(`${command}\n`);
        const { code, line } = await wire.status();
        check(code === 499, `wrong answer to ${command}`, {
          expected: '499 - ...',
          received: printable(line),
        });
      }
      await wire.send(`SEND-UPDATE ${FAR_FUTURE}\n`);
      await readUpdate(wire, 'SEND-UPDATE after bad ones');
    }),
];

/** GATHERD-1.5, 1.6: the form of a status line, which is given without its LF. @throws Mismatch */
export function checkLineForm(line: string): void {
  check(/^\d{3} - [^\r]*$/.test(line), 'a status line in another form', {
    expected: 'NNN - text\\n',
    received: printable(`${line}\n`),
  });
}

/** GATHERD-3.1, 3.3: the end line of a gatherd has its own number. @throws Mismatch */
export function checkEndNumber({ code, line }: Status): void {
  check(code === 499, 'another number ends the data', { expected: '499 - ...', received: printable(line) });
}

/** SOIF-8.1: the three sections, in their order. @throws Mismatch */
export function checkSectionOrder(sections: readonly string[]): void {
  const order = sections.join(', ') || 'none';
  checkEqual(order, 'delete, refresh, update', 'other sections, or another order');
}

/** As {@link surveyed}; skips the case if the database has no time stamps to compare. */
function surveyedTimes(
  run: (survey: Survey & { readonly newest: UnixSeconds }, context: GatherdContext) => Promise<void>,
): Procedure<GatherdContext> {
  return surveyedWith(1, async (survey, context) => {
    const { newest } = survey;
    if (newest === undefined) throw new NotApplicable('no object has an Update-Time');
    await run({ ...survey, newest }, context);
  });
}

/** Returns an Update-Time with others before it: the middle one if all are known. */
function middle(times: ReadonlyMap<number, number> | undefined, newest: number): number {
  if (times === undefined) return newest;
  const sorted = [...times.keys()].sort((x, y) => x - y);
  return sorted[Math.ceil(sorted.length / 2)] ?? newest;
}
