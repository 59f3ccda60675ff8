// Parses a Gatherer's configuration file and its secrets file (G-11 to G-39).
import { attempt, ConfigError, throwConfigErrors } from '../errors.js';
import { addScheme } from '../urls/index.js';
import {
  type LeafNode,
  type NodeLocation,
  parseLeafNode,
  parseRootNode,
  type RootNode,
} from './enum-spec.js';
import {
  GATHERER_VARIABLES,
  type GathererSecrets,
  type GathererVariables,
  SECRET_VARIABLES,
} from './gatherer-variables.js';
import { DEFAULT_DELAY } from './root-node-defaults.js';
import { type ConfigLine, directoryOf, isAbsolutePath, joinPath, readLines } from './values.js';
import type { Assignment } from './variables.js';

/** Variables whose defaults depend on other variables or on the host. */
type Derived =
  | 'dataDirectory'
  | 'errorlogFile'
  | 'gathererHost'
  | 'logFile'
  | 'topDirectory'
  | 'workingDirectory';

/**
 * A Gatherer's configuration (gatherer.md 2.1). `libDirectory`, `postSummarizing`, `secretsFile` and the
 * filters of the RootNodes are as written; {@link filePaths} returns the paths to try.
 */
export interface GathererConfig extends Readonly<Omit<GathererVariables, Derived>> {
  readonly gathererHost: string;
  readonly topDirectory: string;
  /** The paths of these four are joined to Top-Directory (G-20). */
  readonly dataDirectory: string;
  readonly workingDirectory: string;
  readonly logFile: string;
  readonly errorlogFile: string;
  /** In file order (G-69). */
  readonly rootNodes: readonly RootNode[];
  readonly leafNodes: readonly LeafNode[];
}

