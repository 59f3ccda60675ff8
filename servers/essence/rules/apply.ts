import { isAbsolute, join } from 'node:path';
import { ProtocolError } from '../../../protocols/errors.js';
import {
  decodeAttributes,
  decodeSoif,
  encodeSoif,
  isAttributeName,
  type SoifAttribute,
  SoifObject,
  type SoifValue,
} from '../../../protocols/soif/index.js';
import { type ProgramSettings, runProgram, Workplace } from '../external/index.js';
import { type Command, conditionHolds, type Instruction, type PostRules } from './model.js';

/** How rules are carried out. */
export interface PostRulesOptions {
  readonly programs: ProgramSettings;
  /** Absolute directory against which programs written with a slash are resolved. Default: such programs are refused. */
  readonly directory?: string;
  /** What `type` means to conditions: `SOIFStream` for an object that an Exploder wrote (E-47). Default: its attribute. */
  readonly type?: string;
  readonly signal?: AbortSignal;
}

/** What has become of an object. */
export interface PostRulesResult {
  /** Undefined: a rule deleted it. The same object when no rule changed it. */
  readonly object: SoifObject | undefined;
  /** Sentences for the log: filters that failed, with file and line of the rule. */
  readonly warnings: readonly string[];
  /** Lines of the rules whose condition held. */
  readonly applied: readonly number[];
}

/**
 * Applies the rules to a finished object (E-136): all that match, in file order, each on the object as the rules before left
 * it; `delete()` ends it (E-131). A filter that fails leaves the value as it was (E-133). The URL of the result may be
 * another one (E-130, E-134): the caller stores it under that.
 * @throws the signal's reason when aborted
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
      await run.carryOut(instruction);
    }
  }
  return { object: run.object, warnings: run.warnings, applied };
}

/** The same for an object as bytes. They are decoded only when there are rules, and written only when one changed something. */
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

  async carryOut(instruction: Exclude<Instruction, { readonly kind: 'delete' }>): Promise<void> {
    switch (instruction.kind) {
      case 'set':
        this.object = this.object.with([[this.#spelling(instruction.attribute), instruction.value]]);
        break;
      case 'filter':
        await this.#filter(instruction.attribute, instruction.command, instruction.line);
        break;
      case 'exchange':
        await this.#exchange(instruction.attributes, instruction.command, instruction.line);
        break;
    }
  }

  /** E-128 (2): the value on the program's input, its output is the new value. An attribute that is not there stays so. */
  async #filter(attribute: string, command: Command, line: number): Promise<void> {
    const isUrl = attribute.toLowerCase() === 'url';
    const value = isUrl ? this.object.urlBytes : this.object.get(attribute);
    if (value === undefined) return;
    const output = await this.#run(command, value, line);
    if (output === undefined) return;
    // E-133
    const result = value.at(-1) !== 0x0a && output.at(-1) === 0x0a ? output.subarray(0, -1) : output;
    if (!isUrl) {
      this.object = this.object.with([[this.#spelling(attribute), result]]);
      return;
    }
    const url = Buffer.from(result).toString('utf8');
    if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^\s{}]+$/.test(url)) {
      this.#warn(line, `${command[0]} wrote no URL: ${JSON.stringify(url.slice(0, 80))}; it stays (E-133)`);
    } else if (url !== this.object.url) {
      const pairs = this.object.attributes.map(({ name, value }) => [name, value] as const);
      this.object = SoifObject.of(this.object.type, url, pairs);
    }
  }

  /** E-132: the program gets an object with the attributes, and answers with one, or with attribute lines. */
  async #exchange(attributes: readonly string[], command: Command, line: number): Promise<void> {
    const given = new Map<string, Uint8Array>();
    for (const attribute of attributes) {
      const value = this.object.get(attribute);
      if (value !== undefined) given.set(this.#spelling(attribute), value);
    }
    const input = encodeSoif(SoifObject.of('FILE', this.object.url, given));
    const output = await this.#run(command, input, line);
    if (output === undefined) return;
    let answer: readonly SoifAttribute[];
    try {
      answer = readAnswer(output);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#warn(line, `${command[0]} wrote no SOIF: ${error.message}; nothing is changed (E-133)`);
      return;
    }
    const changes = new Map<string, readonly [string, SoifValue | undefined]>();
    // E-132: what it does not return is removed.
    for (const name of given.keys()) changes.set(name.toLowerCase(), [name, undefined]);
    for (const { name, value } of answer) {
      if (isAttributeName(name)) changes.set(name.toLowerCase(), [this.#spelling(name), value]);
      else
        this.#warn(line, `${command[0]}: ${JSON.stringify(name.slice(0, 40))} is no attribute name (E-69)`);
    }
    this.object = this.object.with(changes.values());
  }

  /** The program's output; undefined, with a warning, when it failed (E-133). */
  async #run(command: Command, input: Uint8Array, line: number): Promise<Uint8Array | undefined> {
    const { directory, programs, signal } = this.#options;
    const [written, ...words] = command;
    const program =
      written.includes('/') && !isAbsolute(written) && directory !== undefined
        ? join(directory, written)
        : written;
    await using place = await Workplace.open();
    const result = await runProgram(
      {
        program,
        arguments: words,
        input,
        directory: place.directory,
        ...(signal === undefined ? {} : { signal }),
      },
      programs,
    );
    if (result.failure === undefined) return result.output;
    this.#warn(line, `${written} failed: ${result.failure}; the value stays as it was (E-133)`);
    return undefined;
  }

  /** The name as the object spells it, else as the rule does. */
  #spelling(attribute: string): string {
    const at = this.object.indexOf(attribute);
    return at < 0 ? attribute : this.object.nameAt(at);
  }

  #warn(line: number, problem: string): void {
    this.warnings.push(`${this.#file}:${line}: ${problem}`);
  }
}

/** E-132: a complete object or bare attribute lines. @throws ProtocolError it is neither */
function readAnswer(output: Uint8Array): readonly SoifAttribute[] {
  if (/^\s*@/.test(Buffer.from(output.subarray(0, 200)).toString('latin1'))) {
    return decodeSoif(output).attributes;
  }
  return decodeAttributes(output);
}
