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
import { about, type MutatedSuite } from './mutant.js';

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
  ...about('BRK-3.5', ['sent/flags'], sending, {
    'sends an unknown flag': (message) => message.replace('#END', '#verbose #END'),
    'sends an unknown #index flag': (message) => message.replace('#END', '#index verbose #END'),
  }),
  ...about('BRK-3.1', ['sent/insensitive'], sending, {
    'sends the old spelling of insensitive': (message) =>
      message.replace('#END', '#index case insenstive #END'),
  }),
  ...about('BRK-1.9', ['sent/word', 'sent/structured'], sending, {
    'sends the query in upper case': inQuery((query) => query.toUpperCase()),
  }),
  ...about('BRK-2.5', ['sent/word', 'sent/parentheses'], sending, {
    'quotes every query': inQuery((query) => `"${query.replaceAll('"', '')}"`),
  }),
  ...about('BRK-2.5', ['sent/phrase'], sending, {
    'drops quotes': inQuery((query) => query.replaceAll('"', '')),
    'sends single quotes': inQuery((query) => query.replaceAll('"', "'")),
  }),
  ...about('BRK-2.12', ['sent/parentheses'], sending, {
    'drops parentheses': inQuery((query) => query.replace(/[()]/g, '')),
  }),
  ...about('BRK-2.12', ['sent/parentheses', 'sent/phrase'], sending, {
    'drops operators': inQuery((query) => query.replace(/ (?:and|or) /g, ' ')),
  }),
  ...about('BRK-2.7', ['sent/backslash'], sending, {
    'drops backslashes': inQuery((query) => query.replaceAll('\\', '')),
    'doubles backslashes': inQuery((query) => query.replaceAll('\\', '\\\\')),
  }),
  ...about('BRK-2.14', ['sent/structured'], sending, {
    'drops colons': inQuery((query) => query.replace(':', '')),
    'sends an equals sign for a colon': inQuery((query) => query.replace(':', '=')),
  }),
  ...about('BRK-1.10', ['sent/bytes-above-127'], sending, {
    'sends ASCII only': inQuery((query) => query.replace(/[\x80-\xff]/g, '?')),
    'clears the eighth bit': inQuery((query) =>
      query.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(byte.charCodeAt(0) & 127)),
    ),
  }),
  ...about('BRK-1.10', ['sent/bytes-above-127', 'sent/phrase'], sending, {
    'percent-encodes the query': inQuery((query) =>
      query.replace(/[^\w ]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`),
    ),
  }),
];

const COUNTED: readonly ClientMutant[] = (['124', '127'] as const).flatMap((code) => {
  const area = code === '124' ? 'desc' : 'attribute';
  const what = code === '124' ? 'descriptions' : 'attributes';
  const named = (...names: readonly string[]) => names.map((name) => `${area}/${name}`);
  const values = (name: string, edit: (value: string) => string, ...fails: readonly string[]) =>
    reading(`${name} ${what}`, 'BRK-4.4', changingValues(code, edit), named(...fails));
  const items = (name: string, pattern: RegExp, replacement: string, ...fails: readonly string[]) =>
    reading(name, 'BRK-4.4', (reply) => reply.replace(pattern, replacement), named(...fails));
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
      named('holds-object-end', 'holds-match', 'holds-fatal', 'holds-count', 'lines'),
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
  ...about('BRK-4.3', ['session/plain'], changing, {
    'shows nothing': { output: () => '' },
    'shows the first object only': {
      output: (text) => text.replace(/http:\/\/(?:penguin|heron)\.example\.org\//g, ''),
    },
  }),
  changing('reports a failure after objects', 'BRK-4.12', { status: () => 1 }, ['session/exit-status']),
  ...about(
    'BRK-4.13',
    [
      'error/111-status',
      'cut/in-object',
      'cut/in-bytes',
      'cut/nothing',
      'refused/gatherer',
      'refused/no-connection',
      'cut/reset',
    ],
    changing,
    {
      'reports success always': { status: () => 0 },
    },
  ),
  changing('is silent about errors', 'BRK-4.13', { diagnostics: () => '' }, [
    'error/103-shown',
    'error/111-shown',
  ]),
  changing('is silent about notices', 'BRK-4.1', { diagnostics: (text) => text.replaceAll('pelican', '') }, [
    'error/101-shown',
  ]),
  ...about('BRK-4.12', ['nothing/matched'], changing, {
    'shows an object when nothing matched': {
      output: (text) => (text === '' ? 'http://nothing.example.org/' : text),
    },
  }),
  stopsAt('a repeated version line', 'BRK-1.5', /^200 - /m, ['version/repeated']),
  ...about('BRK-1.4', ['version/other-text'], changing, {
    'knows one Broker only': {
      received: (text) => (/^200 - (?!HARVEST)/.test(text) ? { text: '', action: 'reset' } : text),
    },
  }),
  stopsAt('an unknown code', 'BRK-4.17', /^(?:145|999|138) - /m, ['codes/unknown']),
  stopsAt('a line that it cannot parse', 'BRK-4.17', /^(?:what|12 - is|-)?\n/m, ['lines/unparsable']),
  stopsAt('CR LF', 'BRK-1.9', /\r\n/, ['lines/crlf']),
  ...about('BRK-1.9', ['lines/no-cr'], changing, {
    'keeps a CR': { output: (text) => text.replace(/(http:\/\/otter\.example\.org\/)/, '$1\r') },
  }),
  reading('needs an LF after the last line', 'BRK-4.12', (reply) => reply.replace(/\n[^\n]+$/, '\n'), [
    'lines/last-without-lf',
  ]),
  stopsAt('a home page before an object', 'BRK-4.11', /^126 - .*\n(?=(?:12[56] - .*\n)*120 - )/m, [
    'order/home-page',
  ]),
  stopsAt('items in another order', 'BRK-4.3', /^122 - .*\n(?=12[4-7] - )/m, ['order/any']),
  stopsAt('an object of two lines', 'BRK-4.3', /^120 - .*\n130 - /m, ['order/bare']),
  ...about('BRK-4.7', ['line/other-form'], reading, {
    'drops matched lines of another form': (reply) => reply.replace(/^122 - (?!Matched line).*\n/gm, ''),
  }),
  stopsAt('103', 'BRK-4.13', /^103 - /m, ['error/103']),
  reading('drops 103', 'BRK-4.13', (reply) => reply.replace(/^103 - .*\n/gm, ''), ['error/103-shown']),
  ...about('BRK-4.13', ['error/111-shown'], reading, {
    'does not read the text of 111': (reply) => reply.replace(/^111 - .*\n/gm, '111 - ERROR\n'),
    'reads 111 as the end': (reply) => reply.replace(/^111 - ERROR: pelican\n/m, ''),
  }),
  ...about('BRK-4.1', ['error/101-shown'], reading, {
    'does not read the text of 101': (reply) => reply.replace(/^101 - .*\n/gm, '101 - x\n'),
  }),
  ...about('BRK-4.13', ['error/111-after-objects'], reading, {
    'drops objects before 111': (reply) => reply.replace(/^[\s\S]*\n(?=111 - ERROR: pelican)/, ''),
  }),
  ...about('BRK-4.3', ['cut/keeps-objects'], reading, {
    'drops everything of a reply that breaks off': (reply) =>
      /130 - object end\n(?:1[0-9]{2} - .*\n)*$/.test(reply) &&
      reply.lastIndexOf('120 - ') < reply.lastIndexOf('130 - ')
        ? reply
        : reply.includes('stork')
          ? ''
          : reply,
  }),
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
