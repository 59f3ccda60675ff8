// The flags between `#USER` or `#BULK` and `#END` (BRK-3): one row each, which parser, formatter, clients,
// engines and documentation read.
import { ProtocolError, UsageError } from '../errors.js';
import {
  completed,
  describeToken,
  MAX_NUMBER,
  malformed,
  parseDecimal,
  type Steps,
  type Token,
  TokenReader,
} from './lexer.js';
import { exactId, quoteId } from './query-parser.js';

/**
 * A flag whose value is a `T`; `undefined` is the value of an absent flag, which has no property in
 * {@link QueryFlags}.
 */
export interface Flag<T> {
  /** In lower case. An `#index` flag is for the search engine, any other for the query manager (BRK-3.5). */
  readonly keyword: string;
  /** What follows the keyword; '' if nothing does. */
  readonly argument: string;
  /** The rule that describes it. */
  readonly rule: string;
  readonly text: string;
  /** Largest value of a number. */
  readonly max?: number;
  /** Returns the value of a message without the flag (BRK-3.7). */
  initial(): T;
  /** Takes the argument and returns the new value. `before` is the value until here. */
  parse(at: FlagPosition, before: T): T;
  /** Returns the flags that parse to the value; none for the initial value, unless peers need it. */
  format(value: T, kind: 'user' | 'bulk'): readonly string[];
}

/** Where a flag's argument is parsed. */
interface FlagPosition {
  readonly tokens: TokenReader;
  /** Byte offset of the keyword. */
  readonly offset: number;
  /** The name after `#index`, as the message spells it. */
  readonly name: string;
  /** Receives an `#index` flag that this kit does not know. */
  readonly unknown: string[];
}

/** BRK-2.23: the largest number of spelling errors in a request. */
export const MAX_SPELLING_ERRORS = 8;

/** BRK-2.27: the attribute of an object in a reply to `#index words most`: the words that it lacks. */
export const MISSING_WORDS = 'Missing-Words';

/** The largest number of `#attribute` flags; each costs a look-up in every object of the reply. */
export const MAX_ATTRIBUTES = 256;

/** The spelling of an empty `#digest` prefix. */
const EMPTY_PREFIX = '-';

/** What a row states besides its kind of value. */
type Described = Pick<Flag<unknown>, 'rule' | 'text'>;

/** A flag without an argument. */
function present(keyword: string, described: Described): Flag<boolean> {
  return {
    ...described,
    keyword,
    argument: '',
    initial: () => false,
    parse: () => true,
    format: (value) => (value ? [keyword] : []),
  };
}

/** A flag with a number; BRK-3.6: the last one wins. */
function number(
  keyword: string,
  { rangeRule = 'BRK-3.6', ...row }: Described & { argument: string; max: number; rangeRule?: string },
): Pick<Flag<number>, 'parse'> & Omit<Flag<unknown>, 'initial' | 'parse' | 'format'> {
  return {
    ...row,
    keyword,
    parse({ tokens }) {
      const token = tokens.takeId(`a number after ${keyword}`, 'BRK-3.6');
      const value = parseDecimal(token.text, row.max);
      if (value !== undefined) return value;
      const range = `${keyword} takes a number from 0 to ${row.max}`;
      throw malformed(rangeRule, token.offset, `${range}, not ${describeToken(token)}`);
    },
  };
}

/** A number that is absent unless the message has it. */
function optionalNumber(keyword: string, row: Described & { argument: string }): Flag<number | undefined> {
  return {
    ...number(keyword, { ...row, max: MAX_NUMBER }),
    initial: () => undefined,
    format: (value) => (value === undefined ? [] : [`${keyword} ${value}`]),
  };
}

/** BRK-8.11: a limit. 0 means no limit, and cancels an earlier one (BRK-3.6). */
function limit(keyword: string, described: Described): Flag<number | undefined> {
  const row = optionalNumber(keyword, { ...described, argument: 'number' });
  return { ...row, parse: (at, before) => row.parse(at, before) || undefined };
}

