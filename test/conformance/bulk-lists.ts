// Mutants of a Broker's replies to user queries in the interface of 1995.
import type { BulkMutant } from './bulk-builders.js';
import { proposedMutant } from './bulk-proposed.js';
import { about } from './mutant.js';
import {
  dataOf,
  itemOf,
  mapListedValues,
  mapTokens,
  number32,
  type Token,
  tokensOf,
} from './proposed-text.js';

const MAGIC = '\x32\x9f\xa1\xd2';
const DESCRIPTION = '124';
const OPAQUE = '122';
const ATTRIBUTE = '127';
const KINDS = [
  ['a DESCRIPTION', DESCRIPTION, 'BP-19', 'proposed/descriptions'],
  ['an OPAQUE', OPAQUE, 'BP-19', 'proposed/opaque'],
  ['an ATTRIBUTE', ATTRIBUTE, 'BP-20', 'proposed/attributes'],
] as const;

/** Changes the replies to user queries. */
const list = (edit: (reply: string) => string) => (reply: string, message: string) =>
  message.startsWith('#USER') ? edit(reply) : reply;
const tokens = (code: string, edit: (token: Token, at: number) => string) =>
  list((reply) => mapTokens(reply, code, edit));
const values = (code: string, edit: (value: string, name: string) => string | undefined) =>
  list((reply) => mapListedValues(reply, code, edit));
/** Data with another magic number or length. */
const withData = ({ code, name, value = '' }: Token, data: (value: string) => string) =>
  itemOf(code, value, name).replace(dataOf(value), () => data(value));

const LISTS: readonly BulkMutant[] = [
  ...about('BP-17', ['proposed/objects'], proposedMutant, {
    'a listed object has no end': list((reply) => reply.replace('130 - object end\n', '')),
    'a listed object has no summary': list((reply) => reply.replace(/125 - .*\n/, '')),
    'a listed object has no URL': list((reply) => reply.replace(/120 - .*\n/, '')),
    'the summary precedes the URL': list((reply) => reply.replace(/(120 - .*\n)(125 - .*\n)/, '$2$1')),
    'a listed object has two summaries': list((reply) => reply.replace(/125 - .*\n/, '$&$&')),
    'a listed object has two ends': list((reply) => reply.replace('130 - object end\n', '$&$&')),
    'a list has no objects': list((reply) => reply.replace(/120 - [\s\S]*130 - object end\n/, '')),
  }),
  ...about('BP-18', ['proposed/objects'], proposedMutant, {
    'a WARNING ends an object': list((reply) =>
      reply.replace('130 - object end\n', `103 - ${number32(2)}careful\n$&`),
    ),
    'a WARNING has a separator after its number': list((reply) =>
      reply.replace('120 - ', `103 - ${number32(2)} - careful\n103 - careful\n$&`),
    ),
    'a WARNING has no number': list((reply) => reply.replace('120 - ', '103 - \n$&')),
  }),
  ...about('BP-10', ['proposed/objects'], proposedMutant, {
    'the end of a listed object has another text': list((reply) =>
      reply.replace('130 - object end', '130 - end'),
    ),
    'the end of a listed object has CR LF': list((reply) =>
      reply.replace('130 - object end\n', '130 - object end\r\n'),
    ),
    'the end of a listed object has a separator': list((reply) =>
      reply.replace('130 - object end\n', '130 - object end\n - '),
    ),
  }),
  ...about('BP-3', ['proposed/objects'], proposedMutant, {
    'a wrong magic number': list((reply) => reply.replaceAll(MAGIC, '\x32\x9f\xa1\xd3')),
    'the magic number in the other byte order': list((reply) => reply.replaceAll(MAGIC, '\xd2\xa1\x9f\x32')),
    'no magic number': list((reply) => reply.replaceAll(MAGIC, '')),
    'the magic number in digits': list((reply) => reply.replaceAll(MAGIC, '329fa1d2')),
  }),
  ...about('BP-4', ['proposed/objects'], proposedMutant, {
    'a length too large by one': list((reply) =>
      reply.replace(
        /(\x32\x9f\xa1\xd2\0\0\0)([\s\S])/,
        (_, head: string, n: string) => head + String.fromCharCode(n.charCodeAt(0) + 1),
      ),
    ),
    'a length too small by one': list((reply) =>
      reply.replace(
        /(\x32\x9f\xa1\xd2\0\0\0)([\s\S])/,
        (_, head: string, n: string) => head + String.fromCharCode(n.charCodeAt(0) - 1),
      ),
    ),
    'a line end after data': list((reply) => reply.replace(/130 - /, '\n130 - ')),
  }),
  ...about('BP-21', ['proposed/objects'], proposedMutant, {
    'no count after a list': list((reply) => reply.replace(/144 - [\s\S]{4}$/, '')),
    'a list has its count before it': list((reply) =>
      reply.replace(/(120 - [\s\S]*)(144 - [\s\S]{4})$/, '$2$1'),
    ),
  }),
  ...about('BP-17', ['proposed/urls'], proposedMutant, {
    'a list lacks its first object': list((reply) => reply.replace(/120 - [\s\S]*?130 - object end\n/, '')),
    'a list has its first object twice': list((reply) =>
      reply.replace(/120 - [\s\S]*?130 - object end\n/, '$&$&'),
    ),
    'a list has the URL of the summary for that of the object': list((reply) =>
      reply.replace(/120 - .*\n125 - (.*)\n/g, '120 - $1\n125 - $1\n'),
    ),
    'a list has URLs in capitals': list((reply) =>
      reply.replace(/^120 - (.*)/gm, (_, url: string) => `120 - ${url.toUpperCase()}`),
    ),
  }),
  ...about('BP-29', ['proposed/objects'], proposedMutant, {
    'a user query is answered in the shipped format': list(
      (reply) => `${reply.slice(reply.indexOf('120 - ')).replace(/144 - [\s\S]{4}$/, '')}`,
    ),
    'a user query is refused as malformed': list(() => '111 - ERROR: Malformed message\n'),
    'a user query is answered with groups': list(
      (reply) => `${reply.slice(0, reply.indexOf('120 - '))}@UPDATE {\n}\n144 - ${number32(0)}`,
    ),
    'a user query has no Version': list((reply) => reply.replace(/^200 - [\s\S]{8}.*\n/, '')),
  }),
];

