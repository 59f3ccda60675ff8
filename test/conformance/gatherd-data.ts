// Mutants of a gatherd's data: sections, objects, gzip members, INFO.
import { deflateRawSync, gzipSync } from 'node:zlib';
import type { Dialogue, GatherdChange, Part } from './gatherd-link.js';
import { about, type Mutant, whole } from './mutant.js';
import { OBJECT_DEFECTS } from './object-defects.js';
import type { Sent } from './proxy.js';
import { attributeNamed, mapObjects, mapValues, objectsIn, sectionsOf, soifOf } from './soif-text.js';

type GatherdMutant = Mutant<GatherdChange>;
type Edit = (text: string, dialogue: Dialogue) => string | Sent;

const changing =
  (is: (part: Part, dialogue: Dialogue) => boolean, edit: Edit): GatherdChange['part'] =>
  (part, dialogue) =>
    is(part, dialogue) ? edit(part.text, dialogue) : part.text;
const isFull = (_: Part, { commands }: Dialogue) => /\s0$/.test(commands.at(-1) ?? '');
const isInClear = (part: Part) => part.kind === 'stream' && !part.isPacked;
const isMember = ({ kind, isPacked }: Part) => kind === 'stream' && isPacked;
const isObject = ({ kind }: Part) => kind === 'object';
const isInfo = ({ kind }: Part) => kind === 'info';
const noted = (dialogue: Dialogue) => dialogue.commands.some((line) => /^set changes$/i.test(line));
const isNoted = ({ kind }: Part, dialogue: Dialogue) => kind === 'stream' && noted(dialogue);

/** A defect of every update, in clear and compressed. */
function streamMutant(name: string, rule: string, edit: Edit, fails: readonly string[]): GatherdMutant {
  const part = changing(({ kind }) => kind === 'stream', edit);
  return {
    name: `every update${name.startsWith(':') ? '' : ' '}${name}`,
    rule,
    change: { part: part ?? (({ text }) => text) },
    fails,
  };
}

function partMutant(
  name: string,
  rule: string,
  is: (part: Part, dialogue: Dialogue) => boolean,
  edit: Edit,
  fails: readonly string[],
): GatherdMutant {
  return {
    name,
    rule,
    change: { part: (part, dialogue) => (is(part, dialogue) ? edit(part.text, dialogue) : part.text) },
    fails,
  };
}

function partMutants(
  rule: string,
  fails: readonly string[],
  is: (part: Part, dialogue: Dialogue) => boolean,
  edits: Readonly<Record<string, Edit>>,
): readonly GatherdMutant[] {
  return Object.entries(edits).map(([name, edit]) => partMutant(name, rule, is, edit, fails));
}

const reordered = (order: readonly number[]) => (text: string) => {
  const sections = sectionsOf(text);
  return order.map((i) => sections[i] ?? '').join('');
};
const ONLY_DATA = ['update/only-data'];
const ORDER = ['update/section-order'];
const CHANGED_ORDER = ['update/section-order', 'changes/section-order'];

