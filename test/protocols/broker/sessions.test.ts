// Tests the sessions of a Broker and of its client: greeting, ends of messages, limits, and objects from items.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import {
  BrokerClientSession,
  type BrokerClientSessionOptions,
  BrokerHit,
  BrokerServerSession,
  type BrokerServerSessionOptions,
  type ClientEvent,
  frameMessage,
  parseMessage,
  type ServerEvent,
} from '../../../protocols/broker/index.js';
import { ProtocolError, StateError, UsageError } from '../../../protocols/errors.js';
import { assertProperty } from '../../helpers/property.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const singleBytes = (input: Uint8Array) => Array.from(input, (_, i) => input.subarray(i, i + 1));

/** The result of a server session: the message's text, `error: ...`, or nothing. */
function serve(
  pieces: readonly Uint8Array[],
  close: boolean,
  options?: BrokerServerSessionOptions,
): string[] {
  const session = new BrokerServerSession(options);
  session.greeting();
  const events: ServerEvent[] = pieces.flatMap((piece) => session.push(piece));
  if (close) events.push(...session.end());
  return events.map((event) =>
    event.kind === 'message'
      ? Buffer.from(event.line).toString('latin1')
      : `${event.item.kind}: ${'text' in event.item ? event.item.text : ''}`,
  );
}

t.test('BRK-1.3, BRK-1.4: the version line comes first and says Broker', async (t) => {
  t.equal(Buffer.from(new BrokerServerSession().greeting()).toString(), '200 - HARVEST Broker 1.0\n');
  const named = new BrokerServerSession({ versionText: 'Our broker 3' });
  t.equal(Buffer.from(named.greeting()).toString(), '200 - Our broker 3\n');
  t.throws(() => new BrokerServerSession({ versionText: 'HTTP server' }), TypeError);
});

t.test('BRK-1.6, BRK-1.7, BRK-1.8: where a message ends', async (t) => {
  const cases: readonly (readonly [input: string, close: boolean, events: string[]])[] = [
    ['#USER #END a\r\n', false, ['#USER #END a']],
    ['#USER #END a\n', false, ['#USER #END a']],
    ['#USER #END a\r\r\n', false, ['#USER #END a\r']],
    ['\r\n\n  \r\n#USER #END a\r\n', false, ['#USER #END a']],
    ['#USER #END a\n#USER #END b\n', true, ['#USER #END a']],
    ['#USER #END "two\nlines" b\n', false, ['#USER #END "two\nlines" b']],
    ['#USER #END "a\\"\n" b\n', false, ['#USER #END "a\\"\n" b']],
    ['#USER #END a\\\n', false, ['#USER #END a\\']],
    ['#USER #END a', false, []],
    ['#USER #END a', true, ['#USER #END a']],
    ['#USER #END a\r', true, ['#USER #END a']],
    ['#USER #END "a\n', true, ['#USER #END "a\n']],
    ['', true, []],
    ['\r\n\r\n', true, []],
  ];
  for (const [input, close, events] of cases) {
    t.same(serve([bytes(input)], close), events, JSON.stringify(input));
    t.same(serve(singleBytes(bytes(input)), close), events, 'byte by byte');
  }
});

t.test('BRK-1.8 c: a message is limited in length', async (t) => {
  const tooLong = ['fatal: ERROR: Malformed message: longer than 20 bytes'];
  const options = { maxMessageBytes: 20 };
  const cases: readonly (readonly [input: string, events: string[]])[] = [
    [`${'x'.repeat(20)}\r\n`, ['x'.repeat(20)]],
    [`${'x'.repeat(21)}\n`, tooLong],
    ['x'.repeat(22), tooLong],
    ['\n'.repeat(30), tooLong],
    [`${'\n'.repeat(15)}abcdef\n`, tooLong],
    [`${' '.repeat(15)}\r\nabcd\n`, tooLong],
  ];
  for (const [input, events] of cases) {
    t.same(serve([bytes(input)], false, options), events, JSON.stringify(input));
    t.same(serve(singleBytes(bytes(input)), false, options), events, 'byte by byte');
  }
  t.equal(serve([bytes(`#USER #END ${'x'.repeat(65525)}\n`)], false)[0]?.length, 65536, 'default 64 KiB');
  t.match(serve([bytes(`#USER #END ${'x'.repeat(65526)}\n`)], false)[0], /longer than 65536/);
});

