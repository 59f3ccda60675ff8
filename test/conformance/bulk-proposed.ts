// Mutants of a Broker's replies in the interface of 1995.
import { gunzipSync, gzipSync } from 'node:zlib';
import type { BrokerChange } from './broker-link.js';
import { about, type Mutant, whole } from './mutant.js';
import { mapObjects, objectsIn, sectionsOf, withoutLast } from './soif-text.js';

type BulkMutant = Mutant<BrokerChange>;

/** The message of a run of `#interface 2`; the version line is the greeting of such a reply. */
const isProposed = (message: string) => /#interface 2/.test(message);
const START = '150 - gzip begin\n';
const END = '151 - gzip end\n';
const MAGIC = '\x32\x9f\xa1\xd2';

function proposedMutant(
  name: string,
  rule: string,
  edit: (reply: string, message: string) => string,
  fails: readonly string[],
): BulkMutant {
  const change = {
    reply: (reply: string, message: string) => (isProposed(message) ? edit(reply, message) : reply),
  };
  return { name: `interface 2: ${name}`, rule, change, fails };
}

/** Changes the last number of a reply, the count of the Trailer. */
const count = (by: number) => (reply: string) =>
  reply.replace(/144 - ([\s\S]{4})$/, (_, number: string) => {
    const bytes = Buffer.from(number, 'latin1');
    bytes.writeInt32BE(bytes.readInt32BE(0) + by);
    return `144 - ${bytes.toString('latin1')}`;
  });
const member = (edit: (bytes: Buffer) => Buffer) => (reply: string) => {
  const start = reply.indexOf(START) + START.length;
  const end = reply.indexOf(END);
  if (end < 0) return reply;
  return (
    reply.slice(0, start) +
    edit(Buffer.from(reply.slice(start, end), 'latin1')).toString('latin1') +
    reply.slice(end)
  );
};
const groups = (edit: (data: string) => string) => (reply: string) => {
  const start = reply.indexOf('@DELETE');
  const end = reply.lastIndexOf('}\n') + 2;
  return start < 0 ? reply : reply.slice(0, start) + edit(reply.slice(start, end)) + reply.slice(end);
};
const header = (text: string) => (reply: string) => {
  const body = reply.search(/@DELETE|150 - |120 - /);
  return body < 0 ? reply : reply.slice(0, body) + text + reply.slice(body);
};
const isList = (message: string) => message.startsWith('#USER');
const list = (edit: (reply: string) => string) => (reply: string, message: string) =>
  isList(message) ? edit(reply) : reply;

