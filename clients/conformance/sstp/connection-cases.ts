// Cases about connections to a References Server (sections S7 and S8).
import { ConnectionError } from '../../../protocols/errors.js';
import { check, checkNone, Mismatch, must } from '../case.js';
import { printable } from '../printable.js';
import { checkServed, formatReply, PLAIN, readHttp, readReply, type SstpCase } from './context.js';

const PIPELINED = 1000;
/** First lines of HTTP: methods and targets that a server may not know. */
const HTTP = ['GET /nowhere HTTP/1.1', 'get / HTTP/1.0', 'SSTPX /stat HTTP/1.0', 'M-SEARCH * HTTP/1.1'];
/** Time in which a server that speaks first would have done so. */
const SILENCE_MS = 700;

/** Connections: sections S7 and S8. */
export const connectionCases: readonly SstpCase[] = [
  must('connection/silent', 'S-45 S-17 P-14', 'seed; project choice')
    .title('a client that sends nothing receives nothing')
    .run(async (context) => {
      const wire = await context.connect(true, Math.min(SILENCE_MS, context.shared.idleMs));
      const bytes = await wire.read().catch((error: unknown) => {
        if (error instanceof ConnectionError) return undefined;
        throw error;
      });
      checkNone(bytes, 'the server speaks first', 'nothing', printable);
    }),
  must('connection/one-at-a-time', 'S-48 P-12', 'project choice')
    .title('a request that arrives octet by octet is understood')
    .within(5000)
    .run(async (context) => {
      const wire = await context.connect(false);
      await wire.sendSlowly(PLAIN);
      checkServed(await readReply(wire), 81, 'a request octet by octet');
    }),
  must('connection/half-close', 'S-39 P-13', 'project choice')
    .title('a client that closes its side gets the pending replies, then the end')
    .run(async (context) => {
      const wire = await context.connect();
      await wire.send(PLAIN + PLAIN);
      wire.endInput();
      for (let i = 0; i < 2; i++) checkServed(await readReply(wire), 81, 'a request before a half-close');
      await wire.expectEnd('the replies');
    }),
  must('connection/kept', 'S-39', 'project choice')
    .title('a connection serves one request after the other')
    .run(async (context) => {
      const wire = await context.connect();
      for (let i = 0; i < 3; i++) {
        await wire.send(PLAIN);
        checkServed(await readReply(wire), 81, `request ${i + 1} of a connection`);
      }
    }),
  must('connection/pipelined', 'S-39 P-23', 'project choice')
    .title(`${PIPELINED} requests at once get ${PIPELINED} replies, in order`)
    .run(async (context) => {
      // Codes that every server distinguishes, in an irregular pattern.
      const codes = Array.from({ length: PIPELINED }, (_, i) => ((i * 7) % 11) % 5);
      const requests = codes.map((kind) =>
        kind === 4
          ? 'SSTP/1.0 999 X\r\n\r\n'
          : `SSTP/1.0 08${kind + 1} X\r\nHEADER_URI_ID: 10\r\nHEADER_SERVER_ID: 1\r\n\r\n`,
      );
      const wire = await context.connect(false);
      const sent = wire.send(requests.join(''));
      for (const [i, kind] of codes.entries()) {
        const reply = await readReply(wire);
        const expected = kind === 4 ? [501] : [81 + kind, 404];
        if (!expected.includes(reply.code))
          throw new Mismatch(`reply ${i + 1} is not that of request ${i + 1}`, {
            expected: expected.join(' or '),
            received: formatReply(reply),
          });
      }
      await sent;
    }),
  must('connection/http', 'S-47 S-49 P-15', 'project choice')
    .title('an HTTP request to the same port gets an HTTP answer, and the connection is closed')
    .run(async (context) => {
      const wire = await context.connect();
      await wire.send('GET /stat HTTP/1.0\r\n\r\n');
      await readHttp(wire, 'GET /stat');
    }),
  must('connection/http-answer', 'S-49 S-47', 'project choice')
    .title(
      'every first line of HTTP gets one HTTP answer with Connection: close, and the connection is closed',
    )
    .run(async (context) => {
      for (const start of HTTP) {
        const wire = await context.connect();
        await wire.send(`${start}\r\nHost: localhost\r\n\r\n`);
        const { head } = await readHttp(wire, start);
        check(/^connection:[ \t]*close[ \t]*\r?$/im.test(head), `no Connection: close: ${start}`, {
          expected: 'Connection: close',
          received: printable(head, 300),
        });
      }
    }),
  must('connection/leaves', 'S-39 S-45', 'project choice')
    .title('clients that leave in the middle, or do not read, do not delay others')
    .run(async (context) => {
      for (const start of ['S', PLAIN.slice(0, 50), PLAIN.repeat(20)]) {
        const wire = await context.connect(false);
        await wire.send(start);
        wire.reset();
      }
      await (await context.connect(false)).send(PLAIN.repeat(100));
      await (await context.connect(false)).send(PLAIN.slice(0, 50));
      checkServed(await context.ask(PLAIN), 81, 'a request at the same time');
    }),
];