t.test('BRK-1.8: an idle session ends with an error', async (t) => {
  const session = new BrokerServerSession();
  session.greeting();
  session.push(bytes('#USER #END "a\r\n'));
  t.same(session.timeout(), [
    {
      kind: 'error',
      item: {
        kind: 'fatal',
        text: 'ERROR: No message within the time limit: a double quote is never closed',
      },
    },
  ]);
  t.same([...session.timeout(), ...session.push(bytes('"\n')), ...session.end()], [], 'the error comes once');
});

t.test('BRK-1.9: a client sends one message, framed with CR LF', async (t) => {
  t.equal(Buffer.from(frameMessage('#USER #END "é\n"')).toString(), '#USER #END "é\n"\r\n');
  for (const bad of ['', '  ', '#USER #END "a', 'a\nb', '\na', 'a\n', String.raw`"a\"`]) {
    t.throws(() => frameMessage(bad), UsageError, JSON.stringify(bad));
  }
  const session = new BrokerClientSession();
  session.request('#USER #END a');
  t.throws(() => session.request('#USER #END b'), StateError, 'BRK-1.6');
});

type Outcome = (ClientEvent | { readonly failed: string; readonly truncated: boolean })[];

function receive(pieces: readonly Uint8Array[], options?: BrokerClientSessionOptions): Outcome {
  const session = new BrokerClientSession(options);
  const outcome: Outcome = [];
  try {
    for (const piece of pieces) outcome.push(...session.push(piece));
    for (let last = session.end(); last.length > 0; last = session.end()) outcome.push(...last);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    outcome.push({ failed: error.rule, truncated: session.truncated });
  }
  return outcome;
}

t.test('BRK-1.5, BRK-4.3, BRK-4.11, BRK-4.17: the objects of a reply with many kinds of items', async (t) => {
  const reply = bytes(
    [
      '200 - HARVEST Broker 1.5.20',
      '101 - hello',
      '126 - http://b.test/early',
      '122 - outside of any object',
      '120 - http://a.test/1',
      '125 - http://b.test/OBJ1',
      '200 - still there?',
      '126 - http://b.test/',
      '124 - 34',
      '130 - object end',
      '111 - not an error',
      '199 - not invented yet',
      'noise',
      '127 - title 2',
      'T1130 - object end',
      '103 - ERROR: glimpse: slow',
      '120 - http://a.test/2',
      '122 - Matched line: title# a',
      '122 - Matched line: title# b',
      '130 - object end',
    ].join('\n'),
  );
  const expected: Outcome = [
    { kind: 'message', text: 'hello' },
    {
      kind: 'hit',
      hit: new BrokerHit({
        url: 'http://a.test/1',
        objectUrl: 'http://b.test/OBJ1',
        homePage: 'http://b.test/',
        description: '130 - object end\n111 - not an erro',
        matchedLines: [],
        attributes: [{ name: 'title', value: Buffer.from('T1') }],
      }),
    },
    { kind: 'error', text: 'ERROR: glimpse: slow' },
    {
      kind: 'hit',
      hit: new BrokerHit({
        url: 'http://a.test/2',
        homePage: 'http://b.test/',
        matchedLines: ['Matched line: title# a', 'Matched line: title# b'],
        attributes: [],
      }),
    },
  ];
  t.same(receive([reply]), expected);
  t.same(receive(singleBytes(reply)), expected, 'byte by byte');
});

