// Tests the gatherd engine of the server with commands in pieces of any size.
import t from 'tap';
import { GatherdClientSession, GatherdServerSession } from '../../../protocols/gatherd/index.js';
import { bytes, GREETING, INFO, ONE, ServerRig, STREAM } from './rigs.js';

/** The client's input, and the server's output after its greeting. */
const DIALOGUES: readonly (readonly [name: string, client: string, server: string, closes: boolean])[] = [
  [
    'GATHERD-2.6: HELLO, also without a name',
    'HELLO c.example\nHELLO\n',
    '100 - HELLO c.example\n100 - HELLO \n',
    false,
  ],
  ['GATHERD-1.4: LF and CR LF', 'HELLO a\r\nHELLO b\n', '100 - HELLO a\n100 - HELLO b\n', false],
  [
    'GATHERD-2.3: verbs and keywords in any case',
    'hello a\nSet COMPRESSION\n',
    '100 - HELLO a\n500 - Compression enabled\n',
    false,
  ],
  ['GATHERD-2.4: blanks and empty lines', '\n  \r\n \tHELLO \t a \t\r\n\n', '100 - HELLO a\n', false],
  [
    'GATHERD-7.1: full copy',
    'HELLO a\nSEND-UPDATE 0\nQUIT\n',
    `100 - HELLO a\n400 - Sending all objects since 0\n${STREAM}499 - Sent 2 objects\n999 - Bye\n`,
    true,
  ],
  [
    'GATHERD-2.5, 4.8: HELLO is optional, and several updates are possible',
    'SEND-UPDATE 0\nSEND-UPDATE 007\n',
    `400 - Sending all objects since 0\n${STREAM}499 - Sent 2 objects\n400 - Sending all objects since 7\n${STREAM}499 - Sent 2 objects\n`,
    false,
  ],
  [
    'GATHERD-3.4: SEND-OBJECT',
    'SEND-OBJECT http://a.example/\n',
    `300 - Sending object http://a.example/\n${ONE}399 - Sent object\n`,
    false,
  ],
  [
    'GATHERD-3.8: unknown object',
    'SEND-OBJECT http://x.example/\n',
    '399 - No such object http://x.example/\n',
    false,
  ],
  ['GATHERD-3.6: INFO: the object, then 600', 'INFO\n', `${INFO}600 - End of INFO\n`, false],
  [
    'GATHERD-3.9: bad time stamps get 499',
    'SEND-UPDATE\nSEND-UPDATE -1\nSEND-UPDATE 1x\nSEND-UPDATE 1.5\nSEND-UPDATE 99999999999999999999\n',
    '499 - Bad timestamp\n'.repeat(5),
    false,
  ],
  [
    'GATHERD-4.1: the largest timestamp, and sixteen digits',
    'SEND-UPDATE 9007199254740992\nSEND-UPDATE 00000000000000001\nSEND-UPDATE 9007199254740991\nSEND-UPDATE 0000000000000001\n',
    '499 - Bad timestamp\n'.repeat(2) +
      [9_007_199_254_740_991, 1]
        .map((since) => `400 - Sending all objects since ${since}\n${STREAM}499 - Sent 2 objects\n`)
        .join(''),
    false,
  ],
  [
    'GATHERD-2.4, 3.4: blanks count; the answer names the verb as the client spells it',
    `${' '.repeat(8193)}\n${' '.repeat(8192)}\nset\nSend-Object\n`,
    '900 - Bad argument: line too long\n900 - Bad argument: set\n900 - Bad argument: Send-Object\n',
    false,
  ],
  [
    'GATHERD-1: the last CR before the LF belongs to the line end, others to the argument',
    'HELLO a\r\r\n',
    '100 - HELLO a \n',
    false,
  ],
  [
    'GATHERD-3.9, 6.10: unknown commands and arguments',
    'FROB x\nSET\nSET speed\nSEND-OBJECT\nHELLO a\n',
    '900 - Unknown command: FROB\n900 - Bad argument: SET\n900 - Bad argument: speed\n900 - Bad argument: SEND-OBJECT\n100 - HELLO a\n',
    false,
  ],
  ['GATHERD-6.11: SET changes', 'SET changes\n', '500 - Changes enabled\n', false],
  [
    'GATHERD-6.3: SET line-end has no effect on data in clear',
    'Set LINE-END\nSEND-UPDATE 0\n',
    `500 - Line end after compressed data enabled\n400 - Sending all objects since 0\n${STREAM}499 - Sent 2 objects\n`,
    false,
  ],
  ['commands after QUIT are ignored', 'QUIT\nHELLO a\n', '999 - Bye\n', true],
];

