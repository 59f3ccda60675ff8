import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, errorCode, messageOf } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { findTypePrograms, type ProgramSettings, type TypePrograms } from './external/index.js';
import { type MagicRules, parseMagic } from './magic-file.js';
import { type PostRules, parsePostRules } from './rules/index.js';
import { compileSgmlTypes, readSgmlSources, type SgmlSources, type SgmlTypes } from './sgml/index.js';
import { type ExtractionTable, parseExtractionTable } from './sgml/table.js';
import {
  parseQuickRules,
  parseTypeList,
  parseTypeRules,
  type QuickRule,
  type TypeRules,
} from './type-rules.js';
import { DEFAULT_UNNEST_LIMITS, type UnnestLimits } from './unnest/limits.js';

/** How a Gatherer wants its documents summarized. Everything here is plain data: it travels to worker threads. */
export interface EssenceOptions {
  /** Identity written into every object (E-110). */
  readonly gathererName: string;
  readonly gathererHost: string;
  readonly gathererVersion: string;
  /** Seconds (G-100). */
  readonly refreshRate: number;
  /** Seconds (G-100). */
  readonly timeToLive: number;
  /** Directory whose files replace the shipped ones one by one (G-21). */
  readonly libDirectory?: string;
  /** E-22: name of another stop list; relative names are looked up like the other files. Default `stoplist.cf`. */
  readonly stoplist?: string;
  /** E-22: name of a list of the only types to index. Default none. */
  readonly allowlist?: string;
  /** E-99: record references as written instead of absolute and canonical. Default false. */
  readonly rawReferences?: boolean;
  /** E-68: values of summarizers end with a newline that is counted. Default true. */
  readonly trailingNewline?: boolean;
  /** E-106: generate `Keywords`. Default true. */
  readonly keywords?: boolean;
  /** E-141: derive a `Description` where the document has none. Default true. */
  readonly description?: boolean;
  /** E-117: the extracted text of every document as `Full-Text` instead of a summary. Default false. */
  readonly fullText?: boolean;
  /** E-141: guess the `Language` of texts that do not say it. Default false. */
  readonly language?: boolean;
  /** E-117: the raw content of every document as `Full-Text`, as the original did it. Default false. */
  readonly rawText?: boolean;
  /** E-118: false: only what URL and name tell; contents are not read. Default true. */
  readonly access?: boolean;
  /** G-111: MD5 for objects that come from Exploders. Default false. */
  readonly fakeMd5s?: boolean;
  /** E-27: leave out components that were made from a source beside them. Default false. */
  readonly grouping?: boolean;
  /** E-45: how far nested files are unraveled. */
  readonly unnest?: Partial<UnnestLimits>;
  /** E-61, E-46: where the user's `TypeName.sum` and `TypeName.unnest` are, and what they may use. Default: no programs. */
  readonly programs?: ProgramSettings;
  /** E-121: file with post-summarizing rules; a relative name is looked up like the other files. Default none. */
  readonly postSummarizing?: string;
  /** E-113: as few bookkeeping attributes as possible. Default false. */
  readonly minimalBookkeeping?: boolean;
  /** Bytes; the longest text of a larger object is cut. Default 2 MiB. */
  readonly maxObjectBytes?: number;
  /** Bytes of `Keywords` (E-108). Default 8 KiB. */
  readonly maxKeywordBytes?: number;
  /** Characters of any attribute that is not a document's running text. Default 64 Ki. */
  readonly maxAttributeLength?: number;
  /** Links of one page (G-173). Default 10 000. */
  readonly maxLinks?: number;
  /** Depth of open HTML elements at which reading stops (a page of ever deeper tags costs the parser the square of it). Default 10 000. */
  readonly maxHtmlDepth?: number;
}

type Limits = 'maxObjectBytes' | 'maxKeywordBytes' | 'maxAttributeLength' | 'maxLinks' | 'maxHtmlDepth';
type Switches =
  | 'rawReferences'
  | 'trailingNewline'
  | 'keywords'
  | 'description'
  | 'fullText'
  | 'rawText'
  | 'access'
  | 'fakeMd5s'
  | 'grouping'
  | 'language'
  | 'minimalBookkeeping';

