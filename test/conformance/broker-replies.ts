// Mutants of a Broker's replies: counted bytes, objects, the end of the connection.
import type { BrokerMutant } from './broker-builders.js';
import { BROKER_LINE_MUTANTS, isAdmin, nothing } from './broker-lines.js';
import { type BrokerChange, type Item, objectsOf } from './broker-link.js';
import { about, alone } from './mutant.js';

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

function itemMutants(
  rule: string,
  fails: readonly string[],
  code: string,
  edits: Readonly<Record<string, Parameters<typeof itemMutant>[3]>>,
): readonly BrokerMutant[] {
  return Object.entries(edits).map(([name, edit]) => itemMutant(name, rule, code, edit, fails));
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
    ...itemMutants('BRK-4.4', broken, code, {
      [`${what} counts its line end`]: counted(1),
      [`${what} counts a byte too few`]: counted(-1),
      [`${what} has no line end after its bytes`]: (text) => text.slice(0, -1),
      [`${what} has CR LF after its bytes`]: (text) => `${text.slice(0, -1)}\r\n`,
      [`${what} has two line ends before its bytes`]: (text) => text.replace('\n', '\n\n'),
      [`${what} lacks its last byte`]: (text) => `${text.slice(0, -2)}\n`,
      [`${what} has a byte too many`]: (text) => `${text.slice(0, -1)}!\n`,
    }),
    itemMutant(`${what} has two line ends after its bytes`, 'BRK-4.4', code, (text) => `${text}\n`, [
      'reply/form',
    ]),
    ...itemMutants('BRK-4.4', ['reply/counts'], code, {
      [`${what} has no count`]: (text) => text.replace(/ \d+\n/, ' \n'),
      [`${what} has a signed count`]: (text) => text.replace(/(\d+)\n/, '+$1\n'),
      [`${what} has a hexadecimal count`]: (text) => text.replace(/(\d+)\n/, '0x$1\n'),
      [`${what} has a blank after its count`]: (text) => text.replace('\n', ' \n'),
      [`${what} has its bytes on the line of the count`]: (text) => text.replace('\n', ' '),
    }),
  ];
});

