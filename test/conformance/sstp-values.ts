// Mutants of a References Server that read numbers, headers given twice and URLs as servers without a rule about them do.
import { accepting, lenient, reading, type SstpMutant } from './sstp-builders.js';

/** Changes the numbers of a request. @param only a pattern of the headers' names */
const numbers =
  (edit: (value: string) => string, only = 'URI_ID|SERVER_ID|NUMRESULTS|START_RESULTS|CONTENT_LENGTH') =>
  (text: string) =>
    text.replace(
      new RegExp(`^(HEADER_(?:${only}): *)([^\\r\\n]*)`, 'gm'),
      (_, name: string, value: string) => name + edit(value.trim()),
    );
const digitsOnly = (edit: (value: bigint) => bigint) => (value: string) =>
  /^\d+$/.test(value) ? String(edit(BigInt(value))) : value;
const modulo32 = digitsOnly((value) => value % 2n ** 32n);
const parsed = (value: string) =>
  Number.isSafeInteger(Number(value)) ? String(Math.abs(Number(value))) : value;

const NUMBERS: readonly SstpMutant[] = [
  lenient(
    'numbers are read modulo 2^32',
    'S-34',
    numbers(modulo32),
    'modulo-id',
    'modulo-64',
    'many-digits',
    'modulo-server',
    'modulo-results',
    'modulo-start',
    'modulo-length',
  ),
  ...(
    [
      ['URI_ID', 'modulo-id'],
      ['SERVER_ID', 'modulo-server'],
      ['NUMRESULTS', 'modulo-results'],
      ['START_RESULTS', 'modulo-start'],
      ['CONTENT_LENGTH', 'modulo-length'],
    ] as const
  ).map(([name, id]) => lenient(`${name} is read modulo 2^32`, 'S-34', numbers(modulo32, name), id)),
  lenient(
    'numbers are read modulo 2^64',
    'S-34',
    numbers(digitsOnly((value) => value % 2n ** 64n)),
    'modulo-64',
  ),
  lenient(
    'numbers above 4294967295 are the largest one',
    'S-34',
    numbers(digitsOnly((value) => (value >= 2n ** 32n ? 2n ** 32n - 1n : value))),
    'too-large',
    'modulo-id',
    'many-digits',
    'modulo-server',
    'modulo-results',
    'modulo-start',
  ),
  lenient(
    'numbers are cut to two digits',
    'S-34',
    numbers((value) => (/^\d{11,}$/.test(value) ? value.slice(0, 2) : value)),
    'modulo-64',
    'many-digits',
  ),
  lenient(
    'numbers end at the first other octet',
    'S-34',
    numbers((value) => /^\d+/.exec(value)?.[0] ?? value),
    'decimal-point',
    'exponent',
    'blank-in-number',
    'two-numbers',
    'letters-after-number',
  ),
  lenient(
    'numbers are read as in a programming language',
    'S-34',
    numbers(parsed),
    'plus',
    'minus-zero',
    'decimal-point',
    'exponent',
    'hexadecimal',
  ),
  lenient(
    'a plus is read',
    'S-34',
    numbers((value) => value.replace(/^\+/, '')),
    'plus',
  ),
  lenient(
    'negative numbers are 0',
    'S-34',
    numbers((value) => value.replace(/^-\d+$/, '0')),
    'minus-zero',
    'negative-results',
    'negative-start',
  ),
  lenient(
    'negative numbers are unsigned',
    'S-34',
    numbers((value) => (/^-[1-9]/.test(value) ? String(2 ** 32 + Number(value)) : value)),
    'negative',
    'negative-results',
    'negative-start',
  ),
  lenient(
    'blanks in numbers are dropped',
    'S-34',
    numbers((value) => value.replaceAll(' ', '')),
    'blank-in-number',
  ),
  lenient(
    'of two numbers the first one counts',
    'S-34',
    numbers((value) => value.replace(/,.*/, '')),
    'two-numbers',
  ),
  lenient(
    'an empty start is 0',
    'S-34',
    numbers((value) => value || '0', 'START_RESULTS'),
    'no-start',
  ),
  lenient(
    'a number that cannot be read is ignored',
    'S-34',
    reading(/^HEADER_(?:NUM|START_)RESULTS: *(?!\d+\r).*\r\n/gm, ''),
    'word-for-number',
    'no-start',
    'negative-start',
  ),
  lenient(
    'hexadecimal numbers are read',
    'S-34',
    numbers((value) => (/^0x/.test(value) ? String(Number(value)) : value)),
    'hexadecimal',
  ),
  lenient('digits of every script are read', 'S-34', wide, 'wide-digits'),
];

/** Reads the wide digits of East Asia. */
function wide(text: string): string {
  return text.replace(/\xef\xbc([\x90-\x99])/g, (_, digit: string) => String(digit.charCodeAt(0) - 0x90));
}

/** Leaves out all but one of the lines with a header. */
const once =
  (name: string, which: 'first' | 'last') =>
  (text: string): string => {
    const line = new RegExp(`^${name}:.*\\r\\n`, 'gim');
    const all = text.match(line) ?? [];
    const kept = which === 'first' ? all[0] : all.at(-1);
    let isFirst = true;
    return text.replace(line, () => {
      const isKept = isFirst;
      isFirst = false;
      return isKept ? (kept ?? '') : '';
    });
  };

