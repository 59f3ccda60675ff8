// Cases about `SET sequence`, our extension (GATHERD-6.13).
import { check, checkEqual, checkNone, Mismatch, must, NotApplicable, should, within } from '../case.js';
import { printable } from '../printable.js';
import type { Status, Wire } from '../wire.js';
import {
  exchange,
  FAR_FUTURE,
  type GatherdCase,
  type GatherdContext,
  surveyed,
  surveyedWith,
  TRANSFER_MS,
} from './context.js';
import { checkSameStream } from './stream-check.js';
import { receiveCompressed, receiveUpdate, type Transfer } from './transfer.js';

/** A change of a database: its name, and the number. */
interface Mark {
  readonly name: string;
  readonly number: number;
}

/** A name that no database has. */
export const UNKNOWN_DATABASE = 'no-such-database';

const FORM = /; sequence ([0-9A-Za-z-]{1,64}) (\d{1,16})$/;

/** The last changes that the cases about order ask for; each has at most one object. */
const LAST_CHANGES = 1000;

/** SET sequence, an extension: section 6.13. All cases are skipped for a server without it. */
export const sequenceCases: readonly GatherdCase[] = [
  should('sequence/end-line', 'GATHERD-6.13', 'project choice')
    .title('the 499 line after a stream ends with the name of the database and the number of its last change')
    .run(within(TRANSFER_MS, lastMark)),
  must('sequence/everything', 'GATHERD-4.2 GATHERD-6.13', 'project choice')
    .title('an update since 0 is the stream that comes without SET sequence')
    .does(surveyed, async ({ transfer }, context) => {
      const { name, number } = await lastMark(context);
      for (const mark of [undefined, { name, number }])
        checkSameStream(transfer, await receiveUpdate(await asking(context, mark), 0));
    }),
  should('sequence/nothing-new', 'GATHERD-6.13', 'project choice')
    .title('after the last change nothing comes, and the mark is the same')
    .run(
      within(TRANSFER_MS, async (context) => {
        const last = await lastMark(context);
        const { objects, end } = await receiveUpdate(await asking(context, last), 1);
        checkEqual(objects, 0, 'objects after the last change');
        checkEqual(shown(markOf(end)), shown(last), 'another mark, although nothing has changed');
      }),
    ),
  should('sequence/whatever-time', 'GATHERD-6.13', 'project choice')
    .title('the changes after a number are the same for every timestamp but 0')
    .does(surveyedWith, 2, async (_, context) => {
      const after = await earlier(context);
      const early = await receiveUpdate(await asking(context, after), 1);
      check(early.objects > 0, 'no change after a number below the last', {
        expected: `changes after ${after.number}`,
        received: 'none',
      });
      checkSameStream(
        early,
        await receiveUpdate(await asking(context, after), FAR_FUTURE),
        'the timestamp selects changes that were asked for by number',
      );
    }),
  should('sequence/order', 'GATHERD-6.13', 'project choice')
    .title(
      'the changes after a number are the last of those after a lower number, one or none for each number',
    )
    .does(surveyedWith, 2, async (_, context) => {
      const { name, number } = await lastMark(context);
      const first = Math.max(1, number - LAST_CHANGES);
      const numbers = new Set([first, Math.floor((first + number) / 2), number - 2, number - 1]);
      let former: readonly string[] | undefined;
      for (const after of [...numbers].filter((one) => one >= first).sort((a, b) => a - b)) {
        const urls = await urlsAfter(context, { name, number: after });
        check(urls.length <= number - after, `more objects than changes after ${after}`, {
          expected: `at most ${number - after}`,
          received: String(urls.length),
        });
        const expected = former?.slice(former.length - urls.length) ?? urls;
        checkEqual(urls.join('\n'), expected.join('\n'), `another order after ${after}`, printable);
        former = urls;
      }
    }),
  should('sequence/unknown', 'GATHERD-6.13', 'project choice')
    .title('a change of another database, one after the last, and the number 0 are refused')
    .run(
      within(TRANSFER_MS, async (context) => {
        const { name, number } = await lastMark(context);
        const wire = await context.session();
        const unknown = [`${UNKNOWN_DATABASE} 1`, `${name} ${number + 1}`, `${name} 0`];
        for (const mark of unknown) await exchange(wire, `SET sequence ${mark}`, 900);
        await exchange(wire, 'SET sequence', 500);
      }),
    ),
  should('sequence/changes', 'GATHERD-6.13 GATHERD-6.11', 'project choice')
    .title('with SET changes refreshed and updated objects together are those that come without it')
    .does(surveyedWith, 2, async (_, context) => {
      const after = await earlier(context);
      const { objects } = await receiveUpdate(await asking(context, after), 1);
      const { bySection, misplaced, malformed } = await receiveUpdate(
        await asking(context, after, 'changes'),
        1,
      );
      checkEqual(bySection.refresh + bySection.update, objects, 'another number of objects');
      checkNone(misplaced ?? malformed, 'another layout', 'the sections as SOIF-8.8 writes them');
    }),
  should('sequence/compressed', 'GATHERD-6.13 GATHERD-6.1', 'project choice')
    .title('SET sequence and SET compression work together')
    .does(surveyedWith, 2, async (_, context) => {
      const after = await earlier(context);
      const clear = await receiveUpdate(await asking(context, after), 1);
      const compressed = await receiveCompressed(await asking(context, after, 'compression'), 1);
      checkSameStream(clear, compressed, 'not the stream that comes in clear');
      checkEqual(shown(markOf(compressed.end)), shown(markOf(clear.end)), 'another mark than in clear');
    }),
  should('sequence/no-stream', 'GATHERD-6.13 GATHERD-3.9', 'project choice')
    .title('a 499 line without a stream has no number')
    .run(async (context) => {
      const wire = await asking(context, await lastMark(context));
      await wire.send('SEND-UPDATE x\n');
      const { line } = await wire.expect(499, 'SEND-UPDATE x');
      checkNone(FORM.exec(line)?.[0], 'a number that completes nothing', '499 - Bad timestamp', printable);
    }),
  must('sequence/malformed', 'GATHERD-3.9 GATHERD-6.13', 'project choice')
    .title('a database without a number, or with a malformed one, is refused, and the session continues')
    .run(async (context) => {
      const { name } = await lastMark(context);
      const wire = await context.session();
      for (const argument of [name, `${name} x`, `${name} -1`, `${'n'.repeat(65)} 1`, `a/b 1`, `${name} 1 2`])
        await exchange(wire, `SET sequence ${argument}`, 900);
      await exchange(wire, 'SET sequence', 500);
    }),
];

