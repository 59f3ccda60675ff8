// The mutants of the kit's own client of the References Server, behind a proxy.
import { IDS, NOT_FOUND } from '../../clients/conformance/sstp-client/replies.js';
import { prepareSstpClient } from '../../clients/conformance/sstp-client/suite.js';
import { NOTHING_FOUND, OWN_REFERENCES_CLIENT } from '../clients/conformance/own-clients.js';
import {
  type ClientChanges,
  type ClientMutant,
  type ClientVariant,
  changedClient,
  changing,
  clientVariant,
  givesUp,
  runClientCases,
  sending,
} from './client-run.js';
import { about, type MutatedSuite } from './mutant.js';

const [FIRST = 0] = IDS;

/** A client that reads something as if other bytes had come. */
function misreading(
  name: string,
  rule: string,
  received: (text: string) => string,
  fails: readonly string[],
): ClientMutant {
  return changing(name, rule, { received: (text, ended) => (ended ? text : received(text)) }, fails);
}

/** A client that sees no defect in a reply, by the case about it: what it reads instead. */
function accepting(
  rule: string,
  table: Readonly<Record<string, readonly [name: string, from: RegExp, to: string]>>,
) {
  return Object.entries(table).map(([id, [name, from, to]]) =>
    misreading(`accepts ${name}`, rule, (text) => text.replace(from, to), [`damage/${id}`]),
  );
}

/** A client that gives up at a form of a right reply, by the case about it. */
function refusing(rule: string, table: Readonly<Record<string, readonly [name: string, at: RegExp]>>) {
  return Object.entries(table).map(([id, [name, at]]) => givesUp(name, rule, at, [`reply/${id}`]));
}

const SESSION: readonly ClientMutant[] = [
  changing('prints nothing', 'R-24', { output: () => '' }, ['session/plain']),
  ...about('P-20', ['session/plain'], changing, {
    'sorts the IDs': {
      output: (text) =>
        `${text
          .trim()
          .split('\n')
          .map(Number)
          .sort((a, b) => a - b)
          .join('\n')}\n`,
    },
    'reverses the IDs': { output: (text) => text.trim().split('\n').reverse().join('\n') },
    'leaves out the last ID': { output: (text) => text.replace(/\d+\n$/, '') },
    'prints an ID twice': { output: (text) => text.replace(/^\d+\n/, '$&$&') },
  }),
  changing('takes IDs as signed', 'S-10', { output: (text) => text.replace('4294967295', '-1') }, [
    'session/plain',
  ]),
  changing('reports a failure after a result', 'R-24', { status: (status) => (status === 0 ? 7 : status) }, [
    'session/exit-status',
  ]),
  {
    ...changing('waits for the end of the connection', 'S-39', { neverLeaves: true }, ['session/plain']),
    only: ['session/plain'],
  },
];

