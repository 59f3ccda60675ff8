// Mutants of a References Server: the form of its replies, their codes, its connections.
import { about, alone, whole } from './mutant.js';
import { KINDS, replyMutant, type SstpMutant } from './sstp-builders.js';
import { SSTP_DATA_MUTANTS } from './sstp-data.js';
import { SSTP_LENIENT_MUTANTS } from './sstp-lenient.js';
import type { SstpChange } from './sstp-link.js';
import { SSTP_LINK_MUTANTS } from './sstp-links.js';
import { SSTP_PAGE_MUTANTS } from './sstp-pages.js';
import { SSTP_PERSISTENCE_MUTANTS } from './sstp-persistence.js';
import { SSTP_REQUEST_MUTANTS } from './sstp-requests.js';
import { SSTP_VALUE_MUTANTS } from './sstp-values.js';

const isError = (reply: string) => /^SSTP\/1\.0 [45](?!04)/.test(reply);
const startLine = (edit: (line: string) => string) => (reply: string) => reply.replace(/^.*\r\n/, edit);

const START_DEFECTS: readonly (readonly [name: string, rule: string, edit: (line: string) => string])[] = [
  ['has another version', 'S-28', (line) => line.replace('1.0', '1.1')],
  ['has no version', 'S-28', (line) => line.replace('SSTP/1.0 ', '')],
  ['has the version in lower case', 'S-28', (line) => line.replace('SSTP', 'sstp')],
  ['has HTTP for SSTP', 'S-28', (line) => line.replace('SSTP', 'HTTP')],
  ['has two blanks before its code', 'S-28', (line) => line.replace(' ', '  ')],
  ['has a tab before its code', 'S-28', (line) => line.replace(' ', '\t')],
  ['has two blanks after its code', 'S-28', (line) => line.replace(/ (\d{3}) /, ' $1  ')],
  ['has no phrase', 'S-28', (line) => line.replace(/ (\d{3}) .*\r/, ' $1\r')],
  [
    'has a phrase in lower case',
    'S-28',
    (line) =>
      line.replace(/ (\d{3}) (.*)\r/, (_, code, phrase: string) => ` ${code} ${phrase.toLowerCase()}\r`),
  ],
  ['has a hyphen after its code', 'S-28', (line) => line.replace(/ (\d{3}) /, ' $1 - ')],
  ['has a code of two digits', 'S-5', (line) => line.replace(/ \d(\d\d) /, ' $1 ')],
  ['has a code of four digits', 'S-5', (line) => line.replace(/ (\d{3}) /, ' 0$1 ')],
  ['ends in LF', 'S-30', (line) => line.replace('\r', '')],
  ['ends in CR', 'S-30', (line) => line.replace('\n', '')],
  ['ends in two CR', 'S-30', (line) => line.replace('\r', '\r\r')],
];
const HEADER_DEFECTS: readonly (readonly [name: string, rule: string, edit: (reply: string) => string])[] = [
  ['are in lower case', 'S-31', (reply) => reply.replace(/^HEADER_\w+(?=:)/gm, (name) => name.toLowerCase())],
  ['have small letters', 'S-31', (reply) => reply.replace(/^HEADER_/gm, 'Header_')],
  ['have no blank after the colon', 'S-31', (reply) => reply.replace(/^(HEADER_\w+:) /gm, '$1')],
  ['have two blanks after the colon', 'S-31', (reply) => reply.replace(/^(HEADER_\w+:) /gm, '$1  ')],
  ['have a tab after the colon', 'S-31', (reply) => reply.replace(/^(HEADER_\w+:) /gm, '$1\t')],
  ['have a blank before the colon', 'S-31', (reply) => reply.replace(/^(HEADER_\w+):/gm, '$1 :')],
  ['have an equals sign for the colon', 'S-31', (reply) => reply.replace(/^(HEADER_\w+):/gm, '$1=')],
  [
    'have hyphens for underscores',
    'S-31',
    (reply) => reply.replace(/^HEADER_\w+(?=:)/gm, (name) => name.replaceAll('_', '-')),
  ],
  ['end in LF', 'S-30', (reply) => reply.replace(/^(HEADER_.*)\r\n/gm, '$1\n')],
  ['are indented', 'S-32', (reply) => reply.replace(/^HEADER_/gm, ' HEADER_')],
  ['have zeros before numbers', 'S-34', (reply) => reply.replace(/^(HEADER_\w+: )(?=\d)/gm, '$10')],
  ['have a plus before numbers', 'S-34', (reply) => reply.replace(/^(HEADER_\w+: )(?=\d)/gm, '$1+')],
];

