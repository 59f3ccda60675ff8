// The mutants of the kit's own client of gatherd, behind a proxy.
import type { ClientUnderTest } from '../../clients/conformance/command-client.js';
import { CLIENT_CASES, prepareClients } from '../../clients/conformance/gatherd-client/suite.js';
import { OWN_GATHERD_CLIENTS } from '../clients/conformance/own-clients.js';
import {
  type ClientChange,
  type ClientChanges,
  type ClientMutant,
  type ClientVariant,
  changedClient,
  changing,
  clientVariant,
  deliveryMutants,
  givesUp,
  runClientCases,
} from './client-run.js';
import { about, type MutatedSuite, whole } from './mutant.js';

const SLOW = /^(?:delivery\/.*|.*\/huge|refused\/no-connection|session\/closes)$/;
/** The cases in which the client must report a failure. */
const FAILED_TRANSFERS = CLIENT_CASES.map(({ id }) => id).filter((id) =>
  /^(?:incomplete|refused)\/|^gzip\/(?:bad-|cut-|gives-up|not-)|^info\/(?:none|refused)$/.test(id),
);
const isMember = (text: string) => text.includes('\x1f\x8b\x08');
/**
 * The flags of the first gzip header of a text, and the first byte of its deflate data if the header has no
 * more fields.
 */
const byteOf = (text: string, offset: number) => text.charCodeAt(text.indexOf('\x1f\x8b\x08') + offset);
const hasFlag = (flag: number) => (text: string) => isMember(text) && byteOf(text, 3) === flag;
const blockType = (type: number) => (text: string) =>
  isMember(text) && byteOf(text, 3) === 0 && ((byteOf(text, 10) >> 1) & 3) === type;
const members = (text: string) => text.split('\x1f\x8b\x08').length - 1;

/** A client that decides by the text of a line. */
const byText = (name: string, at: RegExp, fails: readonly string[]) =>
  givesUp(`the text of ${name}`, 'GATHERD-1.6', at, fails);

/** A client that ends at the first line that looks like an end, wherever it is. */
const endsAt = (code: string, fails: readonly string[]): ClientMutant =>
  changing(
    `ends at the first line ${code}`,
    'GATHERD-3.7',
    {
      received(text) {
        const line = new RegExp(`\\n${code} - .*\\n`).exec(text);
        const isLast = line === null || line.index + line[0].length === text.length;
        return isLast || isMember(text)
          ? text
          : { text: text.slice(0, line.index + line[0].length), action: 'close' };
      },
    },
    fails,
  );

/** A client that changes values of its output, with their sizes. */
const changingValues = (
  name: string,
  rule: string,
  edit: (value: string) => string,
  fails: readonly string[],
): ClientMutant =>
  changing(
    name,
    rule,
    {
      output(text) {
        let out = '';
        for (let at = 0; at < text.length; ) {
          const head = /^([^\n{}]+)\{(\d+)\}:\t/.exec(text.slice(at, at + 200));
          if (head === null) {
            const end = text.indexOf('\n', at) + 1 || text.length;
            out += text.slice(at, end);
            at = end;
            continue;
          }
          const start = at + head[0].length;
          const value = edit(text.slice(start, start + Number(head[2])));
          out += `${head[1]}{${value.length}}:\t${value}\n`;
          at = start + Number(head[2]) + 1;
        }
        return out;
      },
    },
    fails,
  );

/** Counts the pieces from the first byte of a gzip member. */
function smallPieces(): ClientChange {
  let pieces = 0;
  return {
    received(text) {
      if (pieces > 0 || text.includes('\x1f')) pieces++;
      return pieces > 12 ? { text: '', action: 'reset' } : text;
    },
  };
}

