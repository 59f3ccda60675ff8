// The mutants of the kit's own client of the Broker, behind a proxy.
import { prepareClient } from '../../clients/conformance/broker-client/suite.js';
import { OWN_BROKER_CLIENT } from '../clients/conformance/own-clients.js';
import {
  type ClientChanges,
  type ClientMutant,
  type ClientVariant,
  changedClient,
  changing,
  clientVariant,
  deliveryMutants,
  halfCloses,
  reading,
  runClientCases,
  sending,
  stopsAt,
} from './client-run.js';
import type { MutatedSuite } from './mutant.js';

const inQuery = (edit: (query: string) => string) => (message: string) =>
  message.replace(
    /(#END )(.*)(\r\n)/,
    (_, head: string, query: string, end: string) => head + edit(query) + end,
  );

/** Changes the counted values of items with this code, and their counts. */
function changingValues(code: string, edit: (value: string) => string): (reply: string) => string {
  const head = new RegExp(`^${code} - (.*?)(\\d+)\\r?\\n`);
  return (reply) => {
    let out = '';
    for (let at = 0; at < reply.length; ) {
      const line = reply.slice(at, reply.indexOf('\n', at) + 1 || reply.length);
      const counted = /^12[47] - (?:.* )?(\d+)\r?\n$/.exec(line);
      const start = at + line.length;
      const end = start + Number(counted?.[1] ?? 0);
      const value = reply.slice(start, end);
      const own = head.exec(line);
      if (own === null) out += line + value;
      else {
        const changed = edit(value);
        out += `${code} - ${own[1]}${changed.length}\n${changed}`;
      }
      at = end;
    }
    return out;
  };
}

const SENT: readonly ClientMutant[] = [
  sending('sends two messages', 'BRK-1.6', (message) => message + message, ['sent/one']),
  sending('sends an empty line first', 'BRK-1.6', (message) => `\r\n${message}`, ['sent/one']),
  halfCloses('BRK-1.9'),
  sending('ends the message in LF', 'BRK-1.9', (message) => message.replace('\r\n', '\n'), ['sent/line-end']),
  sending('sends no #END', 'BRK-2.9', (message) => message.replace('#END ', ''), ['sent/form', 'sent/word']),
  sending('sends no #USER', 'BRK-2.1', (message) => message.replace('#USER ', ''), ['sent/form']),
  sending('sends a bulk message', 'BRK-2.1', (message) => message.replace('#USER', '#BULK'), ['sent/form']),
  sending('sends no blank after #USER', 'BRK-2.4', (message) => message.replace('#USER ', '#USER'), [
    'sent/form',
  ]),
  sending('sends an unknown flag', 'BRK-3.5', (message) => message.replace('#END', '#verbose #END'), [
    'sent/flags',
  ]),
  sending(
    'sends an unknown #index flag',
    'BRK-3.5',
    (message) => message.replace('#END', '#index verbose #END'),
    ['sent/flags'],
  ),
  sending(
    'sends the old spelling of insensitive',
    'BRK-3.1',
    (message) => message.replace('#END', '#index case insenstive #END'),
    ['sent/insensitive'],
  ),
  sending(
    'sends the query in upper case',
    'BRK-1.9',
    inQuery((query) => query.toUpperCase()),
    ['sent/word', 'sent/structured'],
  ),
  sending(
    'quotes every query',
    'BRK-2.5',
    inQuery((query) => `"${query.replaceAll('"', '')}"`),
    ['sent/word', 'sent/parentheses'],
  ),
  sending(
    'drops quotes',
    'BRK-2.5',
    inQuery((query) => query.replaceAll('"', '')),
    ['sent/phrase'],
  ),
  sending(
    'sends single quotes',
    'BRK-2.5',
    inQuery((query) => query.replaceAll('"', "'")),
    ['sent/phrase'],
  ),
  sending(
    'drops parentheses',
    'BRK-2.12',
    inQuery((query) => query.replace(/[()]/g, '')),
    ['sent/parentheses'],
  ),
  sending(
    'drops operators',
    'BRK-2.12',
    inQuery((query) => query.replace(/ (?:and|or) /g, ' ')),
    ['sent/parentheses', 'sent/phrase'],
  ),
  sending(
    'drops backslashes',
    'BRK-2.7',
    inQuery((query) => query.replaceAll('\\', '')),
    ['sent/backslash'],
  ),
  sending(
    'doubles backslashes',
    'BRK-2.7',
    inQuery((query) => query.replaceAll('\\', '\\\\')),
    ['sent/backslash'],
  ),
  sending(
    'drops colons',
    'BRK-2.14',
    inQuery((query) => query.replace(':', '')),
    ['sent/structured'],
  ),
  sending(
    'sends an equals sign for a colon',
    'BRK-2.14',
    inQuery((query) => query.replace(':', '=')),
    ['sent/structured'],
  ),
  sending(
    'sends ASCII only',
    'BRK-1.10',
    inQuery((query) => query.replace(/[\x80-\xff]/g, '?')),
    ['sent/bytes-above-127'],
  ),
  sending(
    'clears the eighth bit',
    'BRK-1.10',
    inQuery((query) =>
      query.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(byte.charCodeAt(0) & 127)),
    ),
    ['sent/bytes-above-127'],
  ),
  sending(
    'percent-encodes the query',
    'BRK-1.10',
    inQuery((query) => query.replace(/[^\w ]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)),
    ['sent/bytes-above-127', 'sent/phrase'],
  ),
];

