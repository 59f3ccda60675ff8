// The commands of gatherd (GATHERD-2): one row each, which the server's session, the client's lines, HELP, the
// log and the README read.
import { trimBlanks } from '../ascii.js';
import { UsageError } from '../errors.js';
import { isHttpLine } from '../http-line.js';
import { textOfUrl } from '../soif/index.js';
import { excerpt } from '../visible-text.js';
import { GATHERD_CODES as CODE, encodeLine, encodeStatusLine, encodeStatusLines } from './vocabulary.js';

/** A form of a command: in HELP, and in the README. */
interface CommandForm {
  readonly usage: string;
  readonly meaning: string;
  /** What the server sends. */
  readonly answer: string;
  readonly rules: string;
}

/**
 * What `SET` can turn on (GATHERD-6), with the title in the answer. `changes` and `line-end` are extensions of
 * this kit.
 */
const SETTINGS = {
  compression: {
    title: 'Compression',
    meaning: 'compress the transfers that follow',
    answer: '`500`; from now on the stream is one gzip member, the lines stay plain',
    rules: '6',
  },
  changes: {
    title: 'Changes',
    meaning: 'use the sections for deleted and refreshed objects',
    answer: '`500`; from now on `@DELETE` and `@REFRESH` may be used (ours)',
    rules: '6.11, 4.4',
  },
  sequence: {
    title: 'Sequence',
    meaning: 'number the changes; SET sequence <database> <number> asks for those after one',
    answer: '`500`; from now on `499` names the database and the number of its last change (ours)',
    rules: '6.13',
  },
  'line-end': {
    title: 'Line end after compressed data',
    meaning: 'send a line end between compressed data and its end line',
    answer: '`500`; from now on one LF stands between compressed data and its `499` (ours)',
    rules: '6.12',
  },
} as const;
export type SessionSetting = keyof typeof SETTINGS;

/** A change of a database by its number (GATHERD-6.13). */
export interface SequenceMark {
  /** The name of the database. */
  readonly origin: string;
  readonly sequence: number;
}

/** A command of a client. */
export type GatherdCommand =
  | { readonly kind: 'hello'; readonly name: string }
  | { readonly kind: 'help' }
  | { readonly kind: 'info' }
  /** The identifier is the URL, one character a byte (GATHERD-5.1). */
  | { readonly kind: 'object'; readonly oid: string }
  | { readonly kind: 'update'; readonly since: number }
  | { readonly kind: 'set'; readonly option: SessionSetting }
  /** `SET sequence` with a change, after which the client asks. */
  | { readonly kind: 'sequence'; readonly mark: SequenceMark }
  | { readonly kind: 'quit' }
  | { readonly kind: 'bad-timestamp' }
  | { readonly kind: 'bad-argument'; readonly text: string }
  | { readonly kind: 'unknown'; readonly verb: string }
  /** A line of an HTTP request: a browser sends what a page of another site has chosen. */
  | { readonly kind: 'http'; readonly verb: string };

/** What a session of a server has agreed to. */
export interface AgreedSettings {
  /** What `SET` has turned on. A session cannot turn it off (GATHERD-6.1). */
  readonly on: Set<SessionSetting>;
  /** What this server does not offer (GATHERD-6.9). */
  readonly unavailable: ReadonlySet<SessionSetting>;
  /** The change after which the client asks, from its last `SET sequence`; the database has it. */
  mark?: SequenceMark | undefined;
}

/** Data that the owner of a server's session delivers; then it calls `dataDone`, or `fail` if it cannot. */
export type DataRequest =
  /** Send the wrapped stream (GATHERD-4.4, 6.3). */
  | {
      readonly kind: 'update';
      readonly since: number;
      readonly compressed: boolean;
      readonly sections: boolean;
      /** The changes after this one instead; everything if the database has it no longer. */
      readonly after?: SequenceMark | undefined;
    }
  /** Look the object up. */
  | { readonly kind: 'object'; readonly oid: string }
  /** Build the description of the database. */
  | { readonly kind: 'info' }
  /** Look whether the change led to the database (GATHERD-6.13). */
  | { readonly kind: 'sequence'; readonly mark: SequenceMark };

