import { saysFailed } from '../broker-client/experiment.js';
import { type CaseDescription, check } from '../case.js';
import { printable } from '../printable.js';
import { type BulkClientCase, type Observation, ORDINARY_TEXTS } from './experiment.js';

/** The session as a whole, and what the client sends: section A1. */
export const sentCases: readonly BulkClientCase[] = [
  ordinary(
    {
      id: 'session/plain',
      title: 'shows the updated objects of an ordinary transfer',
      rules: ['BT-14', 'BT-21'],
      source: 'S',
      level: 'MUST',
    },
    ({ output }) => {
      for (const { kind, text } of ORDINARY_TEXTS) {
        check(kind !== 'update' || output.includes(text), 'an object is not shown', {
          expected: text,
          received: printable(output),
        });
      }
    },
  ),
  ordinary(
    {
      id: 'session/exit-status',
      title: 'ends with exit status 0 when everything came',
      rules: ['BT-12'],
      source: 'project choice',
      level: 'SHOULD',
    },
    ({ status, diagnostics }) =>
      check(status === 0, 'the exit status says that something failed', {
        expected: 'exit status 0',
        received: `exit status ${status ?? 'none'}: ${printable(diagnostics.trim())}`,
      }),
  ),
  ordinary(
    {
      id: 'session/keeps-open',
      title: 'keeps its side of the connection open until the answer has ended',
      rules: ['BT-2', 'BT-12'],
      source: 'project choice; RC',
      level: 'SHOULD',
    },
    ({ closedEarly }) =>
      check(!closedEarly, 'the client closes its side behind the message', {
        expected: 'an open connection',
        received: 'end of input',
      }),
  ),
  ordinary(
    {
      id: 'sent/one',
      title: 'sends one message on a connection',
      rules: ['BT-2'],
      source: 'M1.2',
      level: 'MUST',
    },
    ({ sessions }) => {
      check(sessions.length > 0, 'the client does not connect', {
        expected: 'a connection',
        received: 'none',
      });
      for (const { lines } of sessions) {
        check(lines.length === 1, 'not one message', {
          expected: 'one line',
          received: printable(lines.map(({ text }) => text).join('\n')) || 'nothing',
        });
      }
    },
  ),
  ordinary(
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
  ordinary(
    {
      id: 'sent/line-end',
      title: 'ends the message with CR LF',
      rules: ['BT-3'],
      source: 'RC',
      level: 'SHOULD',
    },
    (observation) => {
      for (const { end, text } of linesOf(observation)) {
        check(end === '\r\n', 'another line end', { expected: 'CR LF', received: printable(text + end) });
      }
    },
  ),
  {
    id: 'refused/no-connection',
    title: 'says that it failed when nobody listens',
    rules: ['BT-19'],
    source: 'project choice',
    level: 'SHOULD',
    run: async (context) => saysFailed(await context.bench.observeNobody(context)),
  },
];

function linesOf({ sessions }: Observation): Observation['sessions'][number]['lines'] {
  return sessions.flatMap(({ lines }) => lines);
}

function ordinary(description: CaseDescription, judge: (observation: Observation) => void): BulkClientCase {
  return { ...description, run: async (context) => judge(await context.bench.ordinary(context)) };
}
