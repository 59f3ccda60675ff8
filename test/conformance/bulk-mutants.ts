// Mutants of a Broker's bulk transfers as they were shipped: status lines, groups, objects, selection,
// messages.
import { gzipSync } from 'node:zlib';
import type { BrokerChange } from './broker-link.js';
import {
  type BulkMutant,
  dataMutant,
  isTransfer,
  MALFORMED,
  misreading,
  replyMutant,
  without,
} from './bulk-builders.js';
import { BULK_SELECTION_MUTANTS } from './bulk-selection.js';
import { FORM_DEFECTS, NUMBER_DEFECTS, withCode } from './lines.js';
import { about, alone, whole } from './mutant.js';
import { OBJECT_DEFECTS } from './object-defects.js';
import { mapObjects, objectsIn, sectionsOf } from './soif-text.js';

function lineMutants(
  name: string,
  code: string,
  form: readonly string[],
  number: readonly string[],
  free: readonly string[] = [],
): readonly BulkMutant[] {
  const edit = (change: (line: string) => string): BrokerChange => ({
    reply: (reply) => (reply.startsWith(`${code} - `) ? reply.replace(/^.*\n/, change) : reply),
  });
  return [
    ...FORM_DEFECTS.map((defect) => ({
      name: `${name} ${defect.name}`,
      rule: 'BRK-4.1',
      change: edit(defect.edit),
      fails: form,
    })),
    ...NUMBER_DEFECTS.map((defect) => ({
      name: `${name} ${defect.name}`,
      rule: 'BRK-4.1',
      change: edit(defect.edit),
      fails: code === '000' && /digits/.test(defect.name) ? ['transfer/everything'] : number,
    })),
    ...['000', '099', '101', '111', '200', '400', '499', '500', '999']
      .filter((other) => other !== code && !free.includes(other))
      .map((other) => ({
        name: `${name} has the number ${other}`,
        rule: 'BT-10',
        change: edit((line) => withCode(line, other)),
        fails: code === '000' && (other === '111' || other === '400') ? ['transfer/everything'] : number,
      })),
  ];
}

const REFUSALS = ['error/since', 'error/no-end', 'error/no-query', 'error/flag', 'error/query'];
const refusal = (edit: (line: string) => string) => (reply: string) =>
  reply.startsWith('400 - ') ? edit(reply) : reply;

const LINES: readonly BulkMutant[] = [
  ...lineMutants('the line before the data', '000', ['transfer/line-form'], ['transfer/success-line']),
  ...lineMutants('the line of a refusal', '400', ['error/line-form'], REFUSALS),
  ...about('BT-10', ['transfer/success-line'], replyMutant, {
    'the line before the data is missing': (reply) => reply.replace(/^000 - .*\n/, ''),
    'the line before the data comes twice': (reply) => reply.replace(/^000 - .*\n/, '$&$&'),
    'another line precedes the data': (reply) => reply.replace(/^000 - /, '101 - hello\n000 - '),
  }),
  replyMutant('an empty line precedes the data', 'BT-10', (reply) => reply.replace(/^000 - .*\n/, '$&\n'), [
    'groups/layout',
  ]),
  ...about('BT-10', REFUSALS, replyMutant, {
    'refusals do not say ERROR': refusal((line) => line.replace('ERROR: ', '')),
    'refusals say error': refusal((line) => line.replace('ERROR', 'error')),
    'a refusal comes twice': refusal((line) => line + line),
    'empty groups follow a refusal': refusal((line) => `${line}@UPDATE {\n}\n`),
    '000 precedes a refusal': refusal((line) => `000 - transfer\n${line}`),
    'a refusal is empty': refusal(() => ''),
    'a refusal has no end': refusal((line) => line.slice(0, -1)),
  }),
  ...about('BT-11', ['transfer/no-end-line'], replyMutant, {
    'data ends with 099': (reply) => (isTransfer(reply) ? `${reply}099 - done\n` : reply),
    'data ends with 499': (reply) => (isTransfer(reply) ? `${reply}499 - done\n` : reply),
  }),
  replyMutant('data ends with 999', 'BT-12', (reply) => (isTransfer(reply) ? `${reply}999 - Bye\n` : reply), [
    'objects/soif',
  ]),
  ...about('BT-12', ['transfer/everything'], alone<BrokerChange>, {
    'the connection stays open after the data': { staysOpen: true },
  }),
  ...(
    [
      ['is missing', ''],
      ['has another number', '220 - HARVEST Broker 1.0\n'],
      ['has no hyphen', '200 HARVEST Broker 1.0\n'],
      ['does not say Broker', '200 - Server 1\n'],
      ['ends in CR LF', '200 - HARVEST Broker 1.0\r\n'],
      ['follows an empty line', '\n200 - HARVEST Broker 1.0\n'],
    ] as const
  ).map(
    ([what, line]): BulkMutant => ({
      name: `the greeting ${what}`,
      rule: 'BT-9',
      change: { greeting: () => line },
      fails: ['greeting/first'],
    }),
  ),
];

