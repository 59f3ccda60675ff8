// Odd bytes in administrative commands: control characters, NUL, bytes above 0x7f, a lone CR, long arguments.
// Each gets a clear answer in printable characters of its own, nothing is shut down, and the log has one line
// each without a raw control character or the password.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { exchange, openBroker, serveBroker } from '../servers/broker/helpers.js';

const PASSWORD = 's3same-XYZ';
const ODD: readonly (readonly [name: string, bytes: Buffer])[] = [
  ...Array.from({ length: 32 }, (_, byte) => byte)
    .filter((byte) => byte !== 0x0a)
    .map((byte) => [`0x${byte.toString(16)}`, Buffer.from([byte])] as const),
  ...[0x7f, 0x80, 0x85, 0x9b, 0xa0, 0xad, 0xc0, 0xff].map(
    (byte) => [`0x${byte.toString(16)}`, Buffer.from([byte])] as const,
  ),
  ['an escape sequence', Buffer.from('\x1b]0;title\x07\x1b[2J')],
  ['a line end in quotes', Buffer.from('"a\nADMIN: forged line"')],
  ['an escaped quote', Buffer.from('"a\\"\\\n b"')],
  ['a mark of writing direction', Buffer.from('\u202eevil\u2028line')],
  ['UTF-8 that is cut', Buffer.from([0xe2, 0x82])],
  ['60 000 bytes', Buffer.alloc(60_000, 'x')],
  ['30 000 CRs', Buffer.alloc(30_000, '\r')],
];
/** Commands with a place for the bytes. */
const PLACES: readonly (readonly [before: string, after: string])[] = [
  [`#ADMIN #password ${PASSWORD} #set `, ''],
  [`#ADMIN #password ${PASSWORD} #set Max`, '-Results 5'],
  [`#ADMIN #password ${PASSWORD} #delete-object `, ''],
  [`#ADMIN #password ${PASSWORD} #insert-object /`, ''],
  [`#ADMIN #password ${PASSWORD} #delete-query title : `, 'x'],
  [`#ADMIN #password ${PASSWORD} #do-stats`, 'x'],
  ['#ADMIN ', ` #password ${PASSWORD} x`],
];

t.test('odd bytes in #ADMIN', async (t) => {
  const fixture = await openBroker(t, { conf: `Admin-Password ${PASSWORD}\nBroker-Name example\n` });
  const { broker, log, directory } = fixture;
  let shutdowns = 0;
  const { address } = await serveBroker(t, fixture, { shutdown: () => void shutdowns++ });
  for (const [name, odd] of ODD) {
    for (const [before, after] of PLACES) {
      const message = Buffer.concat([Buffer.from(before), odd, Buffer.from(`${after}\r\n`)]);
      const reply = await exchange(address.port, message);
      const what = `${name} in ${before.replace(PASSWORD, 'P')}`;
      t.match(reply, /^(?:\d{3} - \S)/m, what);
      t.notMatch(reply, new RegExp(PASSWORD), `${what}: the reply does not repeat the password`);
      t.notMatch(reply.replaceAll('\r\n', '\n'), /[\0-\x08\x0b-\x1f\x7f\x80-\x9f\u202e\u2028]/, what);
    }
  }
  t.equal(broker.store.count, 0);
  const events = await readFile(join(directory, 'admin', 'LOG'), 'latin1').catch(() => '');
  for (const text of [...log, ...events.split('\n')].map((line) => line.replace(/\n$/, ''))) {
    if (
      /[\0-\x08\x0b-\x1f\x7f]/.test(text) ||
      text.includes(PASSWORD) ||
      /^ADMIN: forged/.test(text) ||
      text.length > 5000
    )
      t.fail(`a log line: ${JSON.stringify(text.slice(0, 300))}`);
  }
  const statistics = await exchange(address.port, `#ADMIN #password ${PASSWORD} #do-stats\r\n`);
  t.notMatch(statistics, /111 - /, 'the password was right all the time');
  for (const odd of ['\0', '\x1b', '\xff']) {
    const reply = await exchange(
      address.port,
      Buffer.from(`#ADMIN #password ${PASSWORD}${odd} #shutdown\n`, 'latin1'),
    );
    t.match(reply, /111 - ERROR: (?:Invalid password|Malformed)/, JSON.stringify(odd));
  }
  t.equal(shutdowns, 0);
});