const SECTIONS: readonly GatherdMutant[] = [
  ...(
    [
      [[0, 2, 1], 'UPDATE before REFRESH'],
      [[1, 0, 2], 'REFRESH first'],
      [[1, 2, 0], 'DELETE last'],
      [[2, 0, 1], 'UPDATE first'],
      [[2, 1, 0], 'its sections reversed'],
      [[1, 2], 'no DELETE'],
      [[0, 2], 'no REFRESH'],
      [[2], 'only UPDATE'],
      [[0, 0, 1, 2], 'DELETE twice'],
      [[0, 1, 1, 2], 'REFRESH twice'],
      [[0, 1, 2, 2], 'UPDATE twice'],
    ] as const
  ).map(([order, name]) => streamMutant(`has ${name}`, 'SOIF-8.1', reordered(order), CHANGED_ORDER)),
  streamMutant('has no UPDATE', 'SOIF-8.1', reordered([0, 1]), ['update/wrapped', 'update/section-order']),
  streamMutant('has no sections', 'GATHERD-4.4', (text) => objectsIn(text).join(''), [
    'update/wrapped',
    ...ORDER,
  ]),
  ...about('SOIF-8.1', ['update/wrapped'], streamMutant, {
    'has its objects after the sections': (text) =>
      `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n}\n${objectsIn(text).join('')}`,
    'has its objects before the sections': (text) =>
      `${objectsIn(text).join('')}@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n}\n`,
  }),
  ...['DELETE', 'REFRESH', 'UPDATE'].flatMap((word) => [
    ...about('SOIF-8.8', ['update/layout', 'changes/sections'], streamMutant, {
      [`has ${word} in lower case`]: (text) => text.replace(`@${word} {\n`, `@${word.toLowerCase()} {\n`),
      [`has no blank after ${word}`]: (text) => text.replace(`@${word} {\n`, `@${word}{\n`),
      [`has two blanks after ${word}`]: (text) => text.replace(`@${word} {\n`, `@${word}  {\n`),
      [`has CR LF after ${word}`]: (text) => text.replace(`@${word} {\n`, `@${word} {\r\n`),
      [`has a blank for the LF after ${word}`]: (text) => text.replace(`@${word} {\n`, `@${word} { `),
      [`has an empty line before ${word}`]: (text) => text.replace(`@${word} {\n`, `\n@${word} {\n`),
    }),
    ...about('SOIF-8.1', ORDER, streamMutant, {
      [`misspells ${word}`]: (text) => text.replace(`@${word} {\n`, `@${word}D {\n`),
    }),
  ]),
  streamMutant('has no last brace', 'SOIF-8.8', (text) => text.slice(0, -2), ONLY_DATA),
  streamMutant('has no last line end', 'SOIF-8.8', (text) => text.slice(0, -1), ['update/layout']),
  streamMutant('has a brace too many', 'SOIF-8.8', (text) => `${text}}\n`, ONLY_DATA),
  streamMutant('ends in an empty line', 'SOIF-8.8', (text) => `${text}\n`, ['update/layout']),
  streamMutant('begins with an empty line', 'SOIF-8.8', (text) => `\n${text}`, ['update/layout']),
  ...about('GATHERD-3.7', ONLY_DATA, streamMutant, {
    'begins with a NUL': (text) => `\0${text}`,
    'has text between the sections': (text) => text.replace('@UPDATE {', 'and now\n@UPDATE {'),
    'lacks its first byte': (text) => text.slice(1),
  }),
];

const inFirstObject = (edit: (object: string) => string) => (text: string) =>
  mapObjects(text, (object, i) => (i === 0 ? edit(object) : object));
const inLastObject = (edit: (object: string) => string) => (text: string) => {
  const last = objectsIn(text).length - 1;
  return mapObjects(text, (object, i) => (i === last ? edit(object) : object));
};

const OBJECTS: readonly GatherdMutant[] = OBJECT_DEFECTS.flatMap(([name, rule, edit]) => [
  streamMutant(`: its first object ${name}`, rule, inFirstObject(edit), ONLY_DATA),
  streamMutant(`: its last object ${name}`, rule, inLastObject(edit), ONLY_DATA),
  partMutant(`the object of SEND-OBJECT ${name}`, rule, isObject, edit, ['object/bare']),
  partMutant(`the description ${name}`, rule, isInfo, edit, ['info/object']),
]);

const without = (name: string) => (object: string) => object.replace(attributeNamed(name), '');

