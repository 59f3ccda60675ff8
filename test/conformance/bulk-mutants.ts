// Mutants of a Broker's bulk transfers as they were shipped: status lines, groups, objects, selection, messages.
import { gzipSync } from 'node:zlib';
import type { BrokerChange } from './broker-link.js';
import { FORM_DEFECTS, NUMBER_DEFECTS, withCode } from './lines.js';
import type { Mutant } from './mutant.js';
import { OBJECT_DEFECTS } from './object-defects.js';
import { attributeNamed, mapObjects, objectsIn, sectionsOf, withoutLast } from './soif-text.js';

type BulkMutant = Mutant<BrokerChange>;

const MALFORMED = '#BULK nonsense\r\n';
/** Whether the reply is a transfer in the shipped format. */
const isTransfer = (reply: string) => reply.startsWith('000 - ');
const isSince = (message: string) => /#since [1-9]/i.test(message);

/** Changes the data of transfers after their `000` line. */
function dataMutant(
  name: string,
  rule: string,
  edit: (data: string, message: string) => string,
  fails: readonly string[],
): BulkMutant {
  const reply = (text: string, message: string) => {
    if (!isTransfer(text)) return text;
    const start = text.indexOf('\n') + 1;
    return text.slice(0, start) + edit(text.slice(start), message);
  };
  return { name, rule, change: { reply }, fails };
}

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

function replyMutant(
  name: string,
  rule: string,
  reply: BrokerChange['reply'],
  fails: readonly string[],
  only?: readonly string[],
): BulkMutant {
  const mutant: BulkMutant = { name, rule, change: reply === undefined ? {} : { reply }, fails };
  return only === undefined ? mutant : { ...mutant, only };
}

function misreading(
  name: string,
  rule: string,
  pattern: RegExp,
  replacement: string,
  fails: readonly string[],
  only?: readonly string[],
): BulkMutant {
  const mutant: BulkMutant = {
    name,
    rule,
    change: { message: (text) => text.replace(pattern, replacement) },
    fails,
  };
  return only === undefined ? mutant : { ...mutant, only };
}

const REFUSALS = ['error/since', 'error/no-end', 'error/no-query', 'error/flag', 'error/query'];
const refusal = (edit: (line: string) => string) => (reply: string) =>
  reply.startsWith('400 - ') ? edit(reply) : reply;

const LINES: readonly BulkMutant[] = [
  ...lineMutants('the line before the data', '000', ['transfer/line-form'], ['transfer/success-line']),
  ...lineMutants('the line of a refusal', '400', ['error/line-form'], REFUSALS),
  replyMutant('the line before the data is missing', 'BT-10', (reply) => reply.replace(/^000 - .*\n/, ''), [
    'transfer/success-line',
  ]),
  replyMutant(
    'the line before the data comes twice',
    'BT-10',
    (reply) => reply.replace(/^000 - .*\n/, '$&$&'),
    ['transfer/success-line'],
  ),
  replyMutant('an empty line precedes the data', 'BT-10', (reply) => reply.replace(/^000 - .*\n/, '$&\n'), [
    'groups/layout',
  ]),
  replyMutant(
    'another line precedes the data',
    'BT-10',
    (reply) => reply.replace(/^000 - /, '101 - hello\n000 - '),
    ['transfer/success-line'],
  ),
  replyMutant(
    'refusals do not say ERROR',
    'BT-10',
    refusal((line) => line.replace('ERROR: ', '')),
    REFUSALS,
  ),
  replyMutant(
    'refusals say error',
    'BT-10',
    refusal((line) => line.replace('ERROR', 'error')),
    REFUSALS,
  ),
  replyMutant(
    'a refusal comes twice',
    'BT-10',
    refusal((line) => line + line),
    REFUSALS,
  ),
  replyMutant(
    'empty groups follow a refusal',
    'BT-10',
    refusal((line) => `${line}@UPDATE {\n}\n`),
    REFUSALS,
  ),
  replyMutant(
    '000 precedes a refusal',
    'BT-10',
    refusal((line) => `000 - transfer\n${line}`),
    REFUSALS,
  ),
  replyMutant(
    'a refusal is empty',
    'BT-10',
    refusal(() => ''),
    REFUSALS,
  ),
  replyMutant(
    'a refusal has no end',
    'BT-10',
    refusal((line) => line.slice(0, -1)),
    REFUSALS,
  ),
  replyMutant(
    'data ends with 099',
    'BT-11',
    (reply) => (isTransfer(reply) ? `${reply}099 - done\n` : reply),
    ['transfer/no-end-line'],
  ),
  replyMutant(
    'data ends with 499',
    'BT-11',
    (reply) => (isTransfer(reply) ? `${reply}499 - done\n` : reply),
    ['transfer/no-end-line'],
  ),
  replyMutant('data ends with 999', 'BT-12', (reply) => (isTransfer(reply) ? `${reply}999 - Bye\n` : reply), [
    'objects/soif',
  ]),
  {
    name: 'the connection stays open after the data',
    rule: 'BT-12',
    change: { staysOpen: true },
    fails: ['transfer/everything'],
    only: ['transfer/everything'],
  },
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
    dataMutant(
      `${word} is in lower case`,
      'BT-17',
      (data) => data.replace(`@${word} {`, `@${word.toLowerCase()} {`),
      ['groups/layout'],
    ),
    dataMutant(
      `${word} has no blank before its brace`,
      'BT-17',
      (data) => data.replace(`@${word} {`, `@${word}{`),
      ['groups/layout'],
    ),
    dataMutant(`${word} has CR LF`, 'BT-17', (data) => data.replace(`@${word} {\n`, `@${word} {\r\n`), [
      'groups/layout',
    ]),
    dataMutant(
      `${word} follows another empty line`,
      'BT-17',
      (data) => data.replace(`@${word} {`, `\n@${word} {`),
      ['groups/layout'],
    ),
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
  dataMutant(
    'groups begin on the line of the brace before them',
    'BT-17',
    (data) => data.replaceAll('}\n\n@', '} @'),
    ['groups/line-start'],
  ),
  dataMutant(
    'objects are outside of the groups',
    'BT-14',
    (data) => `@DELETE {\n}\n\n@REFRESH {\n}\n\n@UPDATE {\n}\n${objectsIn(data).join('')}`,
    ['groups/members'],
  ),
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
  dataMutant(
    'the data is compressed',
    'BT-13',
    (data) => gzipSync(Buffer.from(data, 'latin1')).toString('latin1'),
    ['transfer/everything'],
  ),
  dataMutant('the data ends in the middle', 'BT-19', (data) => data.slice(0, data.length >> 1), [
    'objects/soif',
  ]),
];

