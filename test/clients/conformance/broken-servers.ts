// Gatherds with one defect each, to prove that the cases of the gatherd suite detect it.
import { BROKEN_COMPRESSION, READS_COMPRESSED } from './broken-compression.js';
import { ENTRIES, type Entry, entry } from './gatherd-reference.js';
import { CORRECT, EMPTY_SECTIONS, type GatherdBehavior, line, stream } from './simple-gatherd.js';

/** A gatherd with one defect, and the ids of the cases that it fails; it passes all others. */
export interface BrokenServer {
  readonly defect: string;
  readonly behavior: Partial<GatherdBehavior>;
  readonly fails: readonly string[];
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const edited = (bytes: Uint8Array, pattern: RegExp, replacement: string) =>
  Buffer.from(latin1(bytes).replace(pattern, replacement), 'latin1');
const [FIRST, ...OTHERS] = ENTRIES;

export const BROKEN_SERVERS: readonly BrokenServer[] = [
  {
    defect: 'no host name in the greeting',
    behavior: { greeting: '000 - HELLO 1.8' },
    fails: ['greeting/form'],
  },
  {
    defect: 'status lines end in CR LF',
    behavior: { eol: '\r\n' },
    fails: ['status/other-commands', 'status/lf-only', 'update/bad-timestamp-form', 'compression/line-form'],
  },
  {
    defect: 'status lines without the hyphen',
    behavior: { hello: () => line('100 hello') },
    fails: ['status/form'],
  },
  {
    defect: 'a CR stays part of the argument',
    behavior: { trim: (text) => text.replace(/^[ \t]+|[ \t]+$/g, '') },
    fails: ['lines/crlf', 'lines/empty', 'session/roads'],
  },
  {
    defect: 'verbs in lower case are unknown',
    behavior: { fold: (word) => (word === 'compression' ? 'COMPRESSION' : word) },
    fails: ['lines/any-case', 'compression/keyword-any-case'],
  },
  {
    defect: 'answers out of order',
    behavior: { arrange: (answers) => answers.toReversed() },
    fails: ['lines/pipelined', 'lines/too-long', 'help/listed', 'session/notes-1995', 'endurance/half-close'],
  },
  {
    defect: 'lines of 1024 bytes are too long',
    behavior: { maxLine: 1024 },
    fails: ['lines/longest'],
  },
  {
    defect: 'no limit for lines',
    behavior: { maxLine: Number.POSITIVE_INFINITY },
    fails: ['lines/too-long'],
  },
  {
    defect: 'HELLO is answered 200',
    behavior: { hello: () => line('200 - hello') },
    fails: [
      'lines/pipelined',
      'lines/longest',
      'hello/accepted',
      'hello/empty',
      'help/listed',
      'object/unknown',
      'info/next-command',
      'session/notes-1995',
      'session/beckett',
      'session/info',
      'endurance/half-close',
    ],
  },
  {
    defect: 'HELP forgets a command',
    behavior: { help: () => line('200 - HELLO HELP SEND-UPDATE SET compression QUIT') },
    fails: ['help/listed'],
  },
  {
    defect: 'unknown commands are answered 500',
    behavior: { unknown: () => line('500 - what') },
    fails: ['errors/unknown-command', 'object/no-argument'],
  },
  {
    defect: 'closes after an unknown command',
    behavior: { unknown: () => line('900 - what', true) },
    fails: ['status/other-commands', 'errors/session-goes-on'],
  },
  {
    defect: 'SET of anything is accepted',
    behavior: {
      set: (setting, session) => {
        session.compressed ||= setting === 'COMPRESSION';
        return line('500 - yes');
      },
    },
    fails: ['errors/unknown-setting'],
  },
  {
    defect: 'QUIT is not answered',
    behavior: { quit: () => ({ bytes: '', close: true }) },
    fails: [
      'status/other-commands',
      'status/form',
      'status/lf-only',
      'lines/pipelined',
      'quit/answered',
      'quit/closes',
      'compression/status-in-clear',
      'session/notes-1995',
      'session/beckett',
      'session/info',
      'endurance/half-close',
    ],
  },
  {
    defect: 'lines are sent after 999',
    behavior: { quit: () => line('999 - bye\n000 - really', true) },
    fails: ['quit/closes'],
  },
  {
    defect: 'an object whose time equals the time stamp is left out',
    behavior: { isSelected: ({ time }, since) => since === 0 || time > since },
    fails: ['update/boundary', 'update/only-newer'],
  },
  {
    defect: 'the time stamp is ignored',
    behavior: { isSelected: () => true },
    fails: ['update/only-newer', 'update/nothing-new'],
  },
  {
    defect: 'an extra line between 400 and the data',
    behavior: { startUpdate: () => '400 - update\nhere it comes\n' },
    fails: ['update/only-data', 'update/layout', 'update/nothing-new', ...READS_COMPRESSED],
  },
  {
    defect: 'a size that counts the line end',
    behavior: {
      wrap: (objects) => {
        const all = stream(`${EMPTY_SECTIONS}@UPDATE {\n`, objects);
        return edited(all, /Body\{5\}:\tplain\n/, 'Body{6}:\tplain\n');
      },
    },
    fails: ['update/only-data'],
  },
  {
    defect: 'a value ends in CR LF',
    behavior: {
      wrap: (objects) =>
        edited(stream(`${EMPTY_SECTIONS}@UPDATE {\n`, objects), /Body\{5\}:\tplain\n/, 'Body{5}:\tplain\r\n'),
    },
    fails: ['update/only-data'],
  },
  {
    defect: 'no wrappers',
    behavior: { wrap: (objects) => stream('', objects, '') },
    fails: ['update/wrapped', 'update/section-order', 'update/layout', 'update/nothing-new'],
  },
  {
    defect: 'wrappers on one line',
    behavior: { wrap: (objects) => stream('@DELETE { }\n@REFRESH { }\n@UPDATE {\n', objects) },
    fails: ['update/layout'],
  },
  {
    defect: 'sections in another order',
    behavior: { wrap: (objects) => stream('@REFRESH {\n}\n@DELETE {\n}\n@UPDATE {\n', objects) },
    fails: ['update/section-order', 'update/layout'],
  },
  {
    defect: '@UPDATE comes first',
    behavior: {
      wrap: (objects) => stream('@UPDATE {\n', objects, '}\n@DELETE {\n}\n@REFRESH {\n}\n'),
    },
    fails: ['update/section-order', 'update/layout'],
  },
  {
    defect: 'data in clear ends with 099',
    behavior: {
      endUpdate: (count, { compressed }) => line(`${compressed ? 499 : '099'} - ${count}`),
    },
    fails: ['update/end-number'],
  },
  {
    defect: 'refreshed objects in their section without SET changes',
    behavior: {
      wrap: (objects, since) =>
        since === 0
          ? CORRECT.wrap(objects, since, { compressed: false, updates: 0 })
          : Buffer.concat([
              stream('@DELETE {\n}\n@REFRESH {\n', objects.slice(0, 1)),
              stream('@UPDATE {\n', objects.slice(1)),
            ]),
    },
    fails: ['update/other-sections-empty'],
  },
  {
    defect: 'the newest objects are sent first',
    behavior: { entries: ENTRIES.toReversed() },
    fails: ['update/order'],
  },
  {
    defect: 'objects without Gatherer-Host',
    behavior: {
      entries: ENTRIES.map((one) => ({ ...one, soif: edited(one.soif, /Gatherer-Host.*\n/, '') })),
    },
    fails: ['update/required-attributes'],
  },
  {
    defect: 'the second update of a session lacks an object',
    behavior: {
      wrap: (objects, _since, { updates }) =>
        stream(`${EMPTY_SECTIONS}@UPDATE {\n`, updates > 1 ? objects.slice(1) : objects),
    },
    fails: ['update/several', 'endurance/does-not-read'],
  },
  {
    defect: 'a bad time stamp is answered 900',
    behavior: { badSince: () => line('900 - bad time') },
    fails: ['update/bad-timestamp'],
  },
  {
    defect: 'time stamps are read as JavaScript numbers',
    behavior: {
      parseSince: (argument) => (argument === '' || !(Number(argument) >= 0) ? undefined : Number(argument)),
    },
    fails: ['update/bad-timestamp'],
  },
  {
    defect: 'no 499: the connection is closed after the data',
    behavior: { endUpdate: () => ({ bytes: '', close: true }) },
    fails: [
      'status/form',
      'status/lf-only',
      'lines/lf',
      'lines/crlf',
      'lines/bytewise',
      'lines/pipelined',
      'lines/any-case',
      'lines/blanks',
      'lines/empty',
      'lines/too-long',
      'hello/optional',
      'update/everything',
      'update/end-number',
      'update/bad-timestamp',
      ...READS_COMPRESSED.filter((id) => !/same-content|incremental|beckett/.test(id)),
      'endurance/sessions',
      'endurance/close-inside-data',
      'endurance/reset-inside-data',
      'endurance/half-command',
    ],
  },
  {
    defect: 'SEND-OBJECT wraps the object',
    behavior: {
      object: (found) => ({
        bytes: Buffer.concat([
          Buffer.from('300 - object\n'),
          stream('@UPDATE {\n', [found]),
          Buffer.from('399 - ok\n'),
        ]),
      }),
    },
    fails: ['object/bare'],
  },
  {
    defect: 'SEND-OBJECT decodes percent signs',
    behavior: { find: (oid, entries) => entries.find(({ url }) => url === decodeURI(oid)) },
    fails: ['object/percent'],
  },
  {
    defect: 'SEND-OBJECT finds no object',
    behavior: { find: () => undefined },
    fails: [
      'object/known',
      'object/line-form',
      'object/bare',
      'object/same-bytes',
      'object/percent',
      'compression/object-in-clear',
    ],
  },
  {
    defect: 'SEND-OBJECT returns the first object for every name',
    behavior: { find: (_, entries) => entries[0] },
    fails: ['status/other-commands', 'object/known', 'object/same-bytes', 'object/percent', 'object/unknown'],
  },
  {
    defect: 'SEND-OBJECT returns another version than the update',
    behavior: {
      object: (found, session) =>
        CORRECT.object({ ...found, soif: edited(found.soif, /Gatherer-Host.*\n/, '') }, session),
    },
    fails: ['object/same-bytes', 'object/percent'],
  },
  {
    defect: 'SEND-OBJECT has no end line',
    behavior: {
      object: ({ soif }) => ({ bytes: Buffer.concat([Buffer.from('300 - object\n'), soif]), close: true }),
    },
    fails: [
      'object/known',
      'object/line-form',
      'object/bare',
      'object/same-bytes',
      'object/percent',
      'compression/object-in-clear',
    ],
  },
  {
    defect: 'an unknown object is answered 900',
    behavior: { noObject: () => line('900 - none') },
    fails: ['object/unknown'],
  },
  {
    defect: 'INFO without 600',
    behavior: { info: (object) => ({ bytes: object, close: true }) },
    fails: ['info/end-form', 'info/end', 'info/next-command', 'session/info'],
  },
  {
    defect: '600 before the object of INFO',
    behavior: { info: (object) => ({ bytes: Buffer.concat([Buffer.from('600 - info\n'), object]) }) },
    fails: ['info/order'],
  },
  {
    defect: 'INFO is not SOIF',
    behavior: { info: () => ({ bytes: 'Number of objects: 6\n', close: true }) },
    fails: [
      'info/end-form',
      'info/object',
      'info/end',
      'info/next-command',
      'info/order',
      'info/description',
      'info/contents',
      'compression/info-in-clear',
      'session/info',
    ],
  },
  {
    defect: 'INFO is another type of object',
    behavior: { describe: (entries) => edited(CORRECT.describe(entries), /^@GATHERER/, '@FILE') },
    fails: ['info/description'],
  },
  {
    defect: 'INFO counts wrongly',
    behavior: { describe: (entries) => CORRECT.describe(entries.slice(1)) },
    fails: ['info/contents'],
  },
  ...BROKEN_COMPRESSION,
  {
    defect: 'at most ten sessions are served',
    behavior: { admits: (sessions) => sessions <= 10 },
    fails: ['endurance/sessions'],
  },
  ...brokenChanges(),
];

/** Defects of SET changes, in a server that supports it, with its first object refreshed and another one deleted. */
function brokenChanges(): readonly BrokenServer[] {
  const bookkeeping = (one: Entry): Entry => ({ ...one, soif: edited(one.soif, /Body.*$/s, '}\n') });
  const deleted = entry('http://deleted.example.org/', 3500, 'gone');
  const changes = (
    refreshed: readonly Entry[],
    gone: readonly Entry[],
    updated: readonly Entry[] = OTHERS,
  ) => {
    const sessionsWithChanges = new WeakSet<object>();
    const behavior: Partial<GatherdBehavior> = {
      set: (setting, session) => {
        if (setting !== 'CHANGES') return CORRECT.set(setting, session);
        sessionsWithChanges.add(session);
        return line('500 - yes');
      },
      wrap: (objects, since, session) => {
        if (!sessionsWithChanges.has(session) || since === 0) return CORRECT.wrap(objects, since, session);
        const selected = (list: readonly Entry[]) => list.filter(({ time }) => time >= since);
        return Buffer.concat([
          stream('@DELETE {\n', selected(gone)),
          stream('@REFRESH {\n', selected(refreshed)),
          stream('@UPDATE {\n', selected(updated)),
        ]);
      },
    };
    return behavior;
  };
  if (FIRST === undefined) return [];
  return [
    {
      defect: 'none, and SET changes is supported',
      behavior: changes([bookkeeping(FIRST)], [bookkeeping(deleted)]),
      fails: [],
    },
    {
      defect: 'refreshed objects with their content',
      behavior: changes([FIRST], [bookkeeping(deleted)]),
      fails: ['changes/refreshed'],
    },
    {
      defect: 'deleted objects with their content',
      behavior: changes([bookkeeping(FIRST)], [deleted]),
      fails: ['changes/deleted'],
    },
    {
      defect: 'an updated object is left out of the changes',
      behavior: changes([bookkeeping(FIRST)], [bookkeeping(deleted)], OTHERS.slice(1)),
      fails: ['changes/nothing-lost'],
    },
  ];
}
