// What a client can send without end: sentences of each protocol's grammar, and input that yields nothing.
import { parseSpecification } from '../../protocols/specification/index.js';
import { textOf } from '../architecture/sources.js';
import { Random } from '../helpers/random.js';
import { SEED } from '../helpers/seed.js';
import { Grammar } from '../rules/grammar/grammar.js';

/** What a client sends: `head` once, then `text` again and again; Latin-1. */
export interface Flood {
  readonly head?: string;
  readonly text: string;
}

/** The rules of a specification that derive what a client sends. */
const SENT: Readonly<Record<string, readonly string[]>> = {
  gatherd: ['client-line', 'command', 'blanks', 'line-end', 'sent-line'],
  broker: ['request', 'ows', 'user-message', 'bulk-message', 'admin-message'],
  sstp: ['message', 'start-line', 'header', 'eol', 'sent-request', 'first-line-of-http'],
};

/** Bytes of the longest sentence that is sent. */
const MAX_SENTENCE = 2000;

/** The first bytes of clients of other protocols, which proxies and scanners send to any port. */
const FOREIGN: Readonly<Record<string, Flood>> = {
  'hellos of TLS': { text: '\x16\x03\x01\x00\x10\x01\x00\x00\x0c\x03\x03\0\0\0\0\0\0\0\0\0\0' },
  'prefaces of HTTP/2': { text: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
  'lines of a proxy': { text: 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n' },
  'heads of a proxy in bytes': { text: '\r\n\r\n\0\r\nQUIT\n\x20\0\0\0' },
  'greetings of SSH': { text: 'SSH-2.0-x\r\n' },
  'mixed zero bytes and line ends': { text: '\0\r\n\0\n\r' },
};

/** Input of which an engine of lines makes nothing, or nothing yet. */
const NOTHING: Readonly<Record<string, Flood>> = {
  ...FOREIGN,
  'empty lines': { text: '\n' },
  'empty lines with CR': { text: '\r\n' },
  'bare CR': { text: '\r' },
  'lines of blanks': { text: ' \t\n' },
  'a line without end': { text: 'x' },
  'an open quote': { text: '\n', head: '#USER #END "' },
  'zero bytes': { text: '\0' },
  'bytes of TELNET': { text: '\xff\xfb\x01\xff\xf1\n' },
  'unknown words': { text: 'x\n' },
  'headers without end': { text: 'X: y\r\n', head: 'SSTP/1.0 081 X\r\n' },
};

/** Floods of a protocol: sentences that its specification derives, then {@link NOTHING}. */
export function grammarFloods(protocol: keyof typeof SENT & string, perRule: number): Map<string, Flood> {
  const { grammar: blocks } = parseSpecification(textOf(`protocols/${protocol}/specification.md`));
  const grammar = new Grammar(blocks);
  const random = new Random(SEED);
  const floods = new Map(Object.entries(NOTHING));
  for (const rule of SENT[protocol] ?? [])
    for (let i = 0; i < perRule; i++) {
      const text = Buffer.from(grammar.sentence(rule, random)).toString('latin1');
      if (text.length > 0 && text.length <= MAX_SENTENCE) floods.set(`${rule} ${i}`, { text });
    }
  return floods;
}

const HOST = 'Host: localhost\r\n';

/** Floods of HTTP: RFC 9112 allows each of them. */
export const HTTP_FLOODS: ReadonlyMap<string, Flood> = new Map(
  Object.entries({
    ...FOREIGN,
    'empty lines before a request': { text: '\r\n' },
    'empty lines after a request': { head: `GET / HTTP/1.1\r\n${HOST}\r\n`, text: '\r\n' },
    'unknown paths': { text: `GET /nothing HTTP/1.1\r\n${HOST}\r\n` },
    'a body for an unknown path': {
      head: `POST /nothing HTTP/1.1\r\n${HOST}Content-Length: 99999999999\r\n\r\n`,
      text: 'x',
    },
    'a body of GET': { head: `GET / HTTP/1.1\r\n${HOST}Content-Length: 99999999999\r\n\r\n`, text: 'x' },
    'chunks of a byte for an unknown path': {
      head: `POST /nothing HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`,
      text: '1\r\nx\r\n',
    },
    'chunks of a byte in a form': {
      head: `POST /form HTTP/1.1\r\n${HOST}Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n`,
      text: '1\r\nx\r\n',
    },
    'many headers': { text: `GET /nothing HTTP/1.1\r\n${HOST}${'a:b\r\n'.repeat(1000)}\r\n` },
    'headers without end': { head: 'GET / HTTP/1.1\r\n', text: 'a:\r\n' },
    'bytes that are not HTTP': { text: 'x\r\n' },
  }),
);