const COUNTED: readonly ClientMutant[] = (['124', '127'] as const).flatMap((code) => {
  const area = code === '124' ? 'desc' : 'attribute';
  const what = code === '124' ? 'descriptions' : 'attributes';
  const about = (...names: readonly string[]) => names.map((name) => `${area}/${name}`);
  const values = (name: string, edit: (value: string) => string, ...fails: readonly string[]) =>
    reading(`${name} ${what}`, 'BRK-4.4', changingValues(code, edit), about(...fails));
  const items = (name: string, pattern: RegExp, replacement: string, ...fails: readonly string[]) =>
    reading(name, 'BRK-4.4', (reply) => reply.replace(pattern, replacement), about(...fails));
  const counted = `${code} - (?:[^\\n]* )?`;
  return [
    values('reads one line of', (value) => value.split('\n')[0] ?? '', 'lines', 'holds-match', 'holds-count'),
    values('cuts at NUL', (value) => value.replace(/\0[\s\S]*$/, ''), 'binary'),
    values('reads 4096 bytes of', (value) => value.slice(0, 4096), 'large'),
    reading(
      `reads ${what} up to their first line end`,
      'BRK-4.4',
      (reply) =>
        reply.replace(
          new RegExp(`(${counted})\\d+\\n(swallow)\\n`, 'g'),
          (_, head: string, word: string) => `${head}${word.length}\n${word}\n`,
        ),
      about('holds-object-end', 'holds-match', 'holds-fatal', 'holds-count', 'lines'),
    ),
    items(
      `skips a byte after the line end of ${what}`,
      new RegExp(`(${counted}7\\nswallow\\n)[\\s\\S]`),
      '$1',
      'lf',
    ),
    items(
      `needs an LF after ${what}`,
      new RegExp(`(${counted}7\\nswallow)(?!\\r?\\n)[^\\n]*\\n`),
      '$1\n',
      'no-lf',
    ),
    items(
      `takes CR LF after ${what} as a line`,
      new RegExp(`(${counted}7\\nswallow)\\r\\n[^\\n]*\\n[^\\n]*\\n`),
      '$1\n',
      'crlf',
    ),
    items(
      `skips a line end within ${what}`,
      new RegExp(`(${counted}8\\nswallow\\n)\\n[^\\n]*\\n`),
      '$1\n',
      'ends-in-lf',
    ),
    items(`reads a count of 0 of ${what} as the end`, new RegExp(`${counted}0\\n[\\s\\S]*$`), '', 'empty'),
  ];
});