const caseFlag: Flag<boolean> = {
  keyword: '#index case',
  argument: 'insensitive|sensitive',
  rule: 'BRK-3.1',
  text: 'ignore or distinguish upper and lower case',
  initial: () => true,
  parse({ tokens, name, unknown }, before) {
    const value = tokens.takeId('"sensitive" or "insensitive"', 'BRK-3.1');
    const word = value.text.toLowerCase();
    // BRK-3.1: the developer notes spell it without the second `i`.
    if (word === 'insensitive' || word === 'insenstive') return true;
    if (word === 'sensitive') return false;
    unknown.push(`${quoteId(name)} ${quoteId(value.text)}`);
    return before;
  },
  // Servers exist that respect case without the flag, so a `#USER` always has it (BRK-3.7).
  format: (ignoreCase, kind) =>
    ignoreCase && kind === 'bulk' ? [] : [`#index case ${ignoreCase ? 'insensitive' : 'sensitive'}`],
};

const errorFlag: Flag<number> = {
  ...number('#index error', {
    argument: 'number',
    rule: 'BRK-2.23',
    rangeRule: 'BRK-2.23',
    text: `number of spelling errors to allow, up to ${MAX_SPELLING_ERRORS}`,
    max: MAX_SPELLING_ERRORS,
  }),
  initial: () => 0,
  format: (value) => (value > 0 ? [`#index error ${value}`] : []),
};

/** A flag of this kit with two words, the first of which is the meaning of a message without the flag. */
function choice(
  keyword: string,
  [initial, chosen]: readonly [string, string],
  described: Described,
): Flag<true | undefined> {
  return {
    ...described,
    keyword,
    argument: `${initial}|${chosen}`,
    initial: () => undefined,
    parse({ tokens, name, unknown }, before) {
      const value = tokens.takeId(`"${initial}" or "${chosen}"`, described.rule);
      const word = value.text.toLowerCase();
      if (word === chosen) return true;
      if (word === initial) return undefined;
      unknown.push(`${quoteId(name)} ${quoteId(value.text)}`);
      return before;
    },
    format: (value) => (value ? [`${keyword} ${chosen}`] : []),
  };
}

/** BRK-3.5: kept for the `101` notice, then ignored. */
const unknownFlag: Flag<string[]> = {
  keyword: '#index',
  argument: 'NAME [VALUE]',
  rule: 'BRK-3.5',
  text: 'any other flag of a search engine; an engine ignores one that it does not know',
  initial: () => [],
  parse({ tokens, name }, before) {
    const next = tokens.peek();
    const hasValue = next.kind === 'word' || next.kind === 'string';
    if (hasValue) tokens.next();
    before.push(hasValue ? `${quoteId(name)} ${quoteId(next.text)}` : quoteId(name));
    return before;
  },
  format: (flags) => flags.map((flag) => `#index ${checkUnknownFlag(flag)}`),
};

const attributeFlag: Flag<string[]> = {
  keyword: '#attribute',
  argument: 'NAME',
  rule: 'BRK-3.6',
  text: `send this attribute of each object, in the order and spelling of the message; at most ${MAX_ATTRIBUTES}`,
  initial: () => [],
  parse({ tokens, offset }, before) {
    if (before.length === MAX_ATTRIBUTES)
      throw malformed('BRK-3.6', offset, `more than ${MAX_ATTRIBUTES} #attribute flags`);
    before.push(tokens.takeId('an attribute name', 'BRK-3.6').text);
    return before;
  },
  format: (names) => names.map((name) => `#attribute ${exactId('the name of an attribute', name)}`),
};

/** BP-29: 1 is the shipped interface, the default. */
const interfaceFlag: Flag<1 | 2 | undefined> = {
  keyword: '#interface',
  argument: '1|2',
  rule: 'BP-29',
  text: '2 requests the result interface of 1995',
  initial: () => undefined,
  parse({ tokens }) {
    const token = tokens.takeId('1 or 2 after #interface', 'BP-29');
    const value = parseDecimal(token.text, MAX_NUMBER);
    if (value === 1 || value === 2) return value === 2 ? 2 : undefined;
    throw malformed('BP-29', token.offset, `#interface takes 1 or 2, not ${describeToken(token)}`);
  },
  format: (value) => (value === 2 ? ['#interface 2'] : []),
};

const compressFlag: Flag<true | undefined> = {
  keyword: '#compress',
  argument: '',
  rule: 'BP-30',
  text: 'an extension of this kit to `#BULK` with `#interface 2`: compressed groups',
  initial: () => undefined,
  parse: () => true,
  format: (value) => (value ? ['#compress'] : []),
};

