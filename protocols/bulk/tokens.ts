// The literals of the 1995 interface (BP-7 to BP-10), as a table that an implementation can replace.
/** Names of the tokens of the 1995 interface; the proposal's capital words in lower case. */
export const TOKEN_NAMES = [
  'version',
  'broker-url',
  'broker-indexer',
  'broker-collect',
  'message-to-user',
  'user-ext',
  'warning',
  'resource',
  'object',
  'description',
  'opaque',
  'attribute',
  'user-extension',
  'object-end',
  'object-count',
  'error',
  'stats',
  'start-marker',
  'end-marker',
] as const;
export type TokenName = (typeof TOKEN_NAMES)[number];

/** BP-10: tokens that no Separator follows. */
const WITHOUT_SEPARATOR: ReadonlySet<TokenName> = new Set(['object-end', 'start-marker', 'end-marker']);

/** BP-9: the literals that the proposal leaves open, as data; bytes as latin1 text. */
export interface TokenTable {
  readonly separator: string;
  readonly literals: Readonly<Record<TokenName, string>>;
}

/** BP-7, BP-8: the choice of this kit: the codes of the shipped result stream where it has the same concept. */
export const DEFAULT_TOKENS: TokenTable = {
  separator: ' - ',
  literals: {
    version: '200',
    'broker-url': '126',
    'broker-indexer': '140',
    'broker-collect': '141',
    'message-to-user': '101',
    'user-ext': '142',
    warning: '103',
    resource: '120',
    object: '125',
    description: '124',
    opaque: '122',
    attribute: '127',
    'user-extension': '143',
    'object-end': '130 - object end\n',
    'object-count': '144',
    error: '111',
    stats: '145',
    'start-marker': '150 - gzip begin\n',
    'end-marker': '151 - gzip end\n',
  },
};

/**
 * A compiled table: the bytes of each token with the Separator that follows it, and the Separator by itself.
 */
export interface TokenBytes {
  readonly tokens: Readonly<Record<TokenName, Uint8Array>>;
  readonly separator: Uint8Array;
  /** Bytes of the longest token. */
  readonly longest: number;
}

/**
 * Compiles a table.
 * @throws TypeError when a literal is empty or begins with `@`, or one token begins like another: a reader
 * could not distinguish them from a group or from each other (BP-8)
 */
export function tokenBytes(table: TokenTable): TokenBytes {
  const tokens = {} as Record<TokenName, Uint8Array>;
  let longest = 0;
  for (const name of TOKEN_NAMES) {
    const literal = table.literals[name];
    if (literal === '' || literal.startsWith('@')) throw new TypeError(`no literal for a token: ${name}`);
    const text = WITHOUT_SEPARATOR.has(name) ? literal : literal + table.separator;
    tokens[name] = new Uint8Array(Buffer.from(text, 'latin1'));
    longest = Math.max(longest, text.length);
  }
  for (const a of TOKEN_NAMES) {
    for (const b of TOKEN_NAMES) {
      if (a !== b && beginsWith(tokens[b], tokens[a])) throw new TypeError(`token ${b} begins like ${a}`);
    }
  }
  return { tokens, separator: new Uint8Array(Buffer.from(table.separator, 'latin1')), longest };
}

/** Whether `bytes` begin with all of `start`. */
function beginsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return bytes.length >= start.length && start.every((byte, i) => bytes[i] === byte);
}