/** An update that was sent. */
export interface UpdateResult {
  /** Number of objects of the stream. */
  readonly objects: number;
  /** The last change of the database; absent if its changes have no numbers. */
  readonly last?: SequenceMark | undefined;
}

/** What the owner of a server's session delivers, by the kind of the request. */
export interface DataResults {
  /** The number of objects of the stream that it has sent, or more about it. */
  readonly update: number | UpdateResult;
  /** The object as stored; undefined if it does not exist. */
  readonly object: Uint8Array | undefined;
  /** One SOIF object. */
  readonly info: Uint8Array;
  /** Whether the database has the change. */
  readonly sequence: boolean;
}

/** What follows a command, in this order. Commands are legal while no data is delivered. */
export interface CommandReply {
  readonly bytes?: Uint8Array;
  /** The session takes no command until this is delivered. */
  readonly data?: DataRequest;
  /** The session is over; the rest of the input is ignored. */
  readonly closes?: true;
}

/** A kind of command. */
interface CommandRow<C extends GatherdCommand> {
  /** None for a line that is no command. */
  readonly forms: readonly CommandForm[];
  /** Reads the argument; '' if it is absent. Absent if the row has no forms. */
  readonly parse?: (argument: string, verb: string) => GatherdCommand;
  /** The command as the log shows it. */
  log(command: C): string;
  reply(command: C, settings: AgreedSettings): CommandReply;
}

/** A kind of command that requests data. */
interface DataRow<C extends GatherdCommand, R> extends CommandRow<C> {
  /** What the server sends when the data is delivered. */
  end(result: R, command: C, settings: AgreedSettings): readonly Uint8Array[];
}

export type CommandOf<K extends GatherdCommand['kind']> = Extract<GatherdCommand, { readonly kind: K }>;
type CommandRows = {
  readonly [K in GatherdCommand['kind']]: K extends keyof DataResults
    ? DataRow<CommandOf<K>, DataResults[K]>
    : CommandRow<CommandOf<K>>;
};

const LINE_END = Uint8Array.of(0x0a);