/** Defaults that the caller supplies: the name of this host, and a Top-Directory. */
export interface GathererDefaults {
  /** Default `localhost`. */
  readonly gathererHost?: string;
  /** Default: the directory of the configuration file. */
  readonly topDirectory?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Parses a Gatherer's configuration file (G-13 to G-36).
 *
 * @param file its name, for messages and for the default of Top-Directory
 * @param env values of `${NAME}` (G-25), e.g. `process.env`
 * The schemes of its `Fetcher` lines become known to the process.
 *
 * @returns warnings for unknown variables (G-24) and for lines of the lists that cannot be used, which are
 *   passed over
 * @throws ConfigError for a variable after the lists, a duplicate, a bad number; several as one error, which
 * then also names the lines of the lists that cannot be used
 */
export function parseGathererConf(
  text: string,
  file: string,
  env: Environment = {},
  defaults: GathererDefaults = {},
): { config: GathererConfig; warnings: ConfigError[] } {
  const errors: ConfigError[] = [];
  const sections = splitSections(readLines(text, { continuation: true }), file, errors);
  const assignments = sections.variables.flatMap((line) =>
    attempt(() => [readAssignment(line, file, env)], [], errors),
  );
  const { values, warnings } = attempt(
    (): Partial<ReturnType<typeof GATHERER_VARIABLES.read>> => GATHERER_VARIABLES.read(assignments, file),
    {},
    errors,
  );
  const passedOver: ConfigError[] = [];
  const nodesOf = <T>(
    lines: readonly ConfigLine[],
    parse: (line: string, location: NodeLocation) => T,
  ): T[] =>
    lines.flatMap(({ text: line, line: number }) =>
      attempt(() => [parse(line, { file, line: number })], [], passedOver),
    );
  // The URLs of the lists may have these schemes.
  for (const { scheme, port } of values?.fetchers ?? []) addScheme(scheme, port);
  const delay = values?.accessDelay ?? DEFAULT_DELAY;
  const rootNodes = nodesOf(sections.rootNodes, (line, location) => parseRootNode(line, location, { delay }));
  const leafNodes = nodesOf(sections.leafNodes, parseLeafNode);
  if (errors.length > 0 || values === undefined) throwConfigErrors([...errors, ...passedOver]);
  if (values === undefined) throw new ConfigError(file, 0, '', 'cannot be used');
  const topDirectory = values.topDirectory ?? defaults.topDirectory ?? directoryOf(file);
  const config: GathererConfig = {
    ...values,
    topDirectory,
    gathererHost: values.gathererHost ?? defaults.gathererHost ?? 'localhost',
    dataDirectory: joinPath(topDirectory, values.dataDirectory ?? 'data'),
    workingDirectory: joinPath(topDirectory, values.workingDirectory ?? 'tmp'),
    logFile: joinPath(topDirectory, values.logFile),
    errorlogFile: joinPath(topDirectory, values.errorlogFile),
    rootNodes,
    leafNodes,
  };
  return { config, warnings: [...(warnings ?? []), ...passedOver.map(asPassedOver)] };
}

/**
 * The warning for a line of the lists that cannot be used: one bad URL must not stop the gathering of all
 * others.
 */
function asPassedOver({ file, line, variable, problem }: ConfigError): ConfigError {
  return new ConfigError(file, line, variable, `${problem} (G-28, G-55); the line is passed over`);
}

/**
 * Parses a secrets file (G-25): `HTTP-Basic-Auth:` and `FTP-Auth:` lines in the syntax of the main file.
 * @throws ConfigError
 */
export function parseSecrets(
  text: string,
  file: string,
  env: Environment = {},
): { secrets: GathererSecrets; warnings: ConfigError[] } {
  const assignments = readLines(text, { continuation: true }).map((line) => readAssignment(line, file, env));
  const { values, warnings } = SECRET_VARIABLES.read(assignments, file);
  return { secrets: values, warnings };
}

/** G-20: the possible paths of a file that the configuration names, first choice first. */
export function filePaths(config: { readonly topDirectory: string }, name: string): readonly string[] {
  if (isAbsolutePath(name)) return [name];
  const inTop = joinPath(config.topDirectory, name);
  return inTop === name ? [name] : [inTop, name];
}

interface Sections {
  readonly variables: ConfigLine[];
  readonly rootNodes: ConfigLine[];
  readonly leafNodes: ConfigLine[];
}

/** G-13: variables first, then the lists. What does not fit goes into `errors`. */
function splitSections(lines: readonly ConfigLine[], file: string, errors: ConfigError[]): Sections {
  const sections: Sections = { variables: [], rootNodes: [], leafNodes: [] };
  let open: { name: string; line: number; into: ConfigLine[] } | undefined;
  let listsBegun = false;
  for (const line of lines) {
    const tag = /^\s*<(\/?)(RootNodes|LeafNodes)>$/i.exec(line.text);
    if (tag === null) {
      if (open !== undefined) open.into.push(line);
      else if (!listsBegun) sections.variables.push(line);
      // G-24: the lists come last.
      else
        errors.push(
          new ConfigError(
            file,
            line.line,
            variableName(line.text),
            'variables must come before the URL lists',
          ),
        );
      continue;
    }
    const closing = tag[1] === '/';
    const name = tag[2]!.toLowerCase();
    if (closing !== (open !== undefined) || (closing && open?.name !== name)) {
      const problem = closing ? 'no such list is open' : 'the previous list is still open';
      errors.push(new ConfigError(file, line.line, tag[2]!, problem));
      if (closing) continue;
    }
    listsBegun = true;
    open = closing
      ? undefined
      : { name, line: line.line, into: name === 'rootnodes' ? sections.rootNodes : sections.leafNodes };
  }
  if (open !== undefined) errors.push(new ConfigError(file, open.line, '', 'the URL list is not closed'));
  return sections;
}

/** G-14: the name in column one, a colon, the value. */
function readAssignment(line: ConfigLine, file: string, env: Environment): Assignment {
  const match = /^([A-Za-z][\w-]*)[ \t]*:(.*)$/s.exec(line.text);
  if (match === null)
    throw new ConfigError(file, line.line, '', 'a variable must start in column one and end with a colon');
  const name = match[1]!;
  // G-25: values of the environment are not expanded again.
  const value = match[2]!.trim().replace(/\$\{(\w+)\}/g, (_, variable: string) => {
    const found = env[variable];
    if (found === undefined)
      throw new ConfigError(file, line.line, name, `the environment has no ${variable}`);
    return found;
  });
  return { name, value, line: line.line };
}

/** The name of the variable in a line, for a message; '' if the line does not look like a variable. */
function variableName(text: string): string {
  return /^([A-Za-z][\w-]*)[ \t]*:(?!\/\/)/.exec(text)?.[1] ?? '';
}
