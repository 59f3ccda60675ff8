// Mutants of a References Server: what it does with a connection after a reply, and with requests that come together.
import { about, whole } from './mutant.js';
import { refusing, replyMutant, type SstpMutant } from './sstp-builders.js';
import type { SstpChange } from './sstp-link.js';

const PLAIN_ID = /HEADER_URI_ID: 10\r\n/;
const kept = (...names: readonly string[]) => names.map((name) => `persistence/${name}`);
const codeOf = (reply: string) => Number(/^SSTP\/1\.0 (\d{3})/.exec(reply)?.[1]);
const isBody = (request: string) => request.includes('CONTENT_LENGTH');

/** A server that closes a socket with unread input, which resets the connection. */
function losesRefusals(): SstpChange {
  let received = 0;
  return {
    chunk: (text) => {
      received += text.length;
      return text;
    },
    reply: (reply) => (codeOf(reply) === 400 && received > 1_000 ? { text: '', action: 'reset' } : reply),
  };
}

/** Ends the connection after some replies. */
function ends(
  name: string,
  closes: (reply: string, request: string) => boolean,
  fails: readonly string[],
): SstpMutant {
  const reply = (text: string, request: string) =>
    closes(text, request) ? { text, action: 'close' as const } : text;
  return {
    name: `the connection is closed after ${name}`,
    rule: 'S-39',
    change: { reply },
    fails,
  };
}

const ENDS: readonly SstpMutant[] = [
  ends(
    '404',
    (reply) => codeOf(reply) === 404,
    kept('not-found', 'site-not-found', 'description-not-found', 'unknown-id', 'mixed'),
  ),
  ends(
    'the 404 of a description',
    (reply, request) => codeOf(reply) === 404 && / 008 /.test(request),
    kept('description-not-found'),
  ),
  ends(
    'the 404 of a site',
    (reply, request) => codeOf(reply) === 404 && / 08[34] /.test(request),
    kept('site-not-found'),
  ),
  ends(
    'the 404 of an ID',
    (reply, request) => codeOf(reply) === 404 && /_ID: 4/.test(request),
    kept('unknown-id'),
  ),
  ends('501', (reply) => codeOf(reply) === 501, kept('unserved', 'body')),
  ends('a body', (reply, request) => codeOf(reply) === 501 && isBody(request), kept('body', 'large-body')),
  ends('a result', (reply) => codeOf(reply) === 81, kept('found', 'no-results')),
  ends('a result without IDs', (reply) => codeOf(reply) === 81 && !/URI_ID/.test(reply), kept('no-results')),
  ends('a description', (reply) => codeOf(reply) === 8, kept('description', 'mixed')),
  ends('every second reply', (_, request) => /NUMRESULTS: 5/.test(request), kept('found')),
  {
    name: 'the connection breaks before a refusal is sent',
    rule: 'S-39',
    change: { reply: (reply) => (codeOf(reply) === 400 ? { text: '', action: 'reset' } : reply) },
    fails: ['refuse/bare-cr', 'persistence/closed-refused', 'persistence/undecided'],
  },
  {
    name: 'a refusal is lost if its client still sends',
    rule: 'S-39',
    get change() {
      return losesRefusals();
    },
    fails: ['persistence/refusal-arrives'],
    only: ['persistence/refusal-arrives'],
  },
];

/** A server that takes requests for unserved ones and answers them with another code, so that it reads on. */
function readsOn(
  name: string,
  isRefused: (request: string) => boolean,
  start: string,
  fails: readonly string[],
): SstpMutant {
  return {
    name: `requests after ${name} are answered`,
    rule: 'S-39',
    change: {
      request: (request) => (isRefused(request) ? 'SSTP/1.0 999 X\r\n\r\n' : request),
      reply: (reply, request) =>
        isRefused(request) ? reply.replace(/^.*\r\n/, `SSTP/1.0 ${start}\r\n`) : reply,
    },
    fails,
  };
}

