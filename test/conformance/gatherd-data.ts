// Mutants of a gatherd's data: sections, objects, gzip members, INFO.
import { deflateRawSync, gzipSync } from 'node:zlib';
import type { Dialogue, GatherdChange, Part } from './gatherd-link.js';
import type { Mutant } from './mutant.js';
import { OBJECT_DEFECTS } from './object-defects.js';
import type { Sent } from './proxy.js';
import { attributeNamed, mapObjects, objectsIn, sectionsOf, soifOf } from './soif-text.js';

type GatherdMutant = Mutant<GatherdChange>;
type Edit = (text: string, dialogue: Dialogue) => string | Sent;

const changing =
  (is: (part: Part, dialogue: Dialogue) => boolean, edit: Edit): GatherdChange['part'] =>
  (part, dialogue) =>
    is(part, dialogue) ? edit(part.text, dialogue) : part.text;
const isFull = (_: Part, { commands }: Dialogue) => /\s0$/.test(commands.at(-1) ?? '');
const isInClear = (part: Part) => part.kind === 'stream' && !part.isPacked;

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
  streamMutant(
    'has its objects after the sections',
    'SOIF-8.1',
    (text) => `@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n}\n${objectsIn(text).join('')}`,
    ['update/wrapped'],
  ),
  streamMutant(
    'has its objects before the sections',
    'SOIF-8.1',
    (text) => `${objectsIn(text).join('')}@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n}\n`,
    ['update/wrapped'],
  ),
  ...['DELETE', 'REFRESH', 'UPDATE'].flatMap((word) => [
    streamMutant(
      `has ${word} in lower case`,
      'SOIF-8.8',
      (text) => text.replace(`@${word} {\n`, `@${word.toLowerCase()} {\n`),
      ['update/layout', 'changes/sections'],
    ),
    streamMutant(
      `has no blank after ${word}`,
      'SOIF-8.8',
      (text) => text.replace(`@${word} {\n`, `@${word}{\n`),
      ['update/layout', 'changes/sections'],
    ),
    streamMutant(
      `has two blanks after ${word}`,
      'SOIF-8.8',
      (text) => text.replace(`@${word} {\n`, `@${word}  {\n`),
      ['update/layout', 'changes/sections'],
    ),
    streamMutant(
      `has CR LF after ${word}`,
      'SOIF-8.8',
      (text) => text.replace(`@${word} {\n`, `@${word} {\r\n`),
      ['update/layout', 'changes/sections'],
    ),
    streamMutant(
      `has a blank for the LF after ${word}`,
      'SOIF-8.8',
      (text) => text.replace(`@${word} {\n`, `@${word} { `),
      ['update/layout', 'changes/sections'],
    ),
    streamMutant(
      `has an empty line before ${word}`,
      'SOIF-8.8',
      (text) => text.replace(`@${word} {\n`, `\n@${word} {\n`),
      ['update/layout', 'changes/sections'],
    ),
    streamMutant(
      `misspells ${word}`,
      'SOIF-8.1',
      (text) => text.replace(`@${word} {\n`, `@${word}D {\n`),
      ORDER,
    ),
  ]),
  streamMutant('has no last brace', 'SOIF-8.8', (text) => text.slice(0, -2), ONLY_DATA),
  streamMutant('has no last line end', 'SOIF-8.8', (text) => text.slice(0, -1), ['update/layout']),
  streamMutant('has a brace too many', 'SOIF-8.8', (text) => `${text}}\n`, ONLY_DATA),
  streamMutant('ends in an empty line', 'SOIF-8.8', (text) => `${text}\n`, ['update/layout']),
  streamMutant('begins with an empty line', 'SOIF-8.8', (text) => `\n${text}`, ['update/layout']),
  streamMutant('begins with a NUL', 'GATHERD-3.7', (text) => `\0${text}`, ONLY_DATA),
  streamMutant(
    'has text between the sections',
    'GATHERD-3.7',
    (text) => text.replace('@UPDATE {', 'and now\n@UPDATE {'),
    ONLY_DATA,
  ),
  streamMutant('lacks its first byte', 'GATHERD-3.7', (text) => text.slice(1), ONLY_DATA),
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
  partMutant(`the object of SEND-OBJECT ${name}`, rule, ({ kind }) => kind === 'object', edit, [
    'object/bare',
  ]),
  partMutant(`the description ${name}`, rule, ({ kind }) => kind === 'info', edit, ['info/object']),
]);

const without = (name: string) => (object: string) => object.replace(attributeNamed(name), '');

