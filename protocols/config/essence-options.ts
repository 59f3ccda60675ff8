import { INT_MAX, parseInteger, ValueError, wordsOf } from './values.js';

/**
 * The options in `Essence-Options:` (E-5, E-116), the command line of the original essence. It has only the
 * options that were given, under the names of Essence's own options, so that it can be spread over the
 * defaults.
 */
export interface EssenceSwitches {
  /** E-22: file with the list of the only types to index. */
  readonly allowlist?: string;
  /** E-22: another stop list. */
  readonly stoplist?: string;
  /** E-5: another Lib-Directory. */
  readonly libDirectory?: string;
  /** E-5: the identity in the objects, instead of that of the configuration. */
  readonly gathererHost?: string;
  readonly gathererName?: string;
  readonly gathererVersion?: string;
  /** G-111. */
  readonly fakeMd5s?: true;
  /** E-117: the extracted text instead of a summary. */
  readonly fullText?: true;
  /** E-117, `--full-text=raw`: the raw content, as in the original. */
  readonly rawText?: true;
  /** The main text of pages, without navigation and the like, as an attribute of its own. */
  readonly mainText?: true;
  /** Text in CODE elements is kept, which the table of 1996 drops (E-98). */
  readonly code?: true;
  /** The text of each link of a page is an attribute. */
  readonly linkText?: true;
  /** The text of a page's navigation is an attribute of its own. */
  readonly navigation?: true;
  /** E-141: the language of texts that do not state it is guessed. */
  readonly language?: true;
  /** E-27: components that were made from another one of the same archive are left out. */
  readonly grouping?: true;
  /** E-113. */
  readonly minimalBookkeeping?: true;
  /** E-118, `--no-access`. */
  readonly access?: false;
  /** E-106, `--no-keywords`. */
  readonly keywords?: false;
  /** E-99. */
  readonly rawReferences?: true;
  /** E-85: the messages of the SGML parser are in the log. */
  readonly syntaxCheck?: true;
  /** E-116: only the type of a document is requested. */
  readonly typeOnly?: true;
  /**
   * E-45, `--max-depth`, `--max-components`, `--max-unpacked`, `--max-ratio`: limits of unpacking one document.
   */
  readonly unnest?: EssenceUnnestLimits;
  /** E-70, `--time-limit` in seconds: the processor time of one document; ten times as long by the clock. */
  readonly timeLimitMs?: number;
  /** E-45, `--max-memory` in MiB: the memory of one process that reads documents. */
  readonly maxReaderMemoryMb?: number;
  /** E-45, `--max-pool-memory` in MiB: the memory of all these processes. */
  readonly maxPoolMemoryMb?: number;
}

/** The limits of unpacking that a configuration sets, under Essence's own names. */
interface EssenceUnnestLimits {
  readonly maxDepth?: number;
  readonly maxComponents?: number;
  /** Bytes. */
  readonly maxUnpackedBytes?: number;
  readonly maxRatio?: number;
}

/** A day, in seconds. */
const MAX_TIME_LIMIT_S = 86_400;
/** A terabyte, in MiB. */
const MAX_MEMORY_MB = 1024 * 1024;

function limitOf(value: string): number {
  return parseInteger(value, 1, INT_MAX);
}

type Reader = (value: string) => EssenceSwitches;

/** Options with a value, which follows `=` or is the next word. */
const WITH_VALUE: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['--allowlist', (allowlist) => ({ allowlist })],
  ['--stoplist', (stoplist) => ({ stoplist })],
  ['--libdir', (libDirectory) => ({ libDirectory })],
  ['--gatherer-host', (gathererHost) => ({ gathererHost })],
  ['--gatherer-name', (gathererName) => ({ gathererName })],
  ['--gatherer-version', (gathererVersion) => ({ gathererVersion })],
  // E-119: the database of this kit needs no reorganization; the number is only checked.
  [
    '--max-deletions',
    (value) => {
      parseInteger(value, 0, INT_MAX);
      return {};
    },
  ],
  ['--max-depth', (value) => ({ unnest: { maxDepth: limitOf(value) } })],
  ['--max-components', (value) => ({ unnest: { maxComponents: limitOf(value) } })],
  ['--max-unpacked', (value) => ({ unnest: { maxUnpackedBytes: limitOf(value) } })],
  ['--max-ratio', (value) => ({ unnest: { maxRatio: limitOf(value) } })],
  ['--time-limit', (value) => ({ timeLimitMs: parseInteger(value, 1, MAX_TIME_LIMIT_S) * 1000 })],
  ['--max-memory', (value) => ({ maxReaderMemoryMb: parseInteger(value, 128, MAX_MEMORY_MB) })],
  ['--max-pool-memory', (value) => ({ maxPoolMemoryMb: parseInteger(value, 128, MAX_MEMORY_MB) })],
  // E-5: the Gatherer determines database and log.
  ['--dbdir', () => ({})],
  ['--log', () => ({})],
]);

const WITHOUT_VALUE: ReadonlyMap<string, EssenceSwitches> = new Map<string, EssenceSwitches>([
  ['--code', { code: true }],
  ['--fake-md5s', { fakeMd5s: true }],
  ['--full-text', { fullText: true }],
  ['--full-text=raw', { fullText: true, rawText: true }],
  ['--grouping', { grouping: true }],
  ['--language', { language: true }],
  ['--link-text', { linkText: true }],
  ['--main-text', { mainText: true }],
  ['--minimal-bookkeeping', { minimalBookkeeping: true }],
  ['--navigation', { navigation: true }],
  ['--no-access', { access: false }],
  ['--no-keywords', { keywords: false }],
  ['--raw-references', { rawReferences: true }],
  ['--syntax-check', { syntaxCheck: true }],
  ['--type-only', { typeOnly: true }],
  // E-69: summaries are always checked; the log is always complete.
  ['--fast-summarizing', {}],
  ['--verbose', {}],
]);

/**
 * Parses the value of `Essence-Options:`. A later option replaces an earlier one.
 * @throws ValueError for an unknown option, or an option without its value
 */
export function parseEssenceOptions(text: string): EssenceSwitches {
  const words = wordsOf(text);
  let switches: EssenceSwitches = {};
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    const plain = WITHOUT_VALUE.get(word);
    if (plain !== undefined) {
      switches = { ...switches, ...plain };
      continue;
    }
    const equals = word.indexOf('=');
    const name = equals < 0 ? word : word.slice(0, equals);
    const read = WITH_VALUE.get(name);
    // The word may be a misplaced value, e.g. a password: the message repeats it only if it looks like an
    // option.
    if (read === undefined)
      throw new ValueError(/^--[a-z0-9-]{1,40}$/.test(name) ? `essence has no ${name}` : 'must be options');
    const value = equals < 0 ? words[++index] : word.slice(equals + 1);
    if (value === undefined || value === '' || value.startsWith('--'))
      throw new ValueError(`${name} needs a value`);
    const more = read(value);
    switches = {
      ...switches,
      ...more,
      ...(more.unnest === undefined ? {} : { unnest: { ...switches.unnest, ...more.unnest } }),
    };
  }
  return switches;
}