const inFirst = (edit: (object: string) => string) => (data: string) =>
  mapObjects(data, (object, i) => (i === 0 ? edit(object) : object));
const without = (name: string) => (object: string) => object.replace(attributeNamed(name), '');
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
  dataMutant(
    'an object has an empty attribute',
    'BT-16',
    inFirst((object) => object.replace('\n', '\nAuthor{0}:\t\n')),
    ['objects/no-empty'],
  ),
  dataMutant(
    'an object is sent twice',
    'BT-25',
    inFirst((object) => object + object),
    ['objects/once'],
  ),
];

const SELECTION: readonly BulkMutant[] = [
  misreading('#SINCE is ignored', 'BT-4', /#SINCE [1-9]\d*/i, '#SINCE 0', ['since/future']),
  misreading('#SINCE is read in milliseconds', 'BT-4', /#SINCE ([1-9]\d*)/i, '#SINCE $1000', [
    'since/newer-is-sent',
  ]),
  misreading('without #SINCE nothing is sent', 'BT-6', /#BULK #END/, '#BULK #SINCE 4102444800 #END', [
    'since/absent',
  ]),
  misreading('without #SINCE a message is malformed', 'BT-6', /^#BULK #END.*\r\n/, MALFORMED, [
    'since/absent',
  ]),
  dataMutant(
    'an object that changed after the time is left out',
    'BT-5',
    (data, message) => {
      if (!isSince(message)) return data;
      return withoutLast(data);
    },
    ['since/newer-is-sent'],
  ),
  misreading('#desc is not known', 'BT-8', /#desc/, '#frob', ['flags/no-effect']),
  misreading('#opaque is not known', 'BT-8', /#opaque/, '#frob', ['flags/no-effect']),
  dataMutant(
    '#desc leaves out objects',
    'BT-8',
    (data, message) => (/#desc/.test(message) ? withoutLast(data) : data),
    ['flags/no-effect'],
  ),
  misreading('a query is ignored', 'BT-6', /#END [a-z].*\r\n/, '#END #ALLB\r\n', [
    'query/matches',
    'query/nothing',
  ]),
  misreading('a query finds nothing', 'BT-6', /#END [a-z].*\r\n/, '#END zzyzxqqv\r\n', ['query/matches']),
  dataMutant(
    'a query sends objects without their content',
    'BT-6',
    (data, message) => (/#END [a-z]/.test(message) ? mapObjects(data, without('Title')) : data),
    ['query/matches'],
  ),
  dataMutant(
    'a query leaves out an object that matches',
    'BT-6',
    (data, message) => (/#END [a-z]/.test(message) ? withoutLast(data) : data),
    ['query/matches'],
  ),
  replyMutant(
    'a query that matches nothing is refused',
    'BT-6',
    (reply, message) => (/zzyzxqqv/.test(message) ? '400 - ERROR: nothing\n' : reply),
    ['query/nothing'],
  ),
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
  replyMutant(
    'every message of a connection is answered',
    'BT-2',
    (reply, _message, rest) => (isTransfer(reply) && rest !== '' ? reply + reply : reply),
    ['message/one'],
  ),
  {
    name: 'the first bytes are the message',
    rule: 'BT-2',
    change: { chunk: (text) => (text.length <= 3 && !text.endsWith('\n') ? '?\n' : text) },
    fails: ['message/bytewise'],
  },
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
  ...SELECTION,
  ...MESSAGES,
  ...ENDURANCE,
];