const CONTENTS: readonly GatherdMutant[] = [
  ...['Gatherer-Name', 'Gatherer-Host', 'Gatherer-Version', 'Update-Time'].map((name) =>
    streamMutant(`: its objects have no ${name}`, 'GATHERD-13.9', (text) => mapObjects(text, without(name)), [
      'update/required-attributes',
    ]),
  ),
  partMutant(
    'a full update has its objects in another order',
    'GATHERD-4.6',
    (part, dialogue) => part.kind === 'stream' && isFull(part, dialogue),
    (text) => soifOf({ update: objectsIn(text).toReversed() }),
    ['update/order'],
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
  partMutant(
    'a full update has an object twice',
    'GATHERD-4.6',
    (part, dialogue) => part.kind === 'stream' && isFull(part, dialogue),
    (text) => mapObjects(text, (object, i) => (i === 0 ? object + object : object)),
    ['update/order'],
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
    ({ kind, isPacked }) => kind === 'stream' && isPacked,
    (text) => mapObjects(text, (object, i) => (i === 0 ? '' : object)),
    ['compression/same-content', 'compression/incremental', 'session/beckett'],
  ),
  partMutant(
    'compressed updates have other line ends in a value',
    'GATHERD-6.3',
    ({ kind, isPacked }) => kind === 'stream' && isPacked,
    (text) => text.replace('plain\n', 'PLAIN\n'),
    ['compression/same-content'],
  ),
  partMutant(
    'SEND-OBJECT wraps the object',
    'GATHERD-5.2',
    ({ kind }) => kind === 'object',
    (text) => `@UPDATE {\n${text}}\n`,
    ['object/bare'],
  ),
  partMutant(
    'SEND-OBJECT sends the object twice',
    'GATHERD-5.2',
    ({ kind }) => kind === 'object',
    (text) => text + text,
    ['object/known'],
  ),
  partMutant(
    'SEND-OBJECT sends no object',
    'GATHERD-3.2',
    ({ kind }) => kind === 'object',
    () => '',
    ['object/known'],
  ),
  partMutant(
    'SEND-OBJECT sends other capitals in a name',
    'GATHERD-5.1',
    ({ kind }) => kind === 'object',
    (text) => text.replace('Gatherer-Host', 'gatherer-host'),
    ['object/same-bytes'],
  ),
  partMutant(
    'SEND-OBJECT leaves out an attribute',
    'GATHERD-5.1',
    ({ kind }) => kind === 'object',
    without('Gatherer-Host'),
    ['object/same-bytes'],
  ),
  partMutant(
    'SEND-OBJECT compresses the object',
    'GATHERD-6.8',
    ({ kind }, { isCompressing }) => kind === 'object' && isCompressing,
    (text) => gzipSync(Buffer.from(text, 'latin1')).toString('latin1'),
    ['compression/object-in-clear'],
  ),
];

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
    partMutant(
      `the description has no ${name}`,
      'GATHERD-8.3',
      ({ kind }) => kind === 'info',
      without(name),
      ['info/description'],
    ),
  ),
  ...['Number-Of-Objects', 'Oldest-Update-Time', 'Newest-Update-Time'].flatMap((name) => [
    partMutant(
      `the description has no ${name}`,
      'GATHERD-8.4',
      ({ kind }) => kind === 'info',
      without(name),
      ['info/contents'],
    ),
    partMutant(
      `${name} of the description is wrong by one`,
      'GATHERD-8.1',
      ({ kind }) => kind === 'info',
      (text) =>
        text.replace(attributeNamed(name), (line) =>
          line.replace(/\d(?=\n)/, (digit) => String((Number(digit) + 1) % 10)),
        ),
      ['info/contents'],
    ),
  ]),
  partMutant(
    'the description has no Attributes',
    'GATHERD-8.4',
    ({ kind }) => kind === 'info',
    without('Attributes'),
    ['info/contents'],
  ),
  partMutant(
    'the description is a FILE',
    'GATHERD-8.3',
    ({ kind }) => kind === 'info',
    (text) => text.replace('@GATHERER', '@FILE'),
    ['info/description'],
  ),
  partMutant(
    'INFO sends the description twice',
    'GATHERD-8.2',
    ({ kind }) => kind === 'info',
    (text) => text + text,
    ['info/end'],
  ),
  partMutant(
    'INFO wraps the description',
    'GATHERD-8.2',
    ({ kind }) => kind === 'info',
    (text) => `@UPDATE {\n${text}}\n`,
    ['info/object'],
  ),
  partMutant(
    'INFO compresses the description',
    'GATHERD-6.8',
    ({ kind }, { isCompressing }) => kind === 'info' && isCompressing,
    (text) => gzipSync(Buffer.from(text, 'latin1')).toString('latin1'),
    ['compression/info-in-clear'],
  ),
  {
    name: '600 precedes the description',
    rule: 'GATHERD-3.6',
    change: {
      part: (part) =>
        part.kind === 'info' ? `600 - description\n${part.text}` : part.code === '600' ? '' : part.text,
    },
    fails: ['info/order'],
  },
];

