import { createInterface, type Interface } from 'node:readline/promises';
import { UsageError } from '../../../protocols/errors.js';
import { longFlag } from '../options/option-values.js';
import { hiddenAnswer } from '../options/passwords.js';
import { type Answers, checkCombination, harvestHome, QUESTIONS, type Question } from './answers.js';

/** Given answers, and how to get the others. */
export interface DialogueOptions {
  /** Answers of the command line; they are not asked for. */
  readonly given: Partial<Answers>;
  /** Ask nothing; use the defaults of answers that are not given. */
  readonly silent: boolean;
  /** Ask only questions without a sensible default (G-159 `-novice`). */
  readonly novice: boolean;
  /** A terminal without control functions: secret answers are shown while typed (G-159 `-dumbtty`). */
  readonly dumb: boolean;
}

/** Asks questions on standard error; the answers are lines of standard input. */
export class Dialogue implements Disposable {
  readonly #options: DialogueOptions;
  #terminal: Interface | undefined;
  #lines: AsyncIterator<string> | undefined;

  constructor(options: DialogueOptions) {
    this.#options = options;
  }

  /**
   * Returns every answer: given, asked for, or the default.
   *
   * @throws UsageError if a given answer is invalid, or standard input ends before the last answer
   */
  async answers(): Promise<Answers> {
    const home = harvestHome();
    const answers = Object.fromEntries(QUESTIONS.map(({ key }) => [key, ''])) as Record<
      keyof Answers,
      string
    >;
    for (const question of QUESTIONS) answers[question.key] = await this.#answer(question, answers, home);
    checkCombination(answers);
    return answers;
  }

  /** Asks for yes or no; returns `silentAnswer` if no question may be asked. */
  async confirm(text: string, defaultAnswer: boolean, silentAnswer: boolean): Promise<boolean> {
    if (this.#options.silent) return silentAnswer;
    for (;;) {
      const answer = (await this.#line(`${text} [${defaultAnswer ? 'yes' : 'no'}] `)).trim().toLowerCase();
      if (answer === '') return defaultAnswer;
      if (/^(?:y|yes|n|no)$/.test(answer)) return answer.startsWith('y');
      process.stderr.write('Please answer yes or no.\n');
    }
  }

  [Symbol.dispose](): void {
    this.#terminal?.close();
  }

  async #answer(question: Question, before: Partial<Answers>, home: string): Promise<string> {
    const { key, text, novice, defaultAnswer, problem } = question;
    const given = this.#options.given[key];
    if (given !== undefined) {
      const wrong = problem(given);
      // A secret answer is not repeated in the message.
      if (wrong !== undefined) throw new UsageError(`${longFlag(key)} ${wrong}`);
      return given;
    }
    const defaultValue = await defaultAnswer(before, home);
    if (this.#options.silent || (this.#options.novice && !novice)) return defaultValue;
    for (;;) {
      const prompt = `${text}${defaultValue === '' ? '' : ` [${defaultValue}]`}: `;
      const hidden = question.secret === true && !this.#options.dumb && process.stdin.isTTY;
      const typed = (hidden ? await this.#hidden(prompt) : await this.#line(prompt)).trim();
      const answer = typed === '' ? defaultValue : typed;
      const wrong = problem(answer);
      if (wrong === undefined) return answer;
      process.stderr.write(`The answer ${wrong}.\n`);
    }
  }

  /** Asks for a secret answer. Closes the line reader first: only one reader may listen to the terminal. */
  async #hidden(prompt: string): Promise<string> {
    this.#terminal?.close();
    this.#terminal = undefined;
    this.#lines = undefined;
    return hiddenAnswer(prompt);
  }

  async #line(prompt: string): Promise<string> {
    this.#terminal ??= createInterface({ input: process.stdin, terminal: false });
    this.#lines ??= this.#terminal[Symbol.asyncIterator]();
    process.stderr.write(prompt);
    const { done, value } = await this.#lines.next();
    if (done === true) {
      process.stderr.write('\n');
      throw new UsageError('standard input ended before the last answer; --yes takes the defaults');
    }
    return value;
  }
}
