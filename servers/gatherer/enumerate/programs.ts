import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import {
  filePaths,
  type GathererConfig,
  type LeafNode,
  type NodeLocation,
  parseEnumeratedNode,
  parseLeafNode,
  type RootNode,
} from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';
import { decodeUrlLines } from '../../../protocols/soif/index.js';
import type { ProgramLimits, ProgramSettings } from '../../essence/external/limits.js';
import { runProgram } from '../../essence/external/run.js';
import { isListed } from './listed.js';

/** Settings of the programs in a configuration's URL lists (G-50 to G-54). */
export interface EnumerationOptions {
  /** Name of the configuration file, for messages. */
  readonly file: string;
  /**
   * Directories, environment and limits of programs; {@link enumerationSettings} derives them from a
   * configuration.
   */
  readonly programs: EnumerationPrograms;
  /** Receives every line and program that could not be used, and the programs' own messages. */
  readonly onProblem?: ((problem: ConfigError) => void) | undefined;
  /** Kills the running program; the call then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Lines of all programs together, so that programs that read each other's output terminate. Default 200 000.
   */
  readonly maxLines?: number;
  /**
   * Problems with a program's lines that are reported one by one; the others are reported as a number. Default
   * 20.
   */
  readonly maxProblems?: number;
}

/** Settings of the programs; plain data with absolute directories. */
export interface EnumerationPrograms extends ProgramSettings {
  /** Top-Directory: programs run in it, and relative paths are below it (G-54). */
  readonly topDirectory: string;
}

/** Longest chain of programs that read each other's output (G-51). */
const MAX_LEVELS = 16;
/** Defaults of the limits (G-51). */
const DEFAULT_MAX_LINES = 200_000;

/**
 * Enumeration programs may use the network, so they get more time than summarizers: five minutes of the
 * processor, 50 by the clock.
 */
const LIMITS: ProgramLimits = { timeMs: 300_000, cpuSeconds: 300, outputBytes: 32 * 1024 * 1024 };
/** Maximum number of URLs that one run of an enumeration program gets. */
const MAX_URLS_PER_RUN = 1000;
/** Maximum length of a line in UTF-16 units; a URL may have 2083. */
const MAX_LINE_LENGTH = 8192;
/**
 * Environment variables that programs get in addition to PATH: those that the original scripts set or need
 * (G-70, G-153), no secrets.
 */
const ENVIRONMENT = ['HARVEST_HOME', 'HOME', 'NNTPSERVER', 'TZ'] as const;

/**
 * Returns the settings of a configuration's programs. They are searched for in `bin` of Top-Directory, in
 * Lib-Directory, in the installed `lib/gatherer` and `bin`, and in PATH, in this order (G-54).
 * @param environment e.g. `process.env`
 */
