import {
  type BrokerRun,
  checkCrLf,
  checkKeepsOpen,
  checkOneMessage,
  checkShowsEvery,
  failsWithoutServer,
  ordinary,
} from '../broker-bench.js';
import { check, checkMatches, must, should } from '../case.js';
import { checkReportsSuccess } from '../client-context.js';
import { printable } from '../printable.js';
import type { ClientLine } from '../scripted-server.js';
import type { BulkClientCase } from './bench.js';

/** The session as a whole, and what the client sends: section A1. */
export const sentCases: readonly BulkClientCase[] = [
  must('session/plain', 'BT-14 BT-21', 'S')
    .title('shows the updated objects of an ordinary transfer')
    .does(ordinary, checkShowsEvery('update')),
  should('session/exit-status', 'BT-12', 'project choice')
    .title('ends with exit status 0 after a complete transfer')
    .does(ordinary, checkReportsSuccess),
  should('session/keeps-open', 'BT-2 BT-12', 'project choice; RC')
    .title('keeps its side of the connection open until the answer has ended')
    .does(ordinary, checkKeepsOpen),
  must('sent/one', 'BT-2', 'M1.2').title('sends one message on a connection').does(ordinary, checkOneMessage),
  must('sent/form', 'BT-2 BT-4 BT-6', 'M1.2; RC')
    .title('the message is #BULK, flags, #END and a query')
    .does(ordinary, (observation) => {
      for (const { text } of linesOf(observation)) {
        checkMatches(
          text,
          /^#bulk (?:.* )?#end \S/i,
          'not the message of a bulk transfer',
          '#BULK #SINCE 0 #END #ALLB',
        );
        const since = /#since(?: (\S+))?/i.exec(text);
        check(since === null || /^\d+$/.test(since[1] ?? ''), 'not a time', {
          expected: '#SINCE and decimal seconds',
          received: printable(text),
        });
      }
    }),
  must('sent/line-end', 'BT-3', 'RC')
    .title('ends the message with CR LF')
    .does(ordinary, (run) => checkCrLf(linesOf(run))),
  should('refused/no-connection', 'BT-19', 'project choice')
    .title('reports a failure when no server listens')
    .run(failsWithoutServer),
];

function linesOf({ sessions }: BrokerRun): readonly ClientLine[] {
  return sessions.flatMap(({ lines }) => lines);
}