const ITEMS: readonly BulkMutant[] = KINDS.flatMap(([what, code, rule, id]) => [
  ...about(rule, [id], proposedMutant, {
    [`${what} is lost`]: tokens(code, ({ text }, at) => (at === 0 ? '' : text)),
    [`${what} comes twice`]: tokens(code, ({ text }, at) => (at === 0 ? text + text : text)),
    [`${what} has another code`]: tokens(code, ({ text }) => `128${text.slice(3)}`),
    [`${what} loses its last byte`]: values(code, (value) => value.slice(0, -1)),
    [`${what} loses its first byte`]: values(code, (value) => value.slice(1)),
    [`${what} has a line end`]: values(code, (value) => `${value}\n`),
    [`${what} is in capitals`]: values(code, (value) => value.toUpperCase()),
    [`${what} has no value`]: values(code, () => ''),
    [`${what} is that of the object before`]: list(shifted(code)),
  }),
  ...about('BP-4', [id], proposedMutant, {
    [`${what} has a length in digits`]: tokens(code, (token) =>
      withData(token, (value) => `${MAGIC}${String(value.length).padStart(4, '0')}${value}`),
    ),
    [`${what} has a length in the other byte order`]: tokens(code, (token) =>
      withData(token, (value) => {
        const length = Buffer.alloc(4);
        length.writeUInt32LE(value.length);
        return MAGIC + length.toString('latin1') + value;
      }),
    ),
    [`${what} has a length that counts the magic number`]: tokens(code, (token) =>
      withData(token, (value) => MAGIC + number32(value.length + 4) + value),
    ),
    [`${what} ends in LF`]: tokens(code, ({ text }) => `${text}\n`),
  }),
  ...about('BP-7', [id], proposedMutant, {
    [`${what} has no separator`]: tokens(code, ({ text }) => code + text.slice(6)),
    [`${what} has a blank for the separator`]: tokens(code, ({ text }) => `${code} ${text.slice(6)}`),
  }),
]);

/** Gives each value to the next item. */
function shifted(code: string): (reply: string) => string {
  return (reply) => {
    const all = tokensOf(reply).filter((token) => token.code === code);
    return mapTokens(reply, code, ({ name }, at) => {
      const { value = '' } = all[(at + 1) % all.length] ?? {};
      return itemOf(code, value, name);
    });
  };
}

/** Changes the bytes between the name and the Data of an ATTRIBUTE. */
const between = (bytes: string) =>
  tokens(ATTRIBUTE, ({ name = '', value = '' }) => `127 - ${name}${bytes}${dataOf(value)}`);

const NAMES: readonly BulkMutant[] = [
  ...about('BP-13', ['proposed/attributes'], proposedMutant, {
    'an ATTRIBUTE has no separator before its Data': between('\n'),
    'an ATTRIBUTE has its separator before the line end': between(' - \n'),
    'an ATTRIBUTE has no line end after its name': between(' - '),
    'an ATTRIBUTE has neither line end nor separator': between(''),
    'an ATTRIBUTE has a blank for its second separator': between('\n '),
    'an ATTRIBUTE has a hyphen for its second separator': between('\n-'),
    'an ATTRIBUTE has CR LF after its name': between('\r\n - '),
    'an ATTRIBUTE has two line ends after its name': between('\n\n - '),
    'an ATTRIBUTE has the form of the shipped format': tokens(
      ATTRIBUTE,
      ({ name = '', value = '' }) => `127 - ${name} ${value.length}\n${value}\n`,
    ),
    'an ATTRIBUTE has its value before its name': tokens(
      ATTRIBUTE,
      ({ name = '', value = '' }) => `127 - ${dataOf(value)} - ${name}\n`,
    ),
  }),
  ...about('BP-20', ['proposed/attributes'], proposedMutant, {
    'an ATTRIBUTE has no name': tokens(ATTRIBUTE, ({ value = '' }) => itemOf(ATTRIBUTE, value, '')),
    'an ATTRIBUTE has a colon after its name': tokens(ATTRIBUTE, ({ name = '', value = '' }) =>
      itemOf(ATTRIBUTE, value, `${name}:`),
    ),
    'an ATTRIBUTE has another name': tokens(ATTRIBUTE, ({ value = '' }) =>
      itemOf(ATTRIBUTE, value, 'abstract'),
    ),
    'an ATTRIBUTE is sent as a private extension': tokens(ATTRIBUTE, ({ text }) => `143${text.slice(3)}`),
  }),
  ...about('BP-19', ['proposed/opaque'], proposedMutant, {
    'matched lines are joined': list((reply) => {
      const all = tokensOf(reply).filter(({ code }) => code === OPAQUE);
      const value = all.map((token) => token.value).join('\n');
      return mapTokens(reply, OPAQUE, (_, at) => (at === 0 ? itemOf(OPAQUE, value) : ''));
    }),
  }),
];

export const BULK_LIST_MUTANTS: readonly BulkMutant[] = [...LISTS, ...ITEMS, ...NAMES];
