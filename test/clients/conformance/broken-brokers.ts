import { type BrokerHabits, SOUND_BROKER } from './simple-broker.js';

/** A Broker with one defect, and the cases that have to see it: these, and no others, fail. */
export interface BrokenBroker {
  readonly defect: string;
  readonly habits: Partial<BrokerHabits>;
  readonly fails: readonly string[];
}

const SOUND = SOUND_BROKER;

/** Every case that expects a refusal. */
const REFUSALS = [
  'message/too-long',
  ...['no-end', 'no-message', 'no-query', 'parentheses', 'operands', 'flag'].map((id) => `malformed/${id}`),
  'flags/incomplete',
];

export const BROKEN_BROKERS: readonly BrokenBroker[] = [
  {
    defect: 'the greeting does not say Broker',
    habits: { greeting: '200 - Server 1\n' },
    fails: ['greeting/broker'],
  },
  {
    defect: 'lines end in CR LF',
    habits: { lineEnd: '\r\n' },
    fails: ['reply/form', 'reply/lf-only', 'reply/counted'],
  },
  {
    defect: 'another text behind 130',
    habits: { objectEnd: '130 - End of object' },
    fails: ['reply/object-end'],
  },
  {
    defect: 'objects have no end',
    habits: { objectEnd: '138 - next' },
    fails: ['reply/codes', 'reply/ends-130'],
  },
  {
    defect: 'a description counts its line end',
    habits: {
      describe: (page, flags) =>
        SOUND.describe(page, flags).replace(/\d+\n/, (n) => `${Number.parseInt(n, 10) + 1}\n`),
    },
    fails: ['reply/counted'],
  },
  {
    defect: 'no LF behind a description',
    habits: { describe: (page, flags) => SOUND.describe(page, flags).slice(0, -1) },
    fails: ['reply/counted'],
  },
  {
    defect: 'descriptions that were not requested',
    habits: { describe: (page, flags) => SOUND.describe(page, { ...flags, desc: true }) },
    fails: ['reply/desc-only-asked'],
  },
  {
    defect: 'attribute names in small letters',
    habits: { attribute: (name, value) => SOUND.attribute(name.toLowerCase(), value) },
    fails: ['attribute/returned'],
  },
  {
    defect: 'operators group to the left',
    habits: { groupsLeft: true },
    fails: ['query/right-grouping', 'query/except-groups-right'],
  },
  {
    defect: 'except means and',
    habits: { except: SOUND.and },
    fails: ['query/except', 'query/except-groups-right'],
  },
  {
    defect: 'or means and',
    habits: { or: SOUND.and },
    fails: [
      'message/lf-in-quotes',
      'query/or',
      'query/not-binds-tightly',
      'query/right-grouping',
      'query/left-group',
      'query/structured-and',
    ],
  },
  {
    defect: 'not selects everything',
    habits: { not: (all) => all },
    fails: [
      'query/and-not',
      'query/not-group',
      'query/not',
      'query/not-binds-tightly',
      'grammar/operators-any-case',
      'grammar/a-not-b',
    ],
  },
  {
    defect: 'words match in any case',
    habits: { term: (word, page, flags) => SOUND.term(word, page, { ...flags, ignoreCase: true }) },
    fails: ['flags/sensitive', 'flags/default-case', 'flags/later-overrides'],
  },
  {
    defect: 'words are never whole',
    habits: { term: (word, page, flags) => SOUND.term(word, page, { ...flags, matchWord: false }) },
    fails: ['flags/matchword'],
  },
  {
    defect: 'phrases are cut at blanks',
    habits: {
      term: (word, page, flags) => word.split(/[\s\\]+/).some((part) => SOUND.term(part, page, flags)),
    },
    fails: ['query/phrase'],
  },
  {
    defect: 'only one spelling of insensitive',
    habits: {
      flag: (flags, name, value) =>
        SOUND.flag(flags, name, name === 'case' && value === 'insenstive' ? '' : value),
    },
    fails: ['flags/insenstive'],
  },
  {
    defect: 'limits are ignored',
    habits: { limit: (found, { maxFiles }) => (maxFiles === 0 ? [] : found) },
    fails: ['flags/maxresult', 'flags/maxresult-lines', 'flags/maxfiles'],
  },
  {
    defect: 'attribute names respect case',
    habits: {
      select: (attribute, operator, value, page) =>
        attribute === attribute.toLowerCase() && SOUND.select(attribute, operator, value, page),
    },
    fails: ['query/attribute-any-case'],
  },
  {
    defect: 'regular expressions find nothing and are no error',
    habits: {
      select: (attribute, operator, value, page) =>
        operator !== 'regexp' && SOUND.select(attribute, operator, value, page),
    },
    fails: ['query/regexp', 'query/unsupported'],
  },
  {
    defect: '#opaque adds nothing and takes nothing away',
    habits: { lines: (page, words, flags) => SOUND.lines(page, words, { ...flags, opaque: false }) },
    fails: ['flags/opaque', 'flags/opaque-suppresses'],
  },
  { defect: 'errors do not say ERROR', habits: { refuse: (why) => `111 - ${why}\n` }, fails: REFUSALS },
  { defect: 'errors are 103', habits: { refuse: (why) => `103 - ERROR: ${why}\n` }, fails: REFUSALS },
  {
    defect: 'talks on behind an error',
    habits: { refuse: (why) => `${SOUND.refuse(why)}101 - sorry\n` },
    fails: REFUSALS,
  },
  {
    defect: 'keywords in capital letters only',
    habits: {
      understand: (message) =>
        /#end|#user|#allb/.test(message.replace(/#allb$|"#allb"/g, '')) ? 'nothing' : message,
    },
    fails: ['grammar/keywords-any-case'],
  },
  {
    defect: 'an LF ends a message even in quotes',
    habits: {
      ending: (input) => {
        const first = input.indexOf('\n', input.search(/\S/));
        return input.trim() !== '' && first >= 0 ? first : SOUND.ending(input);
      },
    },
    fails: ['message/lf-in-quotes'],
  },
  {
    defect: 'lines of 1 MiB are waited for',
    habits: { ending: (input) => (input.length > 65_536 ? undefined : SOUND.ending(input)) },
    fails: ['message/too-long'],
  },
  {
    defect: 'any password will do',
    habits: { admin: (_password, command) => SOUND.admin('open sesame', command) },
    fails: ['admin/wrong-password', 'admin/no-password', 'admin/refusal-tells-nothing'],
  },
  {
    defect: 'unknown commands are done',
    habits: {
      admin: (password, command) =>
        SOUND.admin(password, command).replace('111 - ERROR: unknown command', '101 - done'),
    },
    fails: ['admin/unknown', 'admin/parameters'],
  },
  {
    defect: 'an unknown code in every reply',
    habits: { finish: (reply) => reply.replace(/^120/m, '150 - an object\n120') },
    fails: ['reply/codes'],
  },
];
