// Mutants of a Broker with the fixture: values, descriptions, matched lines, URLs, objects.
import { FIXTURE } from '../../protocols/fixture/index.js';
import type { BrokerMutant } from './broker-builders.js';
import { type Item, objectsOf } from './broker-link.js';
import { CONFUSIONS, VALUE_DEFECTS } from './value-defects.js';

const CHARACTERS = (value: string) => Buffer.from(value, 'latin1').toString('utf8').length;

/** The parts of a `127` or `124`: what stands before the count, and the counted bytes. */
interface Counted {
  readonly head: string;
  readonly value: string;
}

function readCounted(text: string): Counted | undefined {
  const end = text.indexOf('\n');
  const head = /^(.* )\d+$/.exec(text.slice(0, end))?.[1];
  return head === undefined ? undefined : { head, value: text.slice(end + 1, -1) };
}

const written = ({ head, value }: Counted, count = value.length) => `${head}${count}\n${value}\n`;

/** A mutant that changes the values of items with this code; undefined: the item is lost. */
function valueMutant(
  code: '124' | '127',
  name: string,
  edit: (counted: Counted, item: Item, before: readonly Item[]) => string | undefined,
  fails: readonly string[],
): BrokerMutant {
  return {
    name,
    rule: code === '124' ? 'BRK-4.5' : 'BRK-4.6',
    change: {
      item: (item, at, items) => {
        const counted = item.code === code ? readCounted(item.text) : undefined;
        return counted === undefined ? item.text : (edit(counted, item, items.slice(0, at)) ?? '');
      },
    },
    fails,
  };
}

const DESCRIPTIONS = FIXTURE.flatMap(({ attributes }) =>
  attributes.flatMap(([name, value]) => (name === 'Description' ? [value] : [])),
);