t.test('BRK-4.12, BRK-4.13: a reply ends complete, with an error, or cut off', async (t) => {
  const hit: ClientEvent = {
    kind: 'hit',
    hit: new BrokerHit({ url: 'u', matchedLines: [], attributes: [] }),
  };
  const cases: readonly (readonly [string, Outcome])[] = [
    ['200 - Broker\n', []],
    ['101 - No objects matched your query.\n', [{ kind: 'message', text: 'No objects matched your query.' }]],
    [
      '200 - Broker\n120 - u\n130 - object end\n111 - ERROR: x\n101 - late\n120 - v\n',
      [hit, { kind: 'fatal', text: 'ERROR: x' }],
    ],
    ['120 - u\n130 - object end\n120 - v\n', [hit, { failed: 'BRK-4.3', truncated: true }]],
    ['120 - u\n130 - object end\n120 - v\n124 - 9\nabc', [hit, { failed: 'BRK-4.4', truncated: true }]],
    [
      '120 - u\n101 - x',
      [
        { kind: 'message', text: 'x' },
        { failed: 'BRK-4.3', truncated: true },
      ],
    ],
    ['120 - w\n120 - u\n130 - object end\n', [hit]],
    ['', [{ failed: 'BRK-1.3', truncated: false }]],
    ['SSH-2.0-OpenSSH\r\n', [{ failed: 'BRK-1.3', truncated: false }]],
    ['000 - HELLO gatherd 1.0 - are you a.test?\n', [{ failed: 'BRK-1.4', truncated: false }]],
  ];
  for (const [reply, expected] of cases) {
    t.same(receive([bytes(reply)]), expected, JSON.stringify(reply));
    t.same(receive(singleBytes(bytes(reply))), expected, 'byte by byte');
  }
});

t.test('BRK-4.20: a client bounds what a server makes it store', async (t) => {
  const failure: Outcome = [{ failed: 'BRK-4.20', truncated: false }];
  const parts = ['122 - xxxxx\n', '122 - \n', '127 - name 0\n\n', '127 - n 4\nabcd\n', '124 - 4\nabcd\n'];
  for (const part of parts)
    t.same(
      receive([bytes(`120 - u\n${part.repeat(20)}130 - object end\n`)], { maxHitBytes: 60 }),
      failure,
      part,
    );
  for (const line of ['101 - hello\n', '103 - \n'])
    t.same(receive([bytes(line.repeat(20))], { maxNoticeBytes: 60 }).at(-1), failure[0], line);
  const few: BrokerClientSessionOptions = { maxHitBytes: 60, maxNoticeBytes: 60 };
  const object = '120 - u\n122 - x\n130 - object end\n';
  t.equal(receive([bytes(object.repeat(100))], few).length, 100, 'each object by itself');
  t.equal(
    receive([bytes(`200 - x\n145 - y\nz\n`.repeat(100))], few).length,
    0,
    'what is ignored is not stored',
  );
  // The limits of this kit.
  const line = Buffer.alloc(2 ** 20 + 7, 'x');
  line.write('200 - ');
  t.same(receive([line]), failure, 'a line of more than 1 MiB');
  t.same(receive([line.subarray(0, 2 ** 20)]), []);
  t.same(receive([bytes(`120 - u\n124 - ${2 ** 24 + 1}\n`)]), failure, 'a value of more than 16 MiB');
  const value = Buffer.alloc(2 ** 23 + 2, '\n');
  const large = [
    bytes('120 - u\n'),
    ...Array(4)
      .fill([bytes(`127 - t ${2 ** 23}\n`), value.subarray(1)])
      .flat(),
  ];
  t.same(receive(large), failure, 'an object of more than 32 MiB');
  t.same(
    receive([bytes(`101 - ${'x'.repeat(2 ** 20 - 6)}\n`.repeat(17))]).at(-1),
    failure[0],
    'notices of 16 MiB',
  );
});

