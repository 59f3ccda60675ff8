// The configuration files of Essence: read once as plain data (`EssenceSources`), then compiled by each thread
// (`EssenceContext`).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  attempt,
  ConfigError,
  errorCode,
  messageOf,
  throwConfigErrors,
  UsageError,
} from '../../protocols/errors.js';
import { addScheme } from '../../protocols/urls/index.js';
import type { SummarizerContext } from './document.js';
import { findTypePrograms, type TypePrograms } from './external/find.js';
import type { ProgramSettings } from './external/limits.js';
import { functionOf, isModule } from './external/modules.js';
import {
  DEFAULT_OPTIONS,
  DEFAULT_UNNEST_LIMITS,
  type EssenceOptions,
  type EssenceSettings,
} from './model.js';
import { describeContent } from './recognition/magic.js';
import { type MagicRules, parseMagic } from './recognition/magic-file.js';
import {
  parseQuickRules,
  parseTypeList,
  parseTypeRules,
  parseUrlRules,
  type QuickRule,
  type TypeRules,
  typeName,
} from './recognition/type-rules.js';
import { TYPES } from './recognition/types.js';
import type { PostRules } from './rules/model.js';
import { parsePostRules } from './rules/parse.js';
import { parseSelectorRules, type SelectorRules } from './selectors/rules.js';
import { type ExtractionTable, parseExtractionTable } from './sgml/table.js';
import { compileSgmlTypes, readSgmlSources, type SgmlSources, type SgmlTypes } from './sgml/types.js';

/** Names of Essence's configuration files. */
const LIB_FILES = [
  'byname.cf',
  'byurl.cf',
  'bycontent.cf',
  'magic',
  'quick-sum.cf',
  'selectors.cf',
  'HTML.sum.tbl',
  'HTML-fulltext.sum.tbl',
] as const;

type LibFile = (typeof LIB_FILES)[number] | 'stoplist' | 'allowlist' | 'postSummarizing';

/** The user's programs and their settings. Plain data. */
export interface EssencePrograms {
  readonly settings: ProgramSettings;
  readonly found: TypePrograms;
}

/** The texts of Essence's configuration files, read once. Plain data. */
export type EssenceSources = Readonly<
  Partial<Record<LibFile, { readonly file: string; readonly text: string }>> & {
    programs?: EssencePrograms;
    sgml?: SgmlSources;
  }
>;

/** Reads the configuration files: each from `libDirectory` if it exists there, else the shipped one (G-21). */
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
  await checkSelectorFile(sources['selectors.cf']);
  const { libDirectory, programs } = options;
  const found = programs && (await findPrograms(programs));
  const sgml = await readSgmlSources(libDirectory, { ...found?.installed.sgml, ...found?.sgml });
  return {
    ...sources,
    sgml,
    ...(programs === undefined || found === undefined ? {} : { programs: { settings: programs, found } }),
  };
}

async function findPrograms({
  directories,
  environment,
  installedDirectories,
  modules,
}: ProgramSettings): Promise<TypePrograms> {
  const found = await findTypePrograms(directories, environment?.HARVEST_HOME, installedDirectories);
  const summarizers = { ...found.summarizers, ...byType(modules?.summarizers) };
  const unnesters = { ...found.unnesters, ...byType(modules?.unnesters) };
  for (const file of Object.values(summarizers)) if (isModule(file)) await functionOf(file, 'summarize');
  for (const file of Object.values(unnesters)) if (isModule(file)) await functionOf(file, 'unnest');
  return { ...found, summarizers, unnesters };
}

function byType(modules: Readonly<Record<string, string>> = {}): Record<string, string> {
  for (const [type, file] of Object.entries(modules)) {
    if (!isModule(file))
      throw new UsageError(`the module of type ${type} is not a file .js or .mjs: ${file}`);
  }
  return Object.fromEntries(Object.entries(modules).map(([type, file]) => [typeName(type), file]));
}

/** Checks the syntax of the CSS selectors. Their parser is loaded only if there are any. */
async function checkSelectorFile(source: { file: string; text: string } | undefined): Promise<void> {
  const { all } = parseSelectorRules(source?.text ?? '', source?.file ?? '');
  if (all.length > 0) (await import('./selectors/extract.js')).checkSelectors(all);
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
  // Resolved by a file that exists: for a missing one the module loader, not the file system, would throw.
  const shipped = import.meta.resolve('#essence-lib/byname.cf');
  try {
    return { file: name, text: await readFile(name.includes('/') ? name : new URL(name, shipped), 'utf8') };
  } catch (cause) {
    throw new ConfigError(name, 0, '', `cannot be read: ${messageOf(cause)}`);
  }
}

