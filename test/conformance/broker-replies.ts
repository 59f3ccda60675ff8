// Mutants of a Broker's replies: counted bytes, objects, the end of the connection.
import type { BrokerMutant } from './broker-builders.js';
import { BROKER_LINE_MUTANTS, isAdmin, nothing } from './broker-lines.js';
import type { Item } from './broker-link.js';
import { objectsOf } from './broker-link.js';

/** A mutant that changes items with this code in replies to users. */
function itemMutant(
  name: string,
  rule: string,
  code: string,
  edit: (text: string, at: number, items: readonly Item[]) => string,
  fails: readonly string[],
): BrokerMutant {
  return {
    name,
    rule,
    change: { item: (item, at, items) => (item.code === code ? edit(item.text, at, items) : item.text) },
    fails,
  };
}

function replyMutant(
  name: string,
  rule: string,
  edit: (reply: string, message: string) => string,
  fails: readonly string[],
  only?: readonly string[],
): BrokerMutant {
  const mutant: BrokerMutant = { name, rule, change: { reply: edit }, fails };
  return only === undefined ? mutant : { ...mutant, only };
}

const counted = (by: number) => (text: string) =>
  text.replace(/(\d+)\n/, (_, count) => `${Number(count) + by}\n`);
const isResult = (group: string) => group.startsWith('120');
/** Changes the objects of a reply; the other items stay where they are. */
const results = (edit: (objects: readonly string[]) => readonly string[]) => (reply: string) => {
  const groups = objectsOf(reply);
  const objects = groups.filter(isResult);
  return [...groups.filter((group) => !isResult(group)), ...edit(objects)].join('');
};
const dump = (message: string) => /#allb\s*$/i.test(message);

const COUNTED: readonly BrokerMutant[] = ['124', '127'].flatMap((code) => {
  const what = code === '124' ? 'a description' : 'an attribute';
  const broken = ['reply/counted'];
  return [
    itemMutant(`${what} counts its line end`, 'BRK-4.4', code, counted(1), broken),
    itemMutant(`${what} counts a byte too few`, 'BRK-4.4', code, counted(-1), broken),
    itemMutant(
      `${what} has no line end after its bytes`,
      'BRK-4.4',
      code,
      (text) => text.slice(0, -1),
      broken,
    ),
    itemMutant(
      `${what} has CR LF after its bytes`,
      'BRK-4.4',
      code,
      (text) => `${text.slice(0, -1)}\r\n`,
      broken,
    ),
    itemMutant(`${what} has two line ends after its bytes`, 'BRK-4.4', code, (text) => `${text}\n`, [
      'reply/form',
    ]),
    itemMutant(
      `${what} has two line ends before its bytes`,
      'BRK-4.4',
      code,
      (text) => text.replace('\n', '\n\n'),
      broken,
    ),
    itemMutant(`${what} lacks its last byte`, 'BRK-4.4', code, (text) => `${text.slice(0, -2)}\n`, broken),
    itemMutant(`${what} has a byte too many`, 'BRK-4.4', code, (text) => `${text.slice(0, -1)}!\n`, broken),
    itemMutant(`${what} has no count`, 'BRK-4.4', code, (text) => text.replace(/ \d+\n/, ' \n'), [
      'reply/counts',
    ]),
    itemMutant(`${what} has a signed count`, 'BRK-4.4', code, (text) => text.replace(/(\d+)\n/, '+$1\n'), [
      'reply/counts',
    ]),
    itemMutant(
      `${what} has a hexadecimal count`,
      'BRK-4.4',
      code,
      (text) => text.replace(/(\d+)\n/, '0x$1\n'),
      ['reply/counts'],
    ),
    itemMutant(`${what} has a blank after its count`, 'BRK-4.4', code, (text) => text.replace('\n', ' \n'), [
      'reply/counts',
    ]),
    itemMutant(
      `${what} has its bytes on the line of the count`,
      'BRK-4.4',
      code,
      (text) => text.replace('\n', ' '),
      ['reply/counts'],
    ),
  ];
});