const reordered = (order: readonly number[]) => (data: string) => {
  const sections = sectionsOf(data).map((section) => `${section.trimEnd()}\n`);
  return order.map((i) => sections[i] ?? '').join('\n');
};

const GROUPS: readonly BulkMutant[] = [
  ...(
    [
      [[0, 2, 1], 'UPDATE comes before REFRESH'],
      [[1, 0, 2], 'REFRESH comes first'],
      [[1, 2, 0], 'DELETE comes last'],
      [[2, 0, 1], 'UPDATE comes first'],
      [[2, 1, 0], 'the groups are reversed'],
      [[1, 2], 'DELETE is missing'],
      [[0, 2], 'REFRESH is missing'],
      [[0, 1], 'UPDATE is missing'],
      [[2], 'only UPDATE is sent'],
      [[0, 0, 1, 2], 'DELETE comes twice'],
      [[0, 1, 1, 2], 'REFRESH comes twice'],
      [[0, 1, 2, 2], 'UPDATE comes twice'],
    ] as const
  ).map(([order, name]) => dataMutant(name, 'BT-15', reordered(order), ['groups/three'])),
  ...['DELETE', 'REFRESH', 'UPDATE'].flatMap((word) => [
    ...about('BT-17', ['groups/layout'], dataMutant, {
      [`${word} is in lower case`]: (data) => data.replace(`@${word} {`, `@${word.toLowerCase()} {`),
      [`${word} has no blank before its brace`]: (data) => data.replace(`@${word} {`, `@${word}{`),
      [`${word} has CR LF`]: (data) => data.replace(`@${word} {\n`, `@${word} {\r\n`),
      [`${word} follows another empty line`]: (data) => data.replace(`@${word} {`, `\n@${word} {`),
    }),
    dataMutant(`${word} is misspelled`, 'BT-14', (data) => data.replace(`@${word} {`, `@${word}S {`), [
      'groups/three',
    ]),
    dataMutant(`${word} is indented`, 'BT-17', (data) => data.replace(`@${word} {`, ` @${word} {`), [
      'groups/line-start',
    ]),
  ]),
  dataMutant('no empty line is between the groups', 'BT-17', (data) => data.replaceAll('\n\n@', '\n@'), [
    'groups/layout',
  ]),
  ...about('BT-17', ['groups/line-start'], dataMutant, {
    'groups begin on the line of the brace before them': (data) => data.replaceAll('}\n\n@', '} @'),
  }),
  ...about('BT-14', ['groups/members'], dataMutant, {
    'objects are outside of the groups': (data) =>
      `@DELETE {\n}\n\n@REFRESH {\n}\n\n@UPDATE {\n}\n${objectsIn(data).join('')}`,
  }),
  dataMutant('there are no groups', 'BT-14', (data) => objectsIn(data).join(''), [
    'groups/three',
    'groups/members',
  ]),
  dataMutant('the last brace is missing', 'BT-19', (data) => data.slice(0, -2), ['objects/soif']),
  dataMutant('the last line end is missing', 'BT-17', (data) => data.slice(0, -1), ['groups/layout']),
  dataMutant('a brace too many ends the data', 'BT-17', (data) => `${data}}\n`, ['objects/soif']),
  dataMutant('an empty line ends the data', 'BT-17', (data) => `${data}\n`, ['groups/layout']),
  dataMutant('a NUL ends the data', 'BT-16', (data) => `${data}\0`, ['objects/soif']),
  dataMutant('the data lacks its first byte', 'BT-14', (data) => data.slice(1), ['objects/soif']),
  dataMutant('text is between the groups', 'BT-14', (data) => data.replace('@UPDATE', 'and now\n@UPDATE'), [
    'objects/soif',
  ]),
  ...about('BT-13', ['transfer/everything'], dataMutant, {
    'the data is compressed': (data) => gzipSync(Buffer.from(data, 'latin1')).toString('latin1'),
  }),
  dataMutant('the data ends in the middle', 'BT-19', (data) => data.slice(0, data.length >> 1), [
    'objects/soif',
  ]),
];

const inFirst = (edit: (object: string) => string) => (data: string) =>
  mapObjects(data, (object, i) => (i === 0 ? edit(object) : object));
const inGroup = (at: number, edit: (object: string) => string) => (data: string) =>
  sectionsOf(data)
    .map((section, i) => (i === at ? mapObjects(section, edit) : section))
    .join('');