const SENT: readonly ClientMutant[] = [
  ...about('S-28', ['sent/start-line'], sending, {
    'sends another minor version': (text) => text.replace('SSTP/1.0', 'SSTP/1.1'),
    'sends no symbol': (text) => text.replace(/(?<=^SSTP\/1\.0 \d{3}) \S+/, ''),
    'sends the symbol of another code': (text) => text.replace('REQ_GET_REFERERS', 'REQ_GET_REFERENCES'),
    'sends a second space': (text) => text.replace(/(?<=^SSTP\/1\.0 \d{3}) /, '  '),
  }),
  sending('sends a code that is not assigned', 'S-7', (text) => text.replace(/ 082 \S+/, ' 009 REQ_NONE'), [
    'sent/start-line',
  ]),
  ...about('S-30', ['sent/line-ends'], sending, {
    'ends lines in LF': (text) => text.replaceAll('\r\n', '\n'),
    'ends the start line in LF': (text) => text.replace('\r\n', '\n'),
  }),
  ...about('S-31', ['sent/headers'], sending, {
    'sends names in small letters': (text) => text.replace(/HEADER_URL/, 'header_url'),
    'sends no space after the colon': (text) => text.replace('HEADER_URL: ', 'HEADER_URL:'),
    'sends two spaces after the colon': (text) => text.replace('HEADER_URL: ', 'HEADER_URL:  '),
    'sends a space before the colon': (text) => text.replace('HEADER_URL: ', 'HEADER_URL : '),
    'sends a space after the value': (text) => text.replace(/HEADER_URL: \S+/, '$& '),
  }),
  ...about('S-33', ['sent/once'], sending, {
    'sends the URL twice': (text) => text.replace(/HEADER_URL: .*\r\n/, '$&$&'),
    'sends the number of results twice': (text) => text.replace(/HEADER_NUMRESULTS: .*\r\n/, '$&$&'),
  }),
  ...about('R-21', ['sent/names'], sending, {
    'names no document': (text) => text.replace(/HEADER_URL: .*\r\n/, ''),
    'names the document 0': (text) => text.replace(/HEADER_URL: .*\r\n/, 'HEADER_URI_ID: 0\r\n'),
  }),
  ...about('S-34', ['sent/numbers'], sending, {
    'sends leading zeros': (text) => text.replace('HEADER_NUMRESULTS: ', 'HEADER_NUMRESULTS: 0'),
    'sends a sign': (text) => text.replace('HEADER_NUMRESULTS: ', 'HEADER_NUMRESULTS: +'),
    'sends more than 32 bits': (text) => text.replace(/(?<=HEADER_NUMRESULTS: )\d+/, '4294967296'),
  }),
  sending(
    'announces a body',
    'S-37',
    (text) => text.replace('\r\n\r\n', '\r\nHEADER_CONTENT_LENGTH: 5\r\n\r\n'),
    ['sent/no-body'],
  ),
];

const REPLIES: readonly ClientMutant[] = [
  ...refusing('S-21', {
    'header-order': ['IDs before the total', /^SSTP.*\r\nHEADER_URI_ID: \d+\r\n/],
  }),
  ...refusing('S-31', {
    names: ['a name in small letters', /\nheader_\w+:\d/],
  }),
  ...refusing('S-30', { 'line-feed': ['LF alone', /^SSTP[^\r]*\n/] }),
  ...refusing('S-29', {
    phrase: ['another phrase', /^SSTP\/1\.0 08\d 404/],
    'empty-phrase': ['an empty phrase', /^SSTP\/1\.0 08\d \r/],
    'no-phrase': ['a code without a phrase', /^SSTP\/1\.0 08\d\r/],
  }),
  ...refusing('S-33', { 'unknown-headers': ['an unknown header', /^SSTP\/1\.0 082 .*\r\nX_NOTE: 123/] }),
  ...refusing('S-34', { 'leading-zeros': ['leading zeros', /URI_ID: 0000/] }),
  ...refusing('R-24', { 'no-start': ['a reply without its start', /NUMFOUND: 5\r\nHEADER_NUMRESULTS/] }),
  ...refusing('S-38', { many: ['a large result', /NUMFOUND: 99997\r/] }),
  misreading('compares phrases', 'S-29', (text) => text.replace(/^(SSTP\/1\.0) \d{3} 404/, '$1 404 404'), [
    'reply/phrase',
  ]),
  {
    name: 'the client gives up at many small pieces',
    rule: 'S-48',
    change: pieces(20),
    fails: ['reply/bytes'],
    only: ['reply/bytes'],
  },
  {
    name: 'the client gives up when a reply comes in pieces',
    rule: 'S-48',
    change: pieces(3),
    fails: ['reply/slow'],
    only: ['reply/slow'],
  },
];

/** A client that reads so many pieces of a reply at most. */
function pieces(most: number): ClientChanges {
  return () => {
    let count = 0;
    return { received: (text, ended) => (!ended && ++count > most ? { text: '', action: 'reset' } : text) };
  };
}

const STATUSES = ['400', '403', '500', '501', '503', '505'] as const;