const TWICE: readonly SstpMutant[] = [
  ...(
    [
      ['HEADER_URI_ID', 'twice', 'twice-apart', 'twice-any-case'],
      ['HEADER_NUMRESULTS', 'twice-results'],
      ['HEADER_START_RESULTS', 'twice-start'],
      ['HEADER_URL', 'twice-url', 'twice-url-alone', 'twice-description'],
      ['HEADER_SERVER_ID', 'twice-server'],
      ['HEADER_CONTENT_LENGTH', 'twice-length'],
    ] as const
  ).flatMap(([name, ...fails]) =>
    (['first', 'last'] as const).map((which) =>
      lenient(`of two ${name} the ${which} one counts`, 'S-33', once(name, which), ...fails),
    ),
  ),
  lenient(
    'a header in other letters is another one',
    'S-33',
    reading(/^header_uri_id.*\r\n/gm, ''),
    'twice-any-case',
  ),
  lenient(
    'a header twice side by side counts once',
    'S-33',
    reading(/^(.+\r\n)\1+/gm, '$1'),
    'twice',
    'twice-url',
  ),
  lenient(
    'a second URL is not looked at beside an ID',
    'R-22',
    (text) => (text.includes('HEADER_URI_ID') ? once('HEADER_URL', 'first')(text) : text),
    'twice-url',
  ),
];

const urls = (edit: (value: string, kind: string) => string) => (text: string) =>
  text.replace(
    /^(SSTP\/1\.0 (\d{3})[\s\S]*HEADER_URL: )(.*)(?=\r\n)/m,
    (_, head: string, kind: string, value: string) => head + edit(value, kind),
  );
const isSite = (kind: string) => kind === '083' || kind === '084';

const URLS: readonly SstpMutant[] = [
  lenient(
    'a document needs no scheme',
    'R-41',
    urls((value, kind) =>
      kind === '081' && !/^[a-z]+:/i.test(value) ? `http://${value || 'a.example'}` : value,
    ),
    'url-without-scheme',
    'empty-url',
  ),
  lenient(
    'user information is skipped',
    'R-41',
    urls((value) => value.replace(/(^|\/\/)[^/@]*@/, '$1')),
    'user-information',
    'url-user',
    'site-user',
    'description-user',
  ),
  lenient(
    'a user name without a password is skipped',
    'R-41',
    urls((value) => value.replace(/\/\/\w+@/, '//')),
    'url-user',
  ),
  lenient(
    'ports are read modulo 65536',
    'R-41',
    urls((value) => value.replace(':65616', ':80')),
    'url-port',
  ),
  lenient(
    'an address of mail is an unknown URL',
    'R-41',
    urls((value) => value.replace(/^mailto:.*/, 'http://x.example/')),
    'url-of-mail',
  ),
  lenient(
    'a URL without a host is an unknown one',
    'R-41',
    urls((value) => value.replace(/^http:\/\/$/, 'http://x.example/')),
    'url-without-host',
  ),
  lenient(
    'a malformed URL is an unknown one',
    'R-23',
    urls((value) => (value === '' || value === '::::' ? 'http://x.example/' : value)),
    'not-a-url',
    'empty-url',
    'site-empty',
    'description-empty',
    'description-not-a-url',
  ),
  lenient(
    'the port 0 is the usual one',
    'R-39',
    urls((value, kind) => (isSite(kind) ? value.replace(':0', '') : value)),
    'site-port-0',
  ),
  lenient(
    'other schemes have the port 80',
    'R-39',
    urls((value, kind) => (isSite(kind) ? value.replace(/^foo:/, 'http:') : value)),
    'site-scheme',
  ),
  lenient(
    'a site without an identifier is the first one',
    'R-21',
    reading(/^(SSTP\/1\.0 083.*\r\n)\r\n/, '$1HEADER_SERVER_ID: 1\r\n\r\n'),
    'site-no-identifier',
  ),
  lenient(
    'a server of the ID 0 is the first one',
    'S-35',
    reading(/SERVER_ID: 0\r\n\r\n/, 'SERVER_ID: 1\r\n\r\n'),
    'site-zero',
  ),
  lenient(
    'the ID of a document names its site',
    'R-21',
    reading(/^(SSTP\/1\.0 083.*\r\n)HEADER_URI_ID: 10/, '$1HEADER_SERVER_ID: 1'),
    'site-other-id',
  ),
  lenient(
    'the ID of a server names its first document',
    'R-21',
    reading(/^(SSTP\/1\.0 081.*\r\n)HEADER_SERVER_ID: 1\r\n\r\n/, '$1HEADER_URI_ID: 10\r\n\r\n'),
    'server-id',
  ),
];

const LIMITS: readonly SstpMutant[] = [
  accepting('start lines have 257 octets', 'S-38', /^SSTP\/1\.0 081 x{244}\r/, ['refuse/start-of-257']),
  accepting('header lines have 8193 octets', 'S-38', /X: x{8190}\r/, ['refuse/line-of-8193']),
  accepting('header lines have any length together', 'S-38', /(X: x{1195}\r\n){5}/, ['refuse/large-block']),
  accepting('URLs of sites have any length', 'S-38', /^SSTP\/1\.0 083[\s\S]*example\/x{150}/, [
    'refuse/long-url-of-site',
  ]),
  accepting('URLs of descriptions have any length', 'S-38', /^SSTP\/1\.0 008[\s\S]*example\/x{150}/, [
    'refuse/long-url-of-description',
  ]),
];

export const SSTP_VALUE_MUTANTS: readonly SstpMutant[] = [...NUMBERS, ...TWICE, ...URLS, ...LIMITS];
