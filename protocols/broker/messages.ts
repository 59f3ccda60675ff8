// The messages of the Broker's protocol as types: queries, flags, administrative commands.
/** The comparison of a structured term (BRK-2.14, BRK-2.17); `contains` is the user-level `tag : value`. */
export type SelectOperator = 'contains' | 'exact' | 'regexp' | 'less-than' | 'greater-than';

/**
 * A Boolean query. Text is decoded (UTF-8, else windows-1252); backslash pairs stay as typed (BRK-2.7).
 * `offset` is the byte offset of the term in the message line (or in the text given to `parseQuery`).
 */
export type Expression =
  | { readonly kind: 'term'; readonly text: string; readonly quoted: boolean; readonly offset: number }
  | {
      readonly kind: 'select';
      readonly attribute: string;
      readonly operator: SelectOperator;
      readonly value: string;
      readonly offset: number;
    }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'and' | 'or' | 'except'; readonly left: Expression; readonly right: Expression };

/** `#allb` (every object of the Broker, BRK-2.11) or an expression. */
export type Query = { readonly kind: 'all' } | Expression;

/** The flags between `#USER` or `#BULK` and `#END` (BRK-3). An absent limit means the limit of the server. */
export interface QueryFlags {
  /** `#desc`: send descriptions. */
  readonly desc: boolean;
  /** `#opaque`: its meaning is the server's `Opaque-Mode` (BRK-3.2). */
  readonly opaque: boolean;
  readonly ignoreCase: boolean;
  readonly matchWord: boolean;
  /** Spelling errors allowed, 0 to {@link MAX_SPELLING_ERRORS}. */
  readonly errors: number;
  /** `#index maxresult`: matched lines in all (BRK-8.11). */
  readonly maxResults?: number;
  /** `#index maxfiles`: objects. */
  readonly maxFiles?: number;
  /** `#index maxlines`: matched lines of one object. */
  readonly maxLines?: number;
  /** `#index lifetime`: the requested seconds; see {@link clampLifetime}. */
  readonly lifetime?: number;
  /** `#attribute` names in the order and spelling of the message. */
  readonly attributes: readonly string[];
  /** `#since`: UnixSeconds; only objects changed after it. */
  readonly since?: number;
  /** `#interface`: 2 requests the result interface of 1995 (BP-29); absent means 1. */
  readonly interface?: 1 | 2;
  /** `#compress`: an extension of this kit to `#BULK` with `#interface 2`: compressed groups (BP-16). */
  readonly compress?: true;
  /** `#digest`: an extension of this kit to `#BULK` with `#interface 2`; see `protocols/bulk/digest.ts`. '' selects everything. */
  readonly digest?: string;
  /** `#index` flags this kit does not know, each `NAME` or `NAME VALUE` (BRK-3.5). */
  readonly unknown: readonly string[];
}

/** BRK-3.7: the flags of a message without flags. */
export const DEFAULT_FLAGS: QueryFlags = {
  desc: false,
  opaque: false,
  ignoreCase: true,
  matchWord: false,
  errors: 0,
  attributes: [],
  unknown: [],
};

/** The spelling of an empty `#digest` prefix. */
export const EMPTY_PREFIX = '-';

/** BRK-2.23: the largest number of spelling errors in a request. */
export const MAX_SPELLING_ERRORS = 8;

/** The largest number of `#attribute` flags; each costs a look-up in every object of the reply. */
export const MAX_ATTRIBUTES = 256;

/** BRK-8.14: the shortest lifetime of a query, in seconds. */
export const MIN_LIFETIME = 10;

/**
 * The seconds that a query may run: between 10 and the server's `Glimpse-MaxLife`, which is also the default (BRK-8.14).
 */
export function clampLifetime(requested: number | undefined, maxLifetime: number): number {
  return Math.min(Math.max(requested ?? maxLifetime, MIN_LIFETIME), maxLifetime);
}

/** The administrative commands of BRK-5.1; `kind` is the keyword without `#`. */
export type AdminCommand =
  | { readonly kind: 'add-object'; readonly files: readonly string[] }
  | { readonly kind: 'rem-object-oid'; readonly oids: readonly number[] }
  | { readonly kind: 'rem-object-path'; readonly path: string }
  | { readonly kind: 'rem-object-query'; readonly query: Query }
  | { readonly kind: 'add-log' | 'rem-log'; readonly event: string }
  | { readonly kind: 'open-log'; readonly file?: string }
  | { readonly kind: 'set'; readonly name: string; readonly value: string }
  | { readonly kind: PlainAdminKeyword };

/** Administrative keywords without a parameter. */
export const PLAIN_ADMIN_KEYWORDS = [
  'clean-broker',
  'close-log',
  'collection',
  'compress-registry',
  'do-stats',
  'flush-log',
  'full-index',
  'incremental-index',
  'rem-dups',
  'restart',
  'rotate-log',
  'shutdown',
] as const;
export type PlainAdminKeyword = (typeof PLAIN_ADMIN_KEYWORDS)[number];

/** One message a Broker understands (BRK-2). */
export type BrokerMessage =
  | { readonly kind: 'user'; readonly flags: QueryFlags; readonly query: Query }
  | { readonly kind: 'bulk'; readonly flags: QueryFlags; readonly query: Query }
  | {
      readonly kind: 'admin';
      /** Empty when the message has no password: such a command is always refused (BRK-5.2). */
      readonly password: string;
      readonly command: AdminCommand;
    };
