import { setImmediate } from 'node:timers/promises';
import { check } from '../case.js';
import { printable } from '../printable.js';
import { type BulkCase, type BulkContext, EVERYTHING, TRANSFER_MS } from './context.js';
import { checkSameCount } from './selection-cases.js';
import { formatTransfer, readTransfer, requireTransfer, type Transfer } from './transfer.js';

/** The form of a request, and requests that are refused: section A1, BT-10. */
export const messageCases: readonly BulkCase[] = [
  everythingCase(
    'message/lf',
    'a message that ends in LF only is answered',
    'project choice',
    'SHOULD',
    `${EVERYTHING}\n`,
  ),
  everythingCase(
    'message/any-case',
    'keywords with # are matched without regard to case',
    'inferred: M1.2, FAQ, RC',
    'MUST',
    '#bulk #Since 0 #end #allb\r\n',
  ),
  everythingCase(
    'message/one',
    'a second message on the connection is not answered',
    'M1.2',
    'MUST',
    `${EVERYTHING}\r\n${EVERYTHING}\r\n`,
  ),
  {
    id: 'message/bytewise',
    title: 'a message may come one byte at a time',
    rules: ['BT-2'],
    source: 'M1.2; RC',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      const { transfer } = await context.survey();
      const wire = await context.session();
      for (const byte of `${EVERYTHING}\r\n`) {
        await wire.send(byte);
        // Lets the byte be sent before the next one.
        await setImmediate();
      }
      checkSameCount(transfer, requireTransfer(await readTransfer(wire), EVERYTHING));
    },
  },
  {
    id: 'error/line-form',
    title: 'the line of a refusal has the form of other lines and ends in LF only',
    rules: ['BT-10', 'BRK-4.1', 'BRK-1.9'],
    source: 'S',
    level: 'MUST',
    timeoutMs: TRANSFER_MS,
    async run(context) {
      await context.survey();
      for (const message of ['#BULK #SINCE 0 #ALLB', '#BULK #SINCE 0 #END (heron']) {
        const { lines } = await context.ask(message);
        const malformed = lines.find((line) => line.malformed !== undefined)?.malformed;
        check(malformed === undefined, 'a line of another form', {
          expected: '400 - ERROR: ...',
          received: printable(malformed ?? ''),
        });
      }
    },
  },
  refusedCase('error/since', 'a malformed time', '#BULK #SINCE soon #END #ALLB'),
  refusedCase('error/no-end', 'a message without #END', '#BULK #SINCE 0 #ALLB'),
  refusedCase('error/no-query', 'a message without a query', '#BULK #SINCE 0 #END'),
  refusedCase('error/flag', 'an unknown flag', '#BULK #SINCE 0 #frobnicate #END #ALLB'),
  refusedCase('error/query', 'a query with an open parenthesis', '#BULK #SINCE 0 #END (heron'),
];

function everythingCase(
  id: string,
  title: string,
  source: string,
  level: 'MUST' | 'SHOULD',
  bytes: string,
): BulkCase {
  const run = async (context: BulkContext) => {
    const { transfer } = await context.survey();
    const answer = requireTransfer(await context.exchange(bytes), bytes.trim());
    checkSameCount(transfer, answer);
    const ends = ({ endLine, sections }: Transfer) => `${sections.join(', ')}; ${endLine?.code ?? 'closed'}`;
    check(ends(answer) === ends(transfer), 'more or less than one answer', {
      expected: ends(transfer),
      received: ends(answer),
    });
  };
  return { id, title, rules: ['BT-2'], source, level, timeoutMs: TRANSFER_MS, run };
}

/** Builds a case in which a message is refused. BT-10: `400 - ERROR: text`, then the end. */
function refusedCase(id: string, what: string, message: string): BulkCase {
  const run = async (context: BulkContext) => {
    await context.survey();
    const answer = await context.ask(message);
    const lines = answer.lines.filter(({ code }) => code !== 200);
    const [line] = lines;
    check(
      lines.length === 1 && answer.bytes === 0 && line?.code === 400 && line.text.startsWith('ERROR'),
      `not refused with a line 400: ${message}`,
      { expected: '400 - ERROR: ..., and nothing after it', received: formatTransfer(answer) },
    );
  };
  return {
    id,
    title: `${what} is refused with a line 400 - ERROR: text, and the connection is closed`,
    rules: ['BT-10'],
    source: 'S; project choice',
    level: 'SHOULD',
    timeoutMs: TRANSFER_MS,
    run,
  };
}
