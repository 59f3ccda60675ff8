// Mutants of a Broker with the fixture: values and descriptions.
import { FIXTURE } from '../../protocols/fixture/index.js';
import type { BrokerMutant } from './broker-builders.js';
import { type Counted, itemMutant, objectMutant, valueMutant, written } from './broker-fixture-builders.js';
import type { Item } from './broker-link.js';
import { VALUE_DEFECTS } from './value-defects.js';

const CHARACTERS = (value: string) => Buffer.from(value, 'latin1').toString('utf8').length;

/** The values that a Broker sends: it may leave out those of no bytes (SOIF-3.2), and the kit's own does. */
const SENT = FIXTURE.flatMap(({ attributes }) => attributes.filter(([, value]) => value !== ''));
const isIn = (values: typeof SENT, edit: (value: string) => string | undefined) =>
  values.some(([, value]) => edit(value) !== value);

const VALUES: readonly BrokerMutant[] = VALUE_DEFECTS.flatMap(({ name, edit, seenIn }) => {
  const change = (counted: Counted) => {
    const value = edit(counted.value);
    return value === undefined ? undefined : written({ ...counted, value });
  };
  const fails = seenIn.map((one) => `fixture/value-${one}`);
  const descriptions = SENT.filter(([attribute]) => attribute === 'Description');
  return [
    ...(isIn(SENT, edit) ? [valueMutant('127', `values ${name}`, change, fails)] : []),
    ...(isIn(descriptions, edit)
      ? [valueMutant('124', `descriptions ${name}`, change, ['fixture/descriptions'])]
      : []),
  ];
});

const urlOf = (before: readonly Item[]) =>
  before.findLast(({ code }) => code === '120')?.text.slice('120 - '.length, -1) ?? '';

const COUNTS: readonly BrokerMutant[] = [
  ...(['124', '127'] as const).flatMap((code) => {
    const what = code === '124' ? 'a description' : 'a value';
    const fails = code === '124' ? ['fixture/descriptions'] : ['fixture/value-utf-8'];
    return [
      valueMutant(code, `${what} counts characters`, (one) => written(one, CHARACTERS(one.value)), fails),
      valueMutant(
        code,
        `${what} counts characters and is cut to as many bytes`,
        (one) => written({ ...one, value: one.value.slice(0, CHARACTERS(one.value)) }),
        fails,
      ),
      valueMutant(
        code,
        `${what} counts lines without their ends`,
        (one) => written(one, one.value.replaceAll('\n', '').length),
        code === '124' ? ['fixture/descriptions'] : ['fixture/value-lines'],
      ),
      valueMutant(
        code,
        `${what} does not count a line end at its end`,
        ({ head, value }) => `${head}${value.replace(/\n$/, '').length}\n${value.replace(/\n$/, '')}\n`,
        code === '124' ? ['fixture/descriptions'] : ['fixture/value-lines', 'fixture/value-near'],
      ),
      valueMutant(
        code,
        `${what} has CR LF for its line ends and counts LF`,
        (one) => written({ ...one, value: one.value.replaceAll('\n', '\r\n') }, one.value.length),
        code === '124' ? ['fixture/descriptions'] : ['fixture/value-lines'],
      ),
      valueMutant(
        code,
        `${what} has the size of 16 bits of its bytes`,
        (one) => written(one, one.value.length % 65_536),
        code === '124' ? ['fixture/descriptions'] : ['fixture/value-long'],
      ),
    ];
  }),
  ...(['124', '127'] as const).flatMap((code) => {
    const what = code === '124' ? 'a description' : 'a value';
    return [
      valueMutant(
        code,
        `${what} that ends in a line end has no other after it`,
        (one) => (one.value.endsWith('\n') ? written(one).slice(0, -1) : written(one)),
        ['fixture/layout'],
      ),
      valueMutant(
        code,
        `${what} of one byte has no line end after it`,
        (one) => (one.value.length === 1 ? written(one).slice(0, -1) : written(one)),
        ['fixture/layout'],
      ),
      valueMutant(
        code,
        `${what} of several lines has an empty line after it`,
        (one) => (one.value.includes('\n') ? `${written(one)}\n` : written(one)),
        ['fixture/layout'],
      ),
      valueMutant(
        code,
        `${what} with CR LF has CR LF after it`,
        (one) => (one.value.includes('\r\n') ? `${written(one).slice(0, -1)}\r\n` : written(one)),
        ['fixture/layout'],
      ),
      valueMutant(
        code,
        `${what} with a NUL has no line end after it`,
        (one) => (one.value.includes('\0') ? written(one).slice(0, -1) : written(one)),
        ['fixture/layout'],
      ),
    ];
  }),
  valueMutant('124', 'a description comes twice, with the fixture', (one) => written(one) + written(one), [
    'fixture/descriptions',
  ]),
  valueMutant('124', 'descriptions are words', ({ head }) => written({ head, value: 'fxamber' }), [
    'fixture/descriptions',
  ]),
  valueMutant(
    '124',
    'long descriptions are left out',
    (one) => (one.value.length > 9_000 ? '' : written(one)),
    ['fixture/descriptions'],
  ),
  valueMutant(
    '124',
    'descriptions of one byte are left out',
    (one) => (one.value.length === 1 ? '' : written(one)),
    ['fixture/descriptions'],
  ),
];