const VALUES: readonly BrokerMutant[] = VALUE_DEFECTS.flatMap(({ name, edit, seenIn }) => {
  const change = (counted: Counted) => {
    const value = edit(counted.value);
    return value === undefined ? undefined : written({ ...counted, value });
  };
  const values = valueMutant(
    '127',
    `values ${name}`,
    change,
    seenIn.map((one) => `fixture/value-${one}`),
  );
  if (DESCRIPTIONS.every((value) => edit(value) === value)) return [values];
  return [values, valueMutant('124', `descriptions ${name}`, change, ['fixture/descriptions'])];
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

/** A mutant that changes each item with this code in replies to messages that match. */
function itemMutant(
  name: string,
  rule: string,
  code: string,
  edit: (text: string, before: readonly Item[], message: string) => string,
  fails: readonly string[],
): BrokerMutant {
  return {
    name,
    rule,
    change: {
      item: (item, at, items, message) =>
        item.code === code ? edit(item.text, items.slice(0, at), message) : item.text,
    },
    fails,
  };
}

/** A mutant that changes the objects of replies to messages that match; the other items stay. */
function objectMutant(
  name: string,
  rule: string,
  edit: (objects: readonly string[], message: string) => readonly string[],
  fails: readonly string[],
): BrokerMutant {
  return {
    name,
    rule,
    change: {
      reply: (reply, message) => {
        const groups = objectsOf(reply);
        const isObject = (group: string) => group.startsWith('120 - ');
        const objects = groups.filter(isObject);
        return [...groups.filter((group) => !isObject(group)), ...edit(objects, message)].join('');
      },
    },
    fails,
  };
}

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

const line = (edit: (text: string) => string) => (item: string) =>
  item.replace(/^(122 - Matched line: )(.*)\n$/s, (_, head, text) => `${head}${edit(text)}\n`);

const LINES: readonly BrokerMutant[] = [
  ...(
    [
      ['are trimmed', (text) => text.replace(/[ \t]+$/, '')],
      ['have one blank for white space', (text) => text.replace(/[ \t]+/g, ' ')],
      ['have no size', (text) => text.replace(/# [^{}\s]+\{\d+\}:\t/, '# ')],
      ['have a blank for the tab after the size', (text) => text.replace('}:\t', '}: ')],
      ['have a size too large by one', (text) => text.replace(/\{(\d+)\}/, (_, n) => `{${Number(n) + 1}}`)],
      [
        'have the size of the line',
        (text) => text.replace(/\{\d+\}:\t(.*)/, (_, rest) => `{${rest.length}}:\t${rest}`),
      ],
      ['have names in small letters', (text) => text.replace(/^[^#]+/, (name) => name.toLowerCase())],
      ['name another attribute', (text) => text.replace(/^Title#/, 'Description#')],
      ['are in small letters', (text) => text.toLowerCase()],
      ['have question marks for bytes above 127', (text) => text.replace(/[\x80-\xff]/g, '?')],
      ['lose bytes above 127', (text) => text.replace(/[\x80-\xff]/g, '')],
      ['are written as UTF-8', (text) => Buffer.from(text, 'utf8').toString('latin1')],
      [
        'are read as UTF-8',
        (text) => Buffer.from(Buffer.from(text, 'latin1').toString('utf8')).toString('latin1'),
      ],
      ['are cut to 20 bytes', (text) => text.slice(0, 20)],
      ['have marks around the word', (text) => text.replace('fxiris', '<b>fxiris</b>')],
      ['have no type of the object', (text) => text.replace('@FILE { ', '')],
    ] as readonly (readonly [string, (text: string) => string])[]
  ).map(([name, edit]) =>
    itemMutant(`matched lines ${name}`, 'BRK-4.8', '122', line(edit), ['fixture/matched-lines']),
  ),
  itemMutant('matched lines come twice', 'BRK-4.8', '122', (text) => text + text, ['fixture/matched-lines']),
  itemMutant(
    'matched lines are those of titles',
    'BRK-4.8',
    '122',
    (text) => (/: Title#/.test(text) ? text : ''),
    ['fixture/matched-lines'],
  ),
  itemMutant(
    'one matched line of each object is sent',
    'BRK-4.8',
    '122',
    (text, before) => (before.at(-1)?.code === '122' ? '' : text),
    ['fixture/matched-lines', 'fixture/maxlines'],
  ),
  itemMutant(
    'matched lines lack the second of two that are the same',
    'BRK-4.8',
    '122',
    (text, before) =>
      before.slice(-4).some((one) => one.text.replace(/\w+\{\d+\}:\t/, '') === text)
        ? ''
        : text.replace(/Description# fxiris\n/, 'Description# fxiris \n'),
    ['fixture/matched-lines'],
  ),
  objectMutant(
    'matched lines come in reversed order',
    'BRK-4.8',
    (objects) =>
      objects.map((object) => {
        const lines = object.match(/^122 - .*\n/gm) ?? [];
        return lines.length < 2 ? object : object.replace(lines.join(''), () => lines.toReversed().join(''));
      }),
    ['fixture/matched-lines'],
  ),
  objectMutant(
    'lines of negated terms are sent',
    'BRK-4.8',
    (objects, message) =>
      /and not fxcobalt/.test(message) && !message.includes('#opaque')
        ? objects.map((object) =>
            object.replace('130 - ', '122 - Matched line: Title# Title{7}:\tfxamber\n130 - '),
          )
        : objects,
    ['fixture/matched-lines'],
  ),
];

/** An object is lost by all queries, or by the dump alone. */
const lost = (name: string, isLost: (object: string, at: number, all: readonly string[]) => boolean) => [
  objectMutant(
    `queries lack ${name}`,
    'BRK-2.18',
    (objects, message) =>
      /#END fixture\r/.test(message)
        ? objects.filter((object, at, all) => !isLost(object, at, all))
        : objects,
    ['fixture/objects'],
  ),
  objectMutant(
    `the dump lacks ${name}`,
    'BRK-2.11',
    (objects, message) =>
      /#allb/.test(message) ? objects.filter((object, at, all) => !isLost(object, at, all)) : objects,
    ['fixture/dump'],
  ),
];
const urlIn = (object: string) => /^120 - (.*)\n/.exec(object)?.[1] ?? '';
const withUrl = (object: string, url: string) => object.replace(/^120 - .*\n/, () => `120 - ${url}\n`);

const OBJECTS: readonly BrokerMutant[] = [
  ...lost('the first object', (_, at) => at === 0),
  ...lost('the last object', (_, at, all) => at === all.length - 1),
  ...lost('objects that are not of the Web', (object) => !/^https?:/.test(urlIn(object))),
  ...lost('objects with a query', (object) => urlIn(object).includes('?')),
  ...lost('objects with a fragment', (object) => urlIn(object).includes('#')),
  ...lost('objects with a port', (object) => urlIn(object).includes(':80/')),
  ...lost('objects without a host', (object) => urlIn(object).startsWith('urn:')),
  ...lost('objects later than 2^32', (object) => /times\/429496729[67]/.test(urlIn(object))),
  ...Object.entries(CONFUSIONS).flatMap(([how, nameOf]) => [
    ...lost(
      `objects whose URLs are those of others ${how}`,
      (object, at, all) => all.findIndex((one) => nameOf(urlIn(one)) === nameOf(urlIn(object))) < at,
    ),
    objectMutant(
      `replies have URLs ${how}`,
      'BRK-1.10',
      (objects) => objects.map((object) => withUrl(object, nameOf(urlIn(object)))),
      ['fixture/objects'],
    ),
  ]),
  objectMutant(
    'replies have host names in capitals',
    'BRK-1.10',
    (objects) =>
      objects.map((object) =>
        withUrl(object, urlIn(object).replace('//fixture.example/p', '//FIXTURE.EXAMPLE/p')),
      ),
    ['fixture/objects', 'fixture/urls'],
  ),
  objectMutant(
    'replies have URLs that end in a slash',
    'BRK-1.10',
    (objects) => objects.map((object) => withUrl(object, urlIn(object).replace(/(?<=\/p)$/, '/index.html'))),
    ['fixture/objects', 'fixture/urls'],
  ),
  objectMutant('each object comes twice', 'BRK-4.10', (objects) => [...objects, ...objects], [
    'fixture/objects',
    'fixture/word',
  ]),
  objectMutant(
    'the first object comes twice',
    'BRK-4.10',
    (objects) => [...objects.slice(0, 1), ...objects],
    ['fixture/objects', 'fixture/and'],
  ),
  objectMutant(
    'an object that two words find comes twice',
    'BRK-4.10',
    (objects, message) => (/ or /.test(message) ? [...objects, ...objects.slice(-1)] : objects),
    ['fixture/or'],
  ),
  objectMutant(
    'the dump has an object twice',
    'BRK-2.11',
    (objects, message) => (/#allb/.test(message) ? [...objects, ...objects.slice(-1)] : objects),
    ['fixture/dump'],
  ),
];

export const FIXTURE_VALUE_MUTANTS: readonly BrokerMutant[] = [
  ...VALUES,
  ...COUNTS,
  ...ATTRIBUTES,
  ...LINES,
  ...OBJECTS,
];
