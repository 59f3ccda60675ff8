// Mutants of how a gatherd reads commands: the proxy hands other lines to the own gatherd than the client has sent.
import type { GatherdChange } from './gatherd-link.js';
import type { Mutant } from './mutant.js';

type GatherdMutant = Mutant<GatherdChange>;

/** A command that no gatherd knows. */
const UNKNOWN = 'FROB';

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

export const GATHERD_COMMAND_MUTANTS: readonly GatherdMutant[] = [
  {
    name: 'a CR stays part of the argument',
    rule: 'GATHERD-1.4',
    change: { command: (line, end) => (end === '\r\n' ? `${line}x\n` : line + end) },
    fails: ['lines/crlf', 'session/roads'],
  },
  {
    name: 'commands must end in CR LF',
    rule: 'GATHERD-1.4',
    change: { command: (line, end) => (end === '\n' ? UNKNOWN + end : line + end) },
    fails: ['lines/lf', 'hello/accepted'],
  },
  {
    name: 'a command in pieces is malformed',
    rule: 'GATHERD-1.3',
    change: { chunk: (text) => (text.length <= 3 && !text.endsWith('\n') ? '?' : text) },
    fails: ['lines/bytewise'],
  },
  {
    name: 'only the first command of a packet is read',
    rule: 'GATHERD-1.8',
    change: { chunk: (text) => (/^HELLO .*\n./.test(text) ? `${text.split('\n')[0]}\nQUIT\n` : text) },
    fails: ['lines/pipelined', 'session/notes-1995'],
  },
  {
    name: 'a session must begin with HELLO',
    rule: 'GATHERD-2.5',
    change: {
      command: (line, end, lines) => (lines.some((one) => /^hello/i.test(one)) ? line : UNKNOWN) + end,
    },
    fails: ['hello/optional', 'update/everything'],
  },
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
  misreading(
    'verbs are known in upper case only',
    'GATHERD-2.3',
    /^(?=.*[a-z])(?:[A-Z]?[a-z-]+)+\b.*$/,
    UNKNOWN,
    ['lines/any-case'],
  ),
  misreading('the keyword of SET is known in lower case only', 'GATHERD-2.3', /COMPRESSION/, 'x', [
    'compression/keyword-any-case',
  ]),
  misreading('a tab does not separate an argument', 'GATHERD-2.4', /^.*\t.*$/, UNKNOWN, ['lines/blanks']),
  misreading('an empty line is answered', 'GATHERD-2.4', /^\s*$/, UNKNOWN, ['lines/empty']),
  misreading('lines of 8192 bytes are too long', 'GATHERD-2.4', /^.{8192}$/, UNKNOWN, ['lines/longest']),
  misreading('a line that is too long is a command', 'GATHERD-2.4', /^HELLO x{8000,}$/, 'HELLO x', [
    'lines/too-long',
  ]),
  misreading('a line that is too long ends the session', 'GATHERD-2.4', /^.{8193,}$/, 'QUIT', [
    'lines/too-long',
  ]),
  misreading('an unknown command ends the session', 'GATHERD-3.9', /^FETCH.*$/, 'QUIT', [
    'errors/session-goes-on',
  ]),
  misreading('an unknown command is HELP', 'GATHERD-3.9', /^FETCH.*$/, 'HELP', ['errors/unknown-command']),
  misreading('SET of anything is compression', 'GATHERD-6.10', /^SET.*$/, 'SET compression', [
    'errors/unknown-setting',
  ]),
  misreading('SET without an argument is compression', 'GATHERD-6.10', /^SET$/, 'SET compression', [
    'errors/unknown-setting',
  ]),
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
  misreading('older objects are sent too', 'GATHERD-4.2', /^(SEND-UPDATE) 3000$/, '$1 2000', [
    'update/only-newer',
  ]),
  misreading('times are compared after a margin', 'GATHERD-4.2', /^(SEND-UPDATE) 3000$/, '$1 3999', [
    'update/only-newer',
  ]),
  ...[
    ['nothing', /^(SEND-UPDATE)$/],
    ['a word', /^(SEND-UPDATE) yesterday$/],
    ['a negative number', /^(SEND-UPDATE) -1$/],
    ['an exponent', /^(SEND-UPDATE) 1e3$/],
    ['a hexadecimal number', /^(SEND-UPDATE) 0x10$/],
  ].map(([what, pattern]) =>
    misreading(`${what} is a time stamp`, 'GATHERD-3.9', pattern as RegExp, '$1 0', ['update/bad-timestamp']),
  ),
  misreading('SEND-OBJECT decodes percent signs', 'GATHERD-5.1', /%25/, '%', ['object/percent']),
  misreading('SEND-OBJECT changes percent signs to capitals', 'GATHERD-5.1', /%7e/, '%7E', [
    'object/percent',
  ]),
  misreading('SEND-OBJECT cuts a URL at a percent sign', 'GATHERD-5.1', /^(SEND-OBJECT [^%]*)%.*$/, '$1', [
    'object/percent',
  ]),
  misreading(
    'SEND-OBJECT finds the object of another URL',
    'GATHERD-5.1',
    /^(SEND-OBJECT) .*$/,
    '$1 http://a.example.org/',
    ['object/known', 'object/same-bytes', 'object/unknown'],
  ),
  misreading(
    'SEND-OBJECT finds only the first object',
    'GATHERD-5.1',
    /^(SEND-OBJECT) (?!http:\/\/a\.).*$/,
    '$1 x',
    ['object/known'],
  ),
  misreading(
    'SEND-OBJECT without an argument finds something',
    'GATHERD-3.9',
    /^SEND-OBJECT$/,
    'SEND-OBJECT http://a.example.org/',
    ['object/no-argument'],
  ),
  misreading(
    'SET compression is answered, but has no effect',
    'GATHERD-6.1',
    /^SET compression$/i,
    'SET changes',
    ['compression/one-member', 'compression/stays-on'],
  ),
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
  {
    name: 'one session is served at a time',
    rule: 'GATHERD-12.4',
    change: { weakness: { blockedBy: () => true } },
    fails: ['endurance/sessions'],
    only: ['endurance/sessions'],
  },
  {
    name: 'a client that does not read stops the server',
    rule: 'GATHERD-12.4',
    change: { weakness: { diesAt: (sent) => sent.length > 100 } },
    fails: ['endurance/does-not-read'],
    only: ['endurance/does-not-read'],
  },
];