const RESULTS: readonly ClientMutant[] = [
  misreading(
    'reports a total of 0 as an error',
    'S-41',
    (text) => text.replace(/^SSTP\/1\.0 \d{3}(?=.*\r\nHEADER_NUMFOUND: 0\r\nHEADER_START)/, 'SSTP/1.0 500'),
    ['empty/total-0'],
  ),
  misreading('reports 404 as an error', 'S-41', (text) => text.replace(/^SSTP\/1\.0 404/, 'SSTP/1.0 500'), [
    'empty/not-found',
    'empty/bare-404',
  ]),
  misreading(
    'needs the total in a 404',
    'S-42',
    (text) => text.replace(/^SSTP\/1\.0 404(?= X)/, 'SSTP/1.0 500'),
    ['empty/bare-404'],
  ),
  ...STATUSES.map((status) =>
    misreading(
      `takes ${status} as an empty result`,
      'S-42',
      (text) => (text.startsWith(`SSTP/1.0 ${status} `) && !text.includes('REQ_PUT') ? NOT_FOUND : text),
      [`error/${status}`],
    ),
  ),
  misreading(
    'decides by the phrase',
    'S-29',
    (text) => text.replace(/^SSTP\/1\.0 500(?= REQ_PUT)/, 'SSTP/1.0 404'),
    ['error/no-phrase'],
  ),
  misreading(
    'takes an unknown code as an empty result',
    'S-42',
    (text) => (text.startsWith('SSTP/1.0 299') ? NOT_FOUND : text),
    ['error/unknown'],
  ),
  misreading('does not look at the code', 'S-40', (text) => text.replace(/^SSTP\/1\.0 081/, 'SSTP/1.0 082'), [
    'error/other-code',
  ]),
  changing('reports every failure as success', 'S-42', { status: () => 0 }, [
    ...STATUSES.map((status) => `error/${status}`),
    'damage/cut',
  ]),
  changing(
    'reports a failure as an empty result',
    'S-42',
    { status: (status) => (status === 0 ? 0 : NOTHING_FOUND) },
    [...STATUSES.map((status) => `error/${status}`), 'empty/total-0'],
  ),
  ...about('R-31', ['pages/continues'], sending, {
    'continues one too far': (text) => text.replace('START_RESULTS: 2\r', 'START_RESULTS: 3\r'),
    'continues with the last ID again': (text) => text.replace('START_RESULTS: 2\r', 'START_RESULTS: 1\r'),
  }),
  sending(
    'begins at 1',
    'R-31',
    (text) => text.replace(/(?<=START_RESULTS: )\d+/, (start) => String(Number(start) + 1)),
    ['session/plain'],
  ),
  sending(
    'asks for another document on the second page',
    'R-31',
    (text) => (text.includes('START_RESULTS: 2\r') ? text.replace('walrus', 'penguin') : text),
    ['pages/same-document'],
  ),
];

