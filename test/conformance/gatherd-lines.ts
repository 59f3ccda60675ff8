// Mutants of a gatherd's status lines: their form, their numbers, lines too many and too few.
import type { Dialogue, GatherdChange, Part } from './gatherd-link.js';
import { FORM_DEFECTS, NUMBER_DEFECTS, withCode } from './lines.js';
import { about, alone, type Mutant } from './mutant.js';
import type { Sent } from './proxy.js';

type GatherdMutant = Mutant<GatherdChange>;

/** One kind of status line of the own gatherd. */
interface LineKind {
  readonly name: string;
  readonly code: string;
  /** Default: every line with this number. */
  readonly when?: (part: Part, dialogue: Dialogue) => boolean;
  /** The rule that gives the number. */
  readonly rule: string;
  /** The cases about the form of the line. */
  readonly form: readonly string[];
  /** The cases about its number. */
  readonly number: readonly string[];
  /** Numbers that may stand there as well, so that they are no defect. */
  readonly free?: readonly string[];
}

const settings = (dialogue: Dialogue) => dialogue.commands.filter((line) => /^set\b/i.test(line));

const LINE_KINDS: readonly LineKind[] = [
  {
    name: 'the greeting',
    code: '000',
    rule: 'GATHERD-3.1',
    form: ['status/form'],
    number: ['greeting/form'],
  },
  {
    name: 'the answer to HELLO',
    code: '100',
    rule: 'GATHERD-3.1',
    form: ['status/form'],
    number: ['hello/accepted'],
  },
  {
    name: 'a line of HELP',
    code: '200',
    rule: 'GATHERD-3.2',
    form: ['status/other-commands'],
    number: ['help/listed'],
  },
  {
    name: 'the line before an object',
    code: '300',
    rule: 'GATHERD-3.2',
    form: ['object/line-form'],
    number: ['object/known'],
  },
  {
    name: 'the line after an object',
    code: '399',
    when: (_, { after }) => after === 'object',
    rule: 'GATHERD-3.2',
    form: ['object/line-form'],
    number: ['object/known'],
  },
  {
    name: 'the answer about an unknown object',
    code: '399',
    when: (_, { after }) => after === undefined,
    rule: 'GATHERD-3.8',
    form: ['status/other-commands'],
    number: ['object/unknown'],
  },
  {
    name: 'the line before an update',
    code: '400',
    when: ({ isPacked }) => !isPacked,
    rule: 'GATHERD-3.1',
    form: ['status/form'],
    number: ['update/everything'],
  },
  {
    name: 'the line after an update',
    code: '499',
    when: ({ isPacked }, { after }) => !isPacked && after === 'stream',
    rule: 'GATHERD-3.1',
    form: ['status/form'],
    number: ['update/end-number'],
  },
  {
    name: 'the line before a compressed update',
    code: '400',
    when: ({ isPacked }) => isPacked,
    rule: 'GATHERD-6.2',
    form: ['compression/line-form'],
    number: ['compression/status-in-clear'],
  },
  {
    name: 'the line after a compressed update',
    code: '499',
    when: ({ isPacked }) => isPacked,
    rule: 'GATHERD-6.2',
    form: ['compression/line-form'],
    number: ['compression/end-number'],
  },
  {
    name: 'the answer about a bad time stamp',
    code: '499',
    when: (_, { after }) => after === undefined,
    rule: 'GATHERD-3.9',
    form: ['update/bad-timestamp-form'],
    number: ['update/bad-timestamp'],
  },
  {
    name: 'the answer to SET compression',
    code: '500',
    when: (_, dialogue) => /compression/i.test(settings(dialogue).join()),
    rule: 'GATHERD-3.1',
    form: ['status/other-commands'],
    number: ['compression/accepted'],
    free: ['900'],
  },
  {
    name: 'the line after INFO',
    code: '600',
    rule: 'GATHERD-3.1',
    form: ['info/end-form'],
    number: ['info/end'],
  },
  {
    name: 'the answer to an unknown command',
    code: '900',
    when: (_, { commands }) => !/^set\b/i.test(commands.at(-1) ?? ''),
    rule: 'GATHERD-3.9',
    form: ['status/other-commands'],
    number: ['errors/unknown-command'],
  },
  {
    name: 'the answer to QUIT',
    code: '999',
    rule: 'GATHERD-3.1',
    form: ['status/form'],
    number: ['quit/answered'],
  },
];

const CODES = ['000', '099', '100', '300', '400', '499', '500', '900', '999'];

function isLine({ code, when }: LineKind, part: Part, dialogue: Dialogue): boolean {
  return part.code === code && (when?.(part, dialogue) ?? true);
}

function onLine(kind: LineKind, edit: (line: string) => string | Sent): GatherdChange {
  return { part: (part, dialogue) => (isLine(kind, part, dialogue) ? edit(part.text) : part.text) };
}

