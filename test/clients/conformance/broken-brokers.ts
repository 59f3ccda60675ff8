// Brokers with one defect each, to prove that the cases of the Broker suite detect it.
import { type BrokerBehavior, CORRECT_BROKER } from './simple-broker.js';

/** A Broker with one defect, and the ids of the cases that it fails; it passes all others. */
export interface BrokenBroker {
  readonly defect: string;
  readonly behavior: Partial<BrokerBehavior>;
  readonly fails: readonly string[];
}

const CORRECT = CORRECT_BROKER;

/** Every case that expects a refusal. */
const REFUSALS = [
  'message/too-long',
  ...['no-end', 'no-message', 'no-query', 'parentheses', 'operands', 'flag'].map((id) => `malformed/${id}`),
  'flags/incomplete',
];

export const BROKEN_BROKERS: readonly BrokenBroker[] = [
  {
    defect: 'the greeting does not say Broker',
    behavior: { greeting: '200 - Server 1\n' },
    fails: ['greeting/broker'],
  },
  {
    defect: 'lines end in CR LF',
    behavior: { lineEnd: '\r\n' },
    fails: [
      'reply/messages-form',
      'reply/form',
      'reply/lf-only',
      'reply/counted',
      'admin/answer-form',
      'admin/refusal-form',
    ],
  },
  {
    defect: 'another text after 130',
    behavior: { objectEnd: '130 - End of object' },
    fails: ['reply/object-end'],
  },
  {
    defect: 'objects have no end',
    behavior: { objectEnd: '138 - next' },
    fails: ['reply/codes', 'reply/ends-130'],
  },
  {
    defect: 'a description counts its line end',
    behavior: {
      describe: (page, flags) =>
        CORRECT.describe(page, flags).replace(/\d+\n/, (n) => `${Number.parseInt(n, 10) + 1}\n`),
    },
    fails: ['reply/counted'],
  },
  {
    defect: 'no LF after a description',
    behavior: { describe: (page, flags) => CORRECT.describe(page, flags).slice(0, -1) },
    fails: ['reply/counted'],
  },
  {
    defect: 'descriptions that were not requested',
    behavior: { describe: (page, flags) => CORRECT.describe(page, { ...flags, desc: true }) },
    fails: ['reply/desc-only-asked'],
  },
  {
    defect: 'attribute names are in lower case',
    behavior: { attribute: (name, value) => CORRECT.attribute(name.toLowerCase(), value) },
    fails: ['attribute/returned'],
  },
  {
    defect: 'operators group to the left',
    behavior: { groupsLeft: true },
    fails: ['query/right-grouping', 'query/except-groups-right'],
  },
  {
    defect: 'except means and',
    behavior: { except: CORRECT.and },
    fails: ['query/except', 'query/except-groups-right'],
  },
  {
    defect: 'or means and',
    behavior: { or: CORRECT.and },
    fails: [
      'message/lf-in-quotes',
      'query/or',
      'query/not-binds-tightly',
      'query/right-grouping',
      'query/left-group',
      'query/structured-and',
      'grammar/operators-any-case',
    ],
  },
  {
    defect: 'not selects everything',
    behavior: { not: (all) => all },
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
    behavior: { term: (word, page, flags) => CORRECT.term(word, page, { ...flags, ignoreCase: true }) },
    fails: ['flags/sensitive', 'flags/later-overrides'],
  },
  {
    defect: 'matchword is ignored',
    behavior: { term: (word, page, flags) => CORRECT.term(word, page, { ...flags, matchWord: false }) },
    fails: ['flags/matchword'],
  },
  {
    defect: 'phrases are cut at blanks',
    behavior: {
      term: (word, page, flags) => word.split(/[\s\\]+/).some((part) => CORRECT.term(part, page, flags)),
    },
    fails: ['query/phrase', 'query/phrase-order'],
  },
  {
    defect: 'phrases mean and',
    behavior: {
      term: (word, page, flags) => word.split(/[\s\\]+/).every((part) => CORRECT.term(part, page, flags)),
    },
    fails: ['query/phrase-order'],
  },
  {
    defect: 'case is respected without a flag',
    behavior: { ignoresCase: false },
    fails: ['flags/default-case'],
  },
  {
    defect: 'only one spelling of insensitive is known',
    behavior: {
      flag: (flags, name, value) =>
        CORRECT.flag(flags, name, name === 'case' && value === 'insenstive' ? '' : value),
    },
    fails: ['flags/insenstive'],
  },
  {
    defect: 'limits are ignored',
    behavior: { limit: (found, { maxFiles }) => (maxFiles === 0 ? [] : found) },
    fails: ['flags/maxresult', 'flags/maxresult-lines', 'flags/maxfiles'],
  },
  {
    defect: 'attribute names are matched with case',
    behavior: {
      select: (attribute, operator, value, page) =>
        attribute === attribute.toLowerCase() && CORRECT.select(attribute, operator, value, page),
    },
    fails: ['query/attribute-any-case'],
  },
  {
    defect: 'regular expressions find nothing, without an error',
    behavior: {
      select: (attribute, operator, value, page) =>
        operator !== 'regexp' && CORRECT.select(attribute, operator, value, page),
    },
    fails: ['query/regexp', 'query/unsupported'],
  },
  {
    defect: '#opaque is ignored',
    behavior: { lines: (page, words, flags) => CORRECT.lines(page, words, { ...flags, opaque: false }) },
    fails: ['flags/opaque', 'flags/opaque-suppresses'],
  },
  { defect: 'errors do not say ERROR', behavior: { refuse: (why) => `111 - ${why}\n` }, fails: REFUSALS },
  {
    defect: 'errors have the code 103',
    behavior: { refuse: (why) => `103 - ERROR: ${why}\n` },
    fails: REFUSALS,
  },
  {
    defect: 'lines are sent after an error',
    behavior: { refuse: (why) => `${CORRECT.refuse(why)}101 - sorry\n` },
    fails: REFUSALS,
  },
  {
    defect: 'keywords are known in upper case only',
    behavior: {
      rewrite: (message) =>
        /#end|#user|#allb/.test(message.replace(/#allb$|"#allb"/g, '')) ? 'nothing' : message,
    },
    fails: ['grammar/keywords-any-case'],
  },
  {
    defect: 'an LF ends a message even in quotes',
    behavior: {
      messageEnd: (input) => {
        const first = input.indexOf('\n', input.search(/\S/));
        return input.trim() !== '' && first >= 0 ? first : CORRECT.messageEnd(input);
      },
    },
    fails: ['message/lf-in-quotes'],
  },
  {
    defect: 'messages have no length limit',
    behavior: { messageEnd: (input) => (input.length > 65_536 ? undefined : CORRECT.messageEnd(input)) },
    fails: ['message/too-long'],
  },
  {
    defect: 'any password is accepted',
    behavior: { admin: (_password, command) => CORRECT.admin('open sesame', command) },
    fails: ['admin/wrong-password', 'admin/no-password', 'admin/refusal-tells-nothing'],
  },
  {
    defect: 'unknown commands succeed',
    behavior: {
      admin: (password, command) =>
        CORRECT.admin(password, command).replace('111 - ERROR: unknown command', '101 - done'),
    },
    fails: ['admin/unknown', 'admin/parameters'],
  },
  {
    defect: 'an unknown code in every reply',
    behavior: { finish: (reply) => reply.replace(/^120/m, '150 - an object\n120') },
    fails: ['reply/codes'],
  },
];
