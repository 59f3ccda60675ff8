// The sessions of gatherd run on their tables of states, and reach every row.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { KitError } from '../../../protocols/errors.js';
import { type GatherdServerEffect, GatherdServerSession } from '../../../protocols/gatherd/index.js';
import {
  CLIENT_STATES,
  type ClientState,
  SERVER_STATES,
  type ServerState,
} from '../../../protocols/gatherd/states.js';
import { checkMachine } from '../../helpers/state-machine.js';
import {
  bytes,
  ClientRig,
  compressedUpdate,
  HELLO,
  INFO,
  info,
  infoAndQuit,
  MEMBER,
  ONE,
  object,
  type Send,
  STREAM,
  text,
  update,
} from './rigs.js';

/** Calls of the server's owner; every other input is bytes of the client. */
const CALLS = ['greet', 'refuse', 'sent', 'end', 'fail'];

function deliver(session: GatherdServerSession, requested: string): GatherdServerEffect[] {
  if (requested === 'update') return session.dataDone('update', 1);
  if (requested === 'sequence') return session.dataDone('sequence', true);
  return session.dataDone(requested === 'info' ? 'info' : 'object', bytes(ONE));
}

function serve(inputs: readonly string[]): ServerState {
  const session = new GatherdServerSession({ hostname: 'h', maxLineBytes: 40, maxDroppedBytes: 60 });
  let requested = '';
  const perform = (effects: readonly GatherdServerEffect[]) => {
    for (const { kind } of effects)
      if (kind !== 'command' && kind !== 'send' && kind !== 'close') requested = kind;
  };
  for (const input of inputs) {
    const { state } = session;
    if (state === 'new') perform(input === 'refuse' ? session.refuse() : session.start());
    else if (input === 'sent' && state === 'sending') perform(deliver(session, requested));
    else if (input === 'end') perform(session.end());
    else if (input === 'fail') perform(session.fail());
    else if (!CALLS.includes(input) && (session.acceptsInput || state === 'closed'))
      perform(session.push(bytes(input)));
  }
  return session.state;
}

t.test('the server runs on its table of states', async (t) => {
  const lines = [
    'HELP\n',
    'SEND-UPDATE 0\n',
    'SEND-OBJECT x\n',
    'INFO\nHELP\n',
    'SET sequence x 1\n',
    'QUIT\n',
    'GET / HTTP/1.0\n',
  ];
  checkMachine(t, {
    table: SERVER_STATES,
    start: 'new',
    run: serve,
    walks: [
      ['refuse', 'HELP\n'],
      [
        'greet',
        'HELP\n',
        'SEND-UPDATE 0\n',
        'sent',
        'SEND-OBJECT x\n',
        'sent',
        'SET sequence x 1\n',
        'sent',
        'INFO\nQUIT\n',
        'sent',
        'fail',
      ],
      ['greet', 'GET / HTTP/1.0\n'],
      ['greet', 'x'.repeat(70)],
      ['greet', 'HEL', 'end'],
      ['greet', 'fail'],
      ['greet', 'INFO\n', 'end', 'sent'],
      ['greet', 'INFO\n', 'fail'],
    ],
    input: fc.constantFrom(...CALLS, ...lines, '\n', 'x', 'x'.repeat(70)),
  });
});

const SENDS: Readonly<Record<string, Send>> = { update, compressedUpdate, info, infoAndQuit, object };

/** The first input may be a name of {@link SENDS}; every other is bytes of the server. */
function read(inputs: readonly string[]): ClientState {
  const rig = new ClientRig({ soif: { mode: 'strict' } });
  const [first = '', ...rest] = inputs;
  const send = SENDS[first];
  send?.(rig.session);
  try {
    for (const input of send === undefined ? inputs : rest) {
      if (input === 'end') rig.end();
      else rig.feed(bytes(input));
    }
  } catch (error) {
    if (!(error instanceof KitError) || error.code === 'ERR_STATE') throw error;
  }
  return rig.session.state;
}

t.test('the client runs on its table of states', async (t) => {
  const head = `${HELLO}500 - x\n400 - x\n`;
  const member = (from: number, length: number) => MEMBER.slice(from, from + length);
  // A gzip header of ten bytes, one of which is never the whole data.
  const cuts = [0, 5, 11, MEMBER.length - 4, MEMBER.length].map((length) => head + member(0, length));
  checkMachine(t, {
    table: CLIENT_STATES,
    start: 'lines',
    run: read,
    walks: [
      ...[...cuts, `${cuts[4]}${member(0, 5)}`].map((input) => ['compressedUpdate', input, 'end']),
      ['compressedUpdate', head, '\x1f\x8b\x09'.padEnd(10)],
      ['compressedUpdate', head, text(gzipSync('@FILE }'))],
      ['compressedUpdate', `${cuts[3]}xxxx`],
      ['compressedUpdate', `${cuts[4]}499 - x\n`, 'end'],
      ['compressedUpdate', `${cuts[4]}999 - x\n`],
      ['update', `${HELLO}400 - x\n`, STREAM, '499 - x\n', 'end'],
      ['update', `${HELLO}400 - x\n`, 'end'],
      ['update', `${HELLO}400 - x\n`, STREAM, '500 - x\n'],
      ['update', `${HELLO}400 - x\n`, '@FILE }'],
      ['object', `${HELLO}300 - x\n`, ONE, '399 - x\n', 'end'],
      ['object', `${HELLO}300 - x\n`, '@FILE { x', 'end'],
      ['object', `${HELLO}300 - x\n`, '@FILE }'],
      ['infoAndQuit', HELLO, INFO, '999 - bye\n', 'end'],
      ['info', 'x\n000 - x\n'],
    ],
    input: fc.constantFrom(
      ...Object.keys(SENDS),
      ...[HELLO, '300 - x\n', '399 - x\n', '400 - x\n', '499 - x\n', '500 - x\n', '600 - x\n', '999 - x\n'],
      ...[STREAM, ONE, INFO, MEMBER, '@UPDATE {\n', '}\n', '\x1f\x8b\x08\x00', 'x', 'end'],
    ),
  });
});
