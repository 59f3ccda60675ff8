// Mutants of a Broker with the fixture: matched lines, URLs, objects.
import { type BrokerMutant, misreadings } from './broker-builders.js';
import { itemMutant, objectMutant } from './broker-fixture-builders.js';
import { CONFUSIONS } from './value-defects.js';

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
  ...misreadings('BRK-4.8', ['fixture/matched-lines'], {
    'lines of terms after not in a group are sent': [
      /#END fxamber and not (\(fxbasalt and fxcobalt\))/,
      '#END (fxamber or fxbasalt) and fxamber and not $1',
    ],
    'lines of terms after except are sent': [
      /#END fxamber except (\(fxbasalt and fxcobalt\))/,
      '#END (fxamber or fxbasalt) and fxamber and not $1',
    ],
  }),
  ...(
    [
      ['not twice', /not \(fxlazuli or not fxdamask\)/],
      ['except within not', /not \(fxbasalt except fxdamask\)/],
    ] as const
  ).map(([how, query]) =>
    objectMutant(
      `lines of terms after ${how} are not sent`,
      'BRK-4.8',
      (objects, message) =>
        query.test(message) ? objects.map((one) => one.replace(/^122 - .*fxdamask\n/gm, '')) : objects,
      ['fixture/matched-lines'],
    ),
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

export const FIXTURE_OBJECT_MUTANTS: readonly BrokerMutant[] = [...LINES, ...OBJECTS];
