import { isAbsolute, join } from 'node:path';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  decodeSoif,
  encodeSoif,
  isAttributeName,
  type SoifAttribute,
  SoifObject,
  type SoifValue,
  textOfUrl,
  urlOfBytes,
} from '../../../protocols/soif/index.js';
import type { ProgramSettings } from '../external/limits.js';
import { ScratchDirectory } from '../external/programs.js';
import { runProgram } from '../external/run.js';
import { decodeObjectOrList } from '../external/soif-output.js';
import { type Command, conditionHolds, type Instruction, isUrl, type PostRules } from './model.js';

/** Settings of applying rules. */
export interface PostRulesOptions {
  readonly programs: ProgramSettings;
  /**
   * Absolute directory against which programs written with a slash are resolved. Default: such programs are
   * refused.
   */
  readonly directory?: string;
  /**
   * The value of `type` in conditions: `SOIFStream` for an object that an Exploder wrote (E-47). Default: the
   * object's attribute.
   */
  readonly type?: string;
}

/** An object after the rules. */
export interface PostRulesResult {
  /** Undefined if a rule deleted it; the same object if no rule changed it. */
  readonly object: SoifObject | undefined;
  /** Messages for the log: filters that failed, with file and line of the rule. */
  readonly warnings: readonly string[];
  /** Lines of the rules whose condition was true. */
  readonly applied: readonly number[];
}

/**
 * Applies the matching rules to a finished object in file order (E-136), each to the result of the previous
 * one; `delete()` ends (E-131). A filter that fails leaves the value unchanged (E-133). The result may have
 * another URL (E-130, E-134): the caller stores it under that one.
 */
export async function applyPostRules(
  object: SoifObject,
  rules: PostRules,
  options: PostRulesOptions,
): Promise<PostRulesResult> {
  const run = new PostRun(object, rules.file, options);
  const applied: number[] = [];
  for (const { condition, instructions, line } of rules.rules) {
    if (!conditionHolds(condition, run.object, options.type)) continue;
    applied.push(line);
    for (const instruction of instructions) {
      if (instruction.kind === 'delete') return { object: undefined, warnings: run.warnings, applied };
      await run.execute(instruction);
    }
  }
  return { object: run.object, warnings: run.warnings, applied };
}

/** {@link applyPostRules} for an encoded object, which is encoded again only if a rule changed it. */
export async function applyPostRulesToBytes(
  soif: Uint8Array,
  rules: PostRules,
  options: PostRulesOptions,
): Promise<{
  readonly soif: Uint8Array | undefined;
  readonly url: string;
  readonly warnings: readonly string[];
  readonly applied: readonly number[];
}> {
  const before = decodeSoif(soif);
  const { object, warnings, applied } = await applyPostRules(before, rules, options);
  if (object === undefined) return { soif: undefined, url: before.url, warnings, applied };
  return { soif: object === before ? soif : encodeSoif(object), url: object.url, warnings, applied };
}

class PostRun {
  object: SoifObject;
  readonly warnings: string[] = [];
  readonly #file: string;
  readonly #options: PostRulesOptions;

  constructor(object: SoifObject, file: string, options: PostRulesOptions) {
    this.object = object;
    this.#file = file;
    this.#options = options;
  }

  async execute(instruction: Exclude<Instruction, { readonly kind: 'delete' }>): Promise<void> {
    if (instruction.kind === 'set')
      this.object = this.object.with([[this.#spelling(instruction.attribute), instruction.value]]);
    else if (instruction.kind === 'filter')
      await this.#filter(instruction.attribute, instruction.command, instruction.line);
    else await this.#exchange(instruction.attributes, instruction.command, instruction.line);
  }

  /** E-128 (2): the program reads the value and writes the new one. Does nothing for a missing attribute. */
  async #filter(attribute: string, command: Command, line: number): Promise<void> {
    const value = isUrl(attribute) ? this.object.urlBytes : this.object.get(attribute);
    if (value === undefined) return;
    const output = await this.#run(command, value, line);
    if (output === undefined) return;
    // E-133
    const result = value.at(-1) !== 0x0a && output.at(-1) === 0x0a ? output.subarray(0, -1) : output;
    if (!isUrl(attribute)) {
      this.object = this.object.with([[this.#spelling(attribute), result]]);
      return;
    }
    const url = urlOfBytes(result);
    if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^\0\t-\r ]+$/.test(url)) {
      this.#warn(
        line,
        `${command[0]} wrote no URL: ${JSON.stringify(textOfUrl(url.slice(0, 80)))}; the URL is not changed (E-133)`,
      );
    } else if (url !== this.object.url) {
      const pairs = this.object.attributes.map(({ name, value }) => [name, value] as const);
      this.object = SoifObject.of(this.object.type, url, pairs);
    }
  }

  /** E-132: the program reads an object with the attributes and writes an object or attribute lines. */
  async #exchange(attributes: readonly string[], command: Command, line: number): Promise<void> {
    const passed = new Map<string, Uint8Array>();
    for (const attribute of attributes) {
      const value = this.object.get(attribute);
      if (value !== undefined) passed.set(this.#spelling(attribute), value);
    }
    const input = encodeSoif(SoifObject.of('FILE', this.object.url, passed));
    const output = await this.#run(command, input, line);
    if (output === undefined) return;
    let reply: readonly SoifAttribute[];
    try {
      reply = decodeObjectOrList(output, (message) => this.#warn(line, `${command[0]}: ${message}`));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#warn(line, `${command[0]} wrote no SOIF: ${error.message}; nothing is changed (E-133)`);
      return;
    }
    const changes = new Map<string, readonly [string, SoifValue | undefined]>();
    // E-132: attributes that it does not return are removed.
    for (const name of passed.keys()) changes.set(name.toLowerCase(), [name, undefined]);
    for (const { name, value } of reply) {
      if (isAttributeName(name)) changes.set(name.toLowerCase(), [this.#spelling(name), value]);
      else
        this.#warn(
          line,
          `${command[0]}: ${JSON.stringify(name.slice(0, 40))} is not an attribute name (E-69)`,
        );
    }
    this.object = this.object.with(changes.values());
  }

  /** Returns the program's output; undefined, with a warning, if it failed (E-133). */
  async #run(command: Command, input: Uint8Array, line: number): Promise<Uint8Array | undefined> {
    const { directory, programs } = this.#options;
    const [written, ...words] = command;
    const program =
      written.includes('/') && !isAbsolute(written) && directory !== undefined
        ? join(directory, written)
        : written;
    await using scratch = await ScratchDirectory.open(programs);
    const run = { program, arguments: words, input, directory: scratch.directory };
    const result = await runProgram(run, programs);
    if (result.failure === undefined) return result.output;
    this.#warn(line, `${written} failed: ${result.failure}; the value is not changed (E-133)`);
    return undefined;
  }

  /** Returns the object's spelling of the name; the rule's if the object does not have it. */
  #spelling(attribute: string): string {
    const index = this.object.indexOf(attribute);
    return index < 0 ? attribute : this.object.nameAt(index);
  }

  #warn(line: number, problem: string): void {
    this.warnings.push(`${this.#file}:${line}: ${problem}`);
  }
}