/** {@link EssenceOptions} with every default filled in. */
export type EssenceSettings = EssenceOptions &
  Required<Pick<EssenceOptions, Limits | Switches>> & { readonly unnest: UnnestLimits };

/** One document as it was gathered. */
export interface EssenceInput {
  /** Canonical URL. */
  readonly url: string;
  /** The gathered bytes; a pool may transfer their buffer. */
  readonly body: Uint8Array;
  /** MIME type without parameters, when the access method gave one (E-15). */
  readonly contentType?: string;
  /** Character set of the access method's reply (E-77). */
  readonly charset?: string;
  /** Where a symbolic link of this machine points, when it is the link that is summarized (E-14). */
  readonly linkTarget?: string;
  /** 0 when unknown. */
  readonly lastModificationTime: UnixSeconds;
  /** When this summary is made. */
  readonly updateTime: UnixSeconds;
}

/** A link found in a document: `L` navigational, `E` embedded (CRAWL's hop letters). */
export interface EssenceLink {
  readonly url: string;
  readonly hop: 'L' | 'E';
}

/** An object that came out of an Exploder (E-46, E-47). */
export interface ExplodedObject {
  readonly url: string;
  /** The complete object as it goes over the wire. */
  readonly soif: Uint8Array;
}

/** What {@link summarizeDocument} makes of a document. */
export interface EssenceOutput {
  /** The recognized type (E-12). */
  readonly type: string;
  /** No object of its own: the type is not to be indexed (E-25), the page says noindex (G-63), a rule deleted it (E-128), or it is exploded. */
  readonly rejected: boolean;
  /** The complete object as it goes over the wire; absent when rejected. */
  readonly soif?: Uint8Array;
  /** E-130, E-134: the object's URL when a rule changed it: it is stored under this one. */
  readonly url?: string;
  /** E-47: objects that Exploders found in the document, each to be stored under its own URL. */
  readonly exploded?: readonly ExplodedObject[];
  /** MD5 of the gathered bytes, 32 lower-case hexadecimal digits (E-111). */
  readonly md5: string;
  /** Lines of the post-summarizing rules whose condition held (E-136); absent: none did. */
  readonly rules?: readonly number[];
  /** Absolute, canonical, without repetitions (G-60); empty when the page says nofollow. */
  readonly links: readonly EssenceLink[];
  /** Sentences for the log: what was cut, ignored or not understood. */
  readonly warnings: readonly string[];
}

/** Names of the files that steer essence. */
const LIB_FILES = [
  'byname.cf',
  'byurl.cf',
  'bycontent.cf',
  'magic',
  'quick-sum.cf',
  'HTML.sum.tbl',
  'HTML-fulltext.sum.tbl',
] as const;

type LibFile = (typeof LIB_FILES)[number] | 'stoplist' | 'allowlist' | 'postSummarizing';

/** The user's programs, and how they are run. Plain data. */
export interface EssencePrograms {
  readonly settings: ProgramSettings;
  readonly found: TypePrograms;
}

/** The texts of the files that steer essence, read once; plain data. */
export type EssenceSources = Readonly<
  Partial<Record<LibFile, { readonly file: string; readonly text: string }>> & {
    programs?: EssencePrograms;
    sgml?: SgmlSources;
  }
>;

/** Reads the files of the options: each from `libDirectory` if it is there, else as shipped (G-21). */
export async function readEssenceSources(
  options: Pick<EssenceOptions, 'libDirectory' | 'stoplist' | 'allowlist' | 'programs' | 'postSummarizing'>,
): Promise<EssenceSources> {
  const sources: Partial<Record<LibFile, { file: string; text: string }>> = {};
  const read = async (key: LibFile, name: string) => {
    sources[key] = await readLibFile(name, options.libDirectory);
  };
  await Promise.all([
    ...LIB_FILES.map((name) => read(name, name)),
    read('stoplist', options.stoplist ?? 'stoplist.cf'),
    options.allowlist === undefined ? undefined : read('allowlist', options.allowlist),
    options.postSummarizing === undefined ? undefined : read('postSummarizing', options.postSummarizing),
  ]);
  const { libDirectory, programs } = options;
  const found =
    programs && (await findTypePrograms(programs.directories, programs.environment?.HARVEST_HOME));
  const sgml = await readSgmlSources(libDirectory, found?.sgml);
  return {
    ...sources,
    sgml,
    ...(programs === undefined || found === undefined ? {} : { programs: { settings: programs, found } }),
  };
}

