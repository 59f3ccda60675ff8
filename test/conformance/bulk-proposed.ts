// Mutants of a Broker's replies in the interface of 1995.
import { gunzipSync, gzipSync } from 'node:zlib';
import type { BrokerChange } from './broker-link.js';
import type { BulkMutant } from './bulk-builders.js';
import { END, isProposed, START } from './bulk-replies.js';
import { about, whole } from './mutant.js';
import { number32 } from './proposed-text.js';
import { mapObjects, mapValues, objectsIn, sectionsOf, withoutLast } from './soif-text.js';

/** Changes the replies of interface 2. */
export function proposedMutant(
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

/** Changes the replies to malformed messages. */
function malformed(edit: (reply: string) => string) {
  return (reply: string, message: string) => (/#SINCE soon|\(heron/.test(message) ? edit(reply) : reply);
}
const isSelection = (message: string) =>
  /^#BULK .*#END [a-z]/.test(message) && !/#ALLB|regexp/i.test(message);
/** Changes the groups of a query. */
function selecting(edit: (data: string) => string) {
  return (reply: string, message: string) => (isSelection(message) ? groups(edit)(reply) : reply);
}
function edited(data: string, edit: (value: string, name: string) => string | undefined): string {
  return mapObjects(data, (object) => mapValues(object, edit));
}
/** The groups of a reply. */
function objectsOnly(reply: string): string {
  return reply.slice(reply.indexOf('@DELETE'), reply.lastIndexOf('}\n') + 2);
}

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
  proposedMutant('a count too large by one', 'BP-22', count(1), [
    'proposed/count',
    'proposed/objects',
    'proposed/empty',
  ]),
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
  ...about('BP-2', ['proposed/groups'], proposedMutant, {
    'the last InfoField has no line end': (reply) => reply.replace(/\n(?=@DELETE)/, ''),
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
  ...about('BP-23', ['proposed/malformed'], proposedMutant, {
    'a malformed message is answered with the ERROR 2': malformed((reply) =>
      reply.replace(/111 - \0\0\0\x01/, '111 - \0\0\0\x02'),
    ),
    'an ERROR has its number in digits': malformed((reply) => reply.replace(/111 - \0\0\0\x01/, '111 - 1 ')),
    'an ERROR has its number in the other byte order': malformed((reply) =>
      reply.replace(/111 - \0\0\0\x01/, '111 - \x01\0\0\0'),
    ),
    'an ERROR has a separator after its number': malformed((reply) =>
      reply.replace(/111 - \0\0\0\x01/, '$& - ').replace(/\n$/, ''),
    ),
    'an ERROR comes twice': malformed((reply) => reply + reply.slice(reply.indexOf('111 - '))),
    'a count follows the ERROR of a malformed message': malformed((reply) => `${reply}144 - ${number32(0)}`),
    'a malformed message is answered with nothing after the Version': malformed((reply) =>
      reply.slice(0, reply.indexOf('111 - ')),
    ),
    'a malformed message is answered with everything': malformed(
      (reply) => `${reply.slice(0, reply.indexOf('111 - '))}@UPDATE {\n}\n144 - ${number32(0)}`,
    ),
  }),
  ...about('BP-29', ['proposed/malformed'], proposedMutant, {
    'a malformed message is refused in the shipped format': malformed(() => '400 - ERROR: malformed\n'),
    'a malformed message is refused as a user message is': malformed(() => '111 - ERROR: malformed\n'),
  }),
  ...about('BP-11', ['proposed/malformed'], proposedMutant, {
    'an ERROR has no Version before it': malformed((reply) => reply.slice(reply.indexOf('111 - '))),
  }),
  ...about('BP-15', ['proposed/same-objects'], proposedMutant, {
    'the objects have no titles': groups((data) =>
      edited(data, (value, name) => (name === 'Title' ? undefined : value)),
    ),
    'values lose their last byte': groups((data) => edited(data, (value) => value.slice(0, -1) || value)),
    'values are in capitals': groups((data) => edited(data, (value) => value.toUpperCase())),
    'values have a line end': groups((data) => edited(data, (value) => `${value}\n`)),
    'names are in capitals': groups((data) =>
      data.replace(/^[\w-]+(?=\{\d+\}:)/gm, (name) => name.toUpperCase()),
    ),
    'the objects have another type': groups((data) => data.replaceAll('@FILE {', '@OBJECT {')),
    'URLs have a slash at their ends': groups((data) => data.replace(/^(@FILE \{ .*)$/gm, '$1/')),
  }),
  ...about('BP-15', ['proposed/layout'], proposedMutant, {
    'no empty line is between the groups': groups((data) => data.replaceAll('\n\n@', '\n@')),
    'a group is in lower case': groups((data) => data.replace('@REFRESH {', '@refresh {')),
    'a group has CR LF': groups((data) => data.replace('@DELETE {\n', '@DELETE {\r\n')),
    'groups come in another order': groups((data) => sectionsOf(data).toReversed().join('')),
    'an empty group is missing': groups((data) => data.replace('@REFRESH {\n}\n\n', '')),
    'a group is repeated': groups((data) => `@DELETE {\n}\n\n${data}`),
    'groups begin on the line of the brace before them': groups((data) => data.replaceAll('}\n\n@', '} @')),
    'an empty line ends the groups': groups((data) => `${data}\n`),
  }),
  ...about('BP-2', ['proposed/strings'], proposedMutant, {
    'strings end in CR LF': (reply) => reply.replace(/^(?:126|140|141|101) - .*/gm, '$&\r'),
    'a string has a CR': header('101 - two\rlines\n'),
    'the Version ends in CR LF': (reply) => reply.replace(/^(200 - [\s\S]{8}.*)\n/, '$1\r\n'),
  }),
  ...about('BP-12', ['proposed/order'], proposedMutant, {
    'a private extension without its separator': header(`142 - x-what\n\x32\x9f\xa1\xd2${number32(1)}x`),
    'a private extension with a length too large': header(`142 - x-what\n - \x32\x9f\xa1\xd2${number32(9)}x`),
    'an InfoField with a number of two digits': (reply) => reply.replace(/^140 - /m, '40 - '),
    'an InfoField with a blank too many': (reply) => reply.replace(/^140 - /m, '140  - '),
  }),
  ...about('BP-21', ['proposed/count'], proposedMutant, {
    'no count after groups': (reply) => reply.replace(/144 - [\s\S]{4}$/, ''),
    'STATS for the count': (reply) =>
      reply.replace(/144 - [\s\S]{4}$/, `145 - \x32\x9f\xa1\xd2${number32(0)}`),
    'an ERROR for the count': (reply) => reply.replace(/144 - [\s\S]{4}$/, `111 - ${number32(6)}oops\n`),
  }),
  ...about('BP-22', ['proposed/count'], proposedMutant, {
    'a count of bytes': (reply) => {
      const bytes = reply.lastIndexOf('}\n') - reply.indexOf('@DELETE');
      return reply.replace(/144 - [\s\S]{4}$/, `144 - ${number32(Math.max(0, bytes))}`);
    },
    'a count of groups': (reply) => reply.replace(/(\}\n)144 - [\s\S]{4}$/, `$1144 - ${number32(3)}`),
  }),
  ...about('BP-22', ['proposed/empty'], proposedMutant, {
    'a count of 1 for nothing': (reply, message) =>
      /#SINCE 4294967295/.test(message) ? reply.replace(/144 - \0{4}$/, `144 - ${number32(1)}`) : reply,
    'no count for nothing': (reply, message) =>
      /#SINCE 4294967295/.test(message) ? reply.replace(/144 - \0{4}$/, '') : reply,
  }),
  ...about('BT-6', ['proposed/query'], proposedMutant, {
    'a query leaves out an object that matches': selecting(withoutLast),
    'a query sends objects without their titles': selecting((data) =>
      edited(data, (value, name) => (name === 'Title' ? undefined : value)),
    ),
    'a query sends an object twice': selecting((data) =>
      mapObjects(data, (object, at) => (at === 0 ? object + object : object)),
    ),
  }),
  ...about('BP-29', ['proposed/query'], proposedMutant, {
    'a query is answered in the shipped format': (reply, message) =>
      isSelection(message) ? `000 - transfer\n${objectsOnly(reply)}` : reply,
  }),
  ...about('BP-29', ['proposed/interface-1'], whole<BrokerChange>, {
    'interface 2: #interface 1 is read as 2': {
      message: (text) => text.replace('#interface 1', '#interface 2'),
    },
    'interface 2: #interface 1 is not known': {
      reply: (reply, message) => (/#interface 1/.test(message) ? '400 - ERROR: unknown flag\n' : reply),
    },
  }),
  ...about('BP-16', ['proposed/compressed'], proposedMutant, {
    'a gzip member with a wrong length': member((bytes) =>
      Buffer.concat([bytes.subarray(0, -4), Buffer.from([1, 2, 3, 4])]),
    ),
    'a gzip member of cut data': member((bytes) => bytes.subarray(0, -12)),
    'zeros after the gzip member': member((bytes) => Buffer.concat([bytes, Buffer.alloc(8)])),
    'a compressed Body with other values': member((bytes) =>
      gzipSync(
        Buffer.from(
          edited(gunzipSync(bytes).toString('latin1'), (value) => value.trim().toLowerCase()),
          'latin1',
        ),
      ),
    ),
    'groups in clear after a compressed Body': (reply) => reply.replace(END, `${END}@UPDATE {\n}\n`),
    'a compressed Body without a count': (reply) =>
      reply.includes(END) ? reply.slice(0, reply.indexOf(END) + END.length) : reply,
  }),
  ...about('BP-11', ['proposed/version'], whole<BrokerChange>, {
    'interface 2: another major version': versioned((line) => line.replace('\0\0\0\x01', '\0\0\0\x02')),
    'interface 2: the version 0': versioned((line) => line.replace('\0\0\0\x01', '\0\0\0\0')),
  }),
  ...about('BP-1', ['proposed/version'], whole<BrokerChange>, {
    'interface 2: the Version has its numbers in the other byte order': versioned((line) =>
      line.replace('\0\0\0\x01', '\x01\0\0\0'),
    ),
    'interface 2: the Version has numbers of two bytes': versioned((line) =>
      line.replace(/\0\0(\0.)\0\0/, '$1'),
    ),
    'interface 2: the Version has numbers of eight bytes': versioned((line) =>
      line.replace('\0\0\0\x01', '\0\0\0\0\0\0\0\x01'),
    ),
    'interface 2: the Version has its numbers in digits': versioned(() => '200 - 1 0 '),
  }),
  ...about('BP-11', ['proposed/version'], whole<BrokerChange>, {
    'interface 2: the Version is missing': unversioned(() => ''),
    'interface 2: the Version has no separator': versioned((line) => line.replace(' - ', '')),
    'interface 2: the Version has another code': versioned((line) => line.replace('200', '201')),
    'interface 2: a line end comes before the Version': versioned((line) => `\n${line}`),
    'interface 2: the Version comes after the Header': {
      reply: (reply, message) =>
        isProposed(message) ? reply.replace(/^(200 - [\s\S]{8}.*\n)((?:1[024]\d - .*\n)+)/, '$2$1') : reply,
    },
    'interface 2: the reply has no byte': unversioned(() => '', 'all'),
  }),
  ...about('BP-28', ['proposed/order'], whole<BrokerChange>, {
    'interface 2: the Version comes twice': unversioned((version) => version + version),
  }),
];

/** Changes the whole Version, or leaves out the reply. */
function unversioned(edit: (version: string) => string, which: 'version' | 'all' = 'version'): BrokerChange {
  return {
    reply: (reply, message) => {
      if (!isProposed(message) || !reply.startsWith('200 - \0')) return reply;
      return which === 'all' ? '' : reply.replace(/^200 - [\s\S]{8}.*\n/, edit);
    },
  };
}

/** Changes the Version, which follows the greeting of the connection. */
function versioned(edit: (line: string) => string): BrokerChange {
  return {
    reply: (reply, message) => (isProposed(message) ? reply.replace(/^200 - [\s\S]{8}/, edit) : reply),
  };
}
