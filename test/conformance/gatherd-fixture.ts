// The mutants of the kit's own gatherd with the fixture: values, URLs, times.
import { UNKNOWN_URLS } from '../../clients/conformance/gatherd/fixture-cases.js';
import { FIXTURE } from '../../protocols/fixture/index.js';
import { fixtureGatherd } from '../clients/conformance/fixture-reference.js';
import { type Dialogue, type GatherdChange, gatherdLink, type Part } from './gatherd-link.js';
import type { Mutant, MutatedSuite } from './mutant.js';
import { runProxied } from './run-proxied.js';
import { mapObjects, mapValues, objectsIn, soifOf } from './soif-text.js';
import { ATTRIBUTE_DEFECTS, CONFUSIONS, VALUE_DEFECTS } from './value-defects.js';

type GatherdMutant = Mutant<GatherdChange>;
type Edit = (object: string) => string;

/** The ways on which a gatherd sends objects. */
const WAYS: readonly (readonly [
  name: string,
  is: (part: Part, dialogue: Dialogue) => boolean,
  fails: (seenIn: readonly string[]) => readonly string[],
])[] = [
  [
    'updates',
    (part) => part.kind === 'stream' && !part.isPacked,
    (seenIn) => seenIn.map((name) => (name === 'others' ? 'fixture/values' : `fixture/value-${name}`)),
  ],
  ['compressed updates', (part) => part.kind === 'stream' && part.isPacked, () => ['fixture/compressed']],
  ['objects of SEND-OBJECT', (part) => part.kind === 'object', () => ['fixture/send-object']],
];

/** Mutants that change each object, on each way. */
function eachWay(
  name: string,
  rule: string,
  edit: Edit,
  seenIn: readonly string[],
): readonly GatherdMutant[] {
  return WAYS.map(([way, is, fails]) => ({
    name: `${way}: ${name}`,
    rule,
    change: {
      part: (part, dialogue) => (is(part, dialogue) ? mapObjects(part.text, edit) : part.text),
    },
    fails: fails(seenIn),
  }));
}

const VALUES: readonly GatherdMutant[] = [
  ...VALUE_DEFECTS.flatMap(({ name, edit, seenIn }) =>
    eachWay(`values ${name}`, 'SOIF-2.3', (object) => mapValues(object, (value) => edit(value)), seenIn),
  ),
  ...ATTRIBUTE_DEFECTS.flatMap(({ name, edit, seenIn }) => eachWay(name, 'GATHERD-4.6', edit, seenIn)),
];