const CONTENTS: readonly GatherdMutant[] = [
  ...['Gatherer-Name', 'Gatherer-Host', 'Gatherer-Version', 'Update-Time'].map((name) =>
    streamMutant(`: its objects have no ${name}`, 'GATHERD-13.9', (text) => mapObjects(text, without(name)), [
      'update/required-attributes',
    ]),
  ),
  ...partMutants(
    'GATHERD-4.6',
    ['update/order'],
    (part, dialogue) => part.kind === 'stream' && isFull(part, dialogue),
    {
      'a full update has its objects in another order': (text) =>
        soifOf({ update: objectsIn(text).toReversed() }),
      'a full update has an object twice': (text) =>
        mapObjects(text, (object, i) => (i === 0 ? object + object : object)),
    },
  ),
  partMutant(
    'an incremental update lacks its first object',
    'GATHERD-4.2',
    (part, dialogue) => part.kind === 'stream' && !isFull(part, dialogue),
    (text) => mapObjects(text, (object, i) => (i === 0 ? '' : object)),
    ['update/boundary', 'update/only-newer'],
  ),
  partMutant(
    'an incremental update has an object of long ago',
    'GATHERD-4.2',
    (part, dialogue) => isInClear(part) && !isFull(part, dialogue),
    (text) =>
      text.replace('@UPDATE {\n', '@UPDATE {\n@FILE { http://old.example.org/\nUpdate-Time{1}:\t1\n}\n'),
    ['update/only-newer', 'update/nothing-new'],
  ),
  partMutant(
    'a full update lacks an object the second time',
    'GATHERD-4.8',
    (part, { before }) => isInClear(part) && before.some(({ kind }) => kind === 'stream'),
    (text) => mapObjects(text, (object, i) => (i === 0 ? '' : object)),
    ['update/several'],
  ),
  ...(['delete', 'refresh'] as const).map((section) =>
    partMutant(
      `updates have objects in ${section.toUpperCase()} unasked`,
      'GATHERD-4.4',
      ({ kind }, { commands }) => kind === 'stream' && !commands.some((line) => /changes/i.test(line)),
      (text) => {
        const [first, ...others] = objectsIn(text);
        return first === undefined ? text : soifOf({ [section]: [first], update: others });
      },
      ['update/other-sections-empty'],
    ),
  ),
  partMutant(
    'compressed updates lack an object',
    'GATHERD-6.3',
    isMember,
    (text) => mapObjects(text, (object, i) => (i === 0 ? '' : object)),
    ['compression/same-content', 'compression/incremental', 'session/beckett'],
  ),
  ...partMutants('GATHERD-6.3', ['compression/same-content'], isMember, {
    'compressed updates have other line ends in a value': (text) => text.replace('plain\n', 'PLAIN\n'),
  }),
  ...partMutants('GATHERD-5.2', ['object/bare'], isObject, {
    'SEND-OBJECT wraps the object': (text) => `@UPDATE {\n${text}}\n`,
  }),
  ...partMutants('GATHERD-5.2', ['object/known'], isObject, {
    'SEND-OBJECT sends the object twice': (text) => text + text,
  }),
  ...partMutants('GATHERD-3.2', ['object/known'], isObject, {
    'SEND-OBJECT sends no object': () => '',
  }),
  ...partMutants('GATHERD-5.1', ['object/same-bytes'], isObject, {
    'SEND-OBJECT sends other capitals in a name': (text) => text.replace('Gatherer-Host', 'gatherer-host'),
    'SEND-OBJECT leaves out an attribute': without('Gatherer-Host'),
  }),
  partMutant(
    'SEND-OBJECT compresses the object',
    'GATHERD-6.8',
    (part, { isCompressing }) => isObject(part) && isCompressing,
    (text) => gzipSync(Buffer.from(text, 'latin1')).toString('latin1'),
    ['compression/object-in-clear'],
  ),
];

/** Changes the list of the description, and its size. */
const attributesOf = (edit: (names: readonly string[]) => readonly string[]) => (text: string) =>
  mapValues(text, (value, name) =>
    name === 'Attributes' ? `${edit(value.trim().split('\n')).join('\n')}\n` : value,
  );

