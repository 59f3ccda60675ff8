// Mutants of a gatherd's `SET sequence` (GATHERD-6.13): its end lines, and what comes after a number.
import { UNKNOWN_DATABASE } from '../../clients/conformance/gatherd/sequence-cases.js';
import { ENTRIES } from '../clients/conformance/gatherd-reference.js';
import type { Dialogue, GatherdChange, Part } from './gatherd-link.js';
import { about, type Mutant, whole } from './mutant.js';
import { mapObjects, objectsIn, sectionsOf, soifOf } from './soif-text.js';

type GatherdMutant = Mutant<GatherdChange>;
type Edit = (text: string) => string;

const RULE = 'GATHERD-6.13';

/** The number of the last change: the objects, and one that was stored and deleted. */
const LAST = ENTRIES.length + 2;

/** What the client has asked after on the connection. */
function askedAfter({ commands }: Dialogue): readonly [name: string, number: number] | undefined {
  const [, name = '', number] =
    /^set sequence (\S+) (\d+)$/i.exec(commands.findLast((line) => /^set sequence/i.test(line)) ?? '') ?? [];
  return number === undefined ? undefined : [name, Number(number)];
}

/** Changes the streams of updates that were asked for by number. */
const after =
  (
    edit: Edit,
    is: (name: string, number: number, part: Part, dialogue: Dialogue) => boolean,
  ): NonNullable<GatherdChange['part']> =>
  (part, dialogue) => {
    const asked = askedAfter(dialogue);
    if (part.kind !== 'stream' || asked === undefined || /\s0$/.test(dialogue.commands.at(-1) ?? ''))
      return part.text;
    return is(...asked, part, dialogue) ? edit(part.text) : part.text;
  };

const isKnown = (name: string, number: number) => name !== UNKNOWN_DATABASE && number > 0 && number <= LAST;
const hasSections = ({ commands }: Dialogue) => commands.some((line) => /^set changes$/i.test(line));
const empty: Edit = () => soifOf({});
const withoutFirst: Edit = (text) => mapObjects(text, (object, i) => (i === 0 ? '' : object));

/** Changes the lines 499 after a stream. */
const endLine = (edit: Edit): GatherdChange => ({
  part: ({ code, text }, { after: data }) => (code === '499' && data === 'stream' ? edit(text) : text),
});
const mark = (edit: (name: string, number: string) => string): GatherdChange =>
  endLine((text) => text.replace(/; sequence (\S+) (\d+)/, (_, name, number) => edit(name, number)));

/** Changes what the client asks after before the server reads it. */
const asked = (edit: (name: string, number: number) => string): GatherdChange => ({
  command: (line, end) =>
    line.replace(/^set sequence (\S+) (\d+)$/i, (_, name, number) => edit(name, Number(number))) + end,
});

/** Accepts changes that the database does not have. */
const taking = (is: (name: string, number: number) => boolean): GatherdChange =>
  asked((name, number) => (is(name, number) ? 'SET sequence' : `SET sequence ${name} ${number}`));