async function readLibFile(
  name: string,
  libDirectory: string | undefined,
): Promise<{ file: string; text: string }> {
  if (libDirectory !== undefined) {
    const file = join(libDirectory, name);
    try {
      return { file, text: await readFile(file, 'utf8') };
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  // Resolved by way of a file that is there: a name that is not would be the module loader's error, not the file system's.
  const shipped = import.meta.resolve('#essence-lib/byname.cf');
  try {
    return { file: name, text: await readFile(name.includes('/') ? name : new URL(name, shipped), 'utf8') };
  } catch (cause) {
    throw new ConfigError(name, 0, '', `cannot be read: ${messageOf(cause)}`);
  }
}

/** Type rules and lists: what the frontier needs before it fetches (E-28). */
export interface SelectionRules {
  readonly byUrl: TypeRules;
  readonly byName: TypeRules;
  readonly byContent: TypeRules;
  /** E-16: the user's own descriptions of content; asked before what is built in. */
  readonly magic?: MagicRules;
  readonly stoplist: ReadonlySet<string>;
  readonly allowlist?: ReadonlySet<string>;
}

/** Everything the synchronous core needs, compiled. Not plain data: each thread compiles its own. */
export interface EssenceContext {
  readonly settings: EssenceSettings;
  readonly rules: SelectionRules;
  readonly quick: ReadonlyMap<string, readonly QuickRule[]>;
  readonly htmlTable: ExtractionTable;
  readonly programs?: EssencePrograms;
  /** E-86: document types that are summarized by a table. */
  readonly sgml?: SgmlTypes;
  /** E-120: absent when there are none. */
  readonly postRules?: PostRules;
}

/** Compiles options and sources. @throws ConfigError naming file and line. */
export function compileEssence(options: EssenceOptions, sources: EssenceSources): EssenceContext {
  const parse = <T>(key: LibFile, parser: (text: string, file: string) => T): T => {
    const source = sources[key];
    return parser(source?.text ?? '', source?.file ?? key);
  };
  const settings: EssenceSettings = {
    ...options,
    rawReferences: options.rawReferences ?? false,
    trailingNewline: options.trailingNewline ?? true,
    keywords: options.keywords ?? true,
    description: options.description ?? true,
    fullText: options.fullText ?? false,
    rawText: options.rawText ?? false,
    access: options.access ?? true,
    fakeMd5s: options.fakeMd5s ?? false,
    grouping: options.grouping ?? false,
    language: options.language ?? false,
    unnest: { ...DEFAULT_UNNEST_LIMITS, ...options.unnest },
    minimalBookkeeping: options.minimalBookkeeping ?? false,
    maxObjectBytes: options.maxObjectBytes ?? 2 * 1024 * 1024,
    maxKeywordBytes: options.maxKeywordBytes ?? 8 * 1024,
    maxAttributeLength: options.maxAttributeLength ?? 64 * 1024,
    maxLinks: options.maxLinks ?? 10_000,
    maxHtmlDepth: options.maxHtmlDepth ?? 10_000,
  };
  return {
    settings,
    rules: {
      byUrl: parse('byurl.cf', parseTypeRules),
      byName: parse('byname.cf', parseTypeRules),
      byContent: parse('bycontent.cf', parseTypeRules),
      magic: parse('magic', parseMagic),
      stoplist: parse('stoplist', parseTypeList),
      ...(sources.allowlist === undefined ? {} : { allowlist: parse('allowlist', parseTypeList) }),
    },
    quick: parse('quick-sum.cf', parseQuickRules),
    htmlTable: parse(settings.fullText ? 'HTML-fulltext.sum.tbl' : 'HTML.sum.tbl', parseExtractionTable),
    ...(sources.programs === undefined ? {} : { programs: sources.programs }),
    ...(sources.sgml === undefined ? {} : { sgml: compileSgmlTypes(sources.sgml) }),
    ...(sources.postSummarizing === undefined ? {} : { postRules: parse('postSummarizing', parsePostRules) }),
  };
}

/** Reads and compiles in one go: for use without a pool. */
export async function createEssenceContext(options: EssenceOptions): Promise<EssenceContext> {
  return compileEssence(options, await readEssenceSources(options));
}
