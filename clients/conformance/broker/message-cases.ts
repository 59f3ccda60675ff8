// Cases about the greeting and the end of a message (BRK section 1).
import { setTimeout } from 'node:timers/promises';
import { ConnectionError } from '../../../protocols/errors.js';
import { check } from '../case.js';
import { printable } from '../printable.js';
import { checkNotRefused, checkRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS } from './context.js';
import { formatReply, readReply } from './reply.js';
import { pickWord, SURVEY_MS } from './survey.js';

/** BRK-1.8: bytes of the longest message. */
const LONGEST = 64 * 1024;
/** Bytes after which no Broker may still wait for the end of the message. */
const ENDLESS = 1 << 20;
/** Time for the Broker to refuse a message that is too long, before more is sent. */
const PATIENCE_MS = 500;

/** The greeting and the end of a message: section 1. */
export const messageCases: readonly BrokerCase[] = [
  {
    id: 'greeting/first',
    title: 'the Broker speaks first, before it has read anything',
    rules: ['BRK-1.3'],
    source: 'RC; S',
    level: 'MUST',
    async run(context) {
      await (await context.connect()).line();
    },
  },
  {
    id: 'greeting/form',
    title: 'the first line is 200 - and a text',
    rules: ['BRK-1.3', 'BRK-4.1'],
    source: 'RC; S',
    level: 'MUST',
    async run(context) {
      const line = await (await context.connect()).line();
      check(/^200 - \S/.test(line), 'not the first line of a Broker', {
        expected: '200 - HARVEST Broker <version>',
        received: printable(line),
      });
    },
  },
  {
    id: 'greeting/lf-only',
    title: 'the first line ends in LF only',
    rules: ['BRK-1.3', 'BRK-1.9'],
    source: 'RC; inferred: S',
    level: 'MUST',
    async run(context) {
      const line = await (await context.connect()).line();
      check(!line.endsWith('\r'), 'a carriage return before the line feed', {
        expected: '200 - ...\\n',
        received: printable(`${line}\n`),
      });
    },
  },
  {
    id: 'greeting/broker',
    title: 'the first line has the word Broker, by which clients know the port',
    rules: ['BRK-1.4'],
    source: 'RC',
    level: 'MUST',
    async run(context) {
      const line = await (await context.connect()).line();
      check(/broker/i.test(line), 'the word Broker is missing', {
        expected: '200 - HARVEST Broker <version>',
        received: printable(line),
      });
    },
  },
  {
    id: 'message/crlf',
    title: 'a message that ends in CR LF is answered while the client keeps its side open',
    rules: ['BRK-1.7', 'BRK-1.6', 'BRK-4.12'],
    source: 'RC',
    level: 'MUST',
    async run(context) {
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    },
  },
  sameAnswerCase(
    'message/lf',
    'a message that ends in LF only is answered',
    ['BRK-1.8'],
    'SHOULD',
    (line) => `${line}\n`,
  ),
  sameAnswerCase(
    'message/empty-lines',
    'empty lines before the message are skipped',
    ['BRK-1.8'],
    'SHOULD',
    (line) => `\r\n\n${line}\r\n`,
  ),
  sameAnswerCase(
    'message/long',
    'a message of just under 64 KiB is understood',
    ['BRK-1.8'],
    'SHOULD',
    (line) => `${line.replace(' ', ' '.repeat(LONGEST - line.length - 100))}\r\n`,
  ),
  {
    id: 'message/bytewise',
    title: 'a message may come one byte at a time',
    rules: ['BRK-1.7', 'BRK-1.8'],
    source: 'RC',
    level: 'MUST',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { line, word, survey } = await knownQuery(context);
      const wire = await context.session();
      for (const byte of `${line}\r\n`) {
        await wire.send(byte);
        // Without the pause the operating system would send them together.
        await setTimeout(1);
      }
      checkSameUrls(word.urls, urlsOf(await readReply(wire)), survey, word.text);
    },
  },
  {
    id: 'message/end-of-input',
    title: 'a message without a line end is complete when the client closes its side, and is answered',
    rules: ['BRK-1.8'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { line, word, survey } = await knownQuery(context);
      const wire = await context.session();
      await wire.send(line);
      wire.endInput();
      checkSameUrls(word.urls, urlsOf(await readReply(wire)), survey, word.text);
    },
  },
  {
    id: 'message/lf-in-quotes',
    title: 'an LF between double quotes does not end the message',
    rules: ['BRK-1.8'],
    source: 'project choice',
    level: 'SHOULD',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { survey, word } = await knownQuery(context);
      const query = `"zzyzx\nplugh" or ${word.text}`;
      checkSameUrls(word.urls, await context.found(query, 'fail'), survey, query);
    },
  },
  {
    id: 'message/one',
    title: 'a connection carries one message: a second one is not answered',
    rules: ['BRK-1.6'],
    source: 'inferred: RC',
    level: 'SHOULD',
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { line, word } = await knownQuery(context);
      const reply = await context.exchange(`${line}\r\n${line}\r\n`);
      check(
        reply.objects.length === urlsOf(reply).size && reply.objects.length > 0,
        'there are two replies',
        {
          expected: `the ${word.urls.size} objects of one reply`,
          received: `${reply.objects.length} objects`,
        },
      );
    },
  },
  {
    id: 'message/too-long',
    title: 'a message that does not end is refused with 111',
    rules: ['BRK-1.8'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const wire = await context.session();
      const answered = wire.peek();
      answered.catch(() => {});
      await wire.send('#USER #END '.padEnd(LONGEST + 2, 'x'));
      let sent = LONGEST + 2;
      if (!(await settledWithin(answered, PATIENCE_MS))) {
        await wire.send('x'.repeat(ENDLESS)).catch(ignoreClosed);
        sent += ENDLESS;
      }
      await answered;
      checkRefused(await readReply(wire), `${sent} bytes without an end`);
    },
  },
  {
    id: 'message/bytes-above-127',
    title: 'bytes above 127 are accepted unchanged',
    rules: ['BRK-1.10'],
    source: 'RC; project choice',
    level: 'SHOULD',
    async run(context) {
      for (const word of ['caf\xe9', 'caf\xc3\xa9', '\xff\xfe\x80']) {
        const message = Buffer.from(`#USER #opaque #END "${word}"\r\n`, 'latin1');
        checkNotRefused(await context.exchange(message), word);
      }
    },
  },
  {
    id: 'reply/closes',
    title: 'the Broker closes after the reply, and the reply has no other end',
    rules: ['BRK-1.6', 'BRK-4.12'],
    source: 'inferred: S, RC',
    level: 'MUST',
    async run(context) {
      const reply = await context.ask('#USER #END zzyzx');
      check(
        reply.items.every(({ code }) => [101, 103, 111, 120, 122, 124, 125, 126, 127, 130].includes(code)),
        'an item with another code',
        { expected: '101 103 111 120 122 124 125 126 127 130, or 200', received: formatReply(reply) },
      );
    },
  },
];

/** Builds a case in which another form of the same message gets the same answer. */
function sameAnswerCase(
  id: string,
  title: string,
  rules: readonly string[],
  level: 'MUST' | 'SHOULD',
  form: (line: string) => string,
): BrokerCase {
  return {
    id,
    title,
    rules,
    source: level === 'MUST' ? 'RC' : 'project choice',
    level,
    timeoutMs: SURVEY_MS,
    async run(context) {
      const { line, word, survey } = await knownQuery(context);
      checkSameUrls(word.urls, urlsOf(await context.exchange(form(line))), survey, word.text);
    },
  };
}

/** Returns a message whose answer is known. */
async function knownQuery(context: BrokerContext) {
  const survey = await context.survey();
  const word = pickWord(survey);
  return { survey, word, line: `#USER ${PLAIN_FLAGS} #END ${word.text}` };
}

/** Ignores a ConnectionError: the Broker may close the connection while we send; the case checks its reply before that. */
function ignoreClosed(error: unknown): void {
  if (!(error instanceof ConnectionError)) throw error;
}

/** Whether the work settles within this time. */
async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const late = setTimeout(ms, false, { signal: stop.signal });
  late.catch(() => {});
  const settled = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    stop.abort();
  }
}