/** '' is the empty prefix, which selects everything. */
const digestFlag: Flag<string | undefined> = {
  keyword: '#digest',
  argument: 'PREFIX',
  rule: 'BP-31',
  text: 'an extension of this kit to `#BULK` with `#interface 2`: a digest of what the prefix selects, `-` for everything',
  initial: () => undefined,
  parse({ tokens }) {
    const token = tokens.takeId('a prefix after #digest', 'BP-31');
    if (/^(?:-|[\da-f]{1,16})$/.test(token.text)) return token.text === EMPTY_PREFIX ? '' : token.text;
    const range = '#digest takes 1 to 16 hex digits or "-"';
    throw malformed('BP-31', token.offset, `${range}, not ${describeToken(token)}`);
  },
  format: (value) => (value === undefined ? [] : [`#digest ${value === '' ? EMPTY_PREFIX : value}`]),
};

/** The flags for the search engine, in the order in which they are written. */
const INDEX_FLAGS = {
  ignoreCase: caseFlag,
  ignoreAccents: choice('#index accents', ['sensitive', 'insensitive'], {
    rule: 'BRK-2.25',
    text: 'an extension of this kit: ignore or distinguish accents, vowel points and compatibility forms',
  }),
  contentOnly: choice('#index scope', ['object', 'content'], {
    rule: 'BRK-2.26',
    text: 'an extension of this kit: words without a tag search the whole object, or what a person reads of it',
  }),
  mostWords: choice('#index words', ['all', 'most'], {
    rule: 'BRK-2.27',
    text: 'an extension of this kit: find objects with all of the words, or with most of them',
  }),
  matchWord: present('#index matchword', { rule: 'BRK-2.20', text: 'match whole words only' }),
  errors: errorFlag,
  maxResults: limit('#index maxresult', {
    rule: 'BRK-8.11',
    text: 'maximum number of all matched lines (#index maxresult); 0 = no limit',
  }),
  maxFiles: limit('#index maxfiles', {
    rule: 'BRK-8.11',
    text: 'maximum number of matches; 0 = no limit',
  }),
  maxLines: limit('#index maxlines', {
    rule: 'BRK-3.3',
    text: 'maximum number of matched lines of each match',
  }),
  lifetime: optionalNumber('#index lifetime', {
    argument: 'seconds',
    rule: 'BRK-3.4',
    text: 'maximum time of the search at the broker',
  }),
};

/** The flags that a client of any Broker may send. */
const QUERY_FLAGS = {
  since: optionalNumber('#since', {
    argument: 'timestamp',
    rule: 'BRK-3.8',
    text: 'only objects changed after this time, seconds since 1970-01-01 UTC',
  }),
  desc: present('#desc', { rule: 'BRK-4.5', text: 'send descriptions' }),
  opaque: present('#opaque', {
    rule: 'BRK-3.2',
    text: 'its meaning is the `Opaque-Mode` of the server: no matched lines, or matched lines',
  }),
  ...INDEX_FLAGS,
  attributes: attributeFlag,
};

/** Every flag by its property in {@link QueryFlags}, in the order in which they are written. */
const FLAGS = {
  ...QUERY_FLAGS,
  unknown: unknownFlag,
  interface: interfaceFlag,
  compress: compressFlag,
  digest: digestFlag,
};

type Value<F> = F extends Flag<infer T> ? (T extends string[] ? readonly string[] : T) : never;
type AbsentKey<R> = { [K in keyof R]: undefined extends Value<R[K]> ? K : never }[keyof R];
type FlagValues<R> = { readonly [K in Exclude<keyof R, AbsentKey<R>>]: Value<R[K]> } & {
  readonly [K in AbsentKey<R>]?: Value<R[K]> | undefined;
};

/**
 * The flags of a message (BRK-3), by the rows of {@link BROKER_FLAGS}. An absent limit means the limit of the
 * server.
 */
export type QueryFlags = FlagValues<typeof FLAGS>;

/** The part of the flags that the search engine reads. */
export type IndexFlags = FlagValues<typeof INDEX_FLAGS>;

/** The flags of which every client decides, whatever the server. */
export type RequestFlag = Exclude<keyof typeof QUERY_FLAGS, 'opaque'>;

/** The names of {@link RequestFlag}. */
export const REQUEST_FLAGS = (Object.keys(QUERY_FLAGS) as (keyof typeof QUERY_FLAGS)[]).filter(
  (name) => name !== 'opaque',
);

/** The rows of all flags by their property in {@link QueryFlags}. */
export const BROKER_FLAGS: Readonly<Record<keyof QueryFlags, Flag<unknown>>> = FLAGS;