const OBJECTS: readonly BrokerMutant[] = [
  ...about('BRK-2.11', ['query/dump-complete'], replyMutant, {
    'one object is sent in each reply': results((all) => all.slice(0, 1)),
    'at most two objects are sent in each reply': results((all) => all.slice(0, 2)),
    'the dump lacks an object': (reply, message) =>
      dump(message) ? results((all) => all.slice(1))(reply) : reply,
  }),
  ...about('BRK-2.20', ['query/word'], replyMutant, {
    'queries find one object': (reply, message) =>
      dump(message) ? reply : results((all) => all.slice(0, 1))(reply),
    'queries do not find the last object': (reply, message) =>
      dump(message) ? reply : results((all) => all.slice(0, -1))(reply),
  }),
  ...about('BRK-4.3', ['reply/once'], replyMutant, {
    'the first object is sent twice': results((all) => [...all.slice(0, 1), ...all]),
  }),
  ...about('BRK-2.11', ['query/all'], replyMutant, {
    'no reply has objects': results(() => []),
  }),
  ...about('BRK-4.12', ['query/nothing'], replyMutant, {
    'a query that nothing matches finds everything': (reply, message) =>
      nothing(message)
        ? '120 - http://x.example.org/\n125 - http://b.example.org/1\n126 - http://b.example.org/\n130 - object end\n'
        : reply,
  }),
  itemMutant('objects have no URL', 'BRK-4.3', '120', () => '120 - \n', ['reply/begins-120']),
  itemMutant('the line of a URL is missing', 'BRK-4.3', '120', () => '', ['query/all']),
  itemMutant('the line of a URL comes twice', 'BRK-4.3', '120', (text) => text + text, ['reply/ends-130']),
  itemMutant('the line of a URL follows an empty line', 'BRK-4.1', '120', (text) => `\n${text}`, [
    'reply/form',
  ]),
  ...itemMutants('BRK-4.10', ['reply/object-url'], '125', {
    'the line of a summary is missing': () => '',
    'the line of a summary comes twice': (text) => text + text,
    'the line of a summary has a file name': () => '125 - OBJ1\n',
    'the line of a summary has an FTP URL': (text) => text.replace('http:', 'ftp:'),
  }),
  itemMutant('the line of the home page is missing', 'BRK-4.11', '126', () => '', ['reply/home-page']),
  itemMutant('the line of the home page has a path', 'BRK-4.11', '126', () => '126 - /brokers/\n', [
    'reply/home-page',
  ]),
  itemMutant('the end of an object is missing', 'BRK-4.3', '130', () => '', ['reply/ends-130']),
  itemMutant('the end of an object comes twice', 'BRK-4.3', '130', (text) => text + text, ['reply/inside']),
  ...itemMutants('BRK-4.2', ['reply/object-end'], '130', {
    'the end of an object is spelled in capitals': () => '130 - Object End\n',
    'the end of an object has a full stop': () => '130 - object end.\n',
    'the end of an object has two blanks': () => '130 - object  end\n',
    'the end of an object has a blank at its end': () => '130 - object end \n',
    'the end of an object has no text': () => '130 - \n',
  }),
  itemMutant('a description comes twice', 'BRK-4.5', '124', (text) => text + text, ['reply/desc-asked']),
  ...itemMutants('BRK-4.8', ['reply/matched-line'], '122', {
    'matched lines have another form': (text) => text.replace('Matched line: ', ''),
    'matched lines have no name of an attribute': (text) => text.replace(/: [^#]+#/, ':'),
    'matched lines do not have the word': () => '122 - Matched line: title# x\n',
  }),
  ...itemMutants('BRK-4.6', ['attribute/returned'], '127', {
    'names of attributes are in lower case': (text) =>
      text.replace(/^127 - \S+/, (name) => name.toLowerCase()),
    'names of attributes are those of the object': (text) =>
      text.replace(/^127 - update-time/i, '127 - Update-Time'),
    'attributes have the value of another': (text) => text.replace(/\d+\n[^\n]*\n/, '5\nwrong\n'),
  }),
  ...about('BRK-4.3', ['attribute/accumulates'], replyMutant, {
    'attributes come in the order of the object': (reply) =>
      reply.replace(/(127 - update-time \d+\n\d+\n)(127 - gatherer-name \d+\n.*\n)/g, '$2$1'),
  }),
  ...about('BRK-4.6', ['attribute/missing'], replyMutant, {
    'an attribute that an object lacks is sent empty': (reply, message) =>
      message.includes('zzyzx-plugh') ? reply.replaceAll('130 -', '127 - zzyzx-plugh 0\n\n130 -') : reply,
  }),
  ...about('BRK-4.1', ['attribute/only-asked'], replyMutant, {
    'attributes are sent unasked': (reply, message) =>
      /#attribute/.test(message) ? reply : reply.replaceAll('130 -', '127 - title 1\nx\n130 -'),
  }),
  ...about('BRK-4.5', ['reply/desc-only-asked'], replyMutant, {
    'descriptions are sent unasked': (reply, message) =>
      /#desc/i.test(message) ? reply : reply.replaceAll('130 -', '124 - 1\nx\n130 -'),
  }),
  ...about('BRK-3.2', ['flags/opaque', 'flags/opaque-mode'], replyMutant, {
    'matched lines are sent in spite of #opaque': (reply, message) =>
      /#opaque/.test(message) ? reply.replaceAll('130 -', '122 - Matched line: title# x\n130 -') : reply,
  }),
  ...about('BRK-3.2', ['flags/opaque-mode'], replyMutant, {
    'matched lines of some queries are sent in spite of #opaque': (reply, message) =>
      /#opaque #index case insensitive #index matchword #END [a-l]/.test(message)
        ? reply.replaceAll('130 -', '122 - Matched line: title# x\n130 -')
        : reply,
  }),
  ...about('BRK-4.3', ['reply/order'], replyMutant, {
    'the home page comes after the object': (reply) =>
      reply.replace(/(126 - .*\n)((?:(?!126 -|130 -).*\n)*)(130 - .*\n)/g, '$2$1$3'),
  }),
  ...about('BRK-4.3', ['reply/inside'], replyMutant, {
    'the summary comes first': (reply) => reply.replace(/(120 - .*\n)(125 - .*\n)/g, '$2$1'),
    'a description follows the end of its object': (reply) =>
      reply.replace(/(124 - \d+\n[\s\S]*?\n)((?:12[2567] - [\s\S]*?)?130 - object end\n)/, '$2$1'),
  }),
];

const ENDS: readonly BrokerMutant[] = [
  ...about('BRK-4.18', ['reply/nothing-matched'], replyMutant, {
    'nothing is said when nothing matched': (reply, message) => (nothing(message) ? '' : reply),
  }),
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
  ...about('BRK-4.12', ['reply/ends-130'], replyMutant, {
    'a reply ends within its last object': (reply) => reply.replace(/130 - object end\n$/, ''),
  }),
  replyMutant('a reply ends in a NUL', 'BRK-4.1', (reply) => `${reply}\0`, ['reply/whole']),
  replyMutant('refusals do not say ERROR', 'BRK-4.14', (reply) => reply.replace(/^(111 - )ERROR: /gm, '$1'), [
    'malformed/no-message',
    'admin/wrong-password',
  ]),
  replyMutant('refusals say Error', 'BRK-4.14', (reply) => reply.replace(/^(111 - )ERROR/gm, '$1Error'), [
    'malformed/no-query',
    'admin/no-password',
  ]),
  ...about('BRK-4.13', ['malformed/parentheses', 'admin/unknown'], replyMutant, {
    'a line follows a refusal': (reply) => reply.replace(/^(111 - .*\n)/gm, '$1101 - sorry\n'),
  }),
  replyMutant('a refusal comes twice', 'BRK-4.13', (reply) => reply.replace(/^(111 - .*\n)/gm, '$1$1'), [
    'malformed/parentheses',
  ]),
  ...about('BRK-4.13', ['malformed/operands'], replyMutant, {
    'an object follows a refusal': (reply) =>
      reply.replace(/^(111 - .*\n)/gm, '$1120 - http://x/\n130 - object end\n'),
  }),
  replyMutant('a refusal is empty', 'BRK-4.14', (reply) => (/^111 -/m.test(reply) ? '' : reply), [
    'malformed/operands',
    'admin/parameters',
  ]),
  ...about('BRK-5.2', ['admin/refusal-tells-nothing'], replyMutant, {
    'refusals repeat the password': (reply, message) =>
      isAdmin(message) ? reply.replace(/^(111 - .*)\n/m, `$1 ${message.trim()}\n`) : reply,
    'refusals name the command': (reply, message) =>
      reply.replace(/^(111 - .*)\n/m, `$1${/#do-stats/.test(message) ? ' stats' : ''}\n`),
  }),
  ...about('BRK-4.12', ['message/crlf', 'reply/closes'], alone<BrokerChange>, {
    'the connection stays open after a reply': { staysOpen: true },
  }),
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
  ...about('BRK-1.3', ['greeting/first'], alone<BrokerChange>, {
    'the greeting comes after the message': {
      greeting: () => '',
      reply: (reply) => `200 - HARVEST Broker 1.0\n${reply}`,
    },
  }),
];

export const BROKER_REPLY_MUTANTS: readonly BrokerMutant[] = [
  ...BROKER_LINE_MUTANTS,
  ...COUNTED,
  ...OBJECTS,
  ...ENDS,
];