const FORMS: readonly SstpMutant[] = [
  ...START_DEFECTS.flatMap(([name, rule, edit]) => [
    ...about(rule, ['reply/form'], replyMutant, {
      [`the start line of a result ${name}`]: (reply) => (isError(reply) ? reply : startLine(edit)(reply)),
    }),
    ...about(rule, ['reply/start-line'], replyMutant, {
      [`the start line of a refusal ${name}`]: (reply) => (isError(reply) ? startLine(edit)(reply) : reply),
    }),
  ]),
  ...HEADER_DEFECTS.map(([name, rule, edit]) => replyMutant(`headers ${name}`, rule, edit, ['reply/form'])),
  ...about('S-28', ['reply/form'], replyMutant, {
    'the symbol of 081 is another': (reply) => reply.replace('081 REQ_GET_REFERENCES', '081 OK'),
  }),
  ...Object.entries(KINDS)
    .slice(1)
    .map(([code, kind]) =>
      replyMutant(
        `the symbol of ${code} is another`,
        'S-28',
        (reply) => reply.replace(`${code} REQ_GET_${kind}`, `${code} OK`),
        ['reply/symbols'],
      ),
    ),
  ...about('S-28', ['reply/symbols'], replyMutant, {
    'the symbol of 008 is another': (reply) => reply.replace(/^(SSTP\/1\.0 008) \w+/, '$1 OK'),
    'the symbol of 404 is that of HTTP': (reply) => reply.replace('404 REQ_PUT_NOT_FOUND', '404 NOT FOUND'),
  }),
  replyMutant('a reply has an empty line too many', 'S-30', (reply) => `${reply}\r\n`, ['connection/kept']),
  replyMutant('a reply begins with an empty line', 'S-27', (reply) => `\r\n${reply}`, ['reply/form']),
  ...about('S-27', ['fixture/f-20'], replyMutant, {
    'a reply has an empty line after its start line': (reply) => reply.replace('\r\n', '\r\n\r\n'),
  }),
  replyMutant('a reply has a body without its length', 'S-37', (reply) => `${reply}x\r\n`, [
    'connection/kept',
  ]),
  replyMutant('a reply comes twice', 'S-39', (reply) => reply + reply, ['connection/half-close']),
  replyMutant('a refusal comes twice', 'S-39', (reply) => (isError(reply) ? reply + reply : reply), [
    'refuse/negative',
    'request/unserved-001',
  ]),
  replyMutant('a refusal has a body', 'S-42', (reply) => (isError(reply) ? `${reply}sorry\r\n` : reply), [
    'refuse/negative',
  ]),
];

const CODES: readonly SstpMutant[] = [
  ...Object.keys(KINDS).flatMap((code) =>
    ['000', '008', '200', '501'].map((other) =>
      replyMutant(
        `the reply to ${code} has the code ${other}`,
        'S-40',
        (reply) => reply.replace(`SSTP/1.0 ${code}`, `SSTP/1.0 ${other}`),
        [`reply/code-${code}`],
      ),
    ),
  ),
  ...Object.keys(KINDS).map((code, i, all) =>
    replyMutant(
      `the reply to ${code} has the code of the next request`,
      'S-40',
      (reply) => reply.replace(`SSTP/1.0 ${code}`, `SSTP/1.0 ${all[(i + 1) % 4]}`),
      [`reply/code-${code}`],
    ),
  ),
  ...about('S-40', ['fixture/f-20'], replyMutant, {
    'the reply to 008 has the code 081': (reply) => reply.replace('SSTP/1.0 008', 'SSTP/1.0 081'),
  }),
  ...['404', '403', '500', '501'].map((code) =>
    replyMutant(
      `malformed requests are answered ${code}`,
      'S-42',
      (reply) => reply.replace('400 BAD REQUEST', `${code} BAD REQUEST`),
      ['refuse/bare-cr', 'refuse/folded', 'refuse/garbage', 'fixture/f-13', 'fixture/f-21'],
    ),
  ),
  ...['400', '404', '405'].map((code) =>
    replyMutant(
      `unserved requests are answered ${code}`,
      'S-46',
      (reply) => reply.replace(/^SSTP\/1\.0 501/, `SSTP/1.0 ${code}`),
      ['request/unserved-001', 'request/unserved-006', 'request/unserved-999'],
    ),
  ),
  ...['400', '501'].map((code) =>
    replyMutant(
      `another version is answered ${code}`,
      'S-46',
      (reply) => reply.replace(/^SSTP\/1\.0 505/, `SSTP/1.0 ${code}`),
      ['request/version-2'],
    ),
  ),
  ...about('S-46', ['request/minor-version'], replyMutant, {
    'the reply repeats the version of the request': (reply, request) =>
      request.startsWith('SSTP/1.7') ? reply.replace('SSTP/1.0', 'SSTP/1.7') : reply,
  }),
];