const ROWS = Object.entries<Flag<unknown>>(FLAGS);
const BY_KEYWORD = new Map(ROWS.map(([key, flag]) => [flag.keyword, { key, flag }]));

function initialFlags(): Record<string, unknown> {
  const values = ROWS.map(([key, flag]) => [key, flag.initial()] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** BRK-3.7: the flags of a message without flags. */
export const DEFAULT_FLAGS = initialFlags() as QueryFlags;

/** Returns the flags for the search engine. */
export function indexFlags(flags: QueryFlags): IndexFlags {
  const keys = Object.keys(INDEX_FLAGS) as (keyof IndexFlags)[];
  return Object.fromEntries(keys.map((key) => [key, flags[key]])) as IndexFlags;
}

/**
 * Parses FLAGS up to and including `#END` (BRK-2.9) in steps, in any order. A later flag overrides an earlier one of its
 * kind; only `#attribute` and unknown `#index` flags accumulate (BRK-3.6).
 * @param forPeer the flags are meant for another program, which may know more short flags: unknown ones and
 *   their values are skipped
 * @throws ProtocolError
 */
export function* flagSteps(tokens: TokenReader, forPeer = false): Steps<QueryFlags> {
  const flags = initialFlags();
  for (;;) {
    if (tokens.endsStep()) yield;
    const token = tokens.next();
    if (token.kind === 'end') throw malformed('BRK-2.9', token.offset, '#END is missing');
    if (token.kind !== 'keyword') {
      throw malformed('BRK-2.9', token.offset, `a flag or #END expected, found ${describeToken(token)}`);
    }
    if (token.name === 'end') return flags as QueryFlags;
    parseFlag(token, tokens, flags, forPeer);
  }
}

function parseFlag(
  token: Extract<Token, { readonly kind: 'keyword' }>,
  tokens: TokenReader,
  flags: Record<string, unknown>,
  forPeer: boolean,
): void {
  const isIndex = token.name === 'index';
  const name = isIndex ? tokens.takeId('the name of an #index flag', 'BRK-3.5').text : '';
  const known = isIndex ? BY_KEYWORD.get(`#index ${name.toLowerCase()}`) : BY_KEYWORD.get(`#${token.name}`);
  if (known === undefined && !isIndex) {
    // BRK-3.5: short flags belong to the query manager, so an unknown one is an error.
    if (!forPeer) throw malformed('BRK-3.5', token.offset, `unknown flag ${describeToken(token)}`);
    while (tokens.peek().kind === 'word' || tokens.peek().kind === 'string') tokens.next();
    return;
  }
  const { key, flag } = known ?? { key: 'unknown', flag: unknownFlag as Flag<unknown> };
  const unknown = flags.unknown as string[];
  const value = flag.parse({ tokens, offset: token.offset, name, unknown }, flags[key]);
  if (value === undefined) delete flags[key];
  else flags[key] = value;
}

/**
 * Checks flags that a message to another program puts before `#END`. The program may know more short flags.
 * @throws ProtocolError for text that is not flags, `#END` among them, or a value that a known flag does not
 *   take
 */
export function checkFlags(text: string): void {
  const tokens = new TokenReader(new TextEncoder().encode(`${text} #END`));
  completed(flagSteps(tokens, true));
  const { offset, kind } = tokens.next();
  if (kind !== 'end') throw malformed('BRK-2.9', offset, '#END is not a flag');
}

/**
 * Formats the flags of a message, separated by blanks, without `#END`. For `#USER` the case flag is always
 * written; for `#BULK` only if it is not the default (BRK-3.7).
 * @throws UsageError when an entry of `unknown` is not one or two IDs, or no ID stands for the name of an attribute
 */
export function formatFlags(flags: QueryFlags, kind: 'user' | 'bulk'): string {
  const values: Readonly<Record<string, unknown>> = flags;
  return ROWS.flatMap(([key, flag]) => flag.format(values[key], kind)).join(' ');
}

function checkUnknownFlag(flag: string): string {
  try {
    const tokens = new TokenReader(new TextEncoder().encode(flag));
    tokens.takeId('a name', 'BRK-3.5');
    if (tokens.peek().kind !== 'end') tokens.takeId('a value', 'BRK-3.5');
    tokens.expectEnd('BRK-3.5');
    return flag;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new UsageError(`an #index flag is a name with at most one value, not: ${flag}`);
  }
}
