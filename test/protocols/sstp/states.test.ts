// The ends of an SSTP connection run on their tables of states.
import fc from 'fast-check';
import t from 'tap';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  type ChoiceState,
  ProtocolChooser,
  SstpClientSession,
  type SstpClientState,
  SstpServerSession,
  type SstpServerState,
} from '../../../protocols/sstp/index.js';
import { CHOICE_STATES, CLIENT_STATES, SERVER_STATES } from '../../../protocols/sstp/states.js';
import { checkMachine } from '../../helpers/state-machine.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

function choose(inputs: readonly string[]): ChoiceState {
  const chooser = new ProtocolChooser();
  for (const input of inputs) {
    const isChosen = chooser.state === 'SSTP' || chooser.state === 'HTTP';
    if (!isChosen && chooser.state !== 'choosing') break;
    if (input === 'end') chooser.end();
    else if (input !== 'allowed' && input !== 'forbidden') chooser.push(bytes(input));
    else if (isChosen) chooser.admit(input === 'allowed');
  }
  return chooser.state;
}

t.test('the choice of the protocol runs on its table of states', async (t) => {
  checkMachine(t, {
    table: CHOICE_STATES,
    start: 'choosing',
    run: choose,
    walks: [
      ['SS', 'TP/1.0 0', 'end', 'allowed'],
      ['SSTP/1.0', 'x', 'forbidden'],
      ['GET / HTTP/1.0\r\n', 'x', 'forbidden'],
      ['GET / HTTP/1.0\r\n', 'end', 'allowed'],
      ['\r\n'],
      ['SS', 'end'],
      ['end'],
    ],
    input: fc.constantFrom('SS', 'TP/', 'GET /', ' HTTP/1.0\r\n', '\r\n', 'x', 'end', 'allowed', 'forbidden'),
  });
});

t.test('S-44, S-47: what a chooser holds is handed over once, or refused with a code', async (t) => {
  const chooser = new ProtocolChooser();
  for (const part of ['SS', 'TP/1.0', ' 081']) chooser.push(bytes(part));
  chooser.admit(true);
  t.equal(chooser.refusal, undefined);
  t.equal(Buffer.from(chooser.take()).toString(), 'SSTP/1.0 081');
  t.equal(chooser.take().length, 0);
  const forbidden = new ProtocolChooser();
  forbidden.push(bytes('SSTP/'));
  forbidden.admit(false);
  t.equal(forbidden.refusal, 403);
  const neither = new ProtocolChooser();
  neither.push(bytes('\r\n'));
  t.equal(neither.refusal, 400);
});

const REQUEST = 'SSTP/1.0 081 REQ_GET_REFERENCES\r\nHEADER_URI_ID: 1\r\n\r\n';
const UNSERVED = 'SSTP/1.0 006 X\r\nHEADER_CONTENT_LENGTH: 3\r\n\r\nabc';
const MALFORMED = 'SSTP/1.0 081\r\n\r\n';
const OTHER_VERSION = 'SSTP/2.0 081 X\r\n';

function serve(inputs: readonly string[]): SstpServerState {
  const session = new SstpServerSession();
  for (const input of inputs) {
    if (input === 'end') session.end();
    else if (input === 'next') session.next();
    else if (input === 'refuse') session.replies.writeError(503);
    else session.push(bytes(input));
  }
  return session.state;
}

t.test('the server runs on its table of states', async (t) => {
  checkMachine(t, {
    table: SERVER_STATES,
    start: 'reading',
    run: serve,
    walks: [
      [REQUEST + UNSERVED, 'next', 'next', 'next', MALFORMED, 'next', 'x'],
      [OTHER_VERSION, 'next'],
      [REQUEST, 'next', 'refuse'],
      [REQUEST + UNSERVED, 'end', 'next', 'next', 'next', 'next'],
      [MALFORMED, 'end', 'next'],
      [OTHER_VERSION, 'end', 'next'],
      [REQUEST, 'end', 'x', 'next', 'refuse', 'next'],
    ],
    input: fc.constantFrom(
      REQUEST,
      UNSERVED,
      MALFORMED,
      OTHER_VERSION,
      'SSTP/1.0 0',
      'next',
      'refuse',
      'end',
    ),
  });
});

/** `call` is a call, `end` the end of the connection; every other input is octets of the server. */
function ask(inputs: readonly string[]): SstpClientState {
  const session = new SstpClientSession();
  try {
    for (const input of inputs) {
      if (input === 'end') session.end();
      else if (input !== 'call') session.push(bytes(input));
      else if (session.state !== 'closed') session.request({ code: 81, headers: [['HEADER_URI_ID', '1']] });
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
  }
  return session.state;
}

t.test('the client runs on its table of states', async (t) => {
  const reply = 'SSTP/1.0 404 X\r\n\r\n';
  const refused = 'SSTP/1.0 503 X\r\n\r\n';
  checkMachine(t, {
    table: CLIENT_STATES,
    start: 'idle',
    run: ask,
    walks: [
      ['call', 'call', reply, reply, 'end', 'x'],
      ['call', refused, 'x'],
      ['call', 'x\r\n'],
      ['call', 'end'],
      [refused],
      [reply],
      ['x\r\n'],
      ['end'],
    ],
    input: fc.constantFrom('call', reply, refused, 'x\r\n', 'SSTP/1', '.0 081 X\r\n\r\n', 'end'),
  });
});