export const BULK_PROPOSED_MUTANTS: readonly BulkMutant[] = [
  proposedMutant('an unknown code in the Header', 'BP-28', header('160 - what\n'), ['proposed/order']),
  ...about('BP-12', ['proposed/order'], proposedMutant, {
    'a status line in the Header': header('000 - transfer\n'),
    'a Header after the Body': (reply) => reply.replace(/144 - [\s\S]{4}$/, '101 - hello\n$&'),
  }),
  proposedMutant('an empty line after the Header', 'BP-14', header('\n'), ['proposed/order']),
  ...about('BP-21', ['proposed/order'], proposedMutant, {
    'a Header after the Trailer': (reply) => `${reply}101 - hello\n`,
    'two Trailers': (reply) => reply.replace(/144 - [\s\S]{4}$/, '$&$&'),
    'an ERROR after the count': (reply) => `${reply}111 - \0\0\0\x06oops\n`,
  }),
  proposedMutant('a byte after the Trailer', 'BP-25', (reply) => `${reply}\n`, ['proposed/order']),
  proposedMutant('a count too large by one', 'BP-22', count(1), ['proposed/count', 'proposed/objects']),
  proposedMutant('a count too small by one', 'BP-22', count(-1), ['proposed/count', 'proposed/objects']),
  ...about('BP-1', ['proposed/count'], proposedMutant, {
    'a count of the other byte order': (reply) =>
      reply.replace(/144 - ([\s\S])([\s\S])([\s\S])([\s\S])$/, '144 - $4$3$2$1'),
    'a count in digits': (reply) => reply.replace(/144 - [\s\S]{4}$/, '144 - 0003'),
  }),
  proposedMutant('a count of three bytes', 'BP-1', (reply) => reply.slice(0, -1), ['proposed/order']),
  ...about('BP-7', ['proposed/order'], proposedMutant, {
    'a separator without its first blank': (reply) => reply.replace(/144 - ([\s\S]{4})$/, '144- $1'),
  }),
  ...about('BP-15', ['proposed/groups'], proposedMutant, {
    'an object is missing': groups(withoutLast),
    'an object is sent twice': groups((data) =>
      mapObjects(data, (object, i) => (i === objectsIn(data).length - 1 ? object + object : object)),
    ),
    'a size too large by one': groups((data) => data.replace(/\{(\d+)\}/, (_, n) => `{${Number(n) + 1}}`)),
    'no groups': groups(() => ''),
    'only UPDATE without objects': groups(() => '@UPDATE {\n}\n'),
    'the last brace is missing': groups((data) => data.replace(/\}\n$/, '')),
  }),
  ...about('BP-6', ['proposed/groups'], proposedMutant, {
    'the groups are misspelled': groups((data) => data.replaceAll('@UPDATE', '@UPDATES')),
  }),
  ...about('BP-16', ['proposed/compressed'], proposedMutant, {
    'no end marker': (reply) => reply.replace(END, ''),
    'no start marker': (reply) => reply.replace(START, ''),
    'a line end before the end marker': (reply) => reply.replace(END, `\n${END}`),
    'a wrong checksum': member((bytes) =>
      Buffer.concat([bytes.subarray(0, -8), Buffer.from([1, 2, 3, 4]), bytes.subarray(-4)]),
    ),
    'two gzip members': member((bytes) => Buffer.concat([bytes, gzipSync('')])),
    'an uncompressed Body between the markers': member((bytes) => gunzipSync(bytes)),
    'a compressed Body without an object': member((bytes) => {
      const data = gunzipSync(bytes).toString('latin1');
      return gzipSync(Buffer.from(withoutLast(data), 'latin1'));
    }),
    'a compressed Body without its last group': member((bytes) =>
      gzipSync(Buffer.from(sectionsOf(gunzipSync(bytes).toString('latin1')).slice(0, 2).join(''), 'latin1')),
    ),
  }),
  ...about('BP-10', ['proposed/compressed'], proposedMutant, {
    'another text of the end marker': (reply) => reply.replace(END, '151 - end\n'),
    'another text of the start marker': (reply) => reply.replace(START, '150 - begin\n'),
    'CR LF after the start marker': (reply) => reply.replace(START, '150 - gzip begin\r\n'),
  }),
  ...about('BP-17', ['proposed/objects'], proposedMutant, {
    'a listed object has no end': list((reply) => reply.replace('130 - object end\n', '')),
    'a listed object has no summary': list((reply) => reply.replace(/125 - .*\n/, '')),
    'a listed object has no URL': list((reply) => reply.replace(/120 - .*\n/, '')),
    'the summary precedes the URL': list((reply) => reply.replace(/(120 - .*\n)(125 - .*\n)/, '$2$1')),
  }),
  ...about('BP-10', ['proposed/objects'], proposedMutant, {
    'the end of a listed object has another text': list((reply) =>
      reply.replace('130 - object end', '130 - end'),
    ),
  }),
  ...about('BP-3', ['proposed/objects'], proposedMutant, {
    'a wrong magic number': list((reply) => reply.replaceAll(MAGIC, '\x32\x9f\xa1\xd3')),
  }),
  ...about('BP-4', ['proposed/objects'], proposedMutant, {
    'a length too large by one': list((reply) =>
      reply.replace(
        /(\x32\x9f\xa1\xd2\0\0\0)([\s\S])/,
        (_, head: string, n: string) => head + String.fromCharCode(n.charCodeAt(0) + 1),
      ),
    ),
    'a line end after data': list((reply) => reply.replace(/130 - /, '\n130 - ')),
  }),
  ...about('BP-21', ['proposed/objects'], proposedMutant, {
    'no count after a list': list((reply) => reply.replace(/144 - [\s\S]{4}$/, '')),
  }),
  ...[0, 7, 9].map((number) =>
    proposedMutant(
      `an ERROR with the number ${number}`,
      'BP-23',
      (reply) => reply.replace(/111 - \0\0\0[\s\S]/, `111 - \0\0\0${String.fromCharCode(number)}`),
      ['proposed/error'],
    ),
  ),
  ...about('BP-21', ['proposed/error'], proposedMutant, {
    'a count after an ERROR': (reply) => (/111 - \0/.test(reply) ? `${reply}144 - \0\0\0\0` : reply),
  }),
  ...about('BP-11', ['proposed/version'], whole<BrokerChange>, {
    'interface 2: another major version': versioned((line) => line.replace('\0\0\0\x01', '\0\0\0\x02')),
    'interface 2: the version 0': versioned((line) => line.replace('\0\0\0\x01', '\0\0\0\0')),
  }),
];

/** Changes the Version, which follows the greeting of the connection. */
function versioned(edit: (line: string) => string): BrokerChange {
  return {
    reply: (reply, message) => (isProposed(message) ? reply.replace(/^200 - [\s\S]{8}/, edit) : reply),
  };
}