const CLEAR: readonly ClientMutant[] = [
  changing('writes nothing', 'GATHERD-11.4', { output: () => '' }, ['session/plain']),
  ...about('GATHERD-4.4', ['session/plain'], changing, {
    'leaves out an object': { output: (text) => text.replace(/@FILE \{ ftp[\s\S]*?\n\}\n/, '') },
    'writes an object twice': { output: (text) => text.replace(/@FILE \{ ftp[\s\S]*?\n\}\n/, '$&$&') },
  }),
  ...about('SOIF-1.1', ['session/plain'], changing, {
    'leaves out an attribute': { output: (text) => text.replace(/Title\{\d+\}:\t[^\n]*\n\n?/, '') },
  }),
  changing('reports a failure after success', 'GATHERD-11.4', { status: () => 1 }, ['session/exit-status']),
  changing('reports success always', 'GATHERD-11.4', { status: () => 0 }, FAILED_TRANSFERS),
  {
    ...changing(
      'does not close after 999',
      'GATHERD-3.1',
      { neverLeaves: true },
      ['session/closes'],
      ['session/closes'],
    ),
  },
  ...about('GATHERD-2.3', ['commands/spelling'], changing, {
    'sends verbs in lower case': { sent: (text) => text.replace(/^[A-Z-]+/gm, (verb) => verb.toLowerCase()) },
    'sends keywords in upper case': {
      sent: (text) => text.replace(/SET (\w+)/, (line) => line.toUpperCase()),
    },
  }),
  ...about('GATHERD-2.1', ['commands/spelling'], changing, {
    'asks for a change without a number': {
      sent: (text) => text.replace(/^(?=SEND-UPDATE)/m, 'SET sequence name\n'),
    },
    'sends an unknown command': { sent: (text) => text.replace(/^(?=QUIT)/m, 'STAT\n') },
  }),
  changing('ends lines in CR CR LF', 'GATHERD-1.4', { sent: (text) => text.replace('\n', '\r\r\n') }, [
    'commands/line-ends',
  ]),
  changing('sends no host name', 'GATHERD-2.6', { sent: (text) => text.replace(/^HELLO .*$/m, 'HELLO') }, [
    'commands/hello-argument',
  ]),
  ...[
    ['a date', 'SEND-UPDATE 1996-01-01'],
    ['a negative time', 'SEND-UPDATE -1'],
    ['a hexadecimal time', 'SEND-UPDATE 0x0'],
    ['no time', 'SEND-UPDATE'],
  ].map(([name, line = '']) =>
    changing(`sends ${name}`, 'GATHERD-4.1', { sent: (text) => text.replace(/^SEND-UPDATE .*$/m, line) }, [
      'commands/timestamp',
    ]),
  ),
  changing(
    'never quits',
    'GATHERD-7.1',
    { sent: (text) => text.replace(/^QUIT\n/m, '') },
    ['commands/quit'],
    ['commands/quit'],
  ),
  givesUp('CR LF after a status line', 'GATHERD-1.5', /^\d{3} - .*\r\n/m, ['lines/cr-lf']),
  givesUp('another version in the greeting', 'GATHERD-3.1', /^000 - HELLO 1\.4/, ['lines/greeting-text']),
  byText('100 that says no', /^100 - 900/m, ['lines/other-texts']),
  byText('400 that says 499', /^400 - 499/m, ['lines/other-texts']),
  byText('499 that says 400', /\n499 - 400/, ['lines/other-texts']),
  byText('100 that is short', /^100 - x\n/m, ['lines/short-texts']),
  byText('400 that is short', /^400 - x\n/m, ['lines/short-texts', 'gzip/empty-texts']),
  byText('499 that is short', /499 - x\n/, ['lines/short-texts', 'gzip/empty-texts']),
  byText('499 that names a database', /499 - .*; sequence /, ['lines/sequence']),
  byText('500 that says no', /^500 - 900/m, ['gzip/other-texts']),
  byText('500 that is short', /^500 - x/m, ['gzip/empty-texts']),
  byText('400 that says no', /^400 - 900/m, ['gzip/other-texts']),
  byText('499 that says bad', /499 - Bad timestamp\n(?<=\x1f[\s\S]*)/, ['gzip/other-texts']),
  givesUp('a line without a number', 'GATHERD-1.7', /^(?:Welcome|One moment)/m, ['lines/unknown-lines']),
  givesUp('an empty line', 'GATHERD-1.7', /^Welcome.*\n\n/m, ['lines/unknown-lines']),
  givesUp('an unknown number before 100', 'GATHERD-1.7', /^150 - /m, ['lines/unknown-codes']),
  givesUp('an unknown number before 400', 'GATHERD-1.7', /^450 - /m, ['lines/unknown-codes']),
  givesUp('099 after data', 'GATHERD-3.3', /\n099 - end of data\n$/, ['lines/end-099']),
  ...about('GATHERD-3.3', ['gzip/end-099'], givesUp, {
    '099 after compressed data': (text) => isMember(text) && text.endsWith('099 - end of data\n'),
  }),
  endsAt('499', ['value/end-line']),
  endsAt('099', ['value/end-line-099']),
  givesUp('a line } in a value', 'SOIF-1.2', /void main\(\) \{\n\}\n/, ['value/closing-brace']),
  givesUp('a wrapper in a value', 'SOIF-1.2', /\}\n\}\n@DELETE \{\n@FILE/, ['value/wrapper']),
  ...about('SOIF-1.2', ['value/binary', 'gzip/values'], changingValues, {
    'decodes values as UTF-8': (value) =>
      Buffer.from(Buffer.from(value, 'latin1').toString('utf8')).toString('latin1'),
    'cuts values at NUL': (value) => value.replace(/\0[\s\S]*$/, ''),
  }),
  ...about('SOIF-1.2', ['value/binary'], changingValues, {
    'clears the eighth bit': (value) =>
      value.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(byte.charCodeAt(0) & 127)),
  }),
  ...about('SOIF-1.2', ['value/no-final-newline'], changingValues, {
    'adds a last line end': (value) => (value.includes('\n') && !value.endsWith('\n') ? `${value}\n` : value),
  }),
  changingValues('drops the last line end', 'SOIF-2.4', (value) => value.replace(/\n$/, ''), [
    'value/only-newlines',
    'session/plain',
  ]),
  ...about('SOIF-2.4', ['value/only-newlines'], changingValues, {
    'trims values': (value) => value.trim(),
    'drops line ends at the begin of a value': (value) => value.replace(/^\n+/, ''),
  }),
  changingValues('reads CR LF as LF', 'SOIF-2.4', (value) => value.replaceAll('\r\n', '\n'), ['value/cr-lf']),
  changingValues('cuts values at 4096 bytes', 'SOIF-1.2', (value) => value.slice(0, 4096), ['gzip/stored']),
  {
    ...changingValues('cuts values at 1 MiB', 'SOIF-1.2', (value) => value.slice(0, 1 << 20), [
      'value/huge',
      'gzip/huge',
    ]),
    only: ['value/huge', 'gzip/huge'],
  },
  givesUp('an empty value', 'SOIF-3.2', /Abstract\{0\}/, ['value/empty']),
  givesUp('wrappers on one line', 'SOIF-8.9', /@DELETE \{ \}\n/, ['sections/one-line']),
  givesUp('wrappers that run together', 'SOIF-8.9', /@DELETE \{ \} @/, ['sections/run-together']),
  givesUp('wrappers in lower case', 'SOIF-8.9', /@delete \{/, ['sections/small-letters']),
  givesUp('@UPDATE in front', 'SOIF-8.9', /^400 .*\n@UPDATE \{\n/m, ['sections/other-order']),
  givesUp('a section again', 'SOIF-8.9', /\n@UPDATE \{\n[\s\S]*\n@UPDATE \{\n\}/, ['sections/repeated']),
  givesUp('objects without a wrapper', 'SOIF-8.9', /^400 .*\n@FILE/m, ['sections/absent']),
  givesUp('an object in @DELETE', 'SOIF-8.4', /^400 .*\n@DELETE \{\n@FILE/m, ['sections/non-empty']),
  givesUp('an object of type UPDATE', 'SOIF-8.10', /@UPDATE \{ http/, ['sections/type-update']),
  givesUp('an update without objects', 'GATHERD-4.5', /@UPDATE \{\n\}\n499/, ['sections/empty']),
  ...about('SOIF-8.2', ['sections/non-empty'], changing, {
    'writes @DELETE as @UPDATE': { output: (text) => text.replace(/@DELETE \{\n@FILE/, '@UPDATE {\n@FILE') },
  }),
];

const COMPRESSED: readonly ClientMutant[] = [
  givesUp(
    '900 after SET compression',
    'GATHERD-6.9',
    /^900 - Compression not available\n/m,
    ['compression/refused'],
    ['session/plain', 'compression/refused'],
  ),
  ...about('GATHERD-3.13', ['compression/unknown-codes'], changing, {
    'takes an unknown number for the answer to SET': {
      received: (text) => text.replace(/^123 - [\s\S]*\n500 - /m, '900 - '),
    },
  }),
  givesUp('599 after SET compression', 'GATHERD-6.9', /^599/m, ['compression/other-answer']),
  givesUp('900 with the text of 500', 'GATHERD-1.6', /^900 - 500/m, ['compression/refused-with-text']),
  ...about('GATHERD-1.6', ['compression/refused-with-text'], changing, {
    'reads the text of 900': { received: (text) => text.replace(/^900 - 500/m, '500') },
  }),
  givesUp('dynamic codes', 'GATHERD-6.3', blockType(2), ['gzip/dynamic', 'gzip/line-end']),
  givesUp('fixed codes', 'GATHERD-6.3', blockType(1), ['gzip/fixed']),
  givesUp('stored blocks', 'GATHERD-6.3', (text) => blockType(0)(text) && text.length > 1000, [
    'gzip/stored',
  ]),
  ...about('GATHERD-6.3', ['gzip/empty-blocks'], givesUp, {
    'an empty block': (text) => blockType(0)(text) && byteOf(text, 11) === 0 && byteOf(text, 12) === 0,
  }),
  ...about('GATHERD-6.6', ['gzip/end-line-in-member'], givesUp, {
    'a line 499 in a member': (text) => isMember(text) && /\n499 - Sent 1 objects\n/.test(text),
  }),
  givesUp('a file name in the header', 'GATHERD-6.3', hasFlag(0x08), ['gzip/header-name']),
  givesUp('an extra field in the header', 'GATHERD-6.3', hasFlag(0x04), ['gzip/header-extra']),
  givesUp('a comment in the header', 'GATHERD-6.3', hasFlag(0x10), ['gzip/header-comment']),
  givesUp('a checksum of the header', 'GATHERD-6.3', hasFlag(0x02), ['gzip/header-crc']),
  givesUp('every field in the header', 'GATHERD-6.3', hasFlag(0x1e), ['gzip/header-all']),
  givesUp('three members', 'GATHERD-6.6', (text) => members(text) === 3, ['gzip/members']),
  givesUp('two members and a line end', 'GATHERD-6.3', (text) => members(text) === 2, [
    'gzip/members-line-end',
  ]),
  ...about('GATHERD-6.3', ['gzip/line-end'], givesUp, {
    'a line end after the member': (text) => members(text) === 1 && /\0\n499/.test(text),
  }),
  givesUp('line ends after the member', 'GATHERD-6.3', /\0\r\n\n499/, ['gzip/line-ends']),
  changing('ignores a wrong checksum', 'GATHERD-6.5', { status: () => 0 }, [
    'gzip/bad-crc-end-line',
    'gzip/bad-length',
  ]),
  ...about('GATHERD-6.5', ['gzip/gives-up'], changing, {
    'reads any number after a member as its end': {
      received: (text) => (isMember(text) ? text.replace(/900 - Disk error\n$/, '499 - x\n') : text),
    },
  }),
  ...about('GATHERD-3.7', ['incomplete/gives-up'], changing, {
    'reads any number after objects as their end': {
      received: (text) => (isMember(text) ? text : text.replace(/^900 - Disk error\n/m, '499 - x\n')),
    },
  }),
  ...about('GATHERD-6.5', ['gzip/cut-stream'], changing, {
    'does not need a whole stream in a whole member': {
      received: (text) => (isMember(text) && !/\d99 - .*\n$/.test(text) ? `${text}499 - x\n` : text),
    },
  }),
  ...about('GATHERD-6.5', ['gzip/close-for-end-line'], changing, {
    'needs 499 after a member': {
      received: (text) => (isMember(text) && !/\d99 - .*\n$/.test(text) ? text.slice(0, -1) : text),
    },
  }),
  givesUp('a compressed update without objects', 'GATHERD-4.5', /%\x00\x00\x00499 - /, ['gzip/empty-update']),
  ...about('GATHERD-6.6', ['gzip/members'], changing, {
    'reads only the first member': {
      received: (text) =>
        members(text) > 1 ? `${text.slice(0, text.indexOf('\x1f\x8b\x08', 40))}499 - x\n` : text,
    },
  }),
];

const INFO: readonly ClientMutant[] = [
  givesUp('600 after the description', 'GATHERD-3.6', /^@GATHERER[\s\S]*\}\n600 - /, ['info/600-after']),
  givesUp('600 before the description', 'GATHERD-3.6', /^600 - INFO[\s\S]*\}\n$/, ['info/600-before']),
  givesUp('699', 'GATHERD-3.6', /699 - End/, ['info/699']),
  ...about('GATHERD-3.6', ['info/none'], changing, {
    'does not know 699': { received: (text) => text.replace(/^699 - No .*\n/m, '') },
  }),
  ...about('GATHERD-3.13', ['info/refused'], changing, {
    'waits for a description after 900': {
      received: (text) => text.replace(/^900 - Unknown command: INFO\n/m, ''),
    },
  }),
  givesUp('a description without 600', 'GATHERD-3.6', /^@GATHERER[\s\S]*\}\n$/, [
    'info/no-number',
    'info/close',
  ]),
  changing(
    'does not send INFO',
    'GATHERD-7.4',
    { sent: (text) => text.replace(/^INFO\n/m, 'HELP\n') },
    ['info/600-after'],
    ['info/600-after'],
  ),
];

const VARIANTS: readonly ClientVariant[] = [
  clientVariant('ends its lines in CR LF', 'GATHERD-1.4', { sent: (text) => text.replaceAll('\n', '\r\n') }),
  clientVariant('sends two blanks after a verb', 'GATHERD-2.4', {
    sent: (text) => text.replace(/^(HELLO|SEND-UPDATE) /gm, '$1  '),
  }),
  clientVariant('says another host name', 'GATHERD-2.6', {
    sent: (text) => text.replace(/^HELLO .*$/m, 'HELLO other.example.org'),
  }),
  clientVariant('requests everything since 1', 'GATHERD-4.1', {
    sent: (text) => text.replace(/^SEND-UPDATE 0$/m, 'SEND-UPDATE 1'),
  }),
  clientVariant('explains its failures', 'GATHERD-11.4', { diagnostics: (text) => `${text}\nsee the log` }),
  clientVariant('fails with another status', 'GATHERD-11.4', { status: (status) => (status === 0 ? 0 : 75) }),
];

export const GATHERD_CLIENT: MutatedSuite<ClientChanges> = {
  suite: 'gatherd-client',
  slow: SLOW,
  first: ['session/plain'],
  mutants: [
    ...CLEAR,
    ...COMPRESSED,
    ...INFO,
    ...deliveryMutants({ bytes: ['delivery/single-bytes'], slow: ['delivery/slow'] }, 'GATHERD-1.3'),
    ...about('GATHERD-6.3', ['delivery/compressed-single-bytes'], whole<ClientChanges>, {
      'the client gives up at many small pieces of a member': smallPieces,
    }),
  ],
  variants: VARIANTS,
  async start() {
    return (change = () => ({}), request) => {
      let isChanged = false;
      const wrap = (client: ClientUnderTest) => changedClient(client, change, () => (isChanged = true));
      const { client, infoClient } = OWN_GATHERD_CLIENTS;
      const prepared = prepareClients({ client: wrap(client), infoClient: wrap(infoClient) });
      return runClientCases(prepared, request, () => isChanged);
    };
  },
};
