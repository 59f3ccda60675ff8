// Cases about the greeting, the end of a message (BRK section 1), and robustness.
import { check, checkMatches, must, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import { checkNotRefused, checkRefused, checkSameUrls, urlsOf } from './checks.js';
import { type BrokerCase, type BrokerContext, PLAIN_FLAGS, surveyed } from './context.js';
import { formatReply, type Reply, readReply, textsOf } from './reply.js';
import { pickWord, type Survey } from './survey.js';

/** BRK-1.8: bytes of the longest message. */
const LONGEST = 64 * 1024;

/** The greeting and the end of a message: section 1. */
export const messageCases: readonly BrokerCase[] = [
  must('greeting/first', 'BRK-1.3', 'RC; S')
    .title('the Broker speaks first, before it has read anything')
    .run(async (context) => (await context.connect()).line()),
  must('greeting/form', 'BRK-1.3 BRK-4.1', 'RC; S')
    .title('the first line is 200 - and a text')
    .does(firstLine, (line) => {
      checkMatches(line, /^200 - \S/, 'not the first line of a Broker', '200 - HARVEST Broker <version>');
    }),
  must('greeting/lf-only', 'BRK-1.3 BRK-1.9', 'RC; inferred: S')
    .title('the first line ends in LF only')
    .does(firstLine, (line) => {
      check(!line.endsWith('\r'), 'a carriage return before the line feed', {
        expected: '200 - ...\\n',
        received: printable(`${line}\n`),
      });
    }),
  must('greeting/broker', 'BRK-1.4', 'RC')
    .title('the first line has the word Broker, by which clients know the port')
    .does(firstLine, (line) => {
      checkMatches(line, /broker/i, 'the word Broker is missing', '200 - HARVEST Broker <version>');
    }),
  must('message/crlf', 'BRK-1.7 BRK-1.6 BRK-4.12', 'RC')
    .title('a message that ends in CR LF is answered while the client keeps its side open')
    .run(async (context) => checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx')),
  should('message/lf', 'BRK-1.8', 'project choice')
    .title('a message that ends in LF only is answered')
    .does(sameAnswer, (line, context) => context.exchange(`${line}\n`)),
  should('message/empty-lines', 'BRK-1.8', 'project choice')
    .title('empty lines before the message are skipped')
    .does(sameAnswer, (line, context) => context.exchange(`\r\n\n${line}\r\n`)),
  should('message/long', 'BRK-1.8', 'project choice')
    .title('a message of just under 64 KiB is understood')
    .does(sameAnswer, (line, context) =>
      context.exchange(`${line.replace(' ', ' '.repeat(LONGEST - line.length - 100))}\r\n`),
    ),
  should('message/longest', 'BRK-1.8', 'project choice')
    .title('a message of 65536 bytes without its CR LF is understood, and a longer one is refused')
    .does(surveyed, async (survey, context) => {
      const { line, word } = knownQuery(survey);
      const message = (length: number) => line.replace(' ', ' '.repeat(length - line.length + 1));
      checkSameUrls(word.urls, urlsOf(await context.ask(message(LONGEST))), survey, word.text);
      checkRefused(await context.ask(message(LONGEST + 1)), `a message of ${LONGEST + 1} bytes`);
    }),
  must('message/bytewise', 'BRK-1.7 BRK-1.8', 'RC')
    .title('a message may come one byte at a time')
    .does(sameAnswer, async (line, context) => {
      const wire = await context.session();
      await wire.sendSlowly(`${line}\r\n`);
      return readReply(wire);
    }),
  should('message/end-of-input', 'BRK-1.8', 'project choice')
    .title('a message without a line end is complete when the client closes its side, and is answered')
    .does(sameAnswer, async (line, context) => {
      const wire = await context.session();
      await wire.send(line);
      wire.endInput();
      return readReply(wire);
    }),
  should('message/lf-in-quotes', 'BRK-1.8', 'project choice')
    .title('an LF between double quotes does not end the message')
    .does(surveyed, async (survey, context) => {
      const { word } = knownQuery(survey);
      const query = `"zzyzx\nplugh" or ${word.text}`;
      await context.checkFinds(query, word.urls, 'fail');
    }),
  must('message/one', 'BRK-1.6', 'inferred: RC')
    .title('a connection carries one message: a second one is not answered')
    .does(surveyed, async (survey, context) => {
      const { line, word } = knownQuery(survey);
      const reply = await context.exchange(`${line}\r\n${line}\r\n`);
      check(
        reply.objects.length === urlsOf(reply).size && reply.objects.length > 0,
        'there are two replies',
        {
          expected: `the ${word.urls.size} objects of one reply`,
          received: `${reply.objects.length} objects`,
        },
      );
    }),
  should('message/too-long', 'BRK-1.8', 'project choice')
    .title('a message that has not ended after 65537 bytes is refused with 111')
    .run(async (context) => {
      const wire = await context.session();
      // Of one byte less, the last may be the CR of a line end.
      const bytes = '#USER #END '.padEnd(LONGEST + 2, 'x');
      await wire.send(bytes);
      checkRefused(await readReply(wire), `${bytes.length} bytes without an end`);
    }),
  should('message/bytes-above-127', 'BRK-1.10', 'RC; project choice')
    .title('bytes above 127 are accepted unchanged')
    .run(async (context) => {
      for (const word of ['caf\xe9', 'caf\xc3\xa9', '\xff\xfe\x80']) {
        const message = Buffer.from(`#USER #opaque #END "${word}"\r\n`, 'latin1');
        checkNotRefused(await context.exchange(message), word);
      }
    }),
  must('reply/closes', 'BRK-1.6 BRK-4.12', 'inferred: S, RC')
    .title('the Broker closes after the reply, and the reply has no other end')
    .run(async (context) => {
      const reply = await context.ask('#USER #END zzyzx');
      check(
        reply.items.every(({ code }) => [101, 103, 111, 120, 122, 124, 125, 126, 127, 130].includes(code)),
        'an item with another code',
        { expected: '101 103 111 120 122 124 125 126 127 130, or 200', received: formatReply(reply) },
      );
    }),
];

/** Nested parentheses of a query that is still shorter than a message may be. */
const DEEP = 10_000;
/** Number of concurrent clients. */
const TOGETHER = 30;

/** Robustness of a public port. */
export const enduranceCases: readonly BrokerCase[] = [
  must('endurance/together', 'BRK-4.18 BRK-1.6', 'project choice')
    .title(`${TOGETHER} concurrent clients get the same answer, or the notice that the Broker is busy`)
    .does(surveyed, async (survey, context) => {
      const word = pickWord(survey);
      const replies = await Promise.all(
        Array.from({ length: TOGETHER }, async () => {
          const wire = await context.session(false);
          await wire.send(`#USER ${PLAIN_FLAGS} #END ${word.text}\r\n`);
          return readReply(wire);
        }),
      );
      const answered = replies.filter((reply) => textsOf(reply, 111).length === 0);
      check(answered.length > 0, 'no client was answered', {
        expected: 'an answer for some clients',
        received: textsOf(replies[0] ?? { items: [] }, 111)[0] ?? 'nothing',
      });
      for (const reply of answered) checkSameUrls(word.urls, urlsOf(reply), survey, word.text);
    }),
  must('endurance/silent-client', 'BRK-1.6 BRK-1.8', 'project choice')
    .title('clients that connect and send nothing, or half a message, do not delay other clients')
    .run(async (context) => {
      await context.session(false);
      await (await context.session(false)).send('#USER #END "zzy');
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    }),
  must('endurance/client-leaves', 'BRK-1.6', 'project choice')
    .title('a client that leaves before, within or after its message does not harm others')
    .run(async (context) => {
      for (const bytes of ['', '#USER #END ', '#USER #desc #END #allb\r\n']) {
        const wire = await context.session(false);
        if (bytes !== '') await wire.send(bytes);
        wire.reset();
      }
      (await context.connect(false)).reset();
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    }),
  should('endurance/deep', 'BRK-2.24', 'project choice')
    .title('a query of many parentheses or terms is answered or refused, and the Broker goes on')
    .run(async (context) => {
      const nested = (open: string) => `${open.repeat(DEEP)}zzyzx${')'.repeat(DEEP)}`;
      for (const query of [nested('('), nested('not ('), `${'zzyzx or '.repeat(DEEP / 2)}zzyzx`]) {
        const reply = await context.ask(`#USER #opaque #END ${query}`);
        check(reply.items.length > 0, 'a large query is not answered', {
          expected: 'a reply, or 111',
          received: 'the end of the connection',
        });
        checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
      }
    }),
  must('endurance/does-not-read', 'BRK-1.5', 'project choice')
    .title('a client that requests everything and does not read does not delay other clients')
    .run(async (context) => {
      await (await context.session(false)).send('#USER #desc #END #allb\r\n');
      checkNotRefused(await context.ask('#USER #opaque #END zzyzx'), 'zzyzx');
    }),
];

/** Reads the first line of a connection, without its LF. */
function firstLine(verify: (line: string) => void): Procedure<BrokerContext> {
  return async (context) => verify(await (await context.connect()).line());
}

/** Sends a message whose answer is known in another form, and compares the reply. */
function sameAnswer(
  exchange: (line: string, context: BrokerContext) => Promise<Reply>,
): Procedure<BrokerContext> {
  return surveyed(async (survey, context) => {
    const { line, word } = knownQuery(survey);
    checkSameUrls(word.urls, urlsOf(await exchange(line, context)), survey, word.text);
  });
}

/** Returns a message whose answer is known. */
function knownQuery(survey: Survey) {
  const word = pickWord(survey);
  return { word, line: `#USER ${PLAIN_FLAGS} #END ${word.text}` };
}