const INFOS: readonly GatherdMutant[] = [
  ...[
    'Gatherer-Host',
    'Gatherer-Name',
    'Gatherer-Port',
    'Gatherer-Version',
    'Last-Modification-Time',
    'Refresh-Rate',
    'Time-to-Live',
    'Update-Time',
  ].map((name) =>
    partMutant(`the description has no ${name}`, 'GATHERD-8.3', isInfo, without(name), ['info/description']),
  ),
  ...['Number-Of-Objects', 'Oldest-Update-Time', 'Newest-Update-Time'].flatMap((name) => [
    ...partMutants('GATHERD-8.4', ['info/contents'], isInfo, {
      [`the description has no ${name}`]: without(name),
    }),
    ...partMutants('GATHERD-8.1', ['info/true'], isInfo, {
      [`${name} of the description is wrong by one`]: (text) =>
        text.replace(attributeNamed(name), (line) =>
          line.replace(/\d(?=\n)/, (digit) => String((Number(digit) + 1) % 10)),
        ),
    }),
  ]),
  ...partMutants('GATHERD-8.4', ['info/contents'], isInfo, {
    'the description has no Attributes': without('Attributes'),
  }),
  ...partMutants('GATHERD-8.1', ['info/attributes'], isInfo, {
    'the first of the Attributes is missing': attributesOf((names) => names.slice(1)),
    'the last of the Attributes is missing': attributesOf((names) => names.slice(0, -1)),
    'Body is missing in the Attributes': attributesOf((names) => names.filter((name) => name !== 'Body')),
    'the Attributes have a name too many': attributesOf((names) => [...names, 'Abstract']),
    'one of the Attributes comes twice': attributesOf((names) => [...names, names[0] ?? '']),
    'the Attributes are cut to eight letters': attributesOf((names) => names.map((name) => name.slice(0, 8))),
    'the Attributes have no hyphens': attributesOf((names) => names.map((name) => name.replaceAll('-', '_'))),
    'the Attributes are those of the description': attributesOf(() => ['Gatherer-Host', 'Gatherer-Port']),
  }),
  ...partMutants('GATHERD-8.3', ['info/description'], isInfo, {
    'the description is a FILE': (text) => text.replace('@GATHERER', '@FILE'),
  }),
  ...partMutants('GATHERD-8.2', ['info/end'], isInfo, {
    'INFO sends the description twice': (text) => text + text,
  }),
  ...partMutants('GATHERD-8.2', ['info/object'], isInfo, {
    'INFO wraps the description': (text) => `@UPDATE {\n${text}}\n`,
  }),
  partMutant(
    'INFO compresses the description',
    'GATHERD-6.8',
    (part, { isCompressing }) => isInfo(part) && isCompressing,
    (text) => gzipSync(Buffer.from(text, 'latin1')).toString('latin1'),
    ['compression/info-in-clear'],
  ),
  ...about('GATHERD-3.6', ['info/order'], whole<GatherdChange>, {
    '600 precedes the description': {
      part: (part) =>
        part.kind === 'info' ? `600 - description\n${part.text}` : part.code === '600' ? '' : part.text,
    },
  }),
];

/** Defects of the gzip members. */
function memberMutants(
  fails: readonly string[],
  edits: Readonly<Record<string, (bytes: Buffer, text: string) => Buffer>>,
): readonly GatherdMutant[] {
  return Object.entries(edits).map(([name, member]) => ({
    name: `the member ${name}`,
    rule: 'GATHERD-6.3',
    change: { member },
    fails,
  }));
}

const flipped = (at: number) => (bytes: Buffer) => {
  const changed = Buffer.from(bytes);
  const index = at < 0 ? bytes.length + at : at;
  changed[index] = (changed[index] ?? 0) ^ 1;
  return changed;
};
const packed = (text: string) => gzipSync(Buffer.from(text, 'latin1'));
const MEMBER = ['compression/one-member'];

