// Mutants of a Broker's bulk transfers: which objects a time, a query and its flags select.
import {
  type BulkMutant,
  dataMutant,
  isSince,
  MALFORMED,
  misreading,
  misreadings,
  replyMutant,
  rereading,
  without,
} from './bulk-builders.js';
import { about } from './mutant.js';
import { mapObjects, mapValues, objectsIn, withoutLast } from './soif-text.js';

/** Changes the time of a message. */
const withTime = (edit: (time: bigint) => bigint) => (message: string) =>
  message.replace(/(#SINCE )(\d+)/i, (_, flag: string, time: string) => flag + edit(BigInt(time)));
const modulo = (bits: number) => withTime((time) => BigInt.asUintN(bits, time));

/** How programs keep times in fewer bits. */
const TIMES: readonly BulkMutant[] = [
  rereading('#SINCE is read modulo 2^31', 'BT-4', modulo(31), ['since/future']),
  rereading('#SINCE is read modulo 2^32', 'BT-4', modulo(32), ['since/modulo', 'error/since-too-large']),
  rereading('#SINCE is read modulo 2^64', 'BT-4', modulo(64), ['since/modulo']),
  rereading(
    '#SINCE is a signed number of 32 bits',
    'BT-4',
    withTime((time) => (BigInt.asIntN(32, time) < 0n ? 0n : BigInt.asIntN(32, time))),
    ['since/future', 'since/modulo'],
  ),
  rereading('#SINCE has ten digits', 'BT-4', (text) => text.replace(/(#SINCE \d{9})\d+/i, '$1'), [
    'since/future',
  ]),
  rereading(
    'times above 4294967295 are the largest one',
    'BT-10',
    withTime((time) => (time > 0xffff_ffffn ? 0xffff_ffffn : time)),
    ['error/since-too-large'],
  ),
  ...about('BT-4', ['since/future'], dataMutant, {
    'an object is sent for any time': (data, message) =>
      /#SINCE 4\d{9}/.test(message) ? data.replace('@UPDATE {\n', `$&${OLD_OBJECT}`) : data,
    'an object is refreshed for any time': (data, message) =>
      /#SINCE 4\d{9}/.test(message) ? data.replace('@REFRESH {\n', `$&${OLD_OBJECT}`) : data,
  }),
];

/** Leaves out flags of a `#BULK` message. */
const ignoring = (flag: RegExp) => (message: string) =>
  message.startsWith('#BULK') ? message.replace(flag, '') : message;
const isQuery = (message: string) => /#END [a-z]/i.test(message) && !/#END #ALLB/i.test(message);

const FLAGS: readonly BulkMutant[] = [
  rereading('#index flags are ignored', 'BT-8', ignoring(/ #index (?:case|max\w+|error) \w+| #index \w+/g), [
    'query/case',
    'query/limit',
    'query/maxfiles',
  ]),
  rereading('#index case is ignored', 'BT-8', ignoring(/ #index case \w+/g), ['query/case']),
  rereading('#index maxresult is ignored', 'BT-8', ignoring(/ #index maxresult \d+/g), ['query/limit']),
  rereading('#index maxfiles is ignored', 'BT-8', ignoring(/ #index maxfiles \d+/g), ['query/maxfiles']),
  ...['maxresult', 'maxfiles'].flatMap((flag) => {
    const fails = [flag === 'maxresult' ? 'query/limit' : 'query/maxfiles'];
    const one = new RegExp(`(?<=#index ${flag} )1\\b`);
    return [
      rereading(`#index ${flag} is too large by one`, 'BRK-8.11', (text) => text.replace(one, '2'), fails),
      rereading(`#index ${flag} is too small by one`, 'BRK-8.11', (text) => text.replace(one, '0'), fails),
    ];
  }),
];

/** Changes the values of the objects that a query selects. */
const inQueries = (edit: (object: string) => string) => (data: string, message: string) =>
  isQuery(message) ? mapObjects(data, edit) : data;

const QUERIES: readonly BulkMutant[] = [
  ...about('BT-6', ['query/matches'], dataMutant, {
    'a query sends titles only': inQueries((object) =>
      mapValues(object, (value, name) => (name === 'Title' ? value : undefined)),
    ),
    'a query sends values without their last byte': inQueries((object) =>
      mapValues(object, (value) => value.slice(0, -1)),
    ),
    'a query sends values in capitals': inQueries((object) =>
      mapValues(object, (value) => value.toUpperCase()),
    ),
    'a query sends another Update-Time': inQueries((object) =>
      mapValues(object, (value, name) => (name === 'Update-Time' ? '1' : value)),
    ),
    'a query sends its Broker as the Gatherer': inQueries((object) =>
      mapValues(object, (value, name) => (name === 'Gatherer-Host' ? 'broker.example.org' : value)),
    ),
    'a query sends another object too': (data, message) =>
      isQuery(message) ? data.replace('@UPDATE {\n', `$&${OLD_OBJECT}`) : data,
    'a query sends the first object only': (data, message) =>
      isQuery(message) ? mapObjects(data, (object, at) => (at === 0 ? object : '')) : data,
  }),
  ...about('BT-6', ['query/nothing'], dataMutant, {
    'a query that matches nothing sends an object': (data, message) =>
      /zzyzxqqv/.test(message) ? data.replace('@UPDATE {\n', `$&${OLD_OBJECT}`) : data,
  }),
  ...about('BT-5', ['since/newer-is-sent'], dataMutant, {
    'changes since a time have trimmed titles': (data, message) =>
      isSince(message)
        ? mapObjects(data, (object) =>
            mapValues(object, (value, name) => (name === 'Title' ? value.slice(1) : value)),
          )
        : data,
    'changes since a time have no titles': (data, message) =>
      isSince(message) ? mapObjects(data, without('Title')) : data,
    'changes since a time have the first object only': (data, message) =>
      isSince(message) && objectsIn(data).length > 1
        ? mapObjects(data, (object, at) => (at === 0 ? object : ''))
        : data,
  }),
];

/** An object of 1970. */
const OLD_OBJECT =
  '@FILE { http://www.example.org/before\nUpdate-Time{2}:\t10\nGatherer-Name{1}:\tx\nGatherer-Host{1}:\tx\nGatherer-Version{1}:\tx\n}\n';

export const BULK_SELECTION_MUTANTS: readonly BulkMutant[] = [
  ...TIMES,
  ...FLAGS,
  ...QUERIES,
  misreading('#SINCE is ignored', 'BT-4', /#SINCE [1-9]\d*/i, '#SINCE 0', ['since/future']),
  misreading('#SINCE is read in milliseconds', 'BT-4', /#SINCE ([1-9]\d*)/i, '#SINCE $1000', [
    'since/newer-is-sent',
  ]),
  ...misreadings('BT-6', ['since/absent'], {
    'without #SINCE nothing is sent': [/#BULK #END/, '#BULK #SINCE 4102444800 #END'],
    'without #SINCE a message is malformed': [/^#BULK #END.*\r\n/, MALFORMED],
  }),
  ...about('BT-5', ['since/newer-is-sent'], dataMutant, {
    'an object that changed after the time is left out': (data, message) => {
      if (!isSince(message)) return data;
      return withoutLast(data);
    },
  }),
  misreading('#desc is not known', 'BT-8', /#desc/, '#frob', ['flags/no-effect']),
  misreading('#opaque is not known', 'BT-8', /#opaque/, '#frob', ['flags/no-effect']),
  ...about('BT-8', ['flags/no-effect'], dataMutant, {
    '#desc leaves out objects': (data, message) => (/#desc/.test(message) ? withoutLast(data) : data),
  }),
  misreading('a query is ignored', 'BT-6', /#END [a-z].*\r\n/, '#END #ALLB\r\n', [
    'query/matches',
    'query/nothing',
  ]),
  misreading('a query finds nothing', 'BT-6', /#END [a-z].*\r\n/, '#END zzyzxqqv\r\n', ['query/matches']),
  ...about('BT-6', ['query/matches'], dataMutant, {
    'a query sends objects without their content': (data, message) =>
      /#END [a-z]/.test(message) ? mapObjects(data, without('Title')) : data,
    'a query leaves out an object that matches': (data, message) =>
      /#END [a-z]/.test(message) ? withoutLast(data) : data,
  }),
  ...about('BT-6', ['query/nothing'], replyMutant, {
    'a query that matches nothing is refused': (reply, message) =>
      /zzyzxqqv/.test(message) ? '400 - ERROR: nothing\n' : reply,
  }),
];
