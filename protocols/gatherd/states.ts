// The states of both ends of a session as tables. All transitions are defined here.
import { type StateTable, to } from '../state-machine.js';

export type ServerState = 'new' | 'ready' | 'sending' | 'closed';
export type ServerStep =
  | 'greet'
  | 'refuse'
  | 'answer'
  | 'update'
  | 'object'
  | 'info'
  | 'sequence'
  | 'quit'
  | 'http'
  | 'limit'
  | 'end'
  | 'sent'
  | 'fail'
  | 'ignore';

/**
 * The server. `ready` takes commands. `sending` waits until its owner has delivered data and keeps later
 * commands pending (GATHERD-1.8). `closed` ignores everything.
 */
export const SERVER_STATES: StateTable<ServerState, ServerStep> = {
  new: {
    greet: to('ready', 'the peer is admitted', '`000`'),
    refuse: to('closed', 'the peer is refused', '`999`, or `098` for now'),
  },
  ready: {
    answer: to('ready', '`HELLO`, `HELP`, `SET`, an unknown or malformed line', 'its lines'),
    update: to('sending', '`SEND-UPDATE` with a timestamp', '`400`'),
    object: to('sending', '`SEND-OBJECT` with an identifier'),
    info: to('sending', '`INFO`'),
    sequence: to('sending', '`SET sequence` with a change'),
    quit: to('closed', '`QUIT`', '`999`'),
    http: to('closed', 'a line of HTTP (GATHERD-3.12, optional)', '`900`'),
    limit: to('closed', 'more bytes of one line than the server drops (GATHERD-2.4)'),
    end: to('closed', 'the end of the input'),
    fail: to('closed', 'the connection breaks'),
  },
  sending: {
    end: to('sending', 'the end of the input'),
    sent: to('ready', 'the data is delivered', 'the data and its end line'),
    fail: to('closed', 'the data cannot be delivered, or the connection breaks', 'no end line'),
  },
  closed: { ignore: to('closed', 'anything') },
};

export type ClientState =
  | 'lines'
  | 'object'
  | 'sections'
  | 'gzip-header'
  | 'gzip-data'
  | 'gzip-trailer'
  | 'gzip-next'
  | 'closed';
export type ClientStep =
  | 'line'
  | 'object'
  | 'update'
  | 'gzip'
  | 'items'
  | 'header'
  | 'data'
  | 'trailer'
  | 'end'
  | 'bye'
  | 'close'
  | 'fail';

/** The exits of the states. */
const CLOSE = to(
  'closed',
  'the end of the connection',
  'complete only as GATHERD-3.6, 6.5 and 7.3 say; else a failure',
);
const EXITS = { close: CLOSE, fail: to('closed', 'a refusal, or what breaks a rule', 'failure') };

/**
 * The client: the state says how to read the next byte. Data starts and ends inside chunks. `gzip-next` follows a
 * whole member: another member may follow, or the end line (GATHERD-6.6).
 */
export const CLIENT_STATES: StateTable<ClientState, ClientStep> = {
  lines: {
    line: to(
      'lines',
      'a status line (GATHERD-3.13), or a line to ignore',
      'the answer to the oldest command',
    ),
    object: to('object', '`@` at the start of a line, while `SEND-OBJECT` or `INFO` is answered'),
    update: to('sections', '`400`, no compression'),
    gzip: to('gzip-header', '`400`, with compression'),
    bye: to('closed', '`999` after `QUIT`', 'the end of the session'),
    ...EXITS,
  },
  object: {
    end: to('lines', 'the object is complete (`INFO`), or its end line (`SEND-OBJECT`)', 'the object'),
    ...EXITS,
  },
  sections: {
    items: to('sections', 'objects and groups', 'the objects'),
    end: to('lines', 'a status line where an object or a group could begin', 'the end of the update'),
    ...EXITS,
  },
  'gzip-header': { header: to('gzip-data', 'the head of a member is complete'), ...EXITS },
  'gzip-data': {
    data: to('gzip-trailer', 'the deflate data has ended', 'the objects so far'),
    ...EXITS,
  },
  'gzip-trailer': { trailer: to('gzip-next', 'eight bytes that agree with the data'), ...EXITS },
  'gzip-next': {
    gzip: to('gzip-header', 'the byte 1F'),
    end: to('lines', 'another byte'),
    close: CLOSE,
  },
  closed: {},
};
