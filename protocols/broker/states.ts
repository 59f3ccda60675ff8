// The states of both ends of a connection, and of the reader of a reply, as tables.
import { type StateTable, to } from '../state-machine.js';
import type { ResultItem } from './results.js';

export type BrokerServerState = 'connected' | 'reading' | 'answering' | 'closed';
type ServerStep =
  | 'greet'
  | 'bytes'
  | 'message'
  | 'refuse'
  | 'end'
  | 'timeout'
  | 'repeat'
  | 'ignore'
  | 'close';

const CLOSE = to('closed', 'everything is sent, or the connection breaks');
const IGNORED = 'bytes of the client, the end of its input, the idle limit';

/** The server: one message in, its reply out (BRK-1.3 to BRK-1.8). */
export const SERVER_STATES: StateTable<BrokerServerState, ServerStep> = {
  connected: { greet: to('reading', 'the connection', 'greeting'), close: CLOSE },
  reading: {
    bytes: to('reading', 'bytes without the end of a message'),
    message: to(
      'answering',
      'the end of a message (BRK-1.8)',
      'its reply: items as they are found, `101` if there is no object, `111` if the message is malformed or the query fails',
    ),
    refuse: to('closed', 'a message that is too long, or a request of HTTP', '`111`'),
    timeout: to('closed', 'the idle limit', '`111`'),
    end: to('closed', 'the end of the input without a message'),
    close: CLOSE,
  },
  answering: {
    repeat: to('answering', 'a long time without output', '`200`'),
    ignore: to('answering', IGNORED),
    close: CLOSE,
  },
  closed: { ignore: to('closed', IGNORED) },
};

type ClientState = 'connected' | 'between objects' | 'in object' | 'closed';
type ClientStep = ResultItem['kind'] | 'hello' | 'end' | 'fail';

const OWN = 'belongs to the object';
const FATAL = to('closed', '`111`', 'failure with its text');
const FAIL = to('closed', 'more than a limit (BRK-4.20), or a value that ends early', 'failure');

/** Items between objects, which the first item of a reply may be, too. */
const BETWEEN = {
  version: to('between objects', '`200`'),
  message: to('between objects', '`101`', 'a message'),
  error: to('between objects', '`103`', 'an error'),
  match: to('in object', '`120`', 'an object begins'),
  'home-page': to('between objects', '`126`', 'home page of the objects after it'),
  opaque: to('between objects', '`122`'),
  description: to('between objects', '`124`'),
  'object-url': to('between objects', '`125`'),
  attribute: to('between objects', '`127`'),
  'object-end': to('between objects', '`130`'),
  unknown: to('between objects', 'another code'),
  fatal: FATAL,
  fail: FAIL,
} as const;

/** The client: what the items of a reply mean (BRK-4.3). Lines that are not items change nothing (BRK-4.17). */
export const CLIENT_STATES: StateTable<ClientState, ClientStep> = {
  connected: {
    hello: to('closed', '`000 - HELLO`', 'failure: a Gatherer'),
    ...BETWEEN,
    unknown: to('connected', 'another code'),
    end: to('closed', 'close', 'failure: not a Broker'),
  },
  'between objects': { ...BETWEEN, end: to('closed', 'close', 'the end of the reply') },
  'in object': {
    version: to('in object', '`200`'),
    message: to('in object', '`101`', 'a message'),
    error: to('in object', '`103`', 'an error'),
    match: to('in object', '`120`', 'drops the object, another begins'),
    opaque: to('in object', '`122`', OWN),
    description: to('in object', '`124`', OWN),
    'object-url': to('in object', '`125`', OWN),
    'home-page': to('in object', '`126`', OWN),
    attribute: to('in object', '`127`', OWN),
    'object-end': to('between objects', '`130`', 'delivers the object'),
    unknown: to('in object', 'another code'),
    end: to('closed', 'close', 'failure: incomplete'),
    fatal: FATAL,
    fail: FAIL,
  },
  closed: {},
};

type DecoderState = 'line' | 'value' | 'after value' | 'after CR' | 'closed';
type DecoderStep = 'line' | 'count' | 'empty' | 'limit' | 'bytes' | 'last' | 'lf' | 'cr' | 'other' | 'end';

const LINE_END = to('line', 'LF');
const END = to('closed', 'close');

/** The bytes of a reply. A line is complete with its LF, or with the close. */
export const DECODER_STATES: StateTable<DecoderState, DecoderStep> = {
  line: {
    count: to('value', 'a line of `124` or `127` with count *n* above 0'),
    empty: to('after value', 'a line of `124` or `127` with count 0', 'the item'),
    line: to('line', 'another line', 'the item, or nothing'),
    limit: to('closed', 'a line or a count beyond its limit', 'failure'),
    end: END,
  },
  value: {
    bytes: to('value', 'bytes, fewer than *n* in all'),
    last: to('after value', 'byte *n*', 'the item'),
    end: to('closed', 'close', 'failure: incomplete'),
  },
  'after value': {
    lf: LINE_END,
    cr: to('after CR', 'CR'),
    other: to('line', 'another byte', 'the line begins with it'),
    end: END,
  },
  'after CR': {
    lf: LINE_END,
    other: to('line', 'another byte', 'the line begins with CR and it'),
    end: END,
  },
  closed: {},
};
