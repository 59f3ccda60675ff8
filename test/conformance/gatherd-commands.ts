// Mutants of how a gatherd reads commands: the proxy hands other lines to the own gatherd than the client has
// sent.
import { ENTRIES } from '../clients/conformance/gatherd-reference.js';
import type { GatherdChange } from './gatherd-link.js';
import { about, alone, type Mutant, readings, whole } from './mutant.js';

type GatherdMutant = Mutant<GatherdChange>;

/** A command that no gatherd knows. */
const UNKNOWN = 'FROB';

/** How a gatherd may take a URL for another one. */
const RESEMBLING: Readonly<Record<string, (url: string, asked: string) => boolean>> = {
  'takes a prefix for a URL': (url, asked) => url.startsWith(asked),
  'takes a prefix in other capitals for a URL': (url, asked) =>
    url.toLowerCase().startsWith(asked.toLowerCase()),
  'finds a URL that begins what is asked': (url, asked) => asked.startsWith(url),
  'finds a URL that is part of what is asked': (url, asked) => asked.includes(url),
  'takes a part for a URL': (url, asked) => url.includes(asked),
  'takes the end for a URL': (url, asked) => url.endsWith(asked),
  'compares URLs without case': (url, asked) => url.toLowerCase() === asked.toLowerCase(),
  'compares the first sixteen letters': (url, asked) => url.slice(0, 16) === asked.slice(0, 16),
  'ignores the last slash': (url, asked) => url.replace(/\/$/, '') === asked.replace(/\/$/, ''),
};

/** A gatherd that reads lines that match as others. */
function misreading(
  name: string,
  rule: string,
  pattern: RegExp,
  replacement: string,
  fails: readonly string[],
  only?: readonly string[],
): GatherdMutant {
  const mutant: GatherdMutant = {
    name,
    rule,
    change: { command: (line, end) => line.replace(pattern, replacement) + end },
    fails,
  };
  return only === undefined ? mutant : { ...mutant, only };
}
const misreadings = readings(misreading);