for (const [name, client, server, closes] of DIALOGUES) {
  t.test(name, async (t) => {
    for (let size = 1; size <= client.length; size++) {
      const rig = new ServerRig().start().feed(bytes(client), size);
      t.equal(rig.closed, closes);
      if (rig.output !== GREETING + server) {
        t.equal(rig.output, GREETING + server, `cuts of ${size}`);
        return;
      }
    }
  });
}

t.test('GATHERD-2.1: HELP lists the commands as 200 lines', async (t) => {
  const { output } = new ServerRig().start().feed(bytes('HELP\n'));
  const lines = output.slice(GREETING.length).trimEnd().split('\n');
  const verbs =
    'HELLO|HELP|INFO|SEND-OBJECT|SEND-UPDATE|SET compression|SET changes|SET sequence|SET line-end|QUIT'.split(
      '|',
    );
  t.equal(lines.length, verbs.length);
  for (const [i, verb] of verbs.entries()) t.ok(lines[i]?.startsWith(`200 - ${verb}`), lines[i] ?? '');
});

t.test('GATHERD-6.1, 6.8: SET compression applies to the session, not to objects', async (t) => {
  const commands =
    'SET compression\nSET changes\nSEND-UPDATE 5\nSEND-OBJECT http://a.example/\nSEND-UPDATE 6\n';
  const rig = new ServerRig().start().feed(bytes(commands));
  t.same(
    rig.requests.filter((line) => line.startsWith('update ')),
    ['update 5 compressed sections', 'update 6 compressed sections'],
  );
  t.match(rig.output, ONE);
});

t.test('GATHERD-6.9: a server without compression refuses SET compression', async (t) => {
  const rig = new ServerRig({ compression: false }).start().feed(bytes('SET compression\nSEND-UPDATE 0\n'));
  t.match(rig.output, '900 - Compression not available\n400 - Sending all objects since 0\n@DELETE');
});

t.test('GATHERD-1.8: pipelined commands wait while data is being sent', async (t) => {
  const session = new GatherdServerSession({ hostname: 'h' });
  session.start();
  const effects = session.push(bytes('SEND-UPDATE 0\nHELLO a\nINFO\nQUIT\n'));
  t.same(
    effects.map((effect) => effect.kind),
    ['command', 'send', 'update'],
  );
  t.equal(session.acceptsInput, false);
  t.throws(() => session.push(bytes('HELLO b\n')), { code: 'ERR_STATE' });
  const after = session.dataDone('update', 7);
  t.same(
    after.map((effect) => effect.kind),
    ['send', 'command', 'send', 'command', 'info'],
  );
  const last = session.dataDone('info', bytes(INFO));
  t.same(
    last.map((effect) => effect.kind),
    ['send', 'send', 'command', 'send', 'close'],
  );
  t.equal(session.state, 'closed');
  t.same(session.push(bytes('HELLO c\n')), []);
});

t.test('GATHERD-3.4: a line repeats at most 200 bytes of what the client sent', async (t) => {
  const word = `http://x.example/${'x'.repeat(8150)}`;
  const part = `${word.slice(0, 200)}...`;
  for (const [command, reply] of [
    [`HELLO ${word}`, `100 - HELLO ${part}`],
    [`SEND-OBJECT ${word}`, `399 - No such object ${part}`],
    [`SET ${word}`, `900 - Bad argument: ${part}`],
    [word, `900 - Unknown command: ${part}`],
    [`SEND-UPDATE ${word}`, '499 - Bad timestamp'],
    [`SEND-OBJECT ${'o'.repeat(200)}`, `399 - No such object ${'o'.repeat(200)}`],
  ] as const) {
    const { output } = new ServerRig().start().feed(bytes(`${command}\n`));
    t.equal(output, `${GREETING}${reply}\n`);
    // GATHERD-1.6: our own client reads it.
    const client = new GatherdClientSession();
    client.push(bytes(output));
  }
  const session = new GatherdServerSession({ hostname: 'h' });
  session.start();
  session.push(bytes(`SEND-OBJECT ${word}\n`));
  const [start] = session.dataDone('object', bytes(ONE));
  t.match(start, { kind: 'send', bytes: bytes(`300 - Sending object ${part}\n`) });
});

