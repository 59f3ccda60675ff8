// The states of both ends of a connection as tables. "Refused" is a reply after which the server closes (S-39).
import { type StateTable, to } from '../state-machine.js';

export type ChoiceState = 'choosing' | 'SSTP' | 'HTTP' | 'reading' | 'handed over' | 'refused' | 'closed';
type ChoiceStep =
  | 'undecided'
  | 'sstp'
  | 'http'
  | 'neither'
  | 'more'
  | 'nothing'
  | 'admitted'
  | 'forbidden'
  | 'decided';

const HELD = to('SSTP', "more octets, or the end of the client's side", 'held');

/** The beginning of a connection: which protocol, and whether the host is allowed. */
export const CHOICE_STATES: StateTable<ChoiceState, ChoiceStep> = {
  choosing: {
    undecided: to('choosing', 'octets that are undecided (S-47)'),
    sstp: to('SSTP', 'octets of SSTP'),
    http: to('HTTP', 'octets of HTTP'),
    neither: to('refused', 'octets of neither, or the end after at least one octet', '400'),
    nothing: to('closed', 'the end without an octet'),
  },
  SSTP: {
    more: HELD,
    admitted: to('reading', 'the host is allowed', 'the octets are requests'),
    forbidden: to('refused', 'the host is not allowed (S-44)', '403'),
  },
  HTTP: {
    more: { ...HELD, next: 'HTTP' },
    decided: to('handed over', 'the host is allowed or not (R-46)', 'the octets are those of HTTP'),
  },
  reading: {},
  'handed over': {},
  refused: {},
  closed: {},
};

export type SstpServerState = 'reading' | 'ending' | 'closing';
type ServerStep = 'none' | 'served' | 'unserved' | 'malformed' | 'version' | 'refused' | 'end' | 'more';

const NONE = 'no further request is complete';

/** Requests, also those that arrived before the end of the client's side. */
const requests = <State extends SstpServerState>(state: State) =>
  ({
    served: to(state, 'a request that is served', 'its code, 404, or 500 if it failed in the server'),
    unserved: to(state, 'a request of another code (S-46)', '501'),
    malformed: to('closing', 'a malformed request', '400'),
    version: to('closing', 'a start line of another major version', '505'),
    refused: to('closing', 'the reply to a request is refused'),
  }) as const;

/** The server, after the choice of SSTP. Replies are sent in the order of the requests. */
export const SERVER_STATES: StateTable<SstpServerState, ServerStep> = {
  reading: {
    ...requests('reading'),
    none: to('reading', NONE),
    end: to('ending', "the end of the client's side"),
  },
  ending: {
    ...requests('ending'),
    none: to('closing', NONE),
    more: to('ending', 'more octets', 'dropped'),
  },
  closing: { more: to('closing', 'more octets', 'dropped') },
};

export type SstpClientState = 'idle' | 'waiting' | 'closed';
type ClientStep = 'call' | 'reply' | 'last' | 'refused' | 'unexpected' | 'malformed' | 'end' | 'more';

const CALL = to('waiting', 'a call', 'a request');

/** The client: whether requests are without a reply. */
export const CLIENT_STATES: StateTable<SstpClientState, ClientStep> = {
  idle: {
    call: CALL,
    refused: to('closed', 'a refused reply (R-64)', 'an error for later calls'),
    unexpected: to('closed', 'a reply, not refused', 'an error'),
    malformed: to('closed', 'a malformed reply', 'an error'),
    end: to('closed', 'the end of the connection'),
  },
  waiting: {
    call: CALL,
    reply: to('waiting', 'a reply to the oldest call, not refused; others are pending', 'the reply'),
    last: to('idle', 'a reply to the only call that is pending, not refused', 'the reply'),
    refused: to('closed', 'a refused reply', 'the reply to the oldest call, an error for all others'),
    malformed: to('closed', 'a malformed reply', 'an error for all calls'),
    end: to('closed', 'the end of the connection', 'an error for all calls'),
  },
  closed: { more: to('closed', 'more octets', 'dropped') },
};