const ROWS: CommandRows = {
  hello: {
    forms: [
      {
        usage: 'HELLO <hostname>',
        meaning: 'friendly greeting',
        answer: '`100`; the command may be left out',
        rules: '2.5, 2.6',
      },
    ],
    parse: (name) => ({ kind: 'hello', name }), // may be empty, GATHERD-2.6
    log: ({ name }) => `HELLO ${excerpt(textOfUrl(name))}`,
    reply: ({ name }) => status(CODE.hello, `HELLO ${excerpt(name)}`),
  },
  help: {
    forms: [
      {
        usage: 'HELP',
        meaning: 'this list',
        answer: '`200` lines',
        rules: '3.2',
      },
    ],
    parse: () => ({ kind: 'help' }),
    log: () => 'HELP',
    reply: () => ({ bytes: HELP }),
  },
  info: {
    forms: [
      {
        usage: 'INFO',
        meaning: 'send a description of the database',
        answer: 'one object, then `600`; a client accepts 600 before or after, 699, or nothing',
        rules: '3.6, 8',
      },
    ],
    parse: () => ({ kind: 'info' }),
    log: () => 'INFO',
    reply: () => ({ data: { kind: 'info' } }),
    // GATHERD-3.6: the object first, then 600.
    end: (object) => [object, encodeStatusLine(CODE.info, 'End of INFO')],
  },
  object: {
    forms: [
      {
        usage: 'SEND-OBJECT <oid>',
        meaning: 'send one object',
        answer: '`300`, the bare object, `399`; unknown object: only `399` (ours)',
        rules: '3.8, 5',
      },
    ],
    parse: (oid, verb) => (oid === '' ? { kind: 'bad-argument', text: verb } : { kind: 'object', oid }),
    log: ({ oid }) => `SEND-OBJECT ${excerpt(textOfUrl(oid))}`,
    reply: ({ oid }) => ({ data: { kind: 'object', oid } }),
    end(object, { oid }) {
      // GATHERD-3.8: 399 in any case, so that a client can wait for it.
      if (object === undefined) return [encodeStatusLine(CODE.objectEnd, `No such object ${excerpt(oid)}`)];
      return [
        encodeStatusLine(CODE.objectStart, `Sending object ${excerpt(oid)}`),
        object,
        encodeStatusLine(CODE.objectEnd, 'Sent object'),
      ];
    },
  },
  update: {
    forms: [
      {
        usage: 'SEND-UPDATE <timestamp>',
        meaning: 'send all objects created or changed since the time stamp',
        answer: '`400`, the wrapped stream, `499`; bad argument: only `499` (ours)',
        rules: '3.7, 3.9, 4',
      },
    ],
    parse(argument) {
      const since = parseTimestamp(argument);
      return since === undefined ? { kind: 'bad-timestamp' } : { kind: 'update', since };
    },
    log: ({ since }) => `SEND-UPDATE ${since}`,
    reply: ({ since }, { on, mark }) => ({
      ...status(CODE.updateStart, `Sending all objects since ${since}`),
      data: {
        kind: 'update',
        since,
        compressed: on.has('compression'),
        sections: on.has('changes'),
        after: since === 0 ? undefined : mark,
      },
    }),
    end(result, _, { on }) {
      const { objects, last }: UpdateResult = typeof result === 'number' ? { objects: result } : result;
      const numbers =
        last !== undefined && on.has('sequence') ? `; sequence ${last.origin} ${last.sequence}` : '';
      const line = encodeStatusLine(CODE.updateEnd, `Sent ${objects} objects${numbers}`);
      // No command runs during an update, so these settings are those of its data.
      return on.has('compression') && on.has('line-end') ? [LINE_END, line] : [line];
    },
  },
  set: {
    forms: Object.entries(SETTINGS).map(([option, form]) => ({ ...form, usage: `SET ${option}` })),
    parse(argument, verb) {
      const option = argument.toLowerCase();
      if (isSetting(option)) return { kind: 'set', option };
      const mark = parseMark(argument);
      if (mark !== undefined) return { kind: 'sequence', mark };
      return { kind: 'bad-argument', text: argument === '' ? verb : argument };
    },
    log: ({ option }) => `SET ${option}`,
    reply({ option }, settings) {
      const { on, unavailable } = settings;
      const { title } = SETTINGS[option];
      if (unavailable.has(option)) return status(CODE.error, `${title} not available`);
      on.add(option);
      if (option === 'sequence') settings.mark = undefined;
      return status(CODE.set, `${title} enabled`);
    },
  },
  sequence: {
    forms: [],
    log: ({ mark }) => `SET sequence ${mark.origin} ${mark.sequence}`,
    reply: ({ mark }) => ({ data: { kind: 'sequence', mark } }),
    end(isKnown, { mark }, settings) {
      if (!isKnown)
        return [encodeStatusLine(CODE.error, `Bad argument: sequence ${mark.origin} ${mark.sequence}`)];
      settings.on.add('sequence');
      settings.mark = mark;
      return [encodeStatusLine(CODE.set, `${SETTINGS.sequence.title} enabled`)];
    },
  },
  quit: {
    forms: [
      {
        usage: 'QUIT',
        meaning: 'close the session',
        answer: '`999` and close',
        rules: '3.1',
      },
    ],
    parse: () => ({ kind: 'quit' }),
    log: () => 'QUIT',
    reply: () => ({ ...status(CODE.bye, 'Bye'), closes: true }),
  },
  'bad-timestamp': {
    forms: [],
    log: () => 'SEND-UPDATE with a bad time stamp',
    // GATHERD-3.9: the client waits for 499, so it gets 499.
    reply: () => status(CODE.updateEnd, 'Bad timestamp'),
  },
  'bad-argument': {
    forms: [],
    log: ({ text }) => `bad argument: ${excerpt(text)}`,
    reply: ({ text }) => status(CODE.error, `Bad argument: ${excerpt(text)}`),
  },
  unknown: {
    forms: [],
    log: ({ verb }) => `unknown command: ${excerpt(verb)}`,
    reply: ({ verb }) => status(CODE.error, `Unknown command: ${excerpt(verb)}`),
  },
  http: {
    forms: [],
    log: ({ verb }) => `HTTP request, closed: ${excerpt(verb)}`,
    // GATHERD-3.12: the rest of a browser's request must not be read as commands.
    reply: () => ({ ...status(CODE.error, 'Unknown command: this is not an HTTP server'), closes: true }),
  },
};