export const GATHERD_COMMAND_MUTANTS: readonly GatherdMutant[] = [
  ...about('GATHERD-1.4', ['lines/crlf', 'session/roads'], whole<GatherdChange>, {
    'a CR stays part of the argument': {
      command: (line, end) => (end === '\r\n' ? `${line}x\n` : line + end),
    },
  }),
  ...about('GATHERD-1.4', ['lines/lf', 'hello/accepted'], whole<GatherdChange>, {
    'commands must end in CR LF': { command: (line, end) => (end === '\n' ? UNKNOWN + end : line + end) },
  }),
  ...about('GATHERD-1.3', ['lines/bytewise'], whole<GatherdChange>, {
    'a command in pieces is malformed': {
      chunk: (text) => (text.length <= 3 && !text.endsWith('\n') ? '?' : text),
    },
  }),
  ...about('GATHERD-1.8', ['lines/pipelined', 'session/notes-1995'], whole<GatherdChange>, {
    'only the first command of a packet is read': {
      chunk: (text) => (/^HELLO .*\n./.test(text) ? `${text.split('\n')[0]}\nQUIT\n` : text),
    },
  }),
  ...about('GATHERD-2.5', ['hello/optional', 'update/everything'], whole<GatherdChange>, {
    'a session must begin with HELLO': {
      command: (line, end, lines) => (lines.some((one) => /^hello/i.test(one)) ? line : UNKNOWN) + end,
    },
  }),
  misreading('HELLO must have an argument', 'GATHERD-2.6', /^HELLO$/, UNKNOWN, ['hello/empty']),
  misreading('HELLO is not known', 'GATHERD-2.1', /^HELLO\b/i, UNKNOWN, ['hello/accepted', 'session/info']),
  misreading('HELP is not known', 'GATHERD-2.1', /^HELP\b/i, UNKNOWN, ['help/listed']),
  misreading('INFO is not known', 'GATHERD-2.2', /^INFO\b/i, UNKNOWN, ['info/object', 'info/end']),
  misreading('QUIT is not known', 'GATHERD-2.1', /^QUIT\b/i, UNKNOWN, ['quit/answered']),
  misreading('SEND-OBJECT is not known', 'GATHERD-2.1', /^SEND-OBJECT\b/i, UNKNOWN, [
    'object/known',
    'object/unknown',
  ]),
  misreading('SEND-UPDATE is not known', 'GATHERD-2.1', /^SEND-UPDATE\b/i, UNKNOWN, ['update/everything']),
  ...misreadings('GATHERD-2.3', ['lines/any-case'], {
    'verbs are known in upper case only': [/^(?=.*[a-z])(?:[A-Z]?[a-z-]+)+\b.*$/, UNKNOWN],
  }),
  misreading('the keyword of SET is known in lower case only', 'GATHERD-2.3', /COMPRESSION/, 'x', [
    'compression/keyword-any-case',
  ]),
  misreading('a tab does not separate an argument', 'GATHERD-2.4', /^.*\t.*$/, UNKNOWN, ['lines/blanks']),
  misreading('an empty line is answered', 'GATHERD-2.4', /^\s*$/, UNKNOWN, ['lines/empty']),
  misreading('lines of 8192 bytes are too long', 'GATHERD-2.4', /^.{8192}$/, UNKNOWN, ['lines/longest']),
  ...misreadings('GATHERD-2.4', ['lines/too-long'], {
    'a line that is too long is a command': [/^HELLO x{8000,}$/, 'HELLO x'],
    'a line that is too long ends the session': [/^.{8193,}$/, 'QUIT'],
  }),
  misreading('an unknown command ends the session', 'GATHERD-3.9', /^FETCH.*$/, 'QUIT', [
    'errors/session-goes-on',
  ]),
  misreading('an unknown command is HELP', 'GATHERD-3.9', /^FETCH.*$/, 'HELP', ['errors/unknown-command']),
  ...misreadings('GATHERD-6.10', ['errors/unknown-setting'], {
    'SET of anything is compression': [/^SET.*$/, 'SET compression'],
    'SET without an argument is compression': [/^SET$/, 'SET compression'],
  }),
  misreading('the time stamp is ignored', 'GATHERD-4.2', /^(SEND-UPDATE) .*\d+$/i, '$1 0', [
    'update/only-newer',
    'update/nothing-new',
  ]),
  misreading('0 is read as a time in the future', 'GATHERD-4.1', /^(SEND-UPDATE) 0$/, '$1 4000000000', [
    'update/zero',
  ]),
  misreading('the comparison of times is >', 'GATHERD-4.3', /^(SEND-UPDATE) 4000$/, '$1 4001', [
    'update/boundary',
  ]),
  ...misreadings('GATHERD-4.2', ['update/only-newer'], {
    'older objects are sent too': [/^(SEND-UPDATE) 3000$/, '$1 2000'],
    'times are compared after a margin': [/^(SEND-UPDATE) 3000$/, '$1 3999'],
  }),
  ...[8, 16, 24, 31, 32].map(
    (bits): GatherdMutant => ({
      name: `time stamps are cut to ${bits} bits`,
      rule: 'GATHERD-4.1',
      change: {
        command: (line, end) =>
          line.replace(
            /^(SEND-UPDATE) (\d{10,})$/,
            (_, verb, time) => `${verb} ${Number(time) % 2 ** bits}`,
          ) + end,
      },
      fails: ['update/large-timestamp'],
    }),
  ),
  ...misreadings('GATHERD-4.1', ['update/large-timestamp'], {
    'time stamps of eleven digits are everything': [/^(SEND-UPDATE) \d{11,}$/, '$1 0'],
    'time stamps above 2^32 are negative': [/^(SEND-UPDATE) [4-9]\d{9}$/, '$1 0'],
  }),
  ...[
    ['nothing', /^(SEND-UPDATE)$/],
    ['a word', /^(SEND-UPDATE) yesterday$/],
    ['a negative number', /^(SEND-UPDATE) -1$/],
    ['an exponent', /^(SEND-UPDATE) 1e3$/],
    ['a hexadecimal number', /^(SEND-UPDATE) 0x10$/],
  ].map(([what, pattern]) =>
    misreading(`${what} is a time stamp`, 'GATHERD-3.9', pattern as RegExp, '$1 0', ['update/bad-timestamp']),
  ),
  ...misreadings('GATHERD-5.1', ['object/percent'], {
    'SEND-OBJECT decodes percent signs': [/%25/, '%'],
    'SEND-OBJECT changes percent signs to capitals': [/%7e/, '%7E'],
    'SEND-OBJECT cuts a URL at a percent sign': [/^(SEND-OBJECT [^%]*)%.*$/, '$1'],
  }),
  ...misreadings('GATHERD-5.1', ['object/known', 'object/same-bytes', 'object/unknown'], {
    'SEND-OBJECT finds the object of another URL': [/^(SEND-OBJECT) .*$/, '$1 http://a.example.org/'],
  }),
  ...misreadings('GATHERD-5.1', ['object/known'], {
    'SEND-OBJECT finds only the first object': [/^(SEND-OBJECT) (?!http:\/\/a\.).*$/, '$1 x'],
  }),
  ...Object.entries(RESEMBLING).map(
    ([name, matches]): GatherdMutant => ({
      name: `SEND-OBJECT ${name}`,
      rule: 'GATHERD-5.1',
      change: {
        command: (line, end) => {
          const asked = /^SEND-OBJECT (\S+)$/i.exec(line)?.[1] ?? '';
          const found = ENTRIES.find(({ url }) => asked !== '' && matches(url, asked));
          return (found === undefined ? line : `SEND-OBJECT ${found.url}`) + end;
        },
      },
      fails: ['object/exact-url'],
    }),
  ),
  ...misreadings('GATHERD-3.9', ['object/no-argument'], {
    'SEND-OBJECT without an argument finds something': [/^SEND-OBJECT$/, 'SEND-OBJECT http://a.example.org/'],
  }),
  ...misreadings('GATHERD-6.1', ['compression/one-member', 'compression/stays-on'], {
    'SET compression is answered, but has no effect': [/^SET compression$/i, 'SET changes'],
  }),
  ...(
    [
      ['a client that leaves within a command stops the server', /SEND-UPDA$/, 'endurance/half-command'],
      [
        'a client that leaves within the data stops the server',
        /^SEND-UPDATE 0\n$/,
        'endurance/close-inside-data',
      ],
      [
        'a client that breaks off stops the server',
        /^(?:SEND-UPDATE 0\n){3}$/,
        'endurance/reset-inside-data',
      ],
      ['a client that leaves after QUIT stops the server', /^SEND-UPDATE 0\r\nQUIT\r\n$/, 'session/roads'],
    ] as const
  ).map(
    ([name, sent, fails]): GatherdMutant => ({
      name,
      rule: 'GATHERD-7.3',
      change: { weakness: { diesAfter: (text) => sent.test(text) } },
      fails: [fails],
      only: [fails],
    }),
  ),
  ...about('GATHERD-12.4', ['endurance/sessions'], alone<GatherdChange>, {
    'one session is served at a time': { weakness: { blockedBy: () => true } },
  }),
  ...about('GATHERD-12.4', ['endurance/does-not-read'], alone<GatherdChange>, {
    'a client that does not read stops the server': { weakness: { diesAt: (sent) => sent.length > 100 } },
  }),
];
