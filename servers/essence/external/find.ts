import { constants, existsSync } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { isFile, namesIn } from '../files.js';
import { typeName } from '../recognition/type-rules.js';
import type { ProgramSettings } from './limits.js';
import { isModule } from './modules.js';

/** The user's programs by type (E-61, E-46). Plain data, because it is posted to worker threads. */
export interface OwnPrograms {
  /** Absolute paths of `TypeName.sum` or `TypeName.sum.mjs`, by type. */
  readonly summarizers: Readonly<Record<string, string>>;
  /** Absolute paths of `TypeName.unnest` or `TypeName.unnest.mjs`, by type. */
  readonly unnesters: Readonly<Record<string, string>>;
  /** E-86: types whose `.sum` is only `exec SGML.sum ...`; this process interprets it. */
  readonly sgml: Readonly<Record<string, SgmlCommand>>;
}

/**
 * The programs of the Gatherer, and those of the machine, for types that Essence does not read itself (E-61).
 */
export interface TypePrograms extends OwnPrograms {
  readonly installed: OwnPrograms;
}

/** The arguments of a line `exec SGML.sum [-d declaration] [-t table] DOCTYPE $*` (E-81). */
export interface SgmlCommand {
  readonly documentType: string;
  /** `-t`, with `$HARVEST_HOME` expanded; relative to the script's directory. */
  readonly table?: string | undefined;
  /** `-d`, in the same way. */
  readonly declaration?: string | undefined;
}

/** Maximum size of a wrapper script; a longer script does more than call SGML.sum. */
const MAX_WRAPPER_BYTES = 4096;

/**
 * Finds `TypeName.sum` and `TypeName.unnest` in the directories; earlier directories take precedence (E-61:
 * that of the Gatherer is first). With the suffix `.mjs` they are modules, which must not be executable; a
 * program of the same name precedes them. Missing directories are skipped; the warnings name files that cannot
 * be executed.
 *
 * @param harvestHome value of `$HARVEST_HOME` in the wrappers of E-86 and E-101
 * @param installed directories of the machine; they come last, without modules, and without warnings, because
 *   they belong to the system
 */
export async function findTypePrograms(
  directories: readonly string[],
  harvestHome = '',
  installed: readonly string[] = [],
): Promise<TypePrograms & { readonly warnings: readonly string[] }> {
  const own = await programsIn(directories, harvestHome, /^([A-Za-z0-9_-]+)\.(sum|unnest)(?:\.mjs)?$/);
  const others = await programsIn(
    installed.filter((directory) => !directories.includes(directory)),
    harvestHome,
    /^([A-Za-z0-9_-]+)\.(sum|unnest)$/,
  );
  const { warnings: _, ...ofMachine } = others;
  return { ...own, installed: ofMachine };
}

async function programsIn(
  directories: readonly string[],
  harvestHome: string,
  pattern: RegExp,
): Promise<OwnPrograms & { readonly warnings: readonly string[] }> {
  const summarizers: Record<string, string> = {};
  const unnesters: Record<string, string> = {};
  const sgml: Record<string, SgmlCommand> = {};
  const warnings: string[] = [];
  for (const directory of directories) {
    // In their order: `X.sum` comes before `X.sum.mjs`.
    for (const name of await namesIn(directory)) {
      const parts = pattern.exec(name);
      if (parts === null) continue;
      const type = typeName(parts[1]!);
      const programs = parts[2] === 'sum' ? summarizers : unnesters;
      if (type in programs || (parts[2] === 'sum' && type in sgml)) continue;
      const file = resolve(directory, name);
      if (isModule(file)) {
        programs[type] = file;
        continue;
      }
      const command = parts[2] === 'sum' ? await sgmlCommandIn(file, harvestHome) : undefined;
      if (command !== undefined) sgml[type] = command;
      else if (await isExecutable(file)) programs[type] = file;
      else warnings.push(`${file} is not used: it is not an executable file`);
    }
  }
  return { summarizers, unnesters, sgml, warnings };
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return await isFile(file);
  } catch {
    return false;
  }
}

async function sgmlCommandIn(file: string, harvestHome: string): Promise<SgmlCommand | undefined> {
  try {
    if ((await stat(file)).size > MAX_WRAPPER_BYTES) return undefined;
    return parseSgmlWrapper(await readFile(file, 'utf8'), join(file, '..'), harvestHome);
  } catch {
    return undefined;
  }
}

/**
 * Parses a shell script that only does `exec SGML.sum FOO $*` (E-86 step 1, E-101). Returns undefined for any
 * other script, which is run as a program.
 */
export function parseSgmlWrapper(
  script: string,
  directory: string,
  harvestHome: string,
): SgmlCommand | undefined {
  const lines = script.split('\n').map((line) => line.trim());
  if (lines.shift()?.startsWith('#!') !== true) return undefined;
  const [only, ...more] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (only === undefined || more.length > 0) return undefined;
  const found =
    /^(?:exec\s+)?(?:\S*\/)?SGML\.sum((?:\s+-[dt]\s+[\w./${}"-]+)*)\s+([A-Za-z][\w.-]*)\s+"?\$[*@]"?$/.exec(
      only,
    );
  if (found === null) return undefined;
  const option = (letter: string): string | undefined => {
    const value = new RegExp(`-${letter}\\s+(\\S+)`).exec(found[1]!)?.[1];
    const plain = value?.replaceAll('"', '').replace(/\$\{?HARVEST_HOME\}?/, () => harvestHome);
    return plain === undefined ? undefined : resolve(directory, plain);
  };
  return { documentType: found[2]!, table: option('t'), declaration: option('d') };
}

/**
 * Where the programs of the machine are: `$HARVEST_HOME/lib/gatherer`, `$HARVEST_HOME/bin`, then PATH (E-61,
 * G-54).
 * @param environment e.g. `process.env`
 */
export function installedPrograms(
  environment: Readonly<Record<string, string | undefined>>,
): Required<Pick<ProgramSettings, 'installedDirectories' | 'path' | 'environment'>> {
  const { PATH: path = '', HARVEST_HOME: home } = environment;
  const ofHarvest =
    home === undefined || home === '' ? [] : [join(home, 'lib', 'gatherer'), join(home, 'bin')];
  return {
    installedDirectories: existingDirectories([...ofHarvest, ...path.split(delimiter).filter(isAbsolute)]),
    path: [...ofHarvest, path].join(delimiter),
    environment: home === undefined || home === '' ? {} : { HARVEST_HOME: home },
  };
}

/** Returns the absolute paths of the directories that exist, each once, in their order. */
export function existingDirectories(directories: readonly string[]): string[] {
  return [...new Set(directories.map((directory) => resolve(directory)))].filter((path) => existsSync(path));
}