const OBJECTS: readonly BrokerMutant[] = [
  replyMutant(
    'one object is sent in each reply',
    'BRK-2.11',
    results((all) => all.slice(0, 1)),
    ['query/dump-complete'],
  ),
  replyMutant(
    'at most two objects are sent in each reply',
    'BRK-2.11',
    results((all) => all.slice(0, 2)),
    ['query/dump-complete'],
  ),
  replyMutant(
    'the dump lacks an object',
    'BRK-2.11',
    (reply, message) => (dump(message) ? results((all) => all.slice(1))(reply) : reply),
    ['query/dump-complete'],
  ),
  replyMutant(
    'queries find one object',
    'BRK-2.20',
    (reply, message) => (dump(message) ? reply : results((all) => all.slice(0, 1))(reply)),
    ['query/word'],
  ),
  replyMutant(
    'queries do not find the last object',
    'BRK-2.20',
    (reply, message) => (dump(message) ? reply : results((all) => all.slice(0, -1))(reply)),
    ['query/word'],
  ),
  replyMutant(
    'the first object is sent twice',
    'BRK-4.3',
    results((all) => [...all.slice(0, 1), ...all]),
    ['reply/once'],
  ),
  replyMutant(
    'no reply has objects',
    'BRK-2.11',
    results(() => []),
    ['query/all'],
  ),
  replyMutant(
    'a query that nothing matches finds everything',
    'BRK-4.12',
    (reply, message) =>
      nothing(message)
        ? '120 - http://x.example.org/\n125 - http://b.example.org/1\n126 - http://b.example.org/\n130 - object end\n'
        : reply,
    ['query/nothing'],
  ),
  itemMutant('objects have no URL', 'BRK-4.3', '120', () => '120 - \n', ['reply/begins-120']),
  itemMutant('the line of a URL is missing', 'BRK-4.3', '120', () => '', ['query/all']),
  itemMutant('the line of a URL comes twice', 'BRK-4.3', '120', (text) => text + text, ['reply/ends-130']),
  itemMutant('the line of a URL follows an empty line', 'BRK-4.1', '120', (text) => `\n${text}`, [
    'reply/form',
  ]),
  itemMutant('the line of a summary is missing', 'BRK-4.10', '125', () => '', ['reply/object-url']),
  itemMutant('the line of a summary comes twice', 'BRK-4.10', '125', (text) => text + text, [
    'reply/object-url',
  ]),
  itemMutant('the line of a summary has a file name', 'BRK-4.10', '125', () => '125 - OBJ1\n', [
    'reply/object-url',
  ]),
  itemMutant(
    'the line of a summary has an FTP URL',
    'BRK-4.10',
    '125',
    (text) => text.replace('http:', 'ftp:'),
    ['reply/object-url'],
  ),
  itemMutant('the line of the home page is missing', 'BRK-4.11', '126', () => '', ['reply/home-page']),
  itemMutant('the line of the home page has a path', 'BRK-4.11', '126', () => '126 - /brokers/\n', [
    'reply/home-page',
  ]),
  itemMutant('the end of an object is missing', 'BRK-4.3', '130', () => '', ['reply/ends-130']),
  itemMutant('the end of an object comes twice', 'BRK-4.3', '130', (text) => text + text, ['reply/inside']),
  itemMutant('the end of an object is spelled in capitals', 'BRK-4.2', '130', () => '130 - Object End\n', [
    'reply/object-end',
  ]),
  itemMutant('the end of an object has a full stop', 'BRK-4.2', '130', () => '130 - object end.\n', [
    'reply/object-end',
  ]),
  itemMutant('the end of an object has two blanks', 'BRK-4.2', '130', () => '130 - object  end\n', [
    'reply/object-end',
  ]),
  itemMutant('the end of an object has a blank at its end', 'BRK-4.2', '130', () => '130 - object end \n', [
    'reply/object-end',
  ]),
  itemMutant('the end of an object has no text', 'BRK-4.2', '130', () => '130 - \n', ['reply/object-end']),
  itemMutant('a description comes twice', 'BRK-4.5', '124', (text) => text + text, ['reply/desc-asked']),
  itemMutant(
    'matched lines have another form',
    'BRK-4.8',
    '122',
    (text) => text.replace('Matched line: ', ''),
    ['reply/matched-line'],
  ),
  itemMutant(
    'matched lines have no name of an attribute',
    'BRK-4.8',
    '122',
    (text) => text.replace(/: [^#]+#/, ':'),
    ['reply/matched-line'],
  ),
  itemMutant('matched lines do not have the word', 'BRK-4.8', '122', () => '122 - Matched line: title# x\n', [
    'reply/matched-line',
  ]),
  itemMutant(
    'names of attributes are in lower case',
    'BRK-4.6',
    '127',
    (text) => text.replace(/^127 - \S+/, (name) => name.toLowerCase()),
    ['attribute/returned'],
  ),
  itemMutant(
    'names of attributes are those of the object',
    'BRK-4.6',
    '127',
    (text) => text.replace(/^127 - update-time/i, '127 - Update-Time'),
    ['attribute/returned'],
  ),
  itemMutant(
    'attributes have the value of another',
    'BRK-4.6',
    '127',
    (text) => text.replace(/\d+\n[^\n]*\n/, '5\nwrong\n'),
    ['attribute/returned'],
  ),
  replyMutant(
    'attributes come in the order of the object',
    'BRK-4.3',
    (reply) => reply.replace(/(127 - update-time \d+\n\d+\n)(127 - gatherer-name \d+\n.*\n)/g, '$2$1'),
    ['attribute/accumulates'],
  ),
  replyMutant(
    'an attribute that an object lacks is sent empty',
    'BRK-4.6',
    (reply, message) =>
      message.includes('zzyzx-plugh') ? reply.replaceAll('130 -', '127 - zzyzx-plugh 0\n\n130 -') : reply,
    ['attribute/missing'],
  ),
  replyMutant(
    'attributes are sent unasked',
    'BRK-4.1',
    (reply, message) =>
      /#attribute/.test(message) ? reply : reply.replaceAll('130 -', '127 - title 1\nx\n130 -'),
    ['attribute/only-asked'],
  ),
  replyMutant(
    'descriptions are sent unasked',
    'BRK-4.5',
    (reply, message) => (/#desc/i.test(message) ? reply : reply.replaceAll('130 -', '124 - 1\nx\n130 -')),
    ['reply/desc-only-asked'],
  ),
  replyMutant(
    'matched lines are sent in spite of #opaque',
    'BRK-3.2',
    (reply, message) =>
      /#opaque/.test(message) ? reply.replaceAll('130 -', '122 - Matched line: title# x\n130 -') : reply,
    ['flags/opaque', 'flags/opaque-suppresses'],
  ),
  replyMutant(
    'the home page comes after the object',
    'BRK-4.3',
    (reply) => reply.replace(/(126 - .*\n)((?:(?!126 -|130 -).*\n)*)(130 - .*\n)/g, '$2$1$3'),
    ['reply/order'],
  ),
  replyMutant(
    'the summary comes first',
    'BRK-4.3',
    (reply) => reply.replace(/(120 - .*\n)(125 - .*\n)/g, '$2$1'),
    ['reply/inside'],
  ),
  replyMutant(
    'a description follows the end of its object',
    'BRK-4.3',
    (reply) => reply.replace(/(124 - \d+\n[\s\S]*?\n)((?:12[2567] - [\s\S]*?)?130 - object end\n)/, '$2$1'),
    ['reply/inside'],
  ),
];

const ENDS: readonly BrokerMutant[] = [
  replyMutant(
    'nothing is said when nothing matched',
    'BRK-4.18',
    (reply, message) => (nothing(message) ? '' : reply),
    ['reply/nothing-matched'],
  ),
  replyMutant('a reply ends with a line 099', 'BRK-4.12', (reply) => `${reply}099 - done\n`, [
    'reply/closes',
    'reply/codes',
  ]),
  replyMutant('a reply ends with a line 999', 'BRK-4.12', (reply) => `${reply}999 - Bye\n`, ['reply/closes']),
  replyMutant('a reply ends with an empty line', 'BRK-4.1', (reply) => `${reply}\n`, ['reply/form']),
  replyMutant('a reply begins with a line 000', 'BRK-4.1', (reply) => `000 - results follow\n${reply}`, [
    'reply/closes',
  ]),
  replyMutant('a reply ends within its last line', 'BRK-4.12', (reply) => reply.slice(0, -1), [
    'reply/whole',
  ]),
  replyMutant(
    'a reply ends within its last object',
    'BRK-4.12',
    (reply) => reply.replace(/130 - object end\n$/, ''),
    ['reply/ends-130'],
  ),
  replyMutant('a reply ends in a NUL', 'BRK-4.1', (reply) => `${reply}\0`, ['reply/whole']),
  replyMutant('refusals do not say ERROR', 'BRK-4.14', (reply) => reply.replace(/^(111 - )ERROR: /gm, '$1'), [
    'malformed/no-message',
    'admin/wrong-password',
  ]),
  replyMutant('refusals say Error', 'BRK-4.14', (reply) => reply.replace(/^(111 - )ERROR/gm, '$1Error'), [
    'malformed/no-query',
    'admin/no-password',
  ]),
  replyMutant(
    'a line follows a refusal',
    'BRK-4.13',
    (reply) => reply.replace(/^(111 - .*\n)/gm, '$1101 - sorry\n'),
    ['malformed/parentheses', 'admin/unknown'],
  ),
  replyMutant('a refusal comes twice', 'BRK-4.13', (reply) => reply.replace(/^(111 - .*\n)/gm, '$1$1'), [
    'malformed/parentheses',
  ]),
  replyMutant(
    'an object follows a refusal',
    'BRK-4.13',
    (reply) => reply.replace(/^(111 - .*\n)/gm, '$1120 - http://x/\n130 - object end\n'),
    ['malformed/operands'],
  ),
  replyMutant('a refusal is empty', 'BRK-4.14', (reply) => (/^111 -/m.test(reply) ? '' : reply), [
    'malformed/operands',
    'admin/parameters',
  ]),
  replyMutant(
    'refusals repeat the password',
    'BRK-5.2',
    (reply, message) =>
      isAdmin(message) ? reply.replace(/^(111 - .*)\n/m, `$1 ${message.trim()}\n`) : reply,
    ['admin/refusal-tells-nothing'],
  ),
  replyMutant(
    'refusals name the command',
    'BRK-5.2',
    (reply, message) => reply.replace(/^(111 - .*)\n/m, `$1${/#do-stats/.test(message) ? ' stats' : ''}\n`),
    ['admin/refusal-tells-nothing'],
  ),
  {
    name: 'the connection stays open after a reply',
    rule: 'BRK-4.12',
    change: { staysOpen: true },
    fails: ['message/crlf', 'reply/closes'],
    only: ['message/crlf', 'reply/closes'],
  },
  ...(
    [
      ['is missing', 'greeting/form', () => ''],
      ['has another number', 'greeting/form', (line: string) => `220${line.slice(3)}`],
      ['has no hyphen', 'greeting/form', (line: string) => line.replace(' - ', ' ')],
      ['does not say Broker', 'greeting/broker', () => '200 - Server 1\n'],
      ['has no text', 'greeting/broker', () => '200 - \n'],
      ['ends in CR LF', 'greeting/lf-only', (line: string) => line.replace('\n', '\r\n')],
      ['follows an empty line', 'greeting/form', (line: string) => `\n${line}`],
      ['has two blanks after the hyphen', 'greeting/form', (line: string) => line.replace('- ', '-  ')],
    ] as const
  ).map(
    ([what, fails, greeting]): BrokerMutant => ({
      name: `the greeting ${what}`,
      rule: 'BRK-1.3',
      change: { greeting },
      fails: [fails],
    }),
  ),
  {
    name: 'the greeting comes after the message',
    rule: 'BRK-1.3',
    change: { greeting: () => '', reply: (reply) => `200 - HARVEST Broker 1.0\n${reply}` },
    fails: ['greeting/first'],
    only: ['greeting/first'],
  },
];

export const BROKER_REPLY_MUTANTS: readonly BrokerMutant[] = [
  ...BROKER_LINE_MUTANTS,
  ...COUNTED,
  ...OBJECTS,
  ...ENDS,
];
