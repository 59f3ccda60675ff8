// The sessions of a Broker and of its client, and the reader of a reply, run on their tables of states.
import fc from 'fast-check';
import t from 'tap';
import {
  BrokerClientSession,
  BrokerServerSession,
  type BrokerServerState,
  type ClientEvent,
  ResultDecoder,
} from '../../../protocols/broker/index.js';
import { CLIENT_STATES, DECODER_STATES, SERVER_STATES } from '../../../protocols/broker/states.js';
import { ProtocolError } from '../../../protocols/errors.js';
import { checkMachine } from '../../helpers/state-machine.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** Calls of the server's owner; every other input is bytes of the client. */
const CALLS = ['greet', 'end', 'timeout', 'close'];

function serve(inputs: readonly string[]): BrokerServerState {
  const session = new BrokerServerSession({ maxMessageBytes: 30 });
  for (const input of inputs) {
    const { state } = session;
    if (input === 'close') session.close();
    else if (state === 'connected') session.greeting();
    else if (input === 'greet') {
      if (state === 'answering') session.greeting();
    } else if (input === 'end') session.end();
    else if (input === 'timeout') session.timeout();
    else session.push(bytes(input));
  }
  return session.state;
}

t.test('the server runs on its table of states', async (t) => {
  checkMachine(t, {
    table: SERVER_STATES,
    start: 'connected',
    run: serve,
    walks: [
      ['close'],
      ['greet', '#USER ', '#END a\n', 'greet', 'more', 'end', 'timeout', 'close', 'more'],
      ['greet', '#USER #END a', 'end'],
      ['greet', 'x'.repeat(40)],
      ['greet', 'GET / HTTP/1.0\n'],
      ['greet', 'timeout'],
      ['greet', 'end'],
      ['greet', 'close'],
    ],
    input: fc.constantFrom(...CALLS, '#USER #END a\n', '#USER', '"', '\\', '\r', '\n', 'GET / HTTP/1.0\n'),
  });
});

t.test('BRK-1.3: the server reads after its greeting', async (t) => {
  t.throws(() => new BrokerServerSession().push(bytes('#USER #END a\n')), { code: 'ERR_STATE' });
});

const LINES = [
  ...[
    '200 - Broker\n',
    '101 - x\n',
    '103 - x\n',
    '111 - x\n',
    '120 - u\n',
    '122 - x\n',
    '124 - 1\n',
    '125 - u\n',
  ],
  ...[
    '126 - u\n',
    '127 - t 2\n',
    '130 - object end\n',
    '199 - x\n',
    '000 - HELLO x\n',
    'noise\n',
    '127 - t 0\n',
  ],
  ...['124 - 99\n', 'ab', '\n', '\r', '\r\n', 'x', 'x'.repeat(70)],
];

/** Feeds a reply, and its end after 'end'; an error ends it. */
function feed(
  inputs: readonly string[],
  push: (bytes: Uint8Array) => readonly unknown[],
  end: () => readonly unknown[],
): readonly unknown[] {
  const results: unknown[] = [];
  let ended = false;
  try {
    for (const input of inputs) {
      if (input !== 'end' && !ended) results.push(...push(bytes(input)));
      if (input !== 'end') continue;
      ended = true;
      for (let last = end(); last.length > 0; last = end()) results.push(...last);
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    results.push(error);
  }
  return results;
}

/** The line of each item. */
const ITEMS = {
  version: '200 - Broker\n',
  message: '101 - x\n',
  error: '103 - x\n',
  fatal: '111 - x\n',
  match: '120 - u\n',
  opaque: '122 - x\n',
  description: '124 - 1\nx\n',
  'object-url': '125 - u\n',
  'home-page': '126 - u\n',
  attribute: '127 - t 1\nx\n',
  'object-end': '130 - object end\n',
  unknown: '199 - x\n',
  hello: '000 - HELLO x\n',
  end: 'end',
} as const;

/** What leads to each state. */
const STATES = { connected: [], 'between objects': ['200 - Broker\n'], 'in object': ['120 - u\n'] } as const;

/** What an output of the table delivers; every other delivers nothing. */
const DELIVERED: Readonly<Record<string, string>> = {
  'a message': 'message',
  'an error': 'error',
  'delivers the object': 'hit',
  'failure with its text': 'fatal',
  'failure: a Gatherer': 'BRK-1.4',
  'failure: not a Broker': 'BRK-1.3',
  'failure: incomplete': 'BRK-4.3',
};

function readReply(inputs: readonly string[]): string[] {
  const session = new BrokerClientSession({ maxLineBytes: 60, maxHitBytes: 80 });
  const push = (chunk: Uint8Array) => session.push(chunk);
  const end = () => session.end();
  return feed(inputs, push, end).map((one) =>
    one instanceof ProtocolError ? one.rule : (one as ClientEvent).kind,
  );
}

t.test('the client runs on its table of states, and delivers what it says', async (t) => {
  checkMachine(t, {
    table: CLIENT_STATES,
    start: 'connected',
    run: (inputs) => void readReply(inputs),
    walks: [
      ...Object.values(STATES).flatMap((before) =>
        Object.values(ITEMS).map((item) => [...before, item, 'end']),
      ),
      ...Object.values(STATES).map((before) => [...before, 'x'.repeat(70)]),
      ['120 - u\n', `122 - ${'x'.repeat(40)}\n122 - ${'x'.repeat(40)}\n`],
    ],
    input: fc.constantFrom(...LINES, 'end'),
  });
  for (const state of ['connected', 'between objects', 'in object'] as const)
    for (const event of Object.keys(ITEMS) as (keyof typeof ITEMS)[]) {
      const row = CLIENT_STATES[state][event];
      if (row === undefined) continue;
      const expected = DELIVERED[row.output];
      t.same(
        readReply([...STATES[state], ITEMS[event]]),
        expected === undefined ? [] : [expected],
        `${event} in ${state}`,
      );
    }
});

t.test('the reader of a reply runs on its table of states', async (t) => {
  checkMachine(t, {
    table: DECODER_STATES,
    start: 'line',
    run(inputs) {
      const decoder = new ResultDecoder({ maxLineBytes: 60, maxValueBytes: 90 });
      feed(
        inputs,
        (chunk) => decoder.push(chunk),
        () => decoder.end(),
      );
      // It does not show its state.
      return undefined;
    },
    walks: [
      ['124 - 2\n', 'a', 'b', '\n', '101 - x\n', 'end', 'end'],
      ['127 - t 0\n', '\r', '\n', 'x', 'end'],
      ['127 - t 0\n', '\r', 'x', 'end'],
      ['127 - t 0\n', '\r', 'end'],
      ['127 - t 0\n', 'x', 'end'],
      ['127 - t 0\n', 'end'],
      ['124 - 99\n'],
      ['124 - 2\n', 'a', 'end'],
      ['x'.repeat(70)],
    ],
    input: fc.constantFrom(...LINES, 'end'),
  });
});
