// The mutants of the bulk transfers of the kit's own Broker with the fixture: values, URLs, times, flags, in both
// interfaces.
import { FIXTURE } from '../../protocols/fixture/index.js';
import { bulkFixtureReference } from '../clients/conformance/bulk-reference.js';
import { type BrokerChange, brokerLink } from './broker-link.js';
import { type BulkMutant, rereading } from './bulk-builders.js';
import {
  type Edit,
  inGroups,
  inMember,
  isEverything,
  isProposed,
  isShipped,
  updates,
} from './bulk-replies.js';
import type { MutatedSuite } from './mutant.js';
import { mapListedValues, mapTokens } from './proposed-text.js';
import { runProxied } from './run-proxied.js';
import { attributesIn, mapValues, withAttributes } from './soif-text.js';
import { ATTRIBUTE_DEFECTS, CONFUSIONS, VALUE_DEFECTS } from './value-defects.js';

/** The ways on which a Broker sends whole objects. */
const WAYS: readonly (readonly [
  name: string,
  change: (edit: Edit) => BrokerChange,
  fails: (seenIn: readonly string[]) => readonly string[],
])[] = [
  [
    'transfers',
    (edit) => ({
      reply: (reply, message) => (isShipped(reply) && isEverything(message) ? updates(reply, edit) : reply),
    }),
    (seenIn) => seenIn.map((name) => (name === 'others' ? 'fixture/values' : `fixture/value-${name}`)),
  ],
  [
    'interface 2',
    (edit) => ({
      reply: (reply, message) =>
        isProposed(message) && isEverything(message) ? inGroups(reply, edit) : reply,
    }),
    () => ['fixture/interface-2'],
  ],
  [
    'compressed',
    (edit) => ({ reply: (reply, message) => (/#compress/.test(message) ? inMember(reply, edit) : reply) }),
    () => ['fixture/compressed'],
  ],
];

/** Mutants that change each object, on each way. */
function eachWay(
  name: string,
  rule: string,
  edit: (object: string) => string,
  seenIn: readonly string[],
): readonly BulkMutant[] {
  return WAYS.map(([way, change, fails]) => ({
    name: `${way}: ${name}`,
    rule,
    change: change((objects) => objects.map(edit)),
    fails: fails(seenIn),
  }));
}

/** A Broker does not store values of no bytes (BT-16), so that it has none to change. */
const SENT_VALUE_DEFECTS = VALUE_DEFECTS.filter(({ name }) => name !== 'are a word if they are empty');

const DESCRIPTIONS = FIXTURE.flatMap(({ attributes }) =>
  attributes.filter(([name]) => name === 'Description').map(([, value]) => value),
);
const isSeenInDescriptions = (edit: (value: string) => string | undefined) =>
  DESCRIPTIONS.some((value) => edit(value) !== value);

const VALUES: readonly BulkMutant[] = [
  ...SENT_VALUE_DEFECTS.flatMap(({ name, edit, seenIn }) =>
    eachWay(`values ${name}`, 'BT-16', (object) => mapValues(object, (value) => edit(value)), seenIn),
  ),
  ...ATTRIBUTE_DEFECTS.flatMap(({ name, edit, seenIn }) => eachWay(name, 'BT-16', edit, seenIn)),
];

/** Changes the Data of user queries in interface 2. */
const listed = (edit: (reply: string) => string): BrokerChange => ({
  reply: (reply, message) => (message.startsWith('#USER') && isProposed(message) ? edit(reply) : reply),
});

const LISTED: readonly BulkMutant[] = [
  ...SENT_VALUE_DEFECTS.map(
    ({ name, edit }): BulkMutant => ({
      name: `ATTRIBUTE: values ${name}`,
      rule: 'BP-20',
      change: listed((reply) => mapListedValues(reply, '127', edit)),
      fails: ['fixture/listed-values'],
    }),
  ),
  ...SENT_VALUE_DEFECTS.filter(({ edit }) => isSeenInDescriptions(edit)).map(
    ({ name, edit }): BulkMutant => ({
      name: `DESCRIPTION: values ${name}`,
      rule: 'BP-19',
      change: listed((reply) => mapListedValues(reply, '124', edit)),
      fails: ['fixture/listed-descriptions'],
    }),
  ),
  ...(
    [
      ['names are without hyphens', (name: string) => name.replaceAll('-', '')],
      ['names lose angle brackets', (name: string) => name.replace(/[<>]/g, '')],
      ['names are cut to 32 bytes', (name: string) => name.slice(0, 32)],
      ['names lose digits at their ends', (name: string) => name.replace(/-\d+$/, '')],
    ] as const
  ).map(
    ([what, edit]): BulkMutant => ({
      name: `ATTRIBUTE: ${what}`,
      rule: 'BP-20',
      change: listed((reply) =>
        mapTokens(reply, '127', ({ text, name = '' }) =>
          text.replace(`127 - ${name}\n`, () => `127 - ${edit(name)}\n`),
        ),
      ),
      fails: ['fixture/listed-values'],
    }),
  ),
];

const urlOf = (object: string) => /^@\S+ \{ (.*)\n/.exec(object)?.[1] ?? '';
const withUrl = (object: string, url: string) => object.replace(/(?<=^@\S+ \{ ).*(?=\n)/, () => url);
const updateTimeOf = (object: string) => Number(/\nUpdate-Time\{\d+\}:\t(\d+)\n/.exec(object)?.[1]);

/** A defect of the objects of all transfers in the shipped format. */
function transferMutant(name: string, rule: string, edit: Edit, fails: readonly string[]): BulkMutant {
  return {
    name: `transfers ${name}`,
    rule,
    change: { reply: (reply) => (isShipped(reply) ? updates(reply, edit) : reply) },
    fails,
  };
}

/** A Broker that does not send some objects, in the shipped format and in interface 2. */
const lost = (
  name: string,
  isLost: (object: string, at: number, all: readonly string[]) => boolean,
): readonly BulkMutant[] => {
  const edit: Edit = (objects) => objects.filter((object, at, all) => !isLost(object, at, all));
  return [
    transferMutant(`lack ${name}`, 'BT-3', edit, ['fixture/objects']),
    {
      name: `interface 2 lacks ${name}`,
      rule: 'BP-15',
      change: { reply: (reply, message) => (isProposed(message) ? inGroups(reply, edit) : reply) },
      fails: ['fixture/interface-2'],
    },
  ];
};

const OBJECTS: readonly BulkMutant[] = [
  ...lost('their first object', (_, at) => at === 0),
  ...lost('their last object', (_, at, all) => at === all.length - 1),
  ...lost('each tenth object', (_, at) => at % 10 === 9),
  ...lost('long objects', (object) => object.length > 65_535),
  ...lost('objects with a NUL', (object) => object.includes('\0')),
  ...lost('objects with bytes above 127', (object) => /[\x80-\xff]/.test(object)),
  ...lost('objects that are not of the Web', (object) => !/^https?:/.test(urlOf(object))),
  ...lost('objects with a query', (object) => urlOf(object).includes('?')),
  ...lost('objects with a fragment', (object) => urlOf(object).includes('#')),
  ...lost('objects later than 2^31', (object) => updateTimeOf(object) > 2 ** 31),
  ...lost('objects later than 2^32', (object) => updateTimeOf(object) > 2 ** 32),
  ...lost('objects whose lines look like groups', (object) => /\n@\w+ \{\n/.test(object.slice(1))),
  transferMutant('have their last object twice', 'BT-15', (all) => [...all, ...all.slice(-1)], [
    'fixture/objects',
  ]),
  transferMutant('have each object twice', 'BT-15', (all) => [...all, ...all], ['fixture/objects']),
  ...Object.entries(CONFUSIONS).flatMap(([how, nameOf]) => [
    ...lost(
      `objects whose URLs are those of others ${how}`,
      (object, at, all) => all.findIndex((one) => nameOf(urlOf(one)) === nameOf(urlOf(object))) < at,
    ),
    transferMutant(
      `have URLs ${how}`,
      'BT-16',
      (all) => all.map((object) => withUrl(object, nameOf(urlOf(object)))),
      ['fixture/objects'],
    ),
  ]),
  transferMutant(
    'have host names in capitals',
    'SOIF-2.9',
    (all) => all.map((object) => object.replace('//fixture.example', '//FIXTURE.EXAMPLE')),
    ['fixture/objects', 'fixture/urls'],
  ),
  transferMutant(
    'have URLs that end in a slash',
    'SOIF-2.9',
    (all) => all.map((object) => withUrl(object, urlOf(object).replace(/(?<!\/)$/, '/'))),
    ['fixture/objects', 'fixture/urls'],
  ),
  ...(
    [
      ['their Broker as the Gatherer', 'Gatherer-Host', 'broker.example.org'],
      ['their Broker as the name of the Gatherer', 'Gatherer-Name', 'example'],
      ['another version of the Gatherer', 'Gatherer-Version', '2.0'],
      ['the time of the transfer', 'Update-Time', '1767225600'],
    ] as const
  ).map(([what, attribute, value]) =>
    transferMutant(
      `have ${what}`,
      'BT-23',
      (all) => all.map((object) => mapValues(object, (old, name) => (name === attribute ? value : old))),
      ['fixture/values'],
    ),
  ),
  transferMutant(
    'have an attribute of their Broker twice',
    'BT-16',
    (all) =>
      all.map((object) =>
        withAttributes(object, [...attributesIn(object), ['Gatherer-Host', 'broker.example.org']]),
      ),
    ['fixture/values'],
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
];
/** Those that change what a time selects, of those that `#SINCE` can name. */
const OTHER_TIMES = CLOCKS.filter(([name]) => name !== 'at most 2^32 - 1' && name !== 'cut to 32 bits');

const TIMES: readonly BulkMutant[] = [
  ...CLOCKS.map(([name, edit]) =>
    transferMutant(
      `have times ${name}`,
      'BT-21',
      (all) =>
        all.map((object) =>
          mapValues(object, (value, attribute) =>
            attribute === 'Update-Time' ? String(edit(Number(value))) : value,
          ),
        ),
      ['fixture/values'],
    ),
  ),
  ...OTHER_TIMES.map(([name, edit]) =>
    rereading(
      `times of #SINCE are ${name}`,
      'BT-4',
      (message) =>
        message.replace(
          /(#SINCE )([1-9]\d*)/i,
          (_, flag, time) => `${flag}${Math.max(0, edit(Number(time)))}`,
        ),
      ['fixture/since'],
    ),
  ),
  ...['have only', 'have no'].map(
    (what, at): BulkMutant => ({
      name: `transfers since a time ${what} objects of the next second`,
      rule: 'BT-5',
      change: {
        reply: (reply, message) => {
          const since = Number(/#SINCE (\d+)/i.exec(message)?.[1]);
          const isKept = (object: string) => (updateTimeOf(object) === since + 1) === (at === 0);
          return isShipped(reply) && since > 0 ? updates(reply, (all) => all.filter(isKept)) : reply;
        },
      },
      fails: ['fixture/since'],
    }),
  ),
];

/** Flags of `#index`, what a Broker reads for them, and the cases that notice it. */
const FLAGS: readonly BulkMutant[] = (
  [
    [
      '#index flags are ignored',
      / #index (?:case|max\w+|error) \w+| #index matchword/g,
      '',
      'case matchword error maxresult maxfiles',
    ],
    ['#index case is ignored', / #index case \w+/g, '', 'case'],
    ['#index case is always insensitive', /(?<=#index case )sensitive/g, 'insensitive', 'case'],
    ['#index case is always sensitive', /(?<=#index case )insens\w+/g, 'sensitive', 'case'],
    ['the old spelling of #index case is not known', /(?<=#index case )insenstive/g, 'sensitive', 'case'],
    ['#index matchword is ignored', / #index matchword/g, '', 'matchword'],
    ['whole words match always', / (?=#END fx)/g, ' #index matchword ', 'matchword'],
    ['#index error is ignored', / #index error \d/g, '', 'error'],
    ['#index error is too small by one', /(?<=#index error )1/g, '0', 'error'],
    ['#index error is too large by one', /(?<=#index error )0/g, '1', 'error'],
    ['one error is always allowed', / (?=#END fxmari)/g, ' #index error 1 ', 'error'],
    ...['maxresult', 'maxfiles'].flatMap(
      (flag) =>
        [
          [`#index ${flag} is ignored`, new RegExp(` #index ${flag} \\d`, 'g'), '', flag],
          [`#index ${flag} 0 is a limit`, new RegExp(`(?<=#index ${flag} )0`, 'g'), '1', flag],
          [`#index ${flag} 3 is 4`, new RegExp(`(?<=#index ${flag} )3`, 'g'), '4', flag],
          [`#index ${flag} 2 is 1`, new RegExp(`(?<=#index ${flag} )2`, 'g'), '1', flag],
        ] as const,
    ),
  ] as readonly (readonly [string, RegExp, string, string])[]
).map(([name, pattern, replacement, seenIn]) =>
  rereading(
    name,
    'BT-8',
    (message) => (message.startsWith('#BULK') ? message.replace(pattern, replacement) : message),
    seenIn.split(' ').map((flag) => `fixture/index-${flag}`),
  ),
);

const isQuery = (message: string) => /^#BULK .*#END fx/.test(message);
/** Defects of the objects that a query selects, in either interface. */
const queryMutants = (name: string, rule: string, edit: Edit): readonly BulkMutant[] => [
  {
    name: `queries ${name}`,
    rule,
    change: {
      reply: (reply, message) => (isQuery(message) && isShipped(reply) ? updates(reply, edit) : reply),
    },
    fails: ['fixture/query'],
  },
  {
    name: `queries of interface 2 ${name}`,
    rule,
    change: {
      reply: (reply, message) => (isQuery(message) && isProposed(message) ? inGroups(reply, edit) : reply),
    },
    fails: ['fixture/query-interface-2'],
  },
];
const eachObject =
  (edit: (object: string) => string): Edit =>
  (all) =>
    all.map(edit);

const QUERIES: readonly BulkMutant[] = [
  ...queryMutants('lack their first object', 'BT-6', (all) => all.slice(1)),
  ...queryMutants('lack their last object', 'BT-6', (all) => all.slice(0, -1)),
  ...queryMutants('send each object twice', 'BT-15', (all) => all.flatMap((one) => [one, one])),
  ...queryMutants(
    'send trimmed values',
    'BT-16',
    eachObject((one) => mapValues(one, (value) => value.trim())),
  ),
  ...queryMutants(
    'send no Keywords and no Description',
    'BT-6',
    eachObject((one) =>
      mapValues(one, (value, name) => (/^(?:Keywords|Description)$/.test(name) ? undefined : value)),
    ),
  ),
  ...queryMutants(
    'send bookkeeping only',
    'BT-6',
    eachObject((one) =>
      mapValues(one, (value, name) => (/^(?:Gatherer|Update|MD5)/.test(name) ? value : undefined)),
    ),
  ),
  ...queryMutants(
    'send renamed titles',
    'BT-16',
    eachObject((one) => one.replace('\nTitle{', '\nHeadline{')),
  ),
  rereading('and is read as or', 'BT-6', (message) => message.replace(/ and (?!not)/, ' or '), [
    'fixture/query',
  ]),
  rereading('and not is read as and', 'BT-6', (message) => message.replace(' and not ', ' and '), [
    'fixture/query',
  ]),
  rereading(
    '#index flags are ignored in interface 2',
    'BT-8',
    (message) =>
      isQuery(message) && isProposed(message) ? message.replace(/ #index case \w+/g, '') : message,
    ['fixture/index-case-interface-2'],
  ),
];

export const BULK_FIXTURE: MutatedSuite<BrokerChange> = {
  suite: 'bulk',
  part: 'fixture',
  covers: /^fixture\//,
  slow: /^$/,
  first: ['fixture/objects'],
  mutants: [...VALUES, ...LISTED, ...OBJECTS, ...TIMES, ...FLAGS, ...QUERIES],
  variants: [],
  async start(t) {
    const port = await bulkFixtureReference(t);
    return (change = {}, request) => runProxied('bulk', port, () => brokerLink(change), request);
  },
};