t.test(
  'BRK-1.4, BRK-4.12: one line of a Broker makes a reply; the greeting alone is an empty one',
  async (t) => {
    const stranger: Outcome = [{ failed: 'BRK-1.3', truncated: false }];
    const cases: readonly (readonly [string, Outcome])[] = [
      ['200 - \n', []],
      ['111 - ERROR: busy\n', [{ kind: 'fatal', text: 'ERROR: busy' }]],
      ['noise\n200 - Broker\n', []],
      ['220 - a server of mail\n', stranger],
      ['220 - x\n145 - y\n124 - many\nnoise\n', stranger],
      ['145 - y\n000 - HELLO x\n', [{ failed: 'BRK-1.4', truncated: false }]],
    ];
    for (const [reply, expected] of cases) t.same(receive([bytes(reply)]), expected, JSON.stringify(reply));
  },
);

t.test('BRK-4.2, BRK-4.3, BRK-4.11: what counts of an object', async (t) => {
  const lines = [
    ...['200 - Broker', '126 - http://b/1', '120 - http://a/1', '124 - 1', 'x', '124 - 1', 'y'],
    ...['125 - http://s/1', '125 - http://s/2', '127 - t 1', 'v', '127 - T 1', 'w', '130 - any text'],
    ...[
      '120 - http://a/2',
      '126 - http://b/2',
      '126 - http://b/3',
      '130 -',
      '120 - http://a/3',
      '130 - object end',
    ],
  ];
  const hits = receive([bytes(`${lines.join('\n')}\n126 - http://b/4\n`)]).map((event) =>
    'hit' in event ? event.hit : event,
  );
  t.match(hits, [
    { url: 'http://a/1', homePage: 'http://b/1', objectUrl: 'http://s/2', description: 'y' },
    { url: 'http://a/2', homePage: 'http://b/3' },
    { url: 'http://a/3', homePage: 'http://b/3' },
  ]);
  t.equal(hits[0] instanceof BrokerHit && hits[0].text('t'), 'w', 'the last 127 of a name');
});

t.test('BRK-4.12: what follows a fatal item is ignored, wherever the reply is cut', async (t) => {
  const reply = bytes(`200 - HARVEST Broker 1.0\n111 - z\n${'x'.repeat(90)}\n`);
  for (const pieces of [[reply], singleBytes(reply)]) {
    t.same(receive(pieces, { maxLineBytes: 30 }), [{ kind: 'fatal', text: 'z' }]);
  }
});

t.test('both ends joined: the server receives the message of the client', async () => {
  assertProperty(
    fc.property(fc.string({ maxLength: 40 }), fc.nat(60), (text, cut) => {
      let sent: Uint8Array;
      try {
        sent = new BrokerClientSession().request(`#USER #END ${text}`);
      } catch (error) {
        return error instanceof UsageError;
      }
      const messages = serve([sent.subarray(0, cut), sent.subarray(cut)], false);
      return (
        messages.length === 1 &&
        messages[0] === bytes(`#USER #END ${Buffer.from(text).toString('latin1')}`).toString('latin1')
      );
    }),
  );
});

t.test('property: a server session has at most one event, the same in any pieces', async () => {
  const part = fc.constantFrom('a', '"', '\\', '\n', '\r', ' ', '#USER', '"x\ny"');
  assertProperty(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const input = bytes(parts.join(''));
      const whole = serve([input], true, { maxMessageBytes: 16 });
      const single = serve(singleBytes(input), true, { maxMessageBytes: 16 });
      return whole.length <= 1 && whole.join() === single.join();
    }),
    { numRuns: 800 },
  );
});

t.test('corpus: recorded messages frame, and parse or fail as their file name says', async (t) => {
  const folder = fileURLToPath(new URL('test/fuzz/corpus/broker/', import.meta.resolve('#package.json')));
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.message'))) {
    const input = readFileSync(folder + name);
    const session = new BrokerServerSession();
    session.greeting();
    const events = singleBytes(input).flatMap((piece) => session.push(piece));
    const [event] = events;
    if (event?.kind !== 'message') {
      t.fail(`${name} is not one message`);
    } else if (name.startsWith('bad-')) {
      t.throws(() => parseMessage(event.line), ProtocolError, name);
    } else {
      t.doesNotThrow(() => parseMessage(event.line), name);
    }
  }
});