const attribute = (name: string) => new RegExp(`^127 - ${name} `, 'i');
const isAbout = (text: string, name: string) => attribute(name).test(text);

const ATTRIBUTES: readonly BrokerMutant[] = [
  ...['Title', 'Description', 'Keywords', 'MD5', 'Type', 'Time-to-Live', 'Gatherer-Version'].map((name) =>
    valueMutant(
      '127',
      `${name} is left out`,
      (one, { text }) => (isAbout(text, name) ? undefined : written(one)),
      [name === 'Keywords' ? 'fixture/value-lines' : 'fixture/value-utf-8'],
    ),
  ),
  valueMutant(
    '127',
    'attributes of one letter are left out',
    (one, { text }) => (isAbout(text, 'x') ? undefined : written(one)),
    ['fixture/value-names'],
  ),
  valueMutant(
    '127',
    'embedded attributes are left out',
    (one, { text }) => (/^127 - embed</i.test(text) ? undefined : written(one)),
    ['fixture/value-names', 'fixture/attribute-any-case'],
  ),
  valueMutant(
    '127',
    'embedded titles are those of the first',
    (one) => written({ ...one, value: one.value.replace('second', 'first') }),
    ['fixture/value-names'],
  ),
  valueMutant(
    '127',
    'each value is the title',
    (one, _, before) => written({ ...one, value: titleOf(urlOf(before)) ?? one.value }),
    ['fixture/value-utf-8', 'fixture/values'],
  ),
  valueMutant(
    '127',
    'Title and Description change places',
    (one, { text }, before) => {
      const other = isAbout(text, 'title')
        ? 'Description'
        : isAbout(text, 'description')
          ? 'Title'
          : undefined;
      const value = other === undefined ? undefined : valueIn(urlOf(before), other);
      return written(value === undefined ? one : { ...one, value });
    },
    ['fixture/value-utf-8', 'fixture/values'],
  ),
  valueMutant(
    '127',
    'values are those of the object before',
    (one, { text }, before) => {
      const at = FIXTURE.findIndex(({ url }) => url === urlOf(before));
      const name = /^127 - (.*) \d+$/m.exec(text)?.[1] ?? '';
      const value = at > 0 ? valueIn(FIXTURE[at - 1]?.url ?? '', name) : undefined;
      return written(value === undefined ? one : { ...one, value });
    },
    ['fixture/value-latin-1', 'fixture/values'],
  ),
  valueMutant(
    '127',
    'an attribute comes twice',
    (one, { text }) => (isAbout(text, 'title') ? written(one) + written(one) : written(one)),
    ['fixture/value-utf-8', 'fixture/values'],
  ),
  valueMutant(
    '127',
    'an attribute comes twice, the second time empty',
    (one, { text }) => (isAbout(text, 'md5') ? written(one) + written({ ...one, value: '' }) : written(one)),
    ['fixture/values'],
  ),
  valueMutant(
    '127',
    'Update-Time is written in hexadecimal',
    (one, { text }) =>
      isAbout(text, 'update-time')
        ? written({ ...one, value: Number(one.value).toString(16) })
        : written(one),
    ['fixture/times'],
  ),
  valueMutant(
    '127',
    'Update-Time has 32 bits',
    (one, { text }) =>
      isAbout(text, 'update-time')
        ? written({ ...one, value: String(Number(one.value) % 2 ** 32) })
        : written(one),
    ['fixture/times'],
  ),
  valueMutant(
    '127',
    'Update-Time is at most 2^31 - 1',
    (one, { text }) =>
      isAbout(text, 'update-time')
        ? written({ ...one, value: String(Math.min(Number(one.value), 2 ** 31 - 1)) })
        : written(one),
    ['fixture/times'],
  ),
  valueMutant(
    '127',
    '#attribute url gives the URL of the summary',
    (one, { text }) =>
      isAbout(text, 'url') ? written({ ...one, value: 'http://b.example/OBJ1' }) : written(one),
    ['fixture/url-attribute'],
  ),
  valueMutant(
    '127',
    '#attribute url gives the URL without case',
    (one, { text }) =>
      isAbout(text, 'url') ? written({ ...one, value: one.value.toLowerCase() }) : written(one),
    ['fixture/url-attribute'],
  ),
  valueMutant(
    '127',
    '#attribute url gives the URL with percent signs decoded',
    (one, { text }) =>
      isAbout(text, 'url') ? written({ ...one, value: one.value.replace(/%7e/i, '~') }) : written(one),
    ['fixture/url-attribute'],
  ),
  valueMutant(
    '127',
    '#attribute url gives nothing',
    (one, { text }) => (isAbout(text, 'url') ? undefined : written(one)),
    ['fixture/url-attribute'],
  ),
  itemMutant(
    'names of attributes are in lower case, with the fixture',
    'BRK-4.6',
    '127',
    (text) => text.replace(/^127 - \S+/, (head) => head.toLowerCase()),
    ['fixture/attribute-any-case'],
  ),
  itemMutant(
    'names of attributes are those of the objects',
    'BRK-4.6',
    '127',
    (text) =>
      text.replace(/^127 - title /i, '127 - Title ').replace(/^127 - mixed-case /i, '127 - MiXeD-CaSe '),
    ['fixture/attribute-any-case'],
  ),
  ...(
    [
      [
        '#attribute is known in the case of the object only',
        /^127 - (?:tITLE|mixed-case|EMBED<1>-title|fixture_name\.1|AUTHOR-2) /,
      ],
      ['#attribute with capitals within is not known in small letters', /^127 - mixed-case /],
      ['#attribute of an embedded object is not known in another case', /^127 - EMBED/],
    ] as const
  ).map(([name, pattern]) =>
    itemMutant(name, 'BRK-2.16', '127', (text) => (pattern.test(text) ? '' : text), [
      'fixture/attribute-any-case',
    ]),
  ),
  objectMutant(
    'values come in the order of the object',
    'BRK-4.3',
    (objects) =>
      objects.map((object) => ordered(object, (name) => ['title', 'description', 'keywords'].indexOf(name))),
    ['fixture/attribute-order'],
  ),
  objectMutant(
    'values come in the order of their names',
    'BRK-4.3',
    (objects) => objects.map((object) => ordered(object, (name) => name.charCodeAt(0))),
    ['fixture/attribute-order'],
  ),
  ...(
    [
      ['is answered by 103', '103 - ERROR: no such attribute: zzyzx-plugh\n', true],
      ['is answered by 101', '101 - no such attribute: zzyzx-plugh\n', true],
      ['is refused', '111 - ERROR: no such attribute: zzyzx-plugh\n', false],
    ] as const
  ).map(
    ([name, line, hasResults]): BrokerMutant => ({
      name: `an attribute that an object lacks ${name}`,
      rule: 'BRK-4.6',
      change: {
        reply: (reply, message) =>
          /#attribute zzyzx/.test(message) ? (hasResults ? line + reply : line) : reply,
      },
      fails: ['fixture/missing'],
    }),
  ),
  objectMutant(
    'an attribute that an object lacks is answered by 103 in the object',
    'BRK-4.6',
    (objects, message) =>
      /#attribute keywords.*fxamber/.test(message)
        ? objects.map((object) => object.replace('130 - ', '103 - ERROR: no keywords\n130 - '))
        : objects,
    ['fixture/missing'],
  ),
  objectMutant(
    'an attribute that an object lacks is sent empty, with the fixture',
    'BRK-4.6',
    (objects, message) =>
      /#attribute keywords.*fxamber/.test(message)
        ? objects.map((object) =>
            object.includes('127 - keywords')
              ? object
              : object.replace('130 - ', '127 - keywords 0\n\n130 - '),
          )
        : objects,
    ['fixture/missing'],
  ),
  objectMutant(
    'an attribute that an object lacks removes the object',
    'BRK-4.6',
    (objects, message) =>
      /#attribute keywords.*fxamber/.test(message)
        ? objects.filter((object) => object.includes('127 - keywords'))
        : objects,
    ['fixture/missing'],
  ),
];

function valueIn(url: string, name: string): string | undefined {
  const object = FIXTURE.find((one) => one.url === url);
  return object?.attributes.find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
}

function titleOf(url: string): string | undefined {
  return valueIn(url, 'Title');
}

/** Returns the text of an object with its `127` items of one line in another order. */
function ordered(object: string, rank: (name: string) => number): string {
  const item = /127 - (\S+) \d+\n/g;
  const starts = [...object.matchAll(item)];
  const [first] = starts;
  if (first === undefined || starts.length > 10) return object;
  const items = starts.map((one) => {
    const end = one.index + one[0].length + Number(/(\d+)\n$/.exec(one[0])?.[1]) + 1;
    return { name: (one[1] ?? '').toLowerCase(), text: object.slice(one.index, end) };
  });
  const sorted = items.toSorted((a, b) => rank(a.name) - rank(b.name)).map(({ text }) => text);
  const size = items.reduce((sum, { text }) => sum + text.length, 0);
  return object.slice(0, first.index) + sorted.join('') + object.slice(first.index + size);
}

export const FIXTURE_VALUE_MUTANTS: readonly BrokerMutant[] = [...VALUES, ...COUNTS, ...ATTRIBUTES];
