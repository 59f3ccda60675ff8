// Cases about the form of a request for a bulk transfer, and about robustness.
import { setTimeout } from 'node:timers/promises';
import { check, checkEqual, checkNone, must, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import { type BulkCase, type BulkContext, EVERYTHING, surveyed } from './context.js';
import {
  checkSameUpdates,
  formatTransfer,
  readTransfer,
  requireTransfer,
  type Transfer,
} from './transfer.js';

/** The form of a request, and requests that are refused: section A1, BT-10. */
export const messageCases: readonly BulkCase[] = [
  should('message/lf', 'BT-2', 'project choice')
    .title('a message that ends in LF only is answered')
    .does(everything, `${EVERYTHING}\n`),
  must('message/any-case', 'BT-2', 'inferred: M1.2, FAQ, RC')
    .title('keywords with # are matched without regard to case')
    .does(everything, '#bulk #Since 0 #end #allb\r\n'),
  must('message/one', 'BT-2', 'M1.2')
    .title('a second message on the connection is not answered')
    .does(everything, `${EVERYTHING}\r\n${EVERYTHING}\r\n`),
  must('message/bytewise', 'BT-2', 'M1.2; RC')
    .title('a message may come one byte at a time')
    .does(surveyed, async ({ transfer }, context) => {
      const wire = await context.session();
      await wire.sendSlowly(`${EVERYTHING}\r\n`);
      checkSameUpdates(transfer, requireTransfer(await readTransfer(wire), EVERYTHING));
    }),
  must('error/line-form', 'BT-10 BRK-4.1 BRK-1.9', 'S')
    .title('the line of a refusal has the form of other lines and ends in LF only')
    .does(surveyed, async (survey, context) => {
      survey;
      for (const message of ['#BULK #SINCE 0 #ALLB', '#BULK #SINCE 0 #END (heron']) {
        const { lines } = await context.ask(message);
        const malformed = lines.find((line) => line.malformed !== undefined)?.malformed;
        checkNone(malformed, 'a line of another form', '400 - ERROR: ...', printable);
      }
    }),
  should('error/since', 'BT-10', 'S; project choice')
    .title('a malformed time is refused with a line 400 - ERROR: text, and the connection is closed')
    .does(refused, '#BULK #SINCE soon #END #ALLB'),
  should('error/since-too-large', 'BT-10 BT-4 BRK-3', 'project choice')
    .title('a time above 4294967295 is refused with a line 400 - ERROR: text, and the connection is closed')
    .does(refused, '#BULK #SINCE 4294967306 #END #ALLB'),
  should('error/no-end', 'BT-10', 'S; project choice')
    .title('a message without #END is refused with a line 400 - ERROR: text, and the connection is closed')
    .does(refused, '#BULK #SINCE 0 #ALLB'),
  should('error/no-query', 'BT-10', 'S; project choice')
    .title('a message without a query is refused with a line 400 - ERROR: text, and the connection is closed')
    .does(refused, '#BULK #SINCE 0 #END'),
  should('error/flag', 'BT-10', 'S; project choice')
    .title('an unknown flag is refused with a line 400 - ERROR: text, and the connection is closed')
    .does(refused, '#BULK #SINCE 0 #frobnicate #END #ALLB'),
  should('error/query', 'BT-10', 'S; project choice')
    .title(
      'a query with an open parenthesis is refused with a line 400 - ERROR: text, and the connection is closed',
    )
    .does(refused, '#BULK #SINCE 0 #END (heron'),
];

const TOGETHER = 5;
/** Time that a slow reader waits before it reads. */
const PAUSE_MS = 300;

/** Robustness of a Broker that serves bulk transfers. */
export const enduranceCases: readonly BulkCase[] = [
  must('endurance/slow-reader', 'BT-12 BT-19', 'project choice')
    .title('a client that reads late gets everything')
    .does(surveyed, async ({ transfer }, context) => {
      const wire = await context.session();
      await wire.send(`${EVERYTHING}\r\n`);
      await setTimeout(PAUSE_MS, undefined, { signal: context.signal });
      checkSameUpdates(transfer, requireTransfer(await readTransfer(wire), EVERYTHING));
    }),
  should('endurance/together', 'BT-1 BT-3', 'project choice')
    .title(`${TOGETHER} concurrent clients get everything`)
    .does(surveyed, async ({ transfer }, context) => {
      const wires = await Promise.all(Array.from({ length: TOGETHER }, () => context.session(false)));
      const transfers = await Promise.all(
        wires.map(async (wire) => {
          await wire.send(`${EVERYTHING}\r\n`);
          return readTransfer(wire);
        }),
      );
      for (const one of transfers) checkSameUpdates(transfer, requireTransfer(one, EVERYTHING));
    }),
  must('endurance/does-not-read', 'BT-12', 'project choice')
    .title('a client that requests everything and does not read, or leaves, does not delay others')
    .does(surveyed, async ({ transfer }, context) => {
      await (await context.session(false)).send(`${EVERYTHING}\r\n`);
      const leaving = await context.session(false);
      await leaving.send(`${EVERYTHING}\r\n`);
      leaving.reset();
      await context.session(false);
      checkSameUpdates(transfer, requireTransfer(await context.ask(EVERYTHING), EVERYTHING));
    }),
];

/** Sends a request for everything in another form; it is answered as the usual one. */
function everything(bytes: string): Procedure<BulkContext> {
  return surveyed(async ({ transfer }, context) => {
    const answer = requireTransfer(await context.exchange(bytes), bytes.trim());
    checkSameUpdates(transfer, answer);
    const ends = ({ endLine, sections }: Transfer) => `${sections.join(', ')}; ${endLine?.code ?? 'closed'}`;
    checkEqual(ends(answer), ends(transfer), 'more or less than one answer');
  });
}

/** Sends a message that must be refused. BT-10: `400 - ERROR: text`, then the end. */
function refused(message: string): Procedure<BulkContext> {
  return surveyed(async (_, context) => {
    const answer = await context.ask(message);
    const lines = answer.lines.filter(({ code }) => code !== 200);
    const [line] = lines;
    check(
      lines.length === 1 && answer.bytes === 0 && line?.code === 400 && line.text.startsWith('ERROR'),
      `not refused with a line 400: ${message}`,
      { expected: '400 - ERROR: ..., and nothing after it', received: formatTransfer(answer) },
    );
  });
}