const READS_ON: readonly SstpMutant[] = [
  readsOn(
    'a request without an identifier',
    (request) => /^SSTP\/1\.0 081 X\r\n\r\n/.test(request),
    '400 BAD REQUEST',
    kept('closed-refused'),
  ),
  readsOn(
    'a malformed header',
    (request) => /^HEADER URI_ID/m.test(request),
    '400 BAD REQUEST',
    kept('closed-malformed'),
  ),
  readsOn(
    'a malformed start line',
    (request) => /^SSTP\/1\.0 81 /.test(request),
    '400 BAD REQUEST',
    kept('closed-malformed-start'),
  ),
  readsOn(
    'another version',
    (request) => /^SSTP\/[2-9]/.test(request),
    '505 VERSION NOT SUPPORTED',
    kept('closed-version'),
  ),
];

const withLength = (edit: (length: number) => number) => (request: string) =>
  request.replace(
    /^(SSTP\/1\.0 006[\s\S]*CONTENT_LENGTH: )(\d+)/,
    (_, head: string, length: string) => head + edit(Number(length)),
  );

const BODIES: readonly SstpMutant[] = [
  ...(
    [
      ['a body is one octet short', (length: number) => Math.max(0, length - 1)],
      ['a body is one octet too long', (length: number) => length + 1],
      ['a body is read as a request', () => 0],
      ['a body has two octets at least', (length: number) => Math.max(2, length)],
      ['a body ends at 65535 octets', (length: number) => Math.min(65_535, length)],
    ] as const
  ).map(
    ([name, edit]): SstpMutant => ({
      name,
      rule: 'S-37',
      change: { request: withLength(edit) },
      fails: kept(/two octets/.test(name) ? 'one-octet' : /65535/.test(name) ? 'large-body' : 'body'),
    }),
  ),
  refusing(
    'a body of an unserved request is refused',
    'S-37',
    /^SSTP\/1\.0 006[\s\S]*CONTENT_LENGTH/,
    kept('body', 'mixed'),
  ),
  refusing('a length of 0 is refused', 'S-37', /CONTENT_LENGTH: 0/, ['request/no-body']),
];

const TOGETHER: readonly SstpMutant[] = [
  ...about('S-39', kept('found', 'mixed'), whole<SstpChange>, {
    'of requests that came together the first one is answered': {
      replies: (replies) => replies.slice(0, 1),
    },
    'of requests that came together the last one is answered': {
      replies: (replies) => replies.slice(-1),
    },
    'replies to requests that came together are joined': {
      replies: (replies) =>
        replies.map((reply, at) => (at < replies.length - 1 ? reply.replace(/\r\n$/, '') : reply)),
    },
    'replies to requests that came together have one start line': {
      replies: (replies) =>
        replies.map((reply, at) => (at === 0 ? reply.replace(/\r\n$/, '') : reply.replace(/^.*\r\n/, ''))),
    },
    'an empty line is between replies': {
      replies: (replies) => replies.flatMap((reply) => [reply, '\r\n']).slice(0, -1),
    },
  }),
  ...about('S-39', kept('mixed'), whole<SstpChange>, {
    'the first two of many replies change places': {
      replies: ([first = '', second = '', ...rest]) =>
        rest.length === 0 ? [first, second] : [second, first, ...rest],
    },
    'the last two of many replies change places': {
      replies: (replies) =>
        replies.length < 3 ? replies : [...replies.slice(0, -2), ...replies.slice(-2).toReversed()],
    },
    'refusals come before results': {
      replies: (replies) => replies.toSorted((a, b) => Number(codeOf(b) >= 500) - Number(codeOf(a) >= 500)),
    },
    'the second reply is the first one again': {
      replies: (replies) => replies.map((reply, at) => (at === 1 ? (replies[0] ?? reply) : reply)),
    },
    'each reply has the code of the first one': {
      replies: (replies) =>
        replies.map((reply) => reply.replace(/^SSTP\/1\.0 \d{3}/, (replies[0] ?? '').slice(0, 12))),
    },
    'a reply has the headers of the one before it too': {
      replies: (replies) =>
        replies.map((reply, at) =>
          at === 0 ? reply : reply.replace(/\r\n$/, (replies[at - 1] ?? '').replace(/^.*\r\n/, '')),
        ),
    },
    'numbers of results last until the next ones': {
      replies: (replies) =>
        replies.length < 3
          ? replies
          : replies.map((reply) => reply.replace(/NUMRESULTS: [2-9]/, 'NUMRESULTS: 1')),
    },
  }),
  replyMutant('a reply ends at its headers', 'S-39', (reply) => reply.replace(/\r\n$/, ''), kept('found')),
  ...about('S-48', kept('split'), whole<SstpChange>, {
    'a LF at the begin of a segment is dropped': {
      chunk: (text) => (text.startsWith('\n') ? text.slice(1) : text),
    },
    'a segment begins a line': { chunk: (text) => (/^(?!SSTP)[A-Z]/.test(text) ? `\r\n${text}` : text) },
    'a segment that begins with a line end begins anew': {
      chunk: (text) => (text.startsWith('\r\n') ? text.slice(2) : text),
    },
    'a request must come in one segment': {
      chunk: (text) => (text.startsWith('SSTP') || text.length < 4 ? text : `SSTP/9.9\r\n\r\n${text}`),
    },
  }),
];