/** GATHERD-1.5: a CR at the end is a defect of its own. */
function formCases(kind: LineKind, defect: string): readonly string[] {
  const isAboutEnds = defect === 'ends in CR LF' && kind.form[0] === 'status/form';
  return isAboutEnds ? ['status/lf-only'] : kind.form;
}

const FORMS = LINE_KINDS.flatMap((kind) =>
  FORM_DEFECTS.map(
    ({ name, edit }): GatherdMutant => ({
      name: `${kind.name} ${name}`,
      rule: name.includes('CR') ? 'GATHERD-1.5' : 'GATHERD-1.6',
      change: onLine(kind, edit),
      fails: formCases(kind, name),
    }),
  ),
);

/** What precedes three digits after a member is not part of the line. */
function isInGap({ name }: LineKind, defect: string): boolean {
  return name === 'the line after a compressed update' && defect !== 'has a number of two digits';
}

const NUMBERS = LINE_KINDS.flatMap((kind) => [
  ...NUMBER_DEFECTS.map(
    ({ name, edit }): GatherdMutant => ({
      name: `${kind.name} ${name}`,
      rule: 'GATHERD-1.6',
      change: onLine(kind, edit),
      fails: isInGap(kind, name) ? ['compression/end-line-directly'] : kind.number,
    }),
  ),
  ...CODES.filter((other) => other !== kind.code && kind.free?.includes(other) !== true).map(
    (other): GatherdMutant => ({
      name: `${kind.name} has the number ${other}`,
      rule: kind.rule,
      change: onLine(kind, (line) => withCode(line, other)),
      fails: kind.number,
    }),
  ),
]);

const kindNamed = (name: string): LineKind => {
  const kind = LINE_KINDS.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`no line ${name}`);
  return kind;
};

/** A mutant that changes one kind of line. */
function lineMutant(
  name: string,
  verb: string,
  rule: string,
  edit: (line: string) => string | Sent,
  fails: readonly string[],
  only?: readonly string[],
): GatherdMutant {
  const mutant = { name: `${name} ${verb}`, rule, change: onLine(kindNamed(name), edit), fails };
  return only === undefined ? mutant : { ...mutant, only };
}

/** Mutants about one rule that change the same kind of line and must fail the same cases. */
function lineMutants(
  name: string,
  rule: string,
  fails: readonly string[],
  edits: Readonly<Record<string, (line: string) => string | Sent>>,
): readonly GatherdMutant[] {
  return Object.entries(edits).map(([verb, edit]) => lineMutant(name, verb, rule, edit, fails));
}

const twice = (line: string) => line + line;
const before = (text: string) => (line: string) => text + line;
const after = (text: string) => (line: string) => line + text;
const closing = (line: string): Sent => ({ text: line, action: 'close' });
const cut = (line: string): Sent => ({ text: line.slice(0, -1), action: 'close' });