export function enumerationSettings(
  config: Pick<GathererConfig, 'topDirectory' | 'libDirectory'>,
  environment: Readonly<Record<string, string | undefined>>,
  limits: ProgramLimits = {},
): EnumerationPrograms {
  const { HARVEST_HOME: home, PATH: path = '' } = environment;
  const topDirectory = resolve(config.topDirectory);
  const lib =
    config.libDirectory === undefined
      ? undefined
      : filePaths(config, config.libDirectory).find((directory) => existsSync(directory));
  return {
    topDirectory,
    directories: [
      join(topDirectory, 'bin'),
      ...(lib === undefined ? [] : [resolve(lib)]),
      ...(home === undefined ? [] : [join(home, 'lib', 'gatherer'), join(home, 'bin')]),
    ],
    path,
    environment: Object.fromEntries(
      ENVIRONMENT.flatMap((name) => {
        const value = environment[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    limits: { ...LIMITS, ...limits },
  };
}

/**
 * Yields the RootNodes of a configuration with every program replaced by its output: `|program` by one RootNode
 * a line, with the EnumSpec that follows the program (G-52), `Enumeration=program` by the RootNodes that it
 * derives from the URL (G-50, G-51). The order is that of the file and of the output (G-69). RootNodes without
 * a program are unchanged, also those with `Enumeration=sitemap`, which is not a program (G-172).
 *
 * A program that fails is reported as a problem, and its complete lines are used. A wrong line is reported with
 * its number.
 * @throws the signal's reason when aborted
 */
export async function* expandRootNodes(
  nodes: readonly RootNode[],
  options: EnumerationOptions,
): AsyncGenerator<RootNode, void, undefined> {
  yield* new Expansion(options).expandRoots(nodes);
}

/**
 * Yields the LeafNodes of a configuration with `|program` replaced by the URLs that it prints (G-52). @see
 * expandRootNodes
 */
export async function* expandLeafNodes(
  nodes: readonly LeafNode[],
  options: EnumerationOptions,
): AsyncGenerator<LeafNode, void, undefined> {
  yield* new Expansion(options).expandLeaves(nodes);
}

/** One line of a program's output. */
interface OutputLine {
  readonly text: string;
  /** 1-based. */
  readonly number: number;
}

/** Replaces programs in lists of nodes by their output. The limits apply to all programs together. */
class Expansion {
  readonly #options: EnumerationOptions;
  #lines = 0;
  #isLimitReported = false;

  constructor(options: EnumerationOptions) {
    this.#options = options;
  }

  async *expandRoots(nodes: readonly RootNode[]): AsyncGenerator<RootNode, void, undefined> {
    for (const node of nodes) {
      if (node.program === undefined) {
        yield* this.#enumerate([node], 1);
        continue;
      }
      const { program, line } = node;
      // The EnumSpec after the program applies to each of its URLs.
      const { program: _, ...spec } = node;
      const generated = this.#parseOutput(program.command, program.args, '', line, (text, place) => ({
        ...spec,
        ...parseUrlLine(text, place),
        line,
      }));
      for await (const batch of batches(generated)) yield* this.#enumerate(batch, 1);
    }
  }

  async *expandLeaves(nodes: readonly LeafNode[]): AsyncGenerator<LeafNode, void, undefined> {
    for (const node of nodes) {
      if (node.program === undefined) {
        yield node;
        continue;
      }
      const { program, line } = node;
      yield* this.#parseOutput(program.command, program.args, '', line, (text, place) => ({
        ...parseUrlLine(text, place),
        line,
      }));
    }
  }

  /** G-50, G-51. All nodes of a batch have the same program, so one run gets all their URLs. */
  async *#enumerate(batch: readonly RootNode[], level: number): AsyncGenerator<RootNode, void, undefined> {
    const [first] = batch;
    const program = first?.enumeration;
    if (first === undefined || program === undefined || isListed(first)) {
      yield* batch;
      return;
    }
    if (level > MAX_LEVELS) {
      this.#reportProblem(first.line, program, `not run: ${MAX_LEVELS} programs were already chained (G-51)`);
      return;
    }
    const input = batch.map(({ url }) => `${url}\n`).join('');
    const { line, search } = first;
    const nodes = this.#parseOutput(program, [], input, line, (text, place) => ({
      ...parseEnumeratedNode(text, place),
      // The nine fields of the output do not include Search.
      search,
      line,
    }));
    for await (const next of batches(nodes)) yield* this.#enumerate(next, level + 1);
  }

  /** Yields a program's parsed lines; reports those that `parse` refuses. */
  async *#parseOutput<T>(
    command: string,
    args: readonly string[],
    input: string,
    line: number,
    parse: (text: string, place: NodeLocation) => T,
  ): AsyncGenerator<T, void, undefined> {
    const { maxProblems = 20, maxLines = DEFAULT_MAX_LINES, onProblem } = this.#options;
    let invalidLines = 0;
    for (const { text, number } of await this.#run(command, args, input, line)) {
      this.#options.signal?.throwIfAborted();
      if (this.#lines >= maxLines) {
        if (!this.#isLimitReported)
          this.#reportProblem(line, command, `lines after the first ${maxLines} are skipped`);
        this.#isLimitReported = true;
        break;
      }
      this.#lines++;
      try {
        yield parse(text, { file: command, line: number });
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        if (++invalidLines <= maxProblems) onProblem?.(error);
      }
    }
    if (invalidLines > maxProblems)
      this.#reportProblem(line, command, `${invalidLines - maxProblems} more lines are not valid`);
  }

  async #run(
    command: string,
    args: readonly string[],
    input: string,
    line: number,
  ): Promise<readonly OutputLine[]> {
    const { programs, signal } = this.#options;
    const result = await runProgram(
      {
        program: programPath(command, programs.topDirectory),
        arguments: args,
        input: Buffer.from(input),
        directory: programs.topDirectory,
        temporaryDirectory: tmpdir(),
        signal,
      },
      programs,
    );
    const message = result.stderr.trim();
    if (result.failure !== undefined) this.#reportProblem(line, command, `failed: ${result.failure}`);
    else if (message !== '') this.#reportProblem(line, command, `wrote to standard error: ${message}`);
    const { lines, tooLong } = linesOf(result.output, result.failure !== undefined);
    if (tooLong > 0) this.#reportProblem(line, command, `${tooLong} lines of its output are too long`);
    return lines;
  }

  #reportProblem(line: number, command: string, problem: string): void {
    this.#options.onProblem?.(new ConfigError(this.#options.file, line, '', `${command} ${problem}`));
  }
}

/**
 * G-52: parses a line with one URL. Programs that print programs are refused, because they may never terminate.
 */
function parseUrlLine(text: string, place: NodeLocation): LeafNode {
  const node = parseLeafNode(text, place);
  if (node.program !== undefined)
    throw new ConfigError(place.file, place.line, '', 'must be a URL, not a program');
  return node;
}

/** G-20, G-54: a name is searched for; a relative path is below Top-Directory. */
function programPath(command: string, topDirectory: string): string {
  return command.includes('/') && !isAbsolute(command) ? join(topDirectory, command) : command;
}

/**
 * Returns the lines without comments and empty ones. @param isTruncated drops a last line without a line end
 */
function linesOf(output: Buffer, isTruncated: boolean): { lines: OutputLine[]; tooLong: number } {
  const physical = decodeUrlLines(output).split('\n');
  if (isTruncated) physical.pop();
  const lines: OutputLine[] = [];
  let tooLong = 0;
  physical.forEach((content, index) => {
    const text = content.trim();
    if (text === '' || text.startsWith('#')) return;
    if (text.length > MAX_LINE_LENGTH) tooLong++;
    else lines.push({ text, number: index + 1 });
  });
  return { lines, tooLong };
}

/** Groups adjacent nodes with the same program, or without a program, in bounded batches. */
async function* batches(
  nodes: AsyncIterable<RootNode>,
): AsyncGenerator<readonly RootNode[], void, undefined> {
  let batch: RootNode[] = [];
  for await (const node of nodes) {
    if (
      batch.length >= MAX_URLS_PER_RUN ||
      (batch.length > 0 && batch[0]!.enumeration !== node.enumeration)
    ) {
      yield batch;
      batch = [];
    }
    batch.push(node);
  }
  if (batch.length > 0) yield batch;
}