const MEMBERS: readonly GatherdMutant[] = [
  ...memberMutants(['compression/trailer'], {
    'has a wrong checksum': flipped(-8),
    'has a wrong last byte of its checksum': flipped(-5),
    'has a wrong length': flipped(-4),
    'has a wrong last byte of its length': flipped(-1),
    'lacks its trailer': (bytes) => bytes.subarray(0, -8),
  }),
  ...memberMutants(MEMBER, {
    'has another first byte': flipped(0),
    'has another second byte': flipped(1),
    'has another method': flipped(2),
    'lacks its first byte': (bytes) => bytes.subarray(1),
    'has no header': (bytes) => bytes.subarray(10),
    'is not compressed': (_, text) => Buffer.from(text, 'latin1'),
    'is raw deflate': (_, text) => deflateRawSync(Buffer.from(text, 'latin1')),
    'is two members': (_, text) => Buffer.concat([packed(text.slice(0, 20)), packed(text.slice(20))]),
    'follows an empty member': (bytes) => Buffer.concat([packed(''), bytes]),
    'precedes an empty member': (bytes) => Buffer.concat([bytes, packed('')]),
    'follows a NUL': (bytes) => Buffer.concat([Buffer.from([0]), bytes]),
  }),
  ...memberMutants(['compression/end-line-directly'], {
    'lacks its last byte': (bytes) => bytes.subarray(0, -1),
  }),
  ...memberMutants(['compression/same-content'], {
    'is compressed twice': (bytes) => gzipSync(bytes),
    'holds its end line too': (_, text) => packed(`${text}499 - Sent\n`),
    'holds its start line too': (_, text) => packed(`400 - Sending\n${text}`),
    'holds no sections': (_, text) => packed(objectsIn(text).join('')),
    'holds CR LF': (_, text) => packed(text.replaceAll('\n', '\r\n')),
  }),
  ...memberMutants(['compression/same-content', 'compression/empty-update'], {
    'is empty': () => packed(''),
  }),
];

const CHANGES: readonly GatherdMutant[] = [
  ...partMutants('GATHERD-4.4', ['changes/refreshed'], isNoted, {
    'refreshed objects have their content': (text) => {
      const [deleted = '', refreshed = '', updated = ''] = sectionsOf(text);
      return deleted + mapObjects(refreshed, (object) => object.replace('\n', '\nTitle{1}:\tx\n')) + updated;
    },
  }),
  ...partMutants('GATHERD-4.9', ['changes/deleted'], isNoted, {
    'deleted objects have content': (text) => {
      const [deleted = '', ...others] = sectionsOf(text);
      return mapObjects(deleted, (object) => object.replace('\n', '\nBody{1}:\tx\n')) + others.join('');
    },
  }),
  ...partMutants('GATHERD-6.11', ['changes/nothing-lost'], isNoted, {
    'refreshed objects are left out': (text) => {
      const [deleted = '', , updated = ''] = sectionsOf(text);
      return `${deleted}@REFRESH {\n}\n${updated}`;
    },
  }),
  partMutant(
    'with SET changes everything comes in REFRESH',
    'GATHERD-6.11',
    (part, dialogue) => isNoted(part, dialogue) && isFull(part, dialogue),
    (text) => soifOf({ refresh: objectsIn(text) }),
    ['changes/everything-complete'],
  ),
  partMutant(
    'compressed changes lack the deleted objects',
    'GATHERD-6.11',
    (part, dialogue) => isMember(part) && noted(dialogue),
    (text) => `@DELETE {\n}\n${sectionsOf(text).slice(1).join('')}`,
    ['changes/compressed'],
  ),
];

export const GATHERD_DATA_MUTANTS: readonly GatherdMutant[] = [
  ...SECTIONS,
  ...OBJECTS,
  ...CONTENTS,
  ...INFOS,
  ...MEMBERS,
  ...CHANGES,
];
