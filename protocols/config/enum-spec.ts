import { ConfigError } from '../errors.js';
import { ACCESS_METHODS, type AccessMethod, canonicalUrl, methodOfScheme } from '../urls/index.js';
import { DEFAULT_DELAY, DEFAULT_HOST_MAX, DEFAULT_URL_MAX } from './root-node-defaults.js';
import { INT_MAX, parseDelay, parseInteger, ValueError, wordsOf } from './values.js';

/*
 * Parses the lines of `<RootNodes>` and `<LeafNodes>`: a URL or a program, and its limits (G-26 to G-36, G-50
 * to G-53).
 */

/** G-52: `|program args`, whose output is URLs, one per line. Run without a shell (G-54). */
export interface UrlProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/** G-26: one URL (or a program that prints URLs), fetched without expansion. */
export interface LeafNode {
  /** Canonical; '' for a program. */
  readonly url: string;
  readonly configuredUrl: string;
  readonly program?: UrlProgram;
  readonly line: number;
}

/** G-26, G-28: one URL to expand, and its limits. */
export interface RootNode extends LeafNode {
  /** Limit of the URLs that enumeration generates, over all depths (G-32). */
  readonly urlMax: number;
  /** File name as written. Absent: the default filter applies; `/dev/null`: no filter applies (G-31). */
  readonly urlFilter?: string;
  /** Limit of the hosts contacted (G-33). */
  readonly hostMax: number;
  readonly hostFilter?: string;
  /** Methods to follow; `http` includes `https` (G-36, G-56). */
  readonly access: readonly AccessMethod[];
  /** Seconds between contacts with a server (G-38). */
  readonly delay: number;
  /** True if the line itself has a Delay. */
  readonly hasDelay?: true;
  /** True if servers of this machine are contacted without a delay. No line can have it. */
  readonly noLoopbackDelay?: true;
  /** Steps from the URL; 0 means no limit (G-34). */
  readonly depth: number;
  readonly search: 'breadth' | 'depth';
  /** Program that replaces this node by other nodes (G-50). */
  readonly enumeration?: string;
}

/** The file and line of a node, for error messages. */
export interface NodeLocation {
  readonly file: string;
  readonly line: number;
}

/** The defaults of section 3's table; a run's `Access-Delay` replaces `delay`. */
export interface RootNodeDefaults {
  /** Seconds. */
  readonly delay: number;
}

/**
 * Parses one line of `<RootNodes>` (G-28 to G-36, G-52, G-53).
 * @throws ConfigError
 */
export function parseRootNode(text: string, location: NodeLocation, defaults: RootNodeDefaults): RootNode {
  const words = wordsOf(text);
  // G-53: words before the first known keyword belong to a program, `name=value` too; after a URL they are an
  // error.
  const begins = text.trimStart().startsWith('|') ? isKnownModifier : isModifier;
  const firstModifier = words.findIndex((word, index) => index > 0 && begins(word));
  const head = firstModifier < 0 ? words : words.slice(0, firstModifier);
  const modifiers = firstModifier < 0 ? [] : words.slice(firstModifier);
  let node: Modifiers = {
    urlMax: DEFAULT_URL_MAX,
    hostMax: DEFAULT_HOST_MAX,
    access: ['http', 'https'],
    delay: defaults.delay,
    depth: 0,
    search: 'breadth',
  };
  const seen = new Set<string>();
  for (const word of modifiers) {
    const { keyword, value } = splitModifier(word);
    const reader = READERS.get(keyword);
    if (reader === undefined) throw errorAt(location, keyword, 'is not a keyword of a RootNode');
    const name = ALIASES.get(keyword) ?? keyword;
    if (seen.has(name)) throw errorAt(location, keyword, 'is given twice');
    seen.add(name);
    node = { ...node, ...locateErrors(location, keyword, () => reader(value)) };
  }
  return { ...parseHead(head, location), ...node };
}

/** Parses one line of `<LeafNodes>` (G-26, G-52). @throws ConfigError */
export function parseLeafNode(text: string, location: NodeLocation): LeafNode {
  return parseHead(wordsOf(text), location);
}

/**
 * Parses one line that an `Enumeration=` program printed (G-50): nine fields, all present.
 * @throws ConfigError
 */
export function parseEnumeratedNode(text: string, location: NodeLocation): RootNode {
  const fields = wordsOf(text);
  const [url = '', urlMax, urlFilter, hostMax, hostFilter, access, delay, depth, program] = fields;
  if (fields.length !== 9)
    throw errorAt(location, 'Enumeration', `nine fields are needed, not ${fields.length}`);
  if (url.startsWith('|')) throw errorAt(location, 'Enumeration', 'a URL is needed, not a program');
  // A comma would begin the name of a filter.
  for (const maximum of [urlMax, hostMax])
    locateErrors(location, 'Enumeration', () => parseInteger(maximum ?? '', 1, INT_MAX));
  const modifiers = [
    `URL=${urlMax},${urlFilter}`,
    `Host=${hostMax},${hostFilter}`,
    `Access=${access}`,
    `Delay=${delay}`,
    `Depth=${depth}`,
    `Enumeration=${program}`,
  ];
  return parseRootNode([url, ...modifiers].join(' '), location, { delay: DEFAULT_DELAY });
}