/** A defect of the gzip members. */
function memberMutant(
  name: string,
  edit: (bytes: Buffer, text: string) => Buffer,
  fails: readonly string[],
  rule = 'GATHERD-6.3',
): GatherdMutant {
  return { name: `the member ${name}`, rule, change: { member: edit }, fails };
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
  memberMutant('has a wrong checksum', flipped(-8), ['compression/trailer']),
  memberMutant('has a wrong last byte of its checksum', flipped(-5), ['compression/trailer']),
  memberMutant('has a wrong length', flipped(-4), ['compression/trailer']),
  memberMutant('has a wrong last byte of its length', flipped(-1), ['compression/trailer']),
  memberMutant('has another first byte', flipped(0), MEMBER),
  memberMutant('has another second byte', flipped(1), MEMBER),
  memberMutant('has another method', flipped(2), MEMBER),
  memberMutant('lacks its first byte', (bytes) => bytes.subarray(1), MEMBER),
  memberMutant('lacks its last byte', (bytes) => bytes.subarray(0, -1), ['compression/end-line-directly']),
  memberMutant('lacks its trailer', (bytes) => bytes.subarray(0, -8), ['compression/trailer']),
  memberMutant('has no header', (bytes) => bytes.subarray(10), MEMBER),
  memberMutant('is not compressed', (_, text) => Buffer.from(text, 'latin1'), MEMBER),
  memberMutant('is raw deflate', (_, text) => deflateRawSync(Buffer.from(text, 'latin1')), MEMBER),
  memberMutant('is compressed twice', (bytes) => gzipSync(bytes), ['compression/same-content']),
  memberMutant(
    'is two members',
    (_, text) => Buffer.concat([packed(text.slice(0, 20)), packed(text.slice(20))]),
    MEMBER,
  ),
  memberMutant('follows an empty member', (bytes) => Buffer.concat([packed(''), bytes]), MEMBER),
  memberMutant('precedes an empty member', (bytes) => Buffer.concat([bytes, packed('')]), MEMBER),
  memberMutant('holds its end line too', (_, text) => packed(`${text}499 - Sent\n`), [
    'compression/same-content',
  ]),
  memberMutant('holds its start line too', (_, text) => packed(`400 - Sending\n${text}`), [
    'compression/same-content',
  ]),
  memberMutant('holds no sections', (_, text) => packed(objectsIn(text).join('')), [
    'compression/same-content',
  ]),
  memberMutant('holds CR LF', (_, text) => packed(text.replaceAll('\n', '\r\n')), [
    'compression/same-content',
  ]),
  memberMutant('is empty', () => packed(''), ['compression/same-content', 'compression/empty-update']),
  memberMutant('follows a NUL', (bytes) => Buffer.concat([Buffer.from([0]), bytes]), MEMBER),
];

const noted = (dialogue: Dialogue) => dialogue.commands.some((line) => /^set changes$/i.test(line));

const CHANGES: readonly GatherdMutant[] = [
  partMutant(
    'refreshed objects have their content',
    'GATHERD-4.4',
    ({ kind }, dialogue) => kind === 'stream' && noted(dialogue),
    (text) => {
      const [deleted = '', refreshed = '', updated = ''] = sectionsOf(text);
      return deleted + mapObjects(refreshed, (object) => object.replace('\n', '\nTitle{1}:\tx\n')) + updated;
    },
    ['changes/refreshed'],
  ),
  partMutant(
    'deleted objects have content',
    'GATHERD-4.9',
    ({ kind }, dialogue) => kind === 'stream' && noted(dialogue),
    (text) => {
      const [deleted = '', ...others] = sectionsOf(text);
      return mapObjects(deleted, (object) => object.replace('\n', '\nBody{1}:\tx\n')) + others.join('');
    },
    ['changes/deleted'],
  ),
  partMutant(
    'refreshed objects are left out',
    'GATHERD-6.11',
    ({ kind }, dialogue) => kind === 'stream' && noted(dialogue),
    (text) => {
      const [deleted = '', , updated = ''] = sectionsOf(text);
      return `${deleted}@REFRESH {\n}\n${updated}`;
    },
    ['changes/nothing-lost'],
  ),
  partMutant(
    'with SET changes everything comes in REFRESH',
    'GATHERD-6.11',
    (part, dialogue) => part.kind === 'stream' && noted(dialogue) && isFull(part, dialogue),
    (text) => soifOf({ refresh: objectsIn(text) }),
    ['changes/everything-complete'],
  ),
  partMutant(
    'compressed changes lack the deleted objects',
    'GATHERD-6.11',
    ({ kind, isPacked }, dialogue) => kind === 'stream' && isPacked && noted(dialogue),
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