const OBJECTS: readonly BulkMutant[] = [
  ...OBJECT_DEFECTS.map(([name, , edit]) =>
    dataMutant(`an object ${name}`, 'BT-16', inFirst(edit), ['objects/soif']),
  ),
  ...['Gatherer-Name', 'Gatherer-Host', 'Gatherer-Version', 'Update-Time'].flatMap((name) => [
    dataMutant(`objects have no ${name}`, 'BT-24', (data) => mapObjects(data, without(name)), [
      'objects/mandatory',
    ]),
    dataMutant(`one object has no ${name}`, 'BT-24', inFirst(without(name)), ['objects/mandatory']),
    dataMutant(`deleted objects have no ${name}`, 'BT-21', inGroup(0, without(name)), [
      'objects/delete-identified',
    ]),
    dataMutant(`refreshed objects have no ${name}`, 'BT-21', inGroup(1, without(name)), [
      'objects/refresh-identified',
    ]),
  ]),
  ...about('BT-16', ['objects/no-empty'], dataMutant, {
    'an object has an empty attribute': inFirst((object) => object.replace('\n', '\nAuthor{0}:\t\n')),
  }),
  ...about('BT-25', ['objects/once'], dataMutant, {
    'an object is sent twice': inFirst((object) => object + object),
  }),
];

const MESSAGES: readonly BulkMutant[] = [
  misreading('a message must end in CR LF', 'BT-2', /^.*[^\r]\n$/, MALFORMED, ['message/lf']),
  ...['bulk', 'Since', 'end', 'allb'].map((word) =>
    misreading(
      `#${word} is not known in this spelling`,
      'BT-2',
      new RegExp(`^.*#${word}\\b.*\\r\\n`),
      MALFORMED,
      ['message/any-case'],
    ),
  ),
  ...about('BT-2', ['message/one'], replyMutant, {
    'every message of a connection is answered': (reply, _message, rest) =>
      isTransfer(reply) && rest !== '' ? reply + reply : reply,
  }),
  ...about('BT-2', ['message/bytewise'], whole<BrokerChange>, {
    'the first bytes are the message': {
      chunk: (text) => (text.length <= 3 && !text.endsWith('\n') ? '?\n' : text),
    },
  }),
  misreading('any time is accepted', 'BT-10', /#SINCE soon/, '#SINCE 0', ['error/since']),
  misreading('#END may be missing', 'BT-10', /(#SINCE 0) (#ALLB)/, '$1 #END $2', ['error/no-end']),
  misreading('a query may be missing', 'BT-10', /#END\r\n/, '#END #ALLB\r\n', ['error/no-query']),
  misreading('unknown flags are ignored', 'BT-10', /#frobnicate /, '', ['error/flag']),
  misreading('an open parenthesis is ignored', 'BT-10', /\(heron/, 'heron', ['error/query']),
];

const ENDURANCE: readonly BulkMutant[] = [
  {
    name: 'a client that reads late gets a part',
    rule: 'BT-19',
    get change() {
      return { reply: everyOther((reply) => reply.slice(0, reply.length >> 1)) };
    },
    fails: ['endurance/slow-reader'],
    only: ['transfer/everything', 'endurance/slow-reader'],
  },
  {
    name: 'one client is served at a time',
    rule: 'BT-12',
    change: { weakness: { blockedBy: () => true } },
    fails: ['endurance/together'],
    only: ['transfer/everything', 'endurance/together'],
  },
  {
    name: 'a client that does not read stops the Broker',
    rule: 'BT-12',
    get change() {
      return { weakness: { diesAt: onceMore(2) } };
    },
    fails: ['endurance/does-not-read'],
    only: ['transfer/everything', 'endurance/does-not-read'],
  },
  {
    name: 'a client that leaves stops the Broker',
    rule: 'BT-12',
    get change() {
      return { weakness: { diesAfter: onceMore(2) } };
    },
    fails: ['endurance/does-not-read'],
    only: ['transfer/everything', 'endurance/does-not-read'],
  },
];

/** The second transfer of a run and those after it are changed. */
function everyOther(edit: (reply: string) => string): (reply: string) => string {
  let count = 0;
  return (reply) => (isTransfer(reply) && ++count > 1 ? edit(reply) : reply);
}

/** Whether so many clients have sent something and gone. */
function onceMore(times: number): (sent: string) => boolean {
  let count = 0;
  return (sent) => sent !== '' && ++count >= times;
}

export const BULK_MUTANTS: readonly BulkMutant[] = [
  ...LINES,
  ...GROUPS,
  ...OBJECTS,
  ...BULK_SELECTION_MUTANTS,
  ...MESSAGES,
  ...ENDURANCE,
];
