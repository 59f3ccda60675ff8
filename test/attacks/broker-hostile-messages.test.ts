// Hostile messages to the Broker's port: each has a right answer or an error, its connection ends, and nothing
// is left.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { waitUntil } from '../helpers/wait-until.js';
import { exchange, openBroker, serveBroker } from '../servers/broker/helpers.js';
import { fillBroker } from './filled-broker.js';

/** How the bytes are sent. */
type Way = 'whole' | 'pieces' | 'half closed';
type Row = readonly [name: string, message: string | Buffer, reply: RegExp, way?: Way];

/** Objects, or the sentence that there are none. */
const ANSWER = /^(?:120 - |101 - )/m;
/** An error that says what is wrong. */
const MALFORMED = /^111 - ERROR: \S.{8,}/m;
/** The error of a bulk transfer. */
const BULK_REFUSED = /^400 - \S.{5,}/m;
const EITHER = /^(?:120|101|103|111|400|300|499|000) - \S/m;
/** The reply in the interface of 1995 has a binary end; its greeting suffices. */
const GREETING = /^200 - HARVEST Broker/;

const repeat = (text: string, count: number) => text.repeat(count);
const ROWS: readonly Row[] = [
  ['an empty line', '\n', MALFORMED],
  ['only CR LF', '\r\n', MALFORMED],
  ['blanks', `${repeat(' ', 5000)}\n`, MALFORMED],
  ['a word', 'hello\n', MALFORMED],
  ['HTTP', 'GET / HTTP/1.0\r\n\r\n', MALFORMED],
  ['a message without its end', '#USER #desc\n', MALFORMED],
  ['a message that is cut', '#USER #END Doc', EITHER, 'half closed'],
  ['half a keyword', '#US', MALFORMED, 'half closed'],
  ['a query in pieces', '#USER #END Doc\n', ANSWER, 'pieces'],
  ['a query of a half-closed connection', '#USER #END Doc\r\n', ANSWER, 'half closed'],
  ['no query', '#USER #END\n', EITHER],
  ['only a quotation mark', '#USER #END "\n', MALFORMED],
  ['an unclosed parenthesis', '#USER #END (\n', MALFORMED],
  ['a closing parenthesis', '#USER #END Doc )\n', MALFORMED],
  ['10 000 parentheses', `#USER #END ${repeat('(', 10_000)}\n`, MALFORMED],
  ['10 000 balanced parentheses', `#USER #END ${repeat('(', 10_000)}Doc${repeat(')', 10_000)}\n`, EITHER],
  ['10 000 negations', `#USER #END ${repeat('not ', 10_000)}Doc\n`, EITHER],
  ['10 000 terms', `#USER #END ${repeat('a and ', 10_000)}a\n`, EITHER],
  ['an operator alone', '#USER #END and\n', EITHER],
  ['an attribute without a value', '#USER #END title :\n', MALFORMED],
  ['NULs', '#USER #END Doc\0\0\0\n', EITHER],
  ['a NUL before all', '\0#USER #END Doc\n', MALFORMED],
  [
    'all bytes',
    Buffer.concat([
      Buffer.from('#USER #END '),
      Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
      Buffer.from('\n'),
    ]),
    EITHER,
  ],
  ['bytes without a keyword', Buffer.from([0xff, 0xfe, 0, 1, 2, 3, 0x0a]), MALFORMED],
  [
    'UTF-8 that is cut',
    Buffer.from([0x23, 0x55, 0x53, 0x45, 0x52, 0x20, 0x23, 0x45, 0x4e, 0x44, 0x20, 0xe2, 0x82, 0x0a]),
    EITHER,
  ],
  [
    'surrogates as UTF-8',
    Buffer.concat([Buffer.from('#USER #END '), Buffer.from([0xed, 0xa0, 0x80, 0x0a])]),
    EITHER,
  ],
  ['overlong UTF-8', Buffer.concat([Buffer.from('#USER #END '), Buffer.from([0xc0, 0xaf, 0x0a])]), EITHER],
  ['CR inside', '#USER #END Doc\rnumber\n', EITHER],
  ['many CRs', `#USER #END Doc${repeat('\r', 5000)}\n`, EITHER],
  ['escape sequences', '#USER #END \x1b[2J\x1b]0;x\x07\n', EITHER],
  ['a line that does not end', `#USER #END ${repeat('x', 70_000)}`, MALFORMED],
  ['a line that does not end, in pieces', repeat('#USER ', 12_000), MALFORMED, 'pieces'],
  ['a long word', `#USER #END ${repeat('x', 60_000)}\n`, EITHER],
  ['a long flag', `#USER #${repeat('d', 60_000)} #END Doc\n`, MALFORMED],
  ['5000 flags', `#USER ${repeat('#desc ', 5000)}#END Doc\n`, EITHER],
  ['5000 attributes', `#USER ${repeat('#attribute a ', 4500)}#END Doc\n`, EITHER],
  ['5000 index flags', `#USER ${repeat('#index x ', 5000)}#END Doc\n`, EITHER],
  ['an unknown flag', '#USER #nonsense #END Doc\n', MALFORMED],
  ['flags after the end', '#USER #END Doc #desc\n', EITHER],
  ['a wrong order', '#END #USER Doc\n', MALFORMED],
  ['two messages', '#USER #END Doc\n#USER #END Doc\n#ADMIN #password x #shutdown\n', ANSWER],
  ['200 messages', repeat('#USER #END Doc\n', 200), ANSWER],
  ['a negative limit', '#USER #index maxresult -1 #END Doc\n', EITHER],
  ['a large limit', `#USER #index maxresult ${repeat('9', 400)} #END Doc\n`, EITHER],
  ['a fraction', '#USER #index maxfiles 1.5 #END Doc\n', EITHER],
  ['a limit without a number', '#USER #index maxfiles #END Doc\n', EITHER],
  ['many errors', '#USER #index error 99999999999 #END Doc\n', EITHER],
  ['negative errors', '#USER #index error -3 #END Doc\n', EITHER],
  ['a negative time', '#USER #since -1 #END Doc\n', EITHER],
  ['a time that is no number', '#USER #since yesterday #END Doc\n', EITHER],
  ['an unknown interface', '#USER #interface 99999 #END Doc\n', EITHER],
  ['the other interface, malformed', '#USER #interface 2 #END (\n', GREETING],
  ['a regular expression that is not valid', '#USER #END title regexp "(["\n', MALFORMED],
  [
    'a regular expression that is too large',
    '#USER #END title regexp "((a{0,900}){0,900}){0,900}"\n',
    MALFORMED,
  ],
  ['an empty bulk request', '#BULK\n', BULK_REFUSED],
  ['a bulk request with a negative time', '#BULK #SINCE -5 #END #allb\n', EITHER],
  ['a bulk request in a wrong order', '#BULK #END #SINCE 0 #allb\n', EITHER],
  ['a bulk request of nonsense', `#BULK ${repeat('#x ', 9000)}\n`, BULK_REFUSED],
  ['a command without a password', '#ADMIN\n', EITHER],
  ['a command with a wrong password', '#ADMIN #password wrong #shutdown\n', EITHER],
  ['a command with a long password', `#ADMIN #password ${repeat('p', 60_000)} #do-stats\n`, EITHER],
];