/** Opens a session that asks for the changes after this one. */
async function asking(
  context: GatherdContext,
  mark: Mark | undefined,
  ...settings: readonly ('compression' | 'changes')[]
): Promise<Wire> {
  const wire = await context.session();
  for (const setting of settings) await context.set(wire, setting);
  if (mark === undefined) await context.set(wire, 'sequence');
  else await exchange(wire, `SET sequence ${mark.name} ${mark.number}`, 500);
  return wire;
}

/**
 * Returns the last change of the database. @throws NotApplicable if the server has no numbers @throws Mismatch
 * if it names them in another form
 */
async function lastMark(context: GatherdContext): Promise<Mark> {
  const mark = markOf((await receiveUpdate(await asking(context, undefined), FAR_FUTURE)).end);
  if (mark === undefined) throw new NotApplicable('the changes of the database have no numbers');
  return mark;
}

/** Returns a change with others after it. */
async function earlier(context: GatherdContext): Promise<Mark> {
  const { name, number } = await lastMark(context);
  return { name, number: Math.max(1, Math.floor(number / 2), number - LAST_CHANGES) };
}

async function urlsAfter(context: GatherdContext, mark: Mark): Promise<readonly string[]> {
  const urls: string[] = [];
  await receiveUpdate(await asking(context, mark), 1, ({ object }) => urls.push(object.url));
  return urls;
}

/** Returns what an end line names; undefined if it names nothing. @throws Mismatch for another form */
function markOf({ line }: Status | Transfer['end']): Mark | undefined {
  const [, name = '', number = ''] = FORM.exec(line) ?? [];
  if (Number.isSafeInteger(Number(number)) && name !== '') return { name, number: Number(number) };
  if (!/\bsequence\b/i.test(line)) return undefined;
  throw new Mismatch('the database and its last change in another form', {
    expected: '499 - Sent 2 objects; sequence 5f1d8a4e3c2b7096 17',
    received: printable(line),
  });
}

function shown(mark: Mark | undefined): string {
  return mark === undefined ? 'no number' : `${mark.name} ${mark.number}`;
}