t.test('GATHERD-2.4: the longest line, a longer one, and an endless one', async (t) => {
  const name = 'n'.repeat(8192 - 6);
  for (const end of ['\n', '\r\n']) {
    const whole = new ServerRig().start().feed(bytes(`HELLO ${name}${end}HELLO b\n`), 1000);
    t.equal(whole.output, `${GREETING}100 - HELLO ${name.slice(0, 200)}...\n100 - HELLO b\n`);
    const longer = new ServerRig().start().feed(bytes(`HELLO ${name}x${end}HELLO b\n`), 1000);
    t.equal(longer.output, `${GREETING}900 - Bad argument: line too long\n100 - HELLO b\n`);
  }
  const long = `HELLO ${'n'.repeat(40_000)}\nHELLO b\n`;
  const longest = `HELLO ${'n'.repeat(1 << 20)}\nHELLO b\n`;
  for (const [text, size] of [
    [long, 1],
    [long, 777],
    [long, long.length],
    [longest, 1 << 16],
  ] as const) {
    const rig = new ServerRig().start().feed(bytes(text), size);
    t.equal(
      rig.output,
      `${GREETING}900 - Bad argument: line too long\n100 - HELLO b\n`,
      'GATHERD-3.9: the line is reported once, and the session continues',
    );
  }
  const endless = new ServerRig().start().feed(Buffer.alloc(3 << 20, 'x'), 1 << 16);
  t.equal(endless.closed, true, 'an endless line ends the session');
  t.equal(endless.output, `${GREETING}900 - Bad argument: line too long\n`);
});

t.test('GATHERD-3.10: a refusal is one line without a greeting', async (t) => {
  const rig = new ServerRig();
  rig.perform(rig.session.refuse());
  t.equal(rig.output, '999 - Access denied\n');
  t.equal(rig.closed, true);
  t.equal(rig.session.acceptsInput, false);
});

t.test('GATHERD-3.11: a failure in the middle of data closes without an end line', async (t) => {
  const session = new GatherdServerSession({ hostname: 'h' });
  session.start();
  session.push(bytes('SEND-UPDATE 0\nHELLO a\n'));
  t.same(session.fail(), [{ kind: 'close' }]);
  t.equal(session.state, 'closed');
});

t.test('a client that has finished gets its replies; an incomplete line is no command', async (t) => {
  const rig = new ServerRig().start().feed(bytes('HELLO a\nSEND-UPDATE 12'));
  rig.perform(rig.session.end());
  t.equal(rig.output, `${GREETING}100 - HELLO a\n`);
  t.equal(rig.closed, true);
  const session = new GatherdServerSession({ hostname: 'h' });
  session.start();
  session.push(bytes('SEND-UPDATE 0\nHELLO a\n'));
  t.same(session.end(), [], 'the update continues');
  t.same(
    session.dataDone('update', 0).map((effect) => effect.kind),
    ['send', 'command', 'send', 'close'],
  );
});

t.test('GATHERD-3.5: host name and version must be words', async (t) => {
  for (const hostname of ['', 'a b', 'a\n']) {
    t.throws(() => new GatherdServerSession({ hostname }), { code: 'ERR_USAGE' });
  }
  t.throws(() => new GatherdServerSession({ hostname: 'h', version: '' }), { code: 'ERR_USAGE' });
});

t.test('the state tables allow only the transitions they name', async (t) => {
  const session = new GatherdServerSession({ hostname: 'h' });
  t.throws(() => session.dataDone('update', 1), { code: 'ERR_STATE' });
});