/** Sends the bytes and returns the whole reply; the server ends the connection. */
async function send(port: number, message: string | Buffer, way: Way): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  let reply = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    reply += text;
  });
  // What arrives after the reply may be answered by a reset.
  socket.on('error', () => undefined);
  const over = Promise.race([once(socket, 'end'), once(socket, 'close')]);
  const bytes = typeof message === 'string' ? Buffer.from(message, 'latin1') : message;
  if (way === 'pieces') {
    const size = Math.max(1, Math.ceil(bytes.length / 16));
    for (let at = 0; at < bytes.length; at += size) {
      if (socket.destroyed || socket.readableEnded) break;
      socket.write(bytes.subarray(at, at + size));
      await sleep(2);
    }
  } else if (way === 'half closed') socket.end(bytes);
  else socket.write(bytes);
  await over.catch(() => undefined);
  socket.destroy();
  return reply;
}

t.test(`${ROWS.length} hostile messages`, async (t) => {
  const fixture = await openBroker(t, { conf: 'Admin-Password "open sesame"\n' });
  const { broker } = fixture;
  await fillBroker(broker, 50, (i) => ({ Title: `Doc ${i}`, Body: 'number\n' }));
  // A message without an end is refused after this time.
  const server = await serveBroker(t, fixture, { messageTimeoutMs: 2_000 });
  const { port } = server.address;
  const right = await exchange(port, '#USER #END Doc\r\n');
  t.match(right, /^120 - /m);
  // All at once: those without an end wait for the limit.
  const replies = await Promise.all(ROWS.map(([, message, , way = 'whole']) => send(port, message, way)));
  for (const [i, [name, , expected]] of ROWS.entries()) {
    const reply = replies[i] ?? '';
    t.match(reply, GREETING, `${name}: greeting`);
    t.match(reply, expected, `${name}: ${JSON.stringify(reply.slice(27, 160))}`);
  }
  t.equal(await exchange(port, '#USER #END Doc\r\n'), right, 'the Broker still answers');
  await waitUntil(() => server.connections === 0);
  t.same(broker.queries.load, { running: 0, waiting: 0, replies: 0 }, 'no query is left');
});
