// Brokers with one defect in bulk transfers each, to prove that the cases of the suite detect it.
import { type BulkBehavior, bookkeepingOf, CORRECT_BULK, soifText } from './simple-bulk.js';

/** A Broker with one defect in bulk transfers, and the ids of the cases that it fails; it passes all others. */
export interface BrokenBulk {
  readonly defect: string;
  readonly behavior: Partial<BulkBehavior>;
  readonly fails: readonly string[];
  /** Patterns of the cases to run, if not all. */
  readonly only?: readonly string[];
}

const CORRECT = CORRECT_BULK;
const ERRORS = ['since', 'no-end', 'no-query', 'flag', 'query'].map((id) => `error/${id}`);
const GZIP = '\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03';

export const BROKEN_BULK: readonly BrokenBulk[] = [
  {
    defect: 'the greeting does not say Broker',
    behavior: { greeting: '200 - Server\n' },
    fails: ['greeting/first'],
  },
  { defect: 'the connection is never closed', behavior: { close: () => {} }, fails: ['transfer/everything'] },
  {
    defect: 'compressed data without #compress',
    behavior: { finish: (data) => GZIP + data },
    fails: ['transfer/everything'],
  },
  { defect: 'no line before the data', behavior: { success: '' }, fails: ['transfer/success-line'] },
  {
    defect: 'another line before the data',
    behavior: { success: '101 - hello\n000 - Bulk transfer follows\n' },
    fails: ['transfer/success-line'],
  },
  {
    defect: 'an end line of the Gatherer',
    behavior: { finish: (data) => `${data}499 - end\n` },
    fails: ['transfer/no-end-line', 'objects/soif', 'groups/layout'],
  },
  {
    defect: 'UPDATE comes first',
    behavior: { arrange: (deleted, refreshed, updated) => [updated, deleted, refreshed].join('\n') },
    fails: ['groups/three', 'groups/layout'],
  },
  {
    defect: 'only UPDATE is sent',
    behavior: { arrange: (_deleted, _refreshed, updated) => updated },
    fails: ['groups/three'],
  },
  {
    defect: 'groups begin in the middle of a line',
    behavior: { arrange: (...groups) => groups.join('').replaceAll('}\n@UPDATE', '} @UPDATE') },
    fails: ['groups/line-start', 'groups/layout'],
  },
  {
    defect: 'no empty lines between groups',
    behavior: { arrange: (...groups) => groups.join('') },
    fails: ['groups/layout'],
  },
  {
    defect: 'names of groups are in lower case',
    behavior: { group: (word, objects) => CORRECT.group(word.toLowerCase(), objects) },
    fails: ['groups/layout'],
  },
  {
    defect: 'objects are outside the groups',
    behavior: {
      arrange: (deleted, refreshed, updated) =>
        `${deleted}\n${refreshed}\n${updated.replace('@UPDATE {\n', '').slice(0, -2)}@UPDATE {\n}\n`,
    },
    fails: ['groups/members'],
  },
  {
    defect: 'the last brace is missing',
    behavior: { finish: (data) => data.slice(0, -2) },
    fails: ['objects/soif'],
  },
  {
    defect: 'sizes are wrong by one',
    behavior: {
      object: (item) =>
        CORRECT.object(item).replace(/^Title\{(\d+)/m, (_, size) => `Title{${Number(size) + 1}`),
    },
    fails: ['objects/soif', 'groups/layout', 'proposed/groups'],
  },
  {
    defect: 'no Gatherer-Version',
    behavior: {
      object: (item) => soifText(item.url, [['Title', item.title], ...bookkeepingOf(item).slice(0, -1)]),
    },
    fails: ['objects/mandatory'],
  },
  {
    defect: 'empty attributes',
    behavior: {
      object: (item) => soifText(item.url, [['Title', item.title], ['Author', ''], ...bookkeepingOf(item)]),
    },
    fails: ['objects/no-empty'],
  },
  {
    defect: 'deleted and refreshed objects have only their URL',
    behavior: { bookkeeping: ({ url }) => soifText(url, []) },
    fails: ['objects/delete-identified', 'objects/refresh-identified'],
  },
  { defect: 'the time of #SINCE is ignored', behavior: { isNew: () => true }, fails: ['since/future'] },
  {
    defect: 'objects that changed soon after the time are left out',
    behavior: { isNew: ({ time }, since = 0) => time > since + (since === 0 ? 0 : 1500) },
    fails: ['since/newer-is-sent'],
  },
  {
    defect: 'without #SINCE nothing is sent',
    behavior: { isNew: ({ time }, since = Number.POSITIVE_INFINITY) => time > since },
    fails: ['since/absent', 'proposed/objects'],
  },
  {
    defect: '#desc removes objects',
    behavior: {
      matches: (item, request) =>
        !(request.desc && request.kind === 'bulk') && CORRECT.matches(item, request),
    },
    fails: ['flags/no-effect'],
  },
  {
    defect: 'the query is ignored',
    behavior: { matches: (item, request) => request.kind === 'bulk' || CORRECT.matches(item, request) },
    fails: ['query/matches', 'query/nothing'],
  },
  {
    defect: 'keywords are known in upper case only',
    behavior: { parse: (message) => (message.includes('#bulk') ? undefined : CORRECT.parse(message)) },
    fails: ['message/any-case'],
  },
  { defect: 'errors have the code 111', behavior: { refuse: () => '111 - ERROR: no\n' }, fails: ERRORS },
  { defect: 'errors do not say ERROR', behavior: { refuse: () => '400 - no\n' }, fails: ERRORS },
  {
    defect: 'an empty transfer instead of an error',
    behavior: { refuse: () => CORRECT.success },
    fails: ERRORS,
  },
  {
    defect: 'every message of a connection is answered',
    behavior: { maxMessages: 9 },
    fails: ['message/one'],
  },
  {
    defect: 'a message must end in CR LF',
    behavior: { messageEnd: (input) => (input.includes('\r\n') ? input.indexOf('\r\n') + 1 : undefined) },
    fails: ['message/lf'],
  },
  {
    defect: 'the first chunk is treated as the message',
    behavior: { messageEnd: (input) => (input === '' ? undefined : Math.max(1, input.indexOf('\n'))) },
    fails: ['message/bytewise'],
  },
  {
    defect: 'only two connections are served at a time',
    behavior: { maxConnections: 2 },
    fails: ['endurance/together', 'endurance/does-not-read'],
    // A connection that this Broker waits for delays the cases that follow.
    only: ['transfer/*', 'endurance/*'],
  },
  {
    defect: 'version 2 of the proposal',
    behavior: { version: CORRECT.version.replace('\x00\x01', '\x00\x02') },
    fails: ['proposed/version'],
  },
  {
    defect: 'a Header after the Body',
    behavior: { count: (objects) => CORRECT.header + CORRECT.count(objects) },
    fails: ['proposed/order'],
  },
  {
    defect: 'two Trailers',
    behavior: { count: (objects) => CORRECT.count(objects) + CORRECT.count(objects) },
    fails: ['proposed/order'],
  },
  {
    defect: 'a wrong count',
    behavior: { count: (objects) => CORRECT.count(objects + 1) },
    fails: ['proposed/count', 'proposed/objects'],
  },
  {
    defect: 'an unknown code in the Header',
    behavior: { header: '160 - what\n' },
    fails: ['version', 'order', 'groups', 'count', 'compressed', 'objects'].map((id) => `proposed/${id}`),
  },
  {
    defect: 'an ERROR with an unknown number',
    behavior: { unsupported: CORRECT.unsupported.replace('\x02', '\x09') },
    fails: ['proposed/error'],
  },
  {
    defect: 'a count after an ERROR',
    behavior: { unsupported: CORRECT.unsupported + CORRECT.count(0) },
    fails: ['proposed/error'],
  },
  {
    defect: 'no end marker after compressed data',
    behavior: { compress: (data) => CORRECT.compress(data).slice(0, -'151 - gzip end\n'.length) },
    fails: ['proposed/compressed'],
  },
  {
    defect: 'a wrong magic number',
    behavior: { renderListed: (item) => CORRECT.renderListed(item).replace('\xd2', '\xd3') },
    fails: ['proposed/objects'],
  },
  {
    defect: 'listed objects without an end',
    behavior: { renderListed: (item) => CORRECT.renderListed(item).replace('130 - object end\n', '') },
    fails: ['proposed/objects'],
  },
];