/** The forms of all commands, in the order of `HELP` (GATHERD-2.1, 2.2, 6.11, 6.12). */
export const GATHERD_COMMANDS: readonly CommandForm[] = Object.values(ROWS).flatMap(({ forms }) => forms);

/**
 * The reply to `HELP`, encoded once: a client may send many of these five bytes, and each costs some 400 bytes
 * of output.
 */
const HELP: Uint8Array = encodeStatusLines(
  CODE.help,
  GATHERD_COMMANDS.map(({ usage, meaning }) => `${usage}  ${meaning}`),
);

const PARSERS = new Map(
  Object.values(ROWS).flatMap(({ forms, parse }) => {
    const [form] = forms;
    return form === undefined || parse === undefined ? [] : [[verbOf(form), parse] as const];
  }),
);

function verbOf({ usage }: CommandForm): string {
  return usage.replace(/ .*/, '');
}

/**
 * Parses one client line, one character a byte, without its terminator; undefined for an empty one
 * (GATHERD-2.4). Verbs and keywords match without regard to case (GATHERD-2.3). Never throws: a wrong command
 * has its own kind.
 */
export function parseCommand(line: string): GatherdCommand | undefined {
  const words = trimBlanks(line);
  if (words === '') return undefined;
  const blank = words.search(/[ \t]/);
  const verb = blank < 0 ? words : words.slice(0, blank);
  const argument = blank < 0 ? '' : trimBlanks(words.slice(blank));
  if (isHttpLine(words)) return { kind: 'http', verb };
  return PARSERS.get(verb.toUpperCase())?.(argument, verb) ?? { kind: 'unknown', verb };
}

/** Returns a command as the log shows it. */
export function describeCommand(command: GatherdCommand): string {
  return rowOf(command).log(command);
}

/** Answers a command. `SET` changes the settings. */
export function replyTo(command: GatherdCommand, settings: AgreedSettings): CommandReply {
  return rowOf(command).reply(command, settings);
}

/** Returns what the server sends when the data of a command is delivered. */
export function endOf<K extends keyof DataResults>(
  kind: K,
  command: CommandOf<K>,
  result: DataResults[K],
  settings: AgreedSettings,
): readonly Uint8Array[] {
  const row = ROWS[kind] as DataRow<CommandOf<K>, DataResults[K]>;
  return row.end(result, command, settings);
}

/** The row fits the command: it has its kind. */
function rowOf({ kind }: GatherdCommand): CommandRow<GatherdCommand> {
  return ROWS[kind] as CommandRow<GatherdCommand>;
}

/** Encodes the line of a command in the spelling of the specification (GATHERD-2.3). */
export function commandLine(kind: keyof typeof ROWS, argument?: string): Uint8Array {
  const verb = ROWS[kind].forms.map(verbOf)[0];
  if (verb === undefined) throw new UsageError(`${kind} is not a command of a client`);
  return encodeLine(argument === undefined ? verb : `${verb} ${argument}`);
}

/** Parses decimal seconds (GATHERD-4.1): digits only, at most `MAX_SAFE_INTEGER`. */
export function parseTimestamp(text: string): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined;
  const since = Number(text);
  return Number.isSafeInteger(since) ? since : undefined;
}

/** Parses the argument `sequence DATABASE NUMBER` of `SET` (GATHERD-6.13). */
function parseMark(argument: string): SequenceMark | undefined {
  const [, origin = '', number = ''] =
    /^sequence[ \t]+([0-9A-Za-z-]{1,64})[ \t]+(\d+)$/i.exec(argument) ?? [];
  const sequence = parseTimestamp(number);
  return sequence === undefined ? undefined : { origin, sequence };
}

/** The last change of the database in the text of an end line; undefined if it names none (GATHERD-6.13). */
export function markOf(endText: string): SequenceMark | undefined {
  const [, origin = '', number = ''] = /; sequence ([0-9A-Za-z-]{1,64}) (\d+)\s*$/.exec(endText) ?? [];
  const sequence = parseTimestamp(number);
  return sequence === undefined ? undefined : { origin, sequence };
}

function isSetting(text: string): text is SessionSetting {
  return Object.hasOwn(SETTINGS, text);
}

function status(code: number, text: string): { readonly bytes: Uint8Array } {
  return { bytes: encodeStatusLine(code, text) };
}
