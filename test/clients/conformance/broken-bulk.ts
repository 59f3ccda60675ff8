import { type BulkHabits, bookkeepingOf, SOUND_BULK, soifText } from './simple-bulk.js';

/** A Broker with one defect, and the cases that have to see it: these, and no others, fail. */
export interface BrokenBulk {
  readonly defect: string;
  readonly habits: Partial<BulkHabits>;
  readonly fails: readonly string[];
  /** Only these cases are run. Default all. */
  readonly only?: readonly string[];
}

const SOUND = SOUND_BULK;
const ERRORS = ['since', 'no-end', 'no-query', 'flag', 'query'].map((id) => `error/${id}`);
const GZIP = '\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03';

export const BROKEN_BULK: readonly BrokenBulk[] = [
  {
    defect: 'the greeting does not say Broker',
    habits: { greeting: '200 - Server\n' },
    fails: ['greeting/first'],
  },
  { defect: 'never closes', habits: { closes: () => {} }, fails: ['transfer/everything'] },
  { defect: 'compresses', habits: { finish: (data) => GZIP + data }, fails: ['transfer/everything'] },
  { defect: 'no line before the data', habits: { success: '' }, fails: ['transfer/success-line'] },
  {
    defect: 'another line before the data',
    habits: { success: '101 - hello\n000 - Bulk transfer follows\n' },
    fails: ['transfer/success-line'],
  },
  {
    defect: 'an end line of the Gatherer',
    habits: { finish: (data) => `${data}499 - end\n` },
    fails: ['transfer/no-end-line', 'objects/soif', 'groups/layout'],
  },
  {
    defect: 'UPDATE comes first',
    habits: { arrange: (deleted, refreshed, updated) => [updated, deleted, refreshed].join('\n') },
    fails: ['groups/three', 'groups/layout'],
  },
  {
    defect: 'only UPDATE comes',
    habits: { arrange: (_deleted, _refreshed, updated) => updated },
    fails: ['groups/three'],
  },
  {
    defect: 'groups run on in one line',
    habits: { arrange: (...groups) => groups.join('').replaceAll('}\n@UPDATE', '} @UPDATE') },
    fails: ['groups/line-start', 'groups/layout'],
  },
  {
    defect: 'no empty lines between groups',
    habits: { arrange: (...groups) => groups.join('') },
    fails: ['groups/layout'],
  },
  {
    defect: 'the words of the groups are in small letters',
    habits: { group: (word, objects) => SOUND.group(word.toLowerCase(), objects) },
    fails: ['groups/layout'],
  },
  {
    defect: 'objects stand outside of the groups',
    habits: {
      arrange: (deleted, refreshed, updated) =>
        `${deleted}\n${refreshed}\n${updated.replace('@UPDATE {\n', '').slice(0, -2)}@UPDATE {\n}\n`,
    },
    fails: ['groups/members'],
  },
  {
    defect: 'the last brace is missing',
    habits: { finish: (data) => data.slice(0, -2) },
    fails: ['objects/soif'],
  },
  {
    defect: 'sizes are wrong by one',
    habits: {
      object: (item) =>
        SOUND.object(item).replace(/^Title\{(\d+)/m, (_, size) => `Title{${Number(size) + 1}`),
    },
    fails: ['objects/soif', 'groups/layout', 'proposed/groups'],
  },
  {
    defect: 'no Gatherer-Version',
    habits: {
      object: (item) => soifText(item.url, [['Title', item.title], ...bookkeepingOf(item).slice(0, -1)]),
    },
    fails: ['objects/mandatory'],
  },
  {
    defect: 'attributes of no bytes',
    habits: {
      object: (item) => soifText(item.url, [['Title', item.title], ['Author', ''], ...bookkeepingOf(item)]),
    },
    fails: ['objects/no-empty'],
  },
  {
    defect: 'only URLs of what is deleted or refreshed',
    habits: { bookkeeping: ({ url }) => soifText(url, []) },
    fails: ['objects/delete-identified', 'objects/refresh-identified'],
  },
  { defect: 'everything at any time', habits: { isNew: () => true }, fails: ['since/future'] },
  {
    defect: 'what changed soon after the time is left out',
    habits: { isNew: ({ time }, since = 0) => time > since + (since === 0 ? 0 : 1500) },
    fails: ['since/newer-is-sent'],
  },
  {
    defect: 'nothing without #SINCE',
    habits: { isNew: ({ time }, since = Number.POSITIVE_INFINITY) => time > since },
    fails: ['since/absent', 'proposed/objects'],
  },
  {
    defect: '#desc takes objects away',
    habits: {
      matches: (item, request) => !(request.desc && request.kind === 'bulk') && SOUND.matches(item, request),
    },
    fails: ['flags/no-effect'],
  },
  {
    defect: 'the query is ignored',
    habits: { matches: (item, request) => request.kind === 'bulk' || SOUND.matches(item, request) },
    fails: ['query/matches', 'query/nothing'],
  },
  {
    defect: 'keywords in capital letters only',
    habits: { understand: (message) => (message.includes('#bulk') ? undefined : SOUND.understand(message)) },
    fails: ['message/any-case'],
  },
  { defect: 'errors are 111', habits: { refuse: () => '111 - ERROR: no\n' }, fails: ERRORS },
  { defect: 'errors do not say ERROR', habits: { refuse: () => '400 - no\n' }, fails: ERRORS },
  { defect: 'an empty transfer instead of an error', habits: { refuse: () => SOUND.success }, fails: ERRORS },
  { defect: 'answers every message', habits: { messages: 9 }, fails: ['message/one'] },
  {
    defect: 'insists on CR LF',
    habits: { ending: (input) => (input.includes('\r\n') ? input.indexOf('\r\n') + 1 : undefined) },
    fails: ['message/lf'],
  },
  {
    defect: 'takes what comes first for the message',
    habits: { ending: (input) => (input === '' ? undefined : Math.max(1, input.indexOf('\n'))) },
    fails: ['message/bytewise'],
  },
  {
    defect: 'serves two at a time',
    habits: { atOnce: 2 },
    fails: ['endurance/together', 'endurance/does-not-read'],
    // Who is still waited for by this Broker holds up the cases that follow.
    only: ['transfer/*', 'endurance/*'],
  },
  {
    defect: 'version 2 of the proposal',
    habits: { version: SOUND.version.replace('\x00\x01', '\x00\x02') },
    fails: ['proposed/version'],
  },
  {
    defect: 'a Header behind the Body',
    habits: { count: (objects) => SOUND.header + SOUND.count(objects) },
    fails: ['proposed/order'],
  },
  {
    defect: 'two Trailers',
    habits: { count: (objects) => SOUND.count(objects) + SOUND.count(objects) },
    fails: ['proposed/order'],
  },
  {
    defect: 'a wrong count',
    habits: { count: (objects) => SOUND.count(objects + 1) },
    fails: ['proposed/count', 'proposed/objects'],
  },
  {
    defect: 'an unknown code in the Header',
    habits: { header: '160 - what\n' },
    fails: ['version', 'order', 'groups', 'count', 'compressed', 'objects'].map((id) => `proposed/${id}`),
  },
  {
    defect: 'an ERROR without a number that means something',
    habits: { unsupported: SOUND.unsupported.replace('\x02', '\x09') },
    fails: ['proposed/error'],
  },
  {
    defect: 'a count behind an ERROR',
    habits: { unsupported: SOUND.unsupported + SOUND.count(0) },
    fails: ['proposed/error'],
  },
  {
    defect: 'no marker behind compressed data',
    habits: { compress: (data) => SOUND.compress(data).slice(0, -'151 - gzip end\n'.length) },
    fails: ['proposed/compressed'],
  },
  {
    defect: 'a wrong magic number',
    habits: { listed: (item) => SOUND.listed(item).replace('\xd2', '\xd3') },
    fails: ['proposed/objects'],
  },
  {
    defect: 'listed objects without an end',
    habits: { listed: (item) => SOUND.listed(item).replace('130 - object end\n', '') },
    fails: ['proposed/objects'],
  },
];