const CONNECTIONS: readonly SstpMutant[] = [
  ...about('S-45', ['connection/silent'], alone<SstpChange>, {
    'the server speaks first': { greeting: 'SSTP/1.0 200 OK\r\n\r\n' },
  }),
  ...about('S-48', ['connection/one-at-a-time'], whole<SstpChange>, {
    'a request in pieces is malformed': {
      chunk: (text) => (text.length < 4 && !/[\r\n]/.test(text) ? '?' : text),
    },
  }),
  ...about('S-39', ['connection/kept', 'request/unserved-001'], whole<SstpChange>, {
    'one request is served on a connection': { reply: (reply) => ({ text: reply, action: 'close' }) },
  }),
  ...about('S-39', ['refuse/garbage', 'request/version-2'], alone<SstpChange>, {
    'a connection stays open after a refusal': { staysOpen: true },
  }),
  ...about('S-39', ['connection/pipelined'], whole<SstpChange>, {
    'replies come in reversed order': { replies: (replies) => replies.toReversed() },
  }),
  {
    name: 'one of many replies is lost',
    rule: 'S-39',
    get change() {
      return everyNth(500, () => '');
    },
    fails: ['connection/pipelined'],
    only: ['connection/pipelined'],
  },
  {
    name: 'one of many replies is that of another request',
    rule: 'S-39',
    get change() {
      return everyNth(500, (reply) => reply.replace(/SSTP\/1\.0 \d{3}/, 'SSTP/1.0 008'));
    },
    fails: ['connection/pipelined'],
    only: ['connection/pipelined'],
  },
  ...about('S-39', ['connection/half-close'], whole<SstpChange>, {
    'a half-closed connection is dropped': { replies: (replies) => (replies.length === 2 ? [] : replies) },
  }),
  ...about('S-47', ['connection/http'], whole<SstpChange>, {
    'HTTP is answered in SSTP': { http: () => 'SSTP/1.0 400 BAD REQUEST\r\n\r\n' },
    'HTTP is answered without a status line': { http: (answer) => answer.replace(/^.*\r\n/, '') },
  }),
  ...about('S-45', ['connection/leaves'], alone<SstpChange>, {
    'a client that does not read stops the server': { weakness: { diesAt: (sent) => sent.length > 5_000 } },
    'half a request stops the server': { weakness: { diesAt: (sent) => sent.length === 50 } },
  }),
  ...about('S-39', ['connection/leaves'], alone<SstpChange>, {
    'a client that leaves within a request stops the server': {
      weakness: { diesAfter: (sent) => sent.length === 50 },
    },
  }),
];

/** Changes one in so many replies of a run. */
function everyNth(n: number, edit: (reply: string) => string): SstpChange {
  let count = 0;
  return { reply: (reply) => (++count % n === 0 ? edit(reply) : reply) };
}

export const SSTP_MUTANTS: readonly SstpMutant[] = [
  ...FORMS,
  ...CODES,
  ...SSTP_REQUEST_MUTANTS,
  ...SSTP_LENIENT_MUTANTS,
  ...SSTP_VALUE_MUTANTS,
  ...SSTP_LINK_MUTANTS,
  ...SSTP_DATA_MUTANTS,
  ...CONNECTIONS,
  ...SSTP_PERSISTENCE_MUTANTS,
  ...SSTP_PAGE_MUTANTS,
];