const READS: readonly ClientMutant[] = [
  changing('shows nothing', 'BRK-4.3', { output: () => '' }, ['session/plain']),
  changing(
    'shows the first object only',
    'BRK-4.3',
    { output: (text) => text.replace(/http:\/\/(?:penguin|heron)\.example\.org\//g, '') },
    ['session/plain'],
  ),
  changing('reports a failure after objects', 'BRK-4.12', { status: () => 1 }, ['session/exit-status']),
  changing('reports success always', 'BRK-4.13', { status: () => 0 }, [
    'error/111-status',
    'cut/in-object',
    'cut/in-bytes',
    'cut/nothing',
    'refused/gatherer',
    'refused/no-connection',
    'cut/reset',
  ]),
  changing('is silent about errors', 'BRK-4.13', { diagnostics: () => '' }, [
    'error/103-shown',
    'error/111-shown',
  ]),
  changing('is silent about notices', 'BRK-4.1', { diagnostics: (text) => text.replaceAll('pelican', '') }, [
    'error/101-shown',
  ]),
  changing(
    'shows an object when nothing matched',
    'BRK-4.12',
    { output: (text) => (text === '' ? 'http://nothing.example.org/' : text) },
    ['nothing/matched'],
  ),
  stopsAt('a repeated version line', 'BRK-1.5', /^200 - /m, ['version/repeated']),
  changing(
    'knows one Broker only',
    'BRK-1.4',
    { received: (text) => (/^200 - (?!HARVEST)/.test(text) ? { text: '', action: 'reset' } : text) },
    ['version/other-text'],
  ),
  stopsAt('an unknown code', 'BRK-4.17', /^(?:145|999|138) - /m, ['codes/unknown']),
  stopsAt('a line that it cannot parse', 'BRK-4.17', /^(?:what|12 - is|-)?\n/m, ['lines/unparsable']),
  stopsAt('CR LF', 'BRK-1.9', /\r\n/, ['lines/crlf']),
  changing(
    'keeps a CR',
    'BRK-1.9',
    { output: (text) => text.replace(/(http:\/\/otter\.example\.org\/)/, '$1\r') },
    ['lines/no-cr'],
  ),
  reading('needs an LF after the last line', 'BRK-4.12', (reply) => reply.replace(/\n[^\n]+$/, '\n'), [
    'lines/last-without-lf',
  ]),
  stopsAt('a home page before an object', 'BRK-4.11', /^126 - .*\n(?=(?:12[56] - .*\n)*120 - )/m, [
    'order/home-page',
  ]),
  stopsAt('items in another order', 'BRK-4.3', /^122 - .*\n(?=12[4-7] - )/m, ['order/any']),
  stopsAt('an object of two lines', 'BRK-4.3', /^120 - .*\n130 - /m, ['order/bare']),
  reading(
    'drops matched lines of another form',
    'BRK-4.7',
    (reply) => reply.replace(/^122 - (?!Matched line).*\n/gm, ''),
    ['line/other-form'],
  ),
  stopsAt('103', 'BRK-4.13', /^103 - /m, ['error/103']),
  reading('drops 103', 'BRK-4.13', (reply) => reply.replace(/^103 - .*\n/gm, ''), ['error/103-shown']),
  reading(
    'does not read the text of 111',
    'BRK-4.13',
    (reply) => reply.replace(/^111 - .*\n/gm, '111 - ERROR\n'),
    ['error/111-shown'],
  ),
  reading(
    'does not read the text of 101',
    'BRK-4.1',
    (reply) => reply.replace(/^101 - .*\n/gm, '101 - x\n'),
    ['error/101-shown'],
  ),
  reading(
    'drops objects before 111',
    'BRK-4.13',
    (reply) => reply.replace(/^[\s\S]*\n(?=111 - ERROR: pelican)/, ''),
    ['error/111-after-objects'],
  ),
  reading('reads 111 as the end', 'BRK-4.13', (reply) => reply.replace(/^111 - ERROR: pelican\n/m, ''), [
    'error/111-shown',
  ]),
  reading(
    'drops everything of a reply that breaks off',
    'BRK-4.3',
    (reply) =>
      /130 - object end\n(?:1[0-9]{2} - .*\n)*$/.test(reply) &&
      reply.lastIndexOf('120 - ') < reply.lastIndexOf('130 - ')
        ? reply
        : reply.includes('stork')
          ? ''
          : reply,
    ['cut/keeps-objects'],
  ),
];

const VARIANTS: readonly ClientVariant[] = [
  clientVariant('shows no descriptions', 'BRK-4.5', { sent: (text) => text.replace('#desc ', '') }, [
    'desc/*',
  ]),
  clientVariant(
    'requests no attributes',
    'BRK-4.6',
    { sent: (text) => text.replace(/#attribute \S+ /, '') },
    ['attribute/*'],
  ),
  clientVariant(
    'shows no matched lines',
    'BRK-4.7',
    { reply: (reply) => reply.replace(/^122 - .*\n/gm, '') },
    ['line/*'],
  ),
  clientVariant('puts the query in parentheses', 'BRK-2.4', {
    sent: (text) => text.replace(/#END (.*)\r\n/, '#END ($1)\r\n'),
  }),
  clientVariant('sends more blanks', 'BRK-2.4', { sent: (text) => text.replace('#END ', '#END   ') }),
  clientVariant('sends a flag more', 'BRK-3.6', {
    sent: (text) => text.replace('#END', '#index maxresult 100 #END'),
  }),
  clientVariant('sends keywords in lower case', 'BRK-2.2', {
    sent: (text) => text.replace('#USER', '#user').replace('#END', '#end'),
  }),
  clientVariant('shows messages on standard output', 'BRK-4.14', { diagnostics: (text) => `${text}\nmore` }),
];

export const BROKER_CLIENT: MutatedSuite<ClientChanges> = {
  suite: 'broker-client',
  slow: /^(?:delivery\/.*|refused\/no-connection|session\/keeps-open)$/,
  first: ['session/plain'],
  mutants: [
    ...SENT,
    ...COUNTED,
    ...READS,
    ...deliveryMutants({ bytes: ['delivery/bytes'], slow: ['delivery/slow'] }, 'BRK-4.4'),
  ],
  variants: VARIANTS,
  async start() {
    return (change = () => ({}), request) => {
      let isChanged = false;
      const prepared = prepareClient(changedClient(OWN_BROKER_CLIENT, change, () => (isChanged = true)));
      return runClientCases(prepared, request, () => isChanged);
    };
  },
};
