import {
  type BrokerRun,
  checkCrLf,
  checkKeepsOpen,
  checkOneMessage,
  checkReportsFailure,
  checkShowsEvery,
  ordinaryCase,
} from '../broker-bench.js';
import { check, NotApplicable } from '../case.js';
import { checkReportsSuccess } from '../client-bench.js';
import { printable } from '../printable.js';
import { type ClientCase, type ClientContext, QUERY } from './bench.js';
import { full } from './replies.js';

const SHORT_FLAG = /^#(?:desc|opaque|attribute|since|index)$/i;
const INDEX_FLAG = /^(?:case|error|matchword|maxresult|maxfiles|maxlines|lifetime)$/i;

/** The session, and what the client sends: sections 1 to 3. */
export const sentCases: readonly ClientCase[] = [
  ordinaryCase(
    {
      id: 'session/plain',
      title: 'shows the objects of an ordinary reply',
      rules: ['BRK-4.3', 'BRK-4.12'],
      source: 'S; RC',
      level: 'MUST',
    },
    checkShowsEvery('url'),
  ),
  ordinaryCase(
    {
      id: 'session/exit-status',
      title: 'ends with exit status 0 after objects',
      rules: ['BRK-4.12'],
      source: 'project choice',
      level: 'SHOULD',
    },
    checkReportsSuccess,
  ),
  ordinaryCase(
    {
      id: 'session/keeps-open',
      title: 'keeps its side of the connection open until the reply has ended',
      rules: ['BRK-1.9', 'BRK-1.7'],
      source: 'project choice; RC',
      level: 'SHOULD',
    },
    checkKeepsOpen,
  ),
  ordinaryCase(
    {
      id: 'sent/one',
      title: 'sends one message on a connection',
      rules: ['BRK-1.6', 'BRK-1.7'],
      source: 'inferred: RC',
      level: 'MUST',
    },
    checkOneMessage,
  ),
  ordinaryCase(
    {
      id: 'sent/line-end',
      title: 'ends the message with CR LF',
      rules: ['BRK-1.9'],
      source: 'project choice; RC',
      level: 'SHOULD',
    },
    (run) => checkCrLf(linesOf(run)),
  ),
  ordinaryCase(
    {
      id: 'sent/form',
      title: 'the message is #USER, flags, #END and the query',
      rules: ['BRK-2.9', 'BRK-2.1'],
      source: 'M1.2',
      level: 'MUST',
    },
    (observation) => {
      for (const { text } of linesOf(observation)) {
        check(/^\s*#USER\s(?:.*\s)?#END\s+\S/i.test(text), 'not a user message', {
          expected: '#USER flags #END query',
          received: printable(text),
        });
      }
    },
  ),
  ordinaryCase(
    {
      id: 'sent/flags',
      title: 'sends only documented flags',
      rules: ['BRK-3.5', 'BRK-3.1'],
      source: 'S; M1.4; RC',
      level: 'MUST',
    },
    (observation) => {
      for (const { text } of linesOf(observation)) {
        const words = /^\s*#USER\s(.*?)\s?#END/i.exec(text)?.[1]?.split(/\s+/) ?? [];
        words.forEach((word, at) => {
          const isUnknown =
            (word.startsWith('#') && !SHORT_FLAG.test(word)) ||
            (/^#index$/i.test(words[at - 1] ?? '') && !INDEX_FLAG.test(word.replaceAll('"', '')));
          check(!isUnknown, 'an unknown flag', {
            expected: '#desc #opaque #index ...',
            received: printable(word),
          });
        });
      }
    },
  ),
  ordinaryCase(
    {
      id: 'sent/insensitive',
      title: 'spells insensitive with all its letters',
      rules: ['BRK-3.1'],
      source: 'project choice; M1.4',
      level: 'SHOULD',
    },
    (observation) => {
      for (const { text } of linesOf(observation)) {
        check(!/insenstive/i.test(text), 'the spelling of the developer notes', {
          expected: 'insensitive',
          received: printable(text),
        });
      }
    },
  ),
  passesQueryCase('word', 'the query reaches the Broker unchanged', ['BRK-2.9'], QUERY),
  passesQueryCase('phrase', 'double quotes reach the Broker', ['BRK-2.5'], '"bright lighthouse" and storm'),
  passesQueryCase(
    'parentheses',
    'parentheses and operators reach the Broker',
    ['BRK-2.12'],
    '(storm and lighthouse) or "not"',
  ),
  passesQueryCase('backslash', 'a backslash reaches the Broker', ['BRK-2.7'], '"bright\\ lighthouse"'),
  passesQueryCase('structured', 'tag : value reaches the Broker', ['BRK-2.14'], 'title : lighthouse'),
  {
    id: 'sent/bytes-above-127',
    title: 'bytes above 127 of the query are passed on',
    rules: ['BRK-1.10'],
    source: 'RC',
    level: 'MUST',
    async run(context) {
      const observation = await observeQuery('\u00e9toile', context);
      for (const { text } of linesOf(observation)) {
        const sent = queryOf(text);
        check(sent.includes('\xe9toile') || sent.includes('\xc3\xa9toile'), 'the bytes are changed', {
          expected: 'UTF-8 or Latin-1 of the query',
          received: printable(Buffer.from(sent, 'latin1')),
        });
      }
    },
  },
  {
    id: 'refused/no-connection',
    title: 'reports a failure when no server listens',
    rules: ['BRK-1.1'],
    source: 'project choice',
    level: 'SHOULD',
    run: async (context) => checkReportsFailure(await context.bench.observeNoServer(context)),
  },
];

/** Builds a case about a query that must reach the Broker unchanged, except for blanks and parentheses around it. */
function passesQueryCase(id: string, title: string, rules: readonly string[], query: string): ClientCase {
  return {
    id: `sent/${id}`,
    title,
    rules: [...rules, 'BRK-1.9'],
    source: 'RC',
    level: 'MUST',
    async run(context) {
      const observation = await observeQuery(query, context);
      await context.bench.checkShowsAll(
        observation,
        [{ kind: 'url', text: 'http://otter.example.org/' }],
        context,
      );
      for (const { text } of linesOf(observation)) {
        const expected = withoutBlanks(query);
        check([expected, `(${expected})`].includes(withoutBlanks(queryOf(text))), 'another query', {
          expected: printable(query),
          received: printable(text),
        });
      }
    },
  };
}

function observeQuery(query: string, context: ClientContext): Promise<BrokerRun> {
  return context.bench.observe({ query, reply: (requested) => full('otter', requested) }, context);
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, '');
}

function queryOf(message: string): string {
  return /#END\s+(.*)$/is.exec(message)?.[1] ?? '';
}

/** Returns the lines that the client sent. @throws NotApplicable if the client sent no line, which is what `sent/one` reports */
function linesOf({ sessions }: BrokerRun) {
  const lines = sessions.flatMap((session) => session.lines);
  if (lines.length === 0) throw new NotApplicable('the client sends no message: see sent/one');
  return lines;
}
