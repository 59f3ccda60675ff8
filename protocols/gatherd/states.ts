// The states of both ends of a session as tables. All transitions are defined here.
import { StateError } from '../errors.js';

/** State -> event -> next state. A transition that is not in the table is not allowed. */
export type StateTable<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, State>>>>
>;

export type ServerState = 'new' | 'ready' | 'sending' | 'closed';
export type ServerStep = 'greet' | 'refuse' | 'send' | 'sent' | 'fail' | 'quit';

/**
 * The server. `ready` takes commands. `sending` waits until its owner has delivered data and keeps later
 * commands pending (GATHERD-1.8). `closed` ignores everything.
 */
export const SERVER_STATES: StateTable<ServerState, ServerStep> = {
  new: { greet: 'ready', refuse: 'closed' },
  ready: { send: 'sending', fail: 'closed', quit: 'closed' },
  sending: { sent: 'ready', fail: 'closed' },
  closed: { fail: 'closed' },
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
export type ClientStep = 'object' | 'update' | 'gzip' | 'header' | 'data' | 'trailer' | 'end' | 'close';

/**
 * The client: the state says how to read the next byte. Data starts and ends inside chunks, so every state has
 * an exit. `gzip-next` follows a whole member: another member may follow, or the end line (GATHERD-6.6).
 */
export const CLIENT_STATES: StateTable<ClientState, ClientStep> = {
  lines: { object: 'object', update: 'sections', gzip: 'gzip-header', close: 'closed' },
  object: { end: 'lines', close: 'closed' },
  sections: { end: 'lines', close: 'closed' },
  'gzip-header': { header: 'gzip-data', close: 'closed' },
  'gzip-data': { data: 'gzip-trailer', close: 'closed' },
  'gzip-trailer': { trailer: 'gzip-next', close: 'closed' },
  'gzip-next': { gzip: 'gzip-header', end: 'lines', close: 'closed' },
  closed: { close: 'closed' },
};

/** The state after an event. @throws StateError when the table does not allow the event */
export function nextState<State extends string, Event extends string>(
  table: StateTable<State, Event>,
  state: State,
  event: Event,
): State {
  const next = table[state][event];
  if (next === undefined) throw new StateError(`"${event}" is not possible in state "${state}"`);
  return next;
}