export const GATHERD_SEQUENCE_MUTANTS: readonly GatherdMutant[] = [
  ...about(RULE, ['sequence/end-line'], whole<GatherdChange>, {
    'the name of the database has a dot': mark((name, number) => `; sequence ${name}.x ${number}`),
    'the name of the database is too long': mark((_, number) => `; sequence ${'n'.repeat(65)} ${number}`),
    'the end line names no number': mark((name) => `; sequence ${name}`),
    'the number is hexadecimal': mark((name, number) => `; sequence ${name} 0x${number}`),
    'two blanks precede the number': mark((name, number) => `; sequence ${name}  ${number}`),
    'a dot follows the number': mark((name, number) => `; sequence ${name} ${number}.`),
    'a comma precedes the database': mark((name, number) => `, sequence ${name} ${number}`),
    'the word before the database is in capitals': mark((name, number) => `; SEQUENCE ${name} ${number}`),
  }),
  ...about('GATHERD-4.2', ['sequence/everything'], whole<GatherdChange>, {
    'with SET sequence a full update is ordered by number': {
      part: ({ kind, text }, { commands }) =>
        kind === 'stream' &&
        commands.some((line) => /sequence/i.test(line)) &&
        /\s0$/.test(commands.at(-1) ?? '')
          ? soifOf({ update: objectsIn(text).toReversed() })
          : text,
    },
    'a number selects from a full update, too': {
      command: (line, end, lines) =>
        (askedAfter({ commands: lines } as Dialogue) === undefined
          ? line
          : line.replace(/^(SEND-UPDATE) 0$/, '$1 1')) + end,
    },
  }),
  ...about(
    RULE,
    ['sequence/nothing-new', 'sequence/whatever-time', 'sequence/unknown'],
    whole<GatherdChange>,
    {
      'the number after SET sequence has no effect': asked(() => 'SET sequence'),
    },
  ),
  ...about(RULE, ['sequence/nothing-new'], whole<GatherdChange>, {
    'the last changes up to the number come again': asked(
      (name, number) => `SET sequence ${name} ${Math.max(0, number - 3)}`,
    ),
  }),
  ...about(RULE, ['sequence/whatever-time'], whole<GatherdChange>, {
    'a timestamp selects from the changes after a number': {
      part: after(empty, isKnownAndLate),
    },
    'no change comes after a known number': { part: after(empty, isKnown) },
  }),
  ...about(RULE, ['sequence/order'], whole<GatherdChange>, {
    'the last change comes first': {
      part: after((text) => soifOf({ update: objectsIn(text).toReversed() }), isKnown),
    },
    'each change comes twice': { part: after((text) => mapObjects(text, (one) => one + one), isKnown) },
  }),
  ...about(RULE, ['sequence/unknown'], whole<GatherdChange>, {
    'the name of the database does not matter': taking((name) => name === UNKNOWN_DATABASE),
    'a number that is too high is known': taking((_, number) => number > LAST),
    'the number 0 is one like the others': taking((_, number) => number === 0),
  }),
  ...about(RULE, ['sequence/changes'], whole<GatherdChange>, {
    'with SET changes the first change after a number is lost': {
      part: after(
        withoutFirstUpdate,
        (name, number, _, dialogue) => isKnown(name, number) && hasSections(dialogue),
      ),
    },
  }),
  ...about(RULE, ['sequence/compressed'], whole<GatherdChange>, {
    'compressed changes lack one after a number': {
      part: after(withoutFirst, (name, number, { isPacked }) => isPacked && isKnown(name, number)),
    },
    'no number follows compressed data': {
      part: ({ code, isPacked, text }) =>
        code === '499' && isPacked ? text.replace(/; sequence.*/, '') : text,
    },
  }),
  ...about(RULE, ['sequence/no-stream'], whole<GatherdChange>, {
    'the answer about a bad time stamp has a number': {
      part: ({ code, text }, dialogue) =>
        code === '499' && dialogue.after === undefined && askedAfter(dialogue) !== undefined
          ? text.replace('\n', `; sequence ${askedAfter(dialogue)?.join(' ')}\n`)
          : text,
    },
  }),
  ...about('GATHERD-3.9', ['sequence/malformed'], whole<GatherdChange>, {
    'SET sequence takes a database without a number': {
      command: (line, end) => line.replace(/^set sequence [^ ]+$/i, 'SET sequence') + end,
    },
    'SET sequence takes a number that is not one': {
      command: (line, end) => line.replace(/^(set sequence) [^ ]+ x$/i, '$1') + end,
    },
    'SET sequence takes a name of any length': {
      command: (line, end) => line.replace(/^set sequence n{65} 1$/i, 'SET sequence') + end,
    },
    'SET sequence ignores a third word': {
      command: (line, end) => line.replace(/^(set sequence [^ ]+ \d+) .*$/i, '$1') + end,
    },
  }),
];

function isKnownAndLate(name: string, number: number, _: Part, { commands }: Dialogue): boolean {
  return isKnown(name, number) && /\d{10}$/.test(commands.at(-1) ?? '');
}

function withoutFirstUpdate(text: string): string {
  const [deleted = '', refreshed = '', updated = ''] = sectionsOf(text);
  return deleted + refreshed + withoutFirst(updated);
}