/** Type rules and lists, which the frontier applies before it fetches (E-28). */
export interface SelectionRules {
  readonly byUrl: TypeRules;
  readonly byName: TypeRules;
  readonly byContent: TypeRules;
  /** E-16: the user's descriptions of content; they precede the built-in ones. */
  readonly magic?: MagicRules;
  readonly stoplist: ReadonlySet<string>;
  readonly allowlist?: ReadonlySet<string> | undefined;
}

/** The rules for the line `*` of byname.cf and of bycontent.cf. */
const NAME_RULES = [...TYPES].flatMap(([type, { suffixes }]) =>
  suffixes === undefined ? [] : [{ type, expression: `^.*\\.(${suffixes.replaceAll(' ', '|')})$` }],
);
const CONTENT_RULES = [...TYPES].flatMap(([type, { content: expression }]) =>
  expression === undefined ? [] : [{ type, expression }],
);

/** The compiled options and files. Not plain data: each thread compiles its own. */
export interface EssenceContext extends SummarizerContext {
  readonly settings: EssenceSettings;
  readonly rules: SelectionRules;
  readonly quick: ReadonlyMap<string, readonly QuickRule[]>;
  /** Rules for the pages of a site. */
  readonly selectors: SelectorRules;
  readonly programs?: EssencePrograms | undefined;
  /** E-86: the document types that have a table. */
  readonly sgml?: SgmlTypes | undefined;
  /** E-120: absent without a rules file. */
  readonly postRules?: PostRules | undefined;
}

/** Compiles options and sources. @throws ConfigError naming file and line, for all files that are wrong. */
export function compileEssence(options: EssenceOptions, sources: EssenceSources): EssenceContext {
  for (const [scheme, port] of Object.entries(options.schemes ?? {})) addScheme(scheme, port);
  const errors: ConfigError[] = [];
  const parse = <T>(key: LibFile, parser: (text: string, file: string) => T): T => {
    const source = sources[key];
    const parsed = attempt(() => parser(source?.text ?? '', source?.file ?? key), undefined, errors);
    return parsed ?? parser('', key);
  };
  const { sgml } = sources;
  const settings: EssenceSettings = {
    ...options,
    ...withDefaults(DEFAULT_OPTIONS, options),
    unnest: { ...DEFAULT_UNNEST_LIMITS, ...options.unnest },
  };
  const context: EssenceContext = {
    settings,
    rules: {
      byUrl: parse('byurl.cf', parseUrlRules),
      byName: parse('byname.cf', (text, file) => parseTypeRules(text, file, NAME_RULES)),
      byContent: parse('bycontent.cf', (text, file) => parseTypeRules(text, file, CONTENT_RULES)),
      magic: parse('magic', parseMagic),
      stoplist: parse('stoplist', parseTypeList),
      allowlist: sources.allowlist === undefined ? undefined : parse('allowlist', parseTypeList),
    },
    quick: parse('quick-sum.cf', parseQuickRules),
    htmlTable: parse(settings.fullText ? 'HTML-fulltext.sum.tbl' : 'HTML.sum.tbl', (text, file) =>
      htmlTable(parseExtractionTable(text, file), settings),
    ),
    describe: describeContent,
    selectors: parse('selectors.cf', parseSelectorRules),
    programs: sources.programs,
    sgml: sgml === undefined ? undefined : attempt(() => compileSgmlTypes(sgml), undefined, errors),
    postRules: sources.postSummarizing === undefined ? undefined : parse('postSummarizing', parsePostRules),
  };
  throwConfigErrors(errors);
  return context;
}

/** Replaces the defaults by the options that are not undefined. */
function withDefaults<T extends object>(defaults: T, options: Partial<T>): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}

/**
 * E-98: without its line, the text in CODE belongs to the enclosing element, like that of all elements that
 * have no line.
 */
function htmlTable(table: ExtractionTable, { code }: EssenceSettings): ExtractionTable {
  if (!code || table.get('code')?.content?.ignore !== true) return table;
  return new Map([...table].filter(([tag]) => tag !== 'code'));
}

/** Reads and compiles, for use without a pool. */
export async function createEssenceContext(options: EssenceOptions): Promise<EssenceContext> {
  return compileEssence(options, await readEssenceSources(options));
}