const DAMAGE: readonly ClientMutant[] = [
  ...accepting('R-24', {
    'no-found': [
      'a reply without a total',
      /(?<=^SSTP.*\r\n)(?=HEADER_START_RESULTS)/,
      'HEADER_NUMFOUND: 5\r\n',
    ],
    fewer: [
      'fewer IDs than announced',
      /NUMFOUND: 5(?<between>\r\n.*\r\nHEADER_NUMRESULTS: )5(?=\r\n(?:HEADER_URI_ID: \d+\r\n){4}\r\n)/,
      'NUMFOUND: 4$<between>4',
    ],
    more: [
      'more IDs than announced',
      /NUMRESULTS: 5(?=\r\n(?:HEADER_URI_ID: \d+\r\n){6}\r\n)/,
      'NUMRESULTS: 6',
    ],
    'than-found': ['more IDs than were found', /NUMFOUND: 4/, 'NUMFOUND: 5'],
  }),
  ...accepting('S-33', {
    twice: ['a header that occurs twice', /(HEADER_NUMFOUND: 5\r\n)\1/, '$1'],
  }),
  ...accepting('S-34', {
    modulo: ['an ID modulo 2^32', /4294967306/, '10'],
    'long-number': ['digits beyond 32 bits', /9{20}/, String(FIRST)],
    sign: ['a sign', /\+900007/, '900007'],
    letters: ['letters after a number', /900007x/, '900007'],
    'no-number': ['an empty number', /URI_ID: \r/, `URI_ID: ${FIRST}\r`],
    'found-sign': ['a negative total', /NUMFOUND: -5/, 'NUMFOUND: 5'],
  }),
  ...accepting('S-30', { 'carriage-return': ['a bare CR', /\r(?!\n)/, ''] }),
  ...accepting('S-32', {
    folded: ['a folded line', /\r\n (?=second)/, ' '],
    colon: ['a line without a colon', /X_NOTE\r/, 'X_NOTE: 1\r'],
    name: ['a space before the colon', /X_NOTE :/, 'X_NOTE:'],
  }),
  ...accepting('S-28', {
    'version-case': ['small letters in the start line', /^sstp/, 'SSTP'],
    'two-spaces': ['two spaces before the code', /^SSTP\/1\.0 {2}/, 'SSTP/1.0 '],
    'short-code': ['a code of two digits', /^SSTP\/1\.0 (?=\d\d )/, 'SSTP/1.0 0'],
    'other-protocol': ['a reply of HTTP as an empty one', /^HTTP[\s\S]*/, NOT_FOUND],
  }),
  ...accepting('S-39', {
    cut: ['a reply without its empty line', /(?<=^SSTP\/1\.0 082[\s\S]*\d\r\n)$/, '\r\n'],
    'cut-line': ['a reply that breaks off within an ID', /(?<=HEADER_URI_ID: )\d*$/, '800009\r\n\r\n'],
  }),
  changing(
    'takes the end of a connection as an empty result',
    'S-39',
    { received: (text, ended) => (ended ? NOT_FOUND : text) },
    ['damage/nothing'],
    ['session/plain', 'damage/nothing'],
  ),
  changing(
    'takes the rest of a broken reply as an empty result',
    'S-39',
    { received: (text) => (text.length === 60 ? NOT_FOUND : text) },
    ['damage/reset'],
  ),
];

const VARIANTS: readonly ClientVariant[] = [
  clientVariant(
    'does not know the extension',
    'R-76',
    { sent: (text) => text.replace(/HEADER_GENERATION: .*\r\n/, '') },
    ['pages/generation'],
  ),
  clientVariant('sends its headers in another order', 'S-21', {
    sent: (text) => text.replace(/(HEADER_URL: .*\r\n)(HEADER_NUMRESULTS: .*\r\n)/, '$2$1'),
  }),
  clientVariant('asks for less at a time', 'R-31', {
    sent: (text) => text.replace(/(?<=HEADER_NUMRESULTS: )\d+/, '999'),
  }),
  clientVariant('sends an empty body', 'S-37', {
    sent: (text) => text.replace('\r\n\r\n', '\r\nHEADER_CONTENT_LENGTH: 0\r\n\r\n'),
  }),
  clientVariant('prints its IDs as JSON', 'R-24', {
    output: (text) => JSON.stringify({ found: 5, ids: text.trim().split('\n') }),
  }),
  clientVariant('takes an empty result as success', 'S-41', {
    status: (status) => (status === NOTHING_FOUND ? 0 : status),
  }),
];

export const SSTP_CLIENT: MutatedSuite<ClientChanges> = {
  suite: 'sstp-client',
  slow: /^(?:reply\/(?:bytes|slow|many)|damage\/no-server)$/,
  first: ['session/plain'],
  mutants: [...SESSION, ...SENT, ...REPLIES, ...RESULTS, ...DAMAGE],
  variants: VARIANTS,
  async start() {
    return (change = () => ({}), request) => {
      let isChanged = false;
      const client = changedClient(OWN_REFERENCES_CLIENT, change, () => (isChanged = true));
      return runClientCases(prepareSstpClient(client), request, () => isChanged);
    };
  },
};
