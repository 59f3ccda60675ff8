// Cases about SEND-UPDATE in clear (GATHERD sections 3.7 and 4, SOIF section 8).
import { check, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import type { Status } from '../wire.js';
import { FAR_FUTURE, type GatherdCase, type GatherdContext } from './context.js';
import type { StreamObject } from './stream-check.js';
import { readUpdate, receiveUpdate } from './transfer.js';

/** Time limit of a case that may transfer a large database; a server that sends nothing fails it earlier. */
export const TRANSFER_MS = 600_000;

/** SEND-UPDATE in clear: sections 3.7, 4, and SOIF-8. */
export const updateCases: readonly GatherdCase[] = [
  {
    id: 'update/everything',
    title: 'SEND-UPDATE 0 is answered 400, the objects, 499',
    rules: ['GATHERD-3.1', 'GATHERD-4.1'],
    source: 'beckett; roads; gatherd NOTES',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      await context.survey();
    },
  },
  {
    id: 'update/zero',
    title: 'SEND-UPDATE 0 sends no fewer objects than SEND-UPDATE 1: 0 requests everything',
    rules: ['GATHERD-4.1'],
    source: 'gatherd NOTES; roads',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      const { objects } = await receiveUpdate(await context.session(), 1);
      check(transfer.objects >= objects, 'SEND-UPDATE 0 leaves objects out', {
        expected: `${objects} objects`,
        received: `${transfer.objects} objects`,
      });
    },
  },
  {
    id: 'update/end-number',
    title: 'the number of the end line is 499; 099 is a number of Brokers',
    rules: ['GATHERD-3.1', 'GATHERD-3.3'],
    source: 'beckett; roads; broker NOTES',
    level: 'MUST',
    async run(context) {
      const { end } = await receiveUpdate(await context.session(), FAR_FUTURE);
      checkEndNumber(end);
    },
  },
  {
    id: 'update/only-data',
    title: 'between 400 and 499 there are only objects in the layout of SOIF with correct sizes',
    rules: ['GATHERD-3.7', 'SOIF-2.2', 'SOIF-2.3'],
    source: 'beckett; roads; template.c; soif.pl',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { malformed } = (await context.survey()).transfer;
      check(malformed === undefined, 'malformed data', {
        expected: 'objects as SOIF-2.2 writes them',
        received: malformed ?? '',
      });
    },
  },
  {
    id: 'update/wrapped',
    title: 'the objects are in the @DELETE, @REFRESH and @UPDATE sections of one stream',
    rules: ['GATHERD-4.4', 'SOIF-8.1'],
    source: 'manual 1.2; roads',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { sections, bySection } = (await context.survey()).transfer;
      check(sections.includes('update') && bySection.bare === 0, 'objects outside of the sections', {
        expected: 'sections delete, refresh, update; every object in one',
        received: `sections ${sections.join(', ') || 'none'}; ${bySection.bare} objects outside`,
      });
    },
  },
  {
    id: 'update/section-order',
    title: 'the sections come once each, in the order delete, refresh, update',
    rules: ['GATHERD-4.4', 'SOIF-8.1'],
    source: 'manual 1.2',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      checkSectionOrder((await context.survey()).transfer.sections);
    },
  },
  {
    id: 'update/layout',
    title: 'the wrappers are written as SOIF-8.8 writes them, which every known client can read',
    rules: ['SOIF-8.8'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { misplaced } = (await context.survey()).transfer;
      check(misplaced === undefined, 'another layout', {
        expected: '@DELETE {\\n}\\n@REFRESH {\\n}\\n@UPDATE {\\n...}\\n',
        received: misplaced ?? '',
      });
    },
  },
  {
    id: 'update/other-sections-empty',
    title: 'a client that has not requested changes gets everything in @UPDATE',
    rules: ['GATHERD-4.4'],
    source: 'manual 1.1; roads',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { oldest, transfer } = await context.survey();
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
    },
  },
  {
    id: 'update/order',
    title: 'objects come in ascending order of Update-Time, then URL, each once',
    rules: ['GATHERD-4.6'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { disorder } = (await context.surveyWith(2)).transfer;
      check(disorder === undefined, 'another order', {
        expected: 'ascending Update-Time, then URL',
        received: disorder ?? '',
      });
    },
  },
  {
    id: 'update/required-attributes',
    title:
      'every object has the attributes that Brokers require: Gatherer-Name, -Host, -Version and Update-Time',
    rules: ['GATHERD-13.9', 'SOIF-6.5'],
    source: 'broker NOTES; Harvest-NG',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { incomplete } = await context.surveyWith(1);
      check(incomplete === undefined, 'an object that old Brokers reject', {
        expected: 'the four attributes in every object',
        received: incomplete ?? '',
      });
    },
  },
  {
    id: 'update/boundary',
    title: 'an object whose Update-Time is the time stamp is sent: the comparison is >=',
    rules: ['GATHERD-4.3'],
    source: 'project choice: an object that is not sent is lost',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { newest, atNewest, untimed } = await timedSurvey(context);
      const wire = await context.session();
      const { objects } = await receiveUpdate(wire, newest);
      check(objects >= atNewest + untimed, `objects of the time ${newest} are missing`, {
        expected: `${atNewest + untimed} objects`,
        received: `${objects} objects`,
      });
    },
  },
  {
    id: 'update/only-newer',
    title: 'older objects are not sent, and every other one is',
    rules: ['GATHERD-4.2', 'GATHERD-4.3'],
    source: 'gatherd NOTES; inferred: manual 1.4, broker NOTES',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { times, untimed, oldest, newest } = await timedSurvey(context);
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
    },
  },
  {
    id: 'update/nothing-new',
    title: 'an update without objects is three empty sections',
    rules: ['GATHERD-4.5'],
    source: 'inferred',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { untimed } = await context.survey();
      if (untimed > 0) throw new NotApplicable(`${untimed} objects have no Update-Time and are always sent`);
      const wire = await context.session();
      const { objects, sections, malformed } = await receiveUpdate(wire, FAR_FUTURE);
      check(objects === 0 && sections.includes('update') && malformed === undefined, 'not an empty update', {
        expected: 'no objects; sections delete, refresh, update',
        received: malformed ?? `${objects} objects; sections ${sections.join(', ') || 'none'}`,
      });
    },
  },
  {
    id: 'update/several',
    title: 'several updates in one session, each as if it were the first',
    rules: ['GATHERD-4.8'],
    source: 'inferred',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      const wire = await context.session();
      for (const since of [0, FAR_FUTURE, 0]) {
        const { digest, objects } = await receiveUpdate(wire, since);
        check(since > 0 || digest === transfer.digest, 'another stream than the first time', {
          expected: `${transfer.objects} objects, SHA-256 ${transfer.digest}`,
          received: `${objects} objects, SHA-256 ${digest}`,
        });
      }
    },
  },
  {
    id: 'update/bad-timestamp-form',
    title: 'the answer to a bad time stamp has the form of other status lines and ends in LF only',
    rules: ['GATHERD-1.5', 'GATHERD-1.6'],
    source: 'beckett; roads; broker NOTES',
    level: 'MUST',
    async run(context) {
      const wire = await context.session();
      await wire.send('SEND-UPDATE yesterday\n');
      checkLineForm(await wire.line());
    },
  },
  {
    id: 'update/bad-timestamp',
    title: 'a bad time stamp is answered 499 without data, since clients wait for 499',
    rules: ['GATHERD-3.9'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
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
    },
  },
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
  check(sections.join() === 'delete,refresh,update', 'other sections, or another order', {
    expected: 'delete, refresh, update',
    received: sections.join(', ') || 'none',
  });
}

/** Returns the survey of a database with time stamps to compare. */
async function timedSurvey(context: GatherdContext) {
  const survey = await context.surveyWith(1);
  const { newest } = survey;
  if (newest === undefined) throw new NotApplicable('no object has an Update-Time');
  return { ...survey, newest };
}

/** Returns an Update-Time with others before it: the middle one if all are known. */
function middle(times: ReadonlyMap<number, number> | undefined, newest: number): number {
  if (times === undefined) return newest;
  const sorted = [...times.keys()].sort((x, y) => x - y);
  return sorted[Math.ceil(sorted.length / 2)] ?? newest;
}