const urlOf = (object: string) => /^@\S+ \{ (.*)\n/.exec(object)?.[1] ?? '';
const withUrl = (object: string, url: string) => object.replace(/(?<=^@\S+ \{ ).*(?=\n)/, () => url);
const updateTimeOf = (object: string) => Number(/\nUpdate-Time\{\d+\}:\t(\d+)\n/.exec(object)?.[1]);

/** A defect of the objects of all updates. */
function streamMutant(
  name: string,
  rule: string,
  edit: (objects: readonly string[]) => readonly string[],
  fails: readonly string[],
): GatherdMutant {
  const part = ({ kind, text }: Part) =>
    kind === 'stream' ? soifOf({ update: edit(objectsIn(text)) }) : text;
  return { name, rule, change: { part }, fails };
}

/** A defect of the objects that a full update has. */
const lost = (name: string, isLost: (object: string, at: number, all: readonly string[]) => boolean) =>
  streamMutant(
    `updates lack ${name}`,
    'GATHERD-4.1',
    (objects) => objects.filter((object, at, all) => !isLost(object, at, all)),
    ['fixture/objects'],
  );

const OBJECTS: readonly GatherdMutant[] = [
  lost('their first object', (_, at) => at === 0),
  lost('their last object', (_, at, all) => at === all.length - 1),
  lost('each tenth object', (_, at) => at % 10 === 9),
  lost('long objects', (object) => object.length > 65_535),
  lost('objects with a NUL', (object) => object.includes('\0')),
  lost('objects with bytes above 127', (object) => /[\x80-\xff]/.test(object)),
  lost('objects that are not of the Web', (object) => !/^https?:/.test(urlOf(object))),
  lost('objects with a query', (object) => urlOf(object).includes('?')),
  lost('objects with a fragment', (object) => urlOf(object).includes('#')),
  lost('objects with a port', (object) => urlOf(object).includes(':80/')),
  lost('objects later than 2^31', (object) => updateTimeOf(object) > 2 ** 31),
  lost('objects later than 2^32', (object) => updateTimeOf(object) > 2 ** 32),
  lost('objects of 2^31', (object) => updateTimeOf(object) === 2 ** 31),
  lost('objects of 2^32', (object) => updateTimeOf(object) === 2 ** 32),
  lost('objects of 2^32 - 1', (object) => updateTimeOf(object) === 2 ** 32 - 1),
  streamMutant('updates have their last object twice', 'GATHERD-4.6', (all) => [...all, ...all.slice(-1)], [
    'fixture/objects',
  ]),
  streamMutant('updates have each object twice', 'GATHERD-4.6', (all) => [...all, ...all], [
    'fixture/objects',
  ]),
  ...Object.entries(CONFUSIONS).flatMap(([how, nameOf]) => [
    lost(
      `objects whose URLs are those of others ${how}`,
      (object, at, all) => all.findIndex((one) => nameOf(urlOf(one)) === nameOf(urlOf(object))) < at,
    ),
    streamMutant(
      `updates have URLs ${how}`,
      'GATHERD-4.6',
      (all) => all.map((object) => withUrl(object, nameOf(urlOf(object)))),
      ['fixture/objects'],
    ),
  ]),
  streamMutant(
    'updates have host names in capitals',
    'SOIF-2.9',
    (all) => all.map((object) => object.replace('//fixture.example', '//FIXTURE.EXAMPLE')),
    ['fixture/objects', 'fixture/urls'],
  ),
  streamMutant(
    'updates have URLs that end in a slash',
    'SOIF-2.9',
    (all) => all.map((object) => withUrl(object, urlOf(object).replace(/(?<!\/)$/, '/'))),
    ['fixture/objects', 'fixture/urls'],
  ),
  streamMutant('updates have times in reversed order', 'GATHERD-4.6', (all) => all.toReversed(), [
    'fixture/order',
  ]),
  streamMutant(
    'updates have their times in the order of signed numbers',
    'GATHERD-4.6',
    (all) => all.toSorted((a, b) => (updateTimeOf(a) | 0) - (updateTimeOf(b) | 0)),
    ['fixture/order'],
  ),
];

/** How programs of 16 and 32 bits write times. */
const CLOCKS: readonly (readonly [name: string, edit: (time: number) => number])[] = [
  ...[16, 31, 32].map((bits) => [`cut to ${bits} bits`, (time: number) => time % 2 ** bits] as const),
  ['at most 2^31 - 1', (time) => Math.min(time, 2 ** 31 - 1)],
  ['at most 2^32 - 1', (time) => Math.min(time, 2 ** 32 - 1)],
  ['too large by one', (time) => time + 1],
  ['too small by one', (time) => time - 1],
  ['negative above 2^31', (time) => (time >= 2 ** 32 ? time : time | 0)],
  ['the one of today if they are in the future', (time) => Math.min(time, 1_767_225_600)],
];

const TIMES: readonly GatherdMutant[] = [
  ...CLOCKS.map(([name, edit]) =>
    streamMutant(
      `updates have times ${name}`,
      'SOIF-6.5',
      (all) =>
        all.map((object) =>
          mapValues(object, (value, attribute) =>
            attribute === 'Update-Time' ? String(edit(Number(value))) : value,
          ),
        ),
      ['fixture/values'],
    ),
  ),
  ...CLOCKS.map(
    ([name, edit]): GatherdMutant => ({
      name: `time stamps are ${name}`,
      rule: 'GATHERD-4.1',
      change: {
        command: (line, end) =>
          line.replace(
            /^(SEND-UPDATE) ([1-9]\d*)$/i,
            (_, verb, time) => `${verb} ${Math.max(0, edit(Number(time)))}`,
          ) + end,
      },
      fails: ['fixture/since'],
    }),
  ),
  ...['updates since a time have only', 'updates since a time have no'].map(
    (name, isOnly): GatherdMutant => ({
      name: `${name} objects of that time`,
      rule: 'GATHERD-4.3',
      change: {
        part: ({ kind, text }, { commands }) => {
          const since = Number(/ (\d+)$/.exec(commands.at(-1) ?? '')?.[1]);
          if (kind !== 'stream' || since === 0) return text;
          const isKept = (object: string) => (updateTimeOf(object) === since) === (isOnly === 0);
          return soifOf({ update: objectsIn(text).filter(isKept) });
        },
      },
      fails: ['fixture/since'],
    }),
  ),
];

/** A gatherd that finds another URL than the one that is asked for. */
function finding(
  name: string,
  find: (asked: string) => string | undefined,
  fails: readonly string[],
): GatherdMutant {
  return {
    name: `SEND-OBJECT ${name}`,
    rule: 'GATHERD-5.1',
    change: {
      command: (line, end) => {
        const asked = /^SEND-OBJECT (\S+)$/i.exec(line)?.[1];
        const found = asked === undefined ? undefined : find(asked);
        return (found === undefined ? line : `SEND-OBJECT ${found}`) + end;
      },
    },
    fails,
  };
}

const URLS = FIXTURE.map(({ url }) => url);
const known = (asked: string) => URLS.includes(asked);
const first = (matches: (url: string, asked: string) => boolean) => (asked: string) =>
  URLS.find((url) => matches(url, asked));
/** Looks for another URL only if no object has this one. */
const orElse = (matches: (url: string, asked: string) => boolean) => (asked: string) =>
  known(asked) ? asked : first(matches)(asked);

const LOOKUPS: Readonly<Record<string, (url: string, asked: string) => boolean>> = {
  'by a prefix': (url, asked) => url.startsWith(asked),
  'by its end': (url, asked) => url.endsWith(asked),
  'by a part': (url, asked) => url.includes(asked),
  'that begins what is asked': (url, asked) => asked.startsWith(url),
  'by a prefix without case': (url, asked) => url.toLowerCase().startsWith(asked.toLowerCase()),
  'by its host': (url, asked) => url.split('/')[2] === asked.split('/')[2] && asked.includes('//'),
  ...Object.fromEntries(
    Object.entries(CONFUSIONS).map(([how, nameOf]) => [
      how,
      (url: string, asked: string) => nameOf(url) === nameOf(asked),
    ]),
  ),
};

const FINDING: readonly GatherdMutant[] = Object.entries(LOOKUPS).flatMap(([how, matches]) => [
  ...(URLS.some((url) => first(matches)(url) !== url)
    ? [finding(`finds the first URL ${how}`, first(matches), ['fixture/send-object'])]
    : []),
  ...(UNKNOWN_URLS.some((url) => orElse(matches)(url) !== undefined)
    ? [finding(`finds a URL ${how} if no object has it`, orElse(matches), ['fixture/unknown'])]
    : []),
]);

export const GATHERD_FIXTURE: MutatedSuite<GatherdChange> = {
  suite: 'gatherd',
  part: 'fixture',
  covers: /^fixture\//,
  slow: /^$/,
  first: ['fixture/objects'],
  mutants: [...VALUES, ...OBJECTS, ...TIMES, ...FINDING],
  variants: [],
  async start(t) {
    const port = await fixtureGatherd(t);
    return (change = {}, request) => runProxied('gatherd', port, () => gatherdLink(change), request);
  },
};