const ENDS_OF_INPUT: readonly SstpMutant[] = [
  {
    name: 'half a request is refused at the end',
    rule: 'S-39',
    change: { request: (request) => (isHalf(request) ? 'SSTP/1.0 081 X\r\n\r\n' : request) },
    fails: kept('half-request'),
  },
  {
    name: 'half a request is completed at the end',
    rule: 'S-39',
    change: {
      request: (request) => (isHalf(request) && PLAIN_ID.test(request) ? `${request}\r\n` : request),
    },
    fails: kept('half-request'),
  },
  {
    name: 'a connection that ends before the choice gets no answer',
    rule: 'S-47',
    change: { request: (request) => (/^(?:S|SSTP|GET \/)$/.test(request) ? '' : request) },
    fails: kept('undecided'),
  },
  {
    name: 'the begin of SSTP is a request of SSTP',
    rule: 'S-47',
    change: { request: (request) => (/^(?:S|SSTP)$/.test(request) ? 'SSTP/1.0 999 X\r\n\r\n' : request) },
    fails: kept('undecided'),
  },
];

function isHalf(request: string): boolean {
  return request.startsWith('SST') && !/\r\n\r\n$/.test(request) && request.length < 200;
}

const HTTP: readonly SstpMutant[] = [
  ...about('S-49', ['connection/http-answer'], whole<SstpChange>, {
    'an HTTP answer does not say close': { http: (answer) => answer.replace(/^connection:.*\r\n/im, '') },
    'an HTTP answer says keep-alive': {
      http: (answer) => answer.replace(/^(connection:).*\r\n/im, '$1 keep-alive\r\n'),
    },
    'an HTTP answer has another version': { http: (answer) => answer.replace(/^HTTP\/1\.\d/, 'HTTP/2') },
    'an HTTP answer has a status of two digits': {
      http: (answer) => answer.replace(/^(HTTP\S+ \d\d)\d/, '$1'),
    },
    'an HTTP answer is the page alone': { http: (answer) => answer.replace(/^[\s\S]*?\r\n\r\n/, '') },
  }),
  ...about('S-47', ['connection/http-answer'], refusing, {
    'methods of HTTP are in capitals': /^get /,
    'a method of HTTP is a known one': /^(?:SSTPX|M-SEARCH) /,
    'all that begins with SSTP is SSTP': /^SSTPX/,
    'methods of HTTP have letters only': /^M-SEARCH/,
    'a target of HTTP begins with a slash': /^\S+ \* HTTP/,
    'HTTP/1.1 is not known': /HTTP\/1\.1/,
  }),
];

export const SSTP_PERSISTENCE_MUTANTS: readonly SstpMutant[] = [
  ...ENDS,
  ...READS_ON,
  ...BODIES,
  ...TOGETHER,
  ...ENDS_OF_INPUT,
  ...HTTP,
];
