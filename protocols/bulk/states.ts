// The states of the readers of a bulk reply as tables.
import { type StateTable, to } from '../state-machine.js';

type GroupState = 'before' | 'between' | 'group';
type GroupStep = 'open' | 'object' | 'close';

const OPEN = to('group', '`@DELETE {`, `@REFRESH {` or `@UPDATE {`');
const OUTSIDE = to('between', 'an object (BT-18)', 'the object, as one of `@UPDATE`');

/** The groups of a reply, in both interfaces, plain or compressed. */
export const GROUP_STATES: StateTable<GroupState, GroupStep> = {
  before: { open: OPEN, object: OUTSIDE },
  between: { open: OPEN, object: OUTSIDE },
  group: {
    object: to('group', 'an object', 'the object'),
    open: to('group', 'a header, once a status line was read in the group (BT-10)'),
    close: to('between', '`}`'),
  },
};

type ShippedState =
  | 'greeting'
  | 'lines'
  | 'ungreeted groups'
  | 'groups'
  | 'member'
  | 'after member'
  | 'interface 2'
  | 'ended'
  | 'complete'
  | 'incomplete'
  | 'failed';
type ShippedStep =
  | 'version'
  | 'status'
  | 'refusal'
  | 'stop'
  | 'line'
  | 'proposed'
  | 'groups'
  | 'gzip'
  | 'member'
  | 'data'
  | 'end'
  | 'complete'
  | 'incomplete'
  | 'cut'
  | 'fail';

const FAIL = to('failed', 'another greeting, a limit, damaged data', 'an error');
const END = to('ended', 'the end');
const RESULT = {
  complete: to('complete', 'all has arrived (BT-19)'),
  incomplete: to('incomplete', 'the transfer has failed, or something is missing (BT-19)', 'the reason'),
} as const;
const CUT = to('incomplete', 'the end inside it', 'the reason');

/** Status lines, before the data and between objects. */
const status = <State extends ShippedState>(state: State) =>
  ({
    status: to(state, '`000`, or another status line', 'the line'),
    refusal: to(state, '`400`, `111`', 'the line; the transfer has failed'),
    stop: to('ended', '`099`, `499`', 'the line'),
  }) as const;

const BEFORE_DATA = {
  proposed: to('interface 2', '`200 - ` and the byte 00 (BP-29)'),
  gzip: to('member', '1F 8B (BT-13)'),
  end: END,
  fail: FAIL,
} as const;

/** The data, between status lines. */
const groups = <State extends ShippedState>(state: State) =>
  ({
    data: to(state, 'groups and objects', 'the objects'),
    ...status(state),
    end: END,
    fail: FAIL,
  }) as const;

/** The shipped format (part A). */
export const SHIPPED_STATES: StateTable<ShippedState, ShippedStep> = {
  greeting: {
    version: to('lines', '`200 - ` text', 'the version'),
    line: to('greeting', 'another line that begins with `200`', 'a warning'),
    groups: to('ungreeted groups', '`@`'),
    ...BEFORE_DATA,
  },
  lines: {
    ...status('lines'),
    line: to('lines', 'another line that begins with a digit', 'a warning'),
    groups: to('groups', '`@`, or another byte that is not a digit'),
    ...BEFORE_DATA,
  },
  'ungreeted groups': {
    version: to('groups', '`200 - ` text', 'the version'),
    ...groups('ungreeted groups'),
  },
  groups: groups('groups'),
  member: {
    member: to('after member', 'a gzip member of groups', 'the objects'),
    cut: CUT,
    fail: FAIL,
  },
  'after member': { end: { ...END, output: 'a warning, if data was skipped' } },
  'interface 2': {},
  ended: { ...RESULT },
  complete: {},
  incomplete: {},
  failed: {},
};

type ProposedState =
  | 'version'
  | 'header'
  | 'groups'
  | 'member'
  | 'list'
  | 'after groups'
  | 'trailer'
  | 'ended'
  | 'complete'
  | 'incomplete'
  | 'failed';
type ProposedStep =
  | 'version'
  | 'field'
  | 'groups'
  | 'data'
  | 'other'
  | 'gzip'
  | 'member'
  | 'list'
  | 'object'
  | 'object-count'
  | 'stats'
  | 'error'
  | 'end'
  | 'complete'
  | 'incomplete'
  | 'cut'
  | 'fail';

/** The exits of every state in which items are read. */
const BROKEN = {
  cut: to('incomplete', 'the end inside an item', 'the reason'),
  fail: to(
    'failed',
    'an unknown or misplaced token, a wrong magic number, a limit, damaged data',
    'an error',
  ),
} as const;
const TRAILER = {
  'object-count': to('trailer', 'OBJCOUNT', 'the count; a warning if it differs'),
  stats: to('trailer', 'STATS', 'the data'),
  error: to('trailer', 'ERROR', 'the error; the transfer has failed'),
} as const;
const WITHOUT_TRAILER = to('ended', 'the end', 'a Trailer is missing');

/** The interface of 1995 (part B), from its first token. */
export const PROPOSED_STATES: StateTable<ProposedState, ProposedStep> = {
  version: { version: to('header', 'Version with major 1', 'the version'), ...BROKEN },
  header: {
    field: to('header', 'an InfoField', 'the field'),
    groups: to('groups', '`@`'),
    gzip: to('member', 'STARTMARKER'),
    list: to('list', 'WARNING or RESOURCE'),
    ...TRAILER,
    end: WITHOUT_TRAILER,
    ...BROKEN,
  },
  groups: {
    data: to('groups', 'groups and objects', 'the objects'),
    other: to('after groups', 'another byte after a closing brace'),
    end: to('ended', 'the end after a closing brace'),
    ...BROKEN,
  },
  member: {
    member: to('after groups', 'a gzip member of groups, and ENDMARKER', 'the objects'),
    ...BROKEN,
  },
  'after groups': { ...TRAILER, end: END, ...BROKEN },
  list: {
    object: to('list', 'the items of an Object, to OBJEND', 'the object'),
    list: to('list', 'WARNING or RESOURCE'),
    ...TRAILER,
    end: WITHOUT_TRAILER,
    ...BROKEN,
  },
  trailer: { end: { ...END, output: 'a warning, if data was skipped (BP-25)' } },
  ended: { ...RESULT },
  complete: {},
  incomplete: {},
  failed: {},
};
