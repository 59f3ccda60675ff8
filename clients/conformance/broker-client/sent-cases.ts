import { BROKER_FLAGS, REQUEST_FLAGS } from '../../../protocols/broker/index.js';
import {
  type BrokerRun,
  checkCrLf,
  checkKeepsOpen,
  checkOneMessage,
  checkShowsEvery,
  failsWithoutServer,
  ordinary,
} from '../broker-bench.js';
import { check, checkMatches, must, NotApplicable, type Procedure, should } from '../case.js';
import { checkReportsSuccess } from '../client-context.js';
import { printable } from '../printable.js';
import { type ClientCase, type ClientContext, full, QUERY } from './replies.js';

const KEYWORDS = [...REQUEST_FLAGS, 'opaque' as const].map((name) => BROKER_FLAGS[name].keyword.split(' '));
const SHORT_FLAGS = new Set(KEYWORDS.map(([short]) => short));
const INDEX_FLAGS = new Set(KEYWORDS.map(([, name]) => name));

/** The session, and what the client sends: sections 1 to 3. */
export const sentCases: readonly ClientCase[] = [
  must('session/plain', 'BRK-4.3 BRK-4.12', 'S; RC')
    .title('shows the objects of an ordinary reply')
    .does(ordinary, checkShowsEvery('url')),
  should('session/exit-status', 'BRK-4.12', 'project choice')
    .title('ends with exit status 0 after objects')
    .does(ordinary, checkReportsSuccess),
  should('session/keeps-open', 'BRK-1.9 BRK-1.7', 'project choice; RC')
    .title('keeps its side of the connection open until the reply has ended')
    .does(ordinary, checkKeepsOpen),
  must('sent/one', 'BRK-1.6 BRK-1.7', 'inferred: RC')
    .title('sends one message on a connection')
    .does(ordinary, checkOneMessage),
  should('sent/line-end', 'BRK-1.9', 'project choice; RC')
    .title('ends the message with CR LF')
    .does(ordinary, (run) => checkCrLf(linesOf(run))),
  must('sent/form', 'BRK-2.9 BRK-2.1', 'M1.2')
    .title('the message is #USER, flags, #END and the query')
    .does(ordinary, (observation) => {
      for (const { text } of linesOf(observation)) {
        checkMatches(text, /^\s*#USER\s(?:.*\s)?#END\s+\S/i, 'not a user message', '#USER flags #END query');
      }
    }),
  must('sent/flags', 'BRK-3.5 BRK-3.1', 'S; M1.4; RC')
    .title('sends only documented flags')
    .does(ordinary, (observation) => {
      for (const { text } of linesOf(observation)) {
        const words = /^\s*#USER\s(.*?)\s?#END/i.exec(text)?.[1]?.split(/\s+/) ?? [];
        words.forEach((word, at) => {
          const isUnknown =
            (word.startsWith('#') && !SHORT_FLAGS.has(word.toLowerCase())) ||
            (/^#index$/i.test(words[at - 1] ?? '') &&
              !INDEX_FLAGS.has(word.replaceAll('"', '').toLowerCase()));
          check(!isUnknown, 'an unknown flag', {
            expected: '#desc #opaque #index ...',
            received: printable(word),
          });
        });
      }
    }),
  should('sent/insensitive', 'BRK-3.1', 'project choice; M1.4')
    .title('spells insensitive with all its letters')
    .does(ordinary, (observation) => {
      for (const { text } of linesOf(observation)) {
        check(!/insenstive/i.test(text), 'the spelling of the developer notes', {
          expected: 'insensitive',
          received: printable(text),
        });
      }
    }),
  must('sent/word', 'BRK-2.9 BRK-1.9', 'RC')
    .title('the query reaches the Broker unchanged')
    .does(passes, QUERY),
  must('sent/phrase', 'BRK-2.5 BRK-1.9', 'RC')
    .title('double quotes reach the Broker')
    .does(passes, '"bright lighthouse" and storm'),
  must('sent/parentheses', 'BRK-2.12 BRK-1.9', 'RC')
    .title('parentheses and operators reach the Broker')
    .does(passes, '(storm and lighthouse) or "not"'),
  must('sent/backslash', 'BRK-2.7 BRK-1.9', 'RC')
    .title('a backslash reaches the Broker')
    .does(passes, '"bright\\ lighthouse"'),
  must('sent/structured', 'BRK-2.14 BRK-1.9', 'RC')
    .title('tag : value reaches the Broker')
    .does(passes, 'title : lighthouse'),
  should('sent/bytes-above-127', 'BRK-1.10 BRK-1.9', 'RC')
    .title('bytes above 127 of the query are passed on')
    .run(async (context) => {
      const observation = await observeQuery('\u00e9toile', context);
      for (const { text } of linesOf(observation)) {
        const sent = queryOf(text);
        check(sent.includes('\xe9toile') || sent.includes('\xc3\xa9toile'), 'the bytes are changed', {
          expected: 'UTF-8 or Latin-1 of the query',
          received: printable(Buffer.from(sent, 'latin1')),
        });
      }
    }),
  should('refused/no-connection', 'BRK-1.1', 'project choice')
    .title('reports a failure when no server listens')
    .run(failsWithoutServer),
];

/** Sends a query, which must reach the Broker unchanged, except for blanks and parentheses around it. */
function passes(query: string): Procedure<ClientContext> {
  return async (context) => {
    const observation = await observeQuery(query, context);
    const found = { kind: 'url', text: 'http://otter.example.org/' } as const;
    await context.bench.checkShowsAll(observation, [found], context);
    for (const { text } of linesOf(observation)) {
      const expected = withoutBlanks(query);
      check([expected, `(${expected})`].includes(withoutBlanks(queryOf(text))), 'another query', {
        expected: printable(query),
        received: printable(text),
      });
    }
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

/**
 * Returns the lines that the client sent. @throws NotApplicable if the client sent no line, which is what
 * `sent/one` reports
 */
function linesOf({ sessions }: BrokerRun) {
  const lines = sessions.flatMap((session) => session.lines);
  if (lines.length === 0) throw new NotApplicable('the client sends no message: see sent/one');
  return lines;
}