const AMOUNTS: readonly GatherdMutant[] = [
  lineMutant('the greeting', 'comes twice', 'GATHERD-3.1', twice, ['hello/accepted', 'lines/pipelined']),
  lineMutant('the greeting', 'has no host name', 'GATHERD-3.5', (line) => line.replace(/ \S+\n/, '\n'), [
    'greeting/form',
  ]),
  ...lineMutants('the greeting', 'GATHERD-3.1', ['greeting/form'], {
    'has a tab in it': (line) => line.replace('HELLO ', 'HELLO\t'),
    'says hello in lower case': (line) => line.replace('HELLO', 'hello'),
    'says something else': (line) => line.replace('HELLO', 'Welcome'),
    'has two blanks in it': (line) => line.replace('HELLO ', 'HELLO  '),
    'follows an empty line': before('\n'),
    'follows another line': before('200 - welcome\n'),
  }),
  lineMutant('the greeting', 'precedes an empty line', 'GATHERD-3.1', after('\n'), ['hello/accepted']),
  lineMutant('the answer to HELLO', 'comes twice', 'GATHERD-1.8', twice, ['lines/pipelined']),
  lineMutant('the answer to HELLO', 'follows another line', 'GATHERD-3.1', before('150 - hm\n'), [
    'hello/accepted',
  ]),
  lineMutant('the answer to HELLO', 'precedes an empty line', 'GATHERD-1.6', after('\n'), [
    'lines/pipelined',
  ]),
  lineMutant('the answer to HELLO', 'ends the connection', 'GATHERD-3.1', closing, ['lines/pipelined']),
  lineMutant('the answer to HELLO', 'has no end', 'GATHERD-1.3', cut, ['hello/accepted']),
  lineMutant(
    'the answer to HELLO',
    'is missing',
    'GATHERD-3.1',
    () => '',
    ['hello/accepted', 'hello/empty'],
    ['hello/*'],
  ),
  lineMutant('the line before an object', 'is missing', 'GATHERD-3.2', () => '', ['object/known']),
  lineMutant('the line before an object', 'comes twice', 'GATHERD-3.2', twice, ['object/bare']),
  lineMutant('the line before an object', 'precedes an empty line', 'GATHERD-5.2', after('\n'), [
    'object/bare',
  ]),
  lineMutant('the line after an object', 'follows an empty line', 'GATHERD-5.2', before('\n'), [
    'object/known',
  ]),
  lineMutant('the line after an object', 'comes twice', 'GATHERD-3.2', twice, ['object/known']),
  lineMutant('the line after an object', 'precedes an empty line', 'GATHERD-3.2', after('\n'), [
    'object/known',
  ]),
  lineMutant('the line after an object', 'ends the connection', 'GATHERD-3.2', closing, ['object/known']),
  ...lineMutants('the answer about an unknown object', 'GATHERD-3.8', ['object/unknown'], {
    'comes twice': twice,
    'ends the connection': closing,
    'follows 300': before('300 - Sending object\n'),
  }),
  lineMutant('the line before an update', 'is missing', 'GATHERD-3.1', () => '', ['update/everything']),
  lineMutant('the line before an update', 'comes twice', 'GATHERD-3.7', twice, ['update/everything']),
  lineMutant('the line before an update', 'precedes an empty line', 'SOIF-8.8', after('\n'), [
    'update/layout',
  ]),
  lineMutant('the line before an update', 'follows another line', 'GATHERD-3.1', before('450 - looking\n'), [
    'update/everything',
  ]),
  lineMutant('the line before an update', 'ends the connection', 'GATHERD-3.7', closing, [
    'update/everything',
  ]),
  ...lineMutants('the line after an update', 'GATHERD-3.1', ['update/everything'], {
    'is missing, and the connection ends': () => ({ text: '', action: 'close' }),
  }),
  lineMutant('the line after an update', 'follows an empty line', 'SOIF-8.8', before('\n'), [
    'update/layout',
  ]),
  lineMutant('the line after an update', 'follows another line', 'GATHERD-3.7', before('450 - done\n'), [
    'update/everything',
  ]),
  ...lineMutants('the line after an update', 'GATHERD-1.8', ['lines/pipelined', 'update/several'], {
    'comes twice': twice,
    'precedes an empty line': after('\n'),
  }),
  lineMutant('the line after an update', 'ends the connection', 'GATHERD-4.8', closing, ['update/several']),
  lineMutant('the line after an update', 'has no end', 'GATHERD-1.3', cut, ['update/everything']),
  ...lineMutants('the line before a compressed update', 'GATHERD-6.3', ['compression/one-member'], {
    'comes twice': twice,
    'precedes an empty line': after('\n'),
  }),
  lineMutant('the line before a compressed update', 'is missing', 'GATHERD-6.2', () => '', [
    'compression/status-in-clear',
  ]),
  ...lineMutants('the line after a compressed update', 'GATHERD-6.5', ['compression/stays-on'], {
    'comes twice': twice,
    'ends the connection': closing,
  }),
  ...lineMutants('the line after a compressed update', 'GATHERD-6.3', ['compression/end-line-directly'], {
    'follows CR LF': before('\r\n'),
    'follows two LF': before('\n\n'),
    'follows a NUL': before('\0'),
    'follows another line': before('450 - done\n'),
  }),
  lineMutant('the answer to SET compression', 'comes twice', 'GATHERD-1.8', twice, [
    'compression/end-number',
  ]),
  lineMutant('the answer to SET compression', 'ends the connection', 'GATHERD-6.2', closing, [
    'compression/stays-on',
  ]),
  lineMutant('the line after INFO', 'is missing', 'GATHERD-3.1', () => '', ['info/end'], ['info/end']),
  lineMutant('the line after INFO', 'comes twice', 'GATHERD-3.6', twice, ['info/next-command']),
  lineMutant('the line after INFO', 'ends the connection', 'GATHERD-7.4', closing, ['session/info']),
  lineMutant('the line after INFO', 'follows an empty line', 'GATHERD-3.6', before('\n'), ['info/end']),
  ...lineMutants('the answer to an unknown command', 'GATHERD-3.9', ['errors/session-goes-on'], {
    'comes twice': twice,
    'ends the connection': closing,
  }),
  lineMutant(
    'the answer to an unknown command',
    'is missing',
    'GATHERD-3.9',
    () => '',
    ['errors/unknown-command'],
    ['errors/unknown-command'],
  ),
  ...lineMutants('the answer to QUIT', 'GATHERD-3.1', ['quit/answered'], {
    'is missing': () => ({ text: '', action: 'close' }),
    'follows another line': before('950 - 2 objects\n'),
  }),
  lineMutant('the answer to QUIT', 'comes twice', 'GATHERD-3.4', twice, ['quit/closes']),
  lineMutant('the answer to QUIT', 'has no end', 'GATHERD-1.3', cut, ['quit/answered']),
  ...about('GATHERD-3.4', ['quit/closes'], alone<GatherdChange>, {
    'the connection stays open after 999': { staysOpen: true },
  }),
];

export const GATHERD_LINE_MUTANTS: readonly GatherdMutant[] = [...FORMS, ...NUMBERS, ...AMOUNTS];
