import {
  type BrokerRun,
  checkCrLf,
  checkKeepsOpen,
  checkOneMessage,
  checkReportsFailure,
  checkShowsEvery,
  ordinaryCase,
} from '../broker-bench.js';
import { check } from '../case.js';
import { checkReportsSuccess } from '../client-bench.js';
import { printable } from '../printable.js';
import type { ClientLine } from '../scripted-server.js';
import type { BulkClientCase } from './bench.js';

/** The session as a whole, and what the client sends: section A1. */
export const sentCases: readonly BulkClientCase[] = [
  ordinaryCase(
    {
      id: 'session/plain',
      title: 'shows the updated objects of an ordinary transfer',
      rules: ['BT-14', 'BT-21'],
      source: 'S',
      level: 'MUST',
    },
    checkShowsEvery('update'),
  ),
  ordinaryCase(
    {
      id: 'session/exit-status',
      title: 'ends with exit status 0 after a complete transfer',
      rules: ['BT-12'],
      source: 'project choice',
      level: 'SHOULD',
    },
    checkReportsSuccess,
  ),
  ordinaryCase(
    {
      id: 'session/keeps-open',
      title: 'keeps its side of the connection open until the answer has ended',
      rules: ['BT-2', 'BT-12'],
      source: 'project choice; RC',
      level: 'SHOULD',
    },
    checkKeepsOpen,
  ),
  ordinaryCase(
    {
      id: 'sent/one',
      title: 'sends one message on a connection',
      rules: ['BT-2'],
      source: 'M1.2',
      level: 'MUST',
    },
    checkOneMessage,
  ),
  ordinaryCase(
    {
      id: 'sent/form',
      title: 'the message is #BULK, flags, #END and a query',
      rules: ['BT-2', 'BT-4', 'BT-6'],
      source: 'M1.2; RC',
      level: 'MUST',
    },
    (observation) => {
      for (const { text } of linesOf(observation)) {
        check(/^#bulk (?:.* )?#end \S/i.test(text), 'not the message of a bulk transfer', {
          expected: '#BULK #SINCE 0 #END #ALLB',
          received: printable(text),
        });
        const since = /#since(?: (\S+))?/i.exec(text);
        check(since === null || /^\d+$/.test(since[1] ?? ''), 'not a time', {
          expected: '#SINCE and decimal seconds',
          received: printable(text),
        });
      }
    },
  ),
  ordinaryCase(
    {
      id: 'sent/line-end',
      title: 'ends the message with CR LF',
      rules: ['BT-3'],
      source: 'RC',
      level: 'SHOULD',
    },
    (run) => checkCrLf(linesOf(run)),
  ),
  {
    id: 'refused/no-connection',
    title: 'reports a failure when no server listens',
    rules: ['BT-19'],
    source: 'project choice',
    level: 'SHOULD',
    run: async (context) => checkReportsFailure(await context.bench.observeNoServer(context)),
  },
];

function linesOf({ sessions }: BrokerRun): readonly ClientLine[] {
  return sessions.flatMap(({ lines }) => lines);
}