type Modifiers = Omit<RootNode, keyof LeafNode>;
type ModifierReader = (value: string) => Partial<Modifiers>;

/** G-29. */
const ALIASES: ReadonlyMap<string, string> = new Map([['site', 'host']]);

/** The parser of each keyword's value. @throws ValueError */
const READERS: ReadonlyMap<string, ModifierReader> = new Map<string, ModifierReader>([
  ['url', readUrlLimit],
  ['host', readHostLimit],
  ['site', readHostLimit],
  ['access', (value: string) => ({ access: parseAccess(value) })],
  ['delay', (value: string) => ({ delay: parseDelay(value), hasDelay: true as const })],
  ['depth', (value: string) => ({ depth: parseInteger(value, 0, INT_MAX) })],
  ['search', readSearch],
  ['enumeration', readEnumeration],
]);

function readUrlLimit(value: string): Partial<Modifiers> {
  const { maximum, filter } = parseLimit(value);
  return filter === undefined ? { urlMax: maximum } : { urlMax: maximum, urlFilter: filter };
}

function readHostLimit(value: string): Partial<Modifiers> {
  const { maximum, filter } = parseLimit(value);
  return filter === undefined ? { hostMax: maximum } : { hostMax: maximum, hostFilter: filter };
}

/** G-30. */
function readSearch(value: string): Partial<Modifiers> {
  const search = value.toLowerCase();
  if (search !== 'breadth' && search !== 'depth') throw new ValueError('must be Breadth or Depth');
  return { search };
}

/** G-50: `/bin/false` means no program. */
function readEnumeration(value: string): Partial<Modifiers> {
  if (value === '') throw new ValueError('needs a program');
  return value === '/bin/false' ? {} : { enumeration: value };
}

/** `Max[,filter-file]` (G-28); "unlimited" cannot be written (G-32). */
function parseLimit(value: string): { maximum: number; filter?: string } {
  const comma = value.indexOf(',');
  const maximum = parseInteger(comma < 0 ? value : value.slice(0, comma), 1, INT_MAX);
  if (comma < 0) return { maximum };
  if (comma === value.length - 1) throw new ValueError('needs a file name after the comma');
  return { maximum, filter: value.slice(comma + 1) };
}

/** G-36, G-56. */
function parseAccess(value: string): AccessMethod[] {
  const methods = new Set<AccessMethod>();
  for (const word of value.toLowerCase().split('|')) {
    const method = methodOfScheme(word);
    if (method !== word) throw new ValueError(`must be methods joined by |: ${ACCESS_METHODS.join(', ')}`);
    methods.add(method);
    if (method === 'http') methods.add('https');
  }
  return [...methods];
}

function isModifier(word: string): boolean {
  return /^[A-Za-z]+=/.test(word);
}

function isKnownModifier(word: string): boolean {
  return isModifier(word) && READERS.has(splitModifier(word).keyword);
}

function splitModifier(word: string): { keyword: string; value: string } {
  const equals = word.indexOf('=');
  if (equals < 0) return { keyword: word, value: '' };
  return { keyword: word.slice(0, equals).toLowerCase(), value: word.slice(equals + 1) };
}

/** The URL or the program before the modifiers. */
function parseHead(words: readonly string[], location: NodeLocation): LeafNode {
  const [first = '', ...rest] = words;
  if (first.startsWith('|')) {
    const [command, ...args] = first === '|' ? rest : [first.slice(1), ...rest];
    if (command === undefined) throw errorAt(location, '', 'a program must follow `|`');
    return { url: '', configuredUrl: '', program: { command, args }, line: location.line };
  }
  // Messages do not repeat the words: a URL may have a password.
  if (rest.length > 0)
    throw errorAt(location, '', 'only modifiers of the form Keyword=value may follow the URL');
  const url = canonicalUrl(first);
  if (url === undefined) throw errorAt(location, '', 'is not a URL of a supported form');
  return { url, configuredUrl: first, line: location.line };
}

function errorAt(location: NodeLocation, keyword: string, problem: string): ConfigError {
  return new ConfigError(location.file, location.line, keyword, problem);
}

/** Runs `action`; a bad value becomes an error at the location. */
function locateErrors<T>(location: NodeLocation, keyword: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof ValueError) throw errorAt(location, keyword, error.message);
    throw error;
  }
}
