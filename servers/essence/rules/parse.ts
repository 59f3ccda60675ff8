import { isAbsolute, join } from 'node:path';
import { ConfigError, ProtocolError } from '../../../protocols/errors.js';
import { compilePattern, compileUrlPattern } from '../../../protocols/patterns/index.js';
import { unescapeUnreserved } from '../../../protocols/urls/index.js';
import type { ProgramSettings } from '../external/limits.js';
import { isFile } from '../files.js';
import {
  type Command,
  type Condition,
  type Instruction,
  isUrl,
  type PostRule,
  type PostRules,
  type Test,
} from './model.js';

/** Maximum nesting of parentheses in a condition. */
const MAX_DEPTH = 100;

/**
 * Parses a rules file (E-122): a condition begins in column one, its instructions follow on lines indented by a
 * tab. Blank lines and lines that begin with `#` are ignored.
 * @throws ConfigError naming file, line and column
 */
export function parsePostRules(text: string, file: string): PostRules {
  const rules: (PostRule & { readonly instructions: Instruction[] })[] = [];
  text
    .replace(/^\ufeff/, '')
    .split('\n')
    .forEach((raw, index) => {
      const line = raw.trimEnd();
      if (/^\s*(?:#|$)/.test(line)) return;
      const reader = new LineReader(line, file, index + 1);
      if (line.startsWith('\t')) {
        const rule = rules.at(-1) ?? reader.fail('an instruction precedes the first condition (E-122)');
        rule.instructions.push(readInstruction(reader));
      } else if (/^\s/.test(line)) {
        reader.fail('an instruction is indented by a tab, not by blanks (E-122)');
      } else {
        rules.push({ line: index + 1, condition: readCondition(reader), instructions: [] });
      }
    });
  return { file, rules };
}

/** One line, read from left to right. */
class LineReader {
  readonly #file: string;
  /** Index of the next character. */
  column = 0;

  constructor(
    readonly text: string,
    file: string,
    readonly line: number,
  ) {
    this.#file = file;
  }

  get isAtEnd(): boolean {
    return this.column >= this.text.length;
  }

  skipBlanks(): void {
    while (this.text[this.column] === ' ' || this.text[this.column] === '\t') this.column++;
  }

  /** Consumes `text` if it is next, after blanks. */
  consume(text: string): boolean {
    this.skipBlanks();
    if (!this.text.startsWith(text, this.column)) return false;
    this.column += text.length;
    return true;
  }

  /** Consumes the match of the sticky expression, after blanks. */
  match(expression: RegExp): string | undefined {
    this.skipBlanks();
    expression.lastIndex = this.column;
    const found = expression.exec(this.text)?.[0];
    if (found !== undefined) this.column += found.length;
    return found;
  }

  /** Consumes an attribute's name. */
  name(): string {
    return this.match(/[A-Za-z0-9._<>-]+/y) ?? this.fail('the name of an attribute is expected (E-123)');
  }

  /** Consumes a delimited text; a backslash escapes the delimiter (E-127). The opening delimiter is next. */
  quoted(delimiter: string): string {
    const start = this.column;
    let text = '';
    for (this.column++; this.column < this.text.length; this.column++) {
      const character = this.text[this.column]!;
      if (character === '\\' && this.text[this.column + 1] === delimiter) text += this.text[++this.column];
      else if (character === delimiter) {
        this.column++;
        return text;
      } else text += character;
    }
    this.column = start;
    return this.fail(`the closing ${delimiter} is missing`);
  }

  /** @throws ConfigError with the reader's column, from 1 */
  fail(problem: string, column = this.column): never {
    throw new ConfigError(this.#file, this.line, `column ${column + 1}`, problem);
  }
}

/** E-124: `&&` binds tighter than `||`; a `;` at the end is ignored. */
function readCondition(reader: LineReader): Condition {
  const condition = readAlternatives(reader, 0);
  reader.consume(';');
  reader.skipBlanks();
  if (!reader.isAtEnd) reader.fail('&&, || or the end of the line is expected (E-124)');
  return condition;
}

function readAlternatives(reader: LineReader, depth: number): Condition {
  const parts: [Condition, ...Condition[]] = [readConjunction(reader, depth)];
  while (reader.consume('||')) parts.push(readConjunction(reader, depth));
  return parts.length === 1 ? parts[0] : { kind: 'any', parts };
}

function readConjunction(reader: LineReader, depth: number): Condition {
  const parts: [Condition, ...Condition[]] = [readUnit(reader, depth)];
  while (reader.consume('&&')) parts.push(readUnit(reader, depth));
  return parts.length === 1 ? parts[0] : { kind: 'all', parts };
}

function readUnit(reader: LineReader, depth: number): Condition {
  if (!reader.consume('(')) return readTest(reader);
  if (depth >= MAX_DEPTH) reader.fail(`parentheses are nested more than ${MAX_DEPTH} deep`);
  const inner = readAlternatives(reader, depth + 1);
  if (!reader.consume(')')) reader.fail('the closing parenthesis is missing (E-124)');
  return inner;
}

/** E-123: attribute, operator, data. */
function readTest(reader: LineReader): Test {
  const attribute = reader.name();
  const operator =
    reader.match(/==|!=|!~|~/y) ?? reader.fail('an operator is expected: ==, !=, ~ or !~ (E-123)');
  reader.skipBlanks();
  const delimiter = reader.text[reader.column];
  const negated = operator.startsWith('!');
  if (operator.endsWith('=')) {
    if (delimiter !== "'") reader.fail(`${operator} takes a string in single quotes (E-123)`);
    const data = reader.quoted("'");
    return { kind: 'test', attribute, negated, data: isUrl(attribute) ? unescapeUnreserved(data) : data };
  }
  // E-123: an example of the manual quotes the expression with single quotes.
  if (delimiter !== '/' && delimiter !== "'") {
    reader.fail(`${operator} takes a regular expression between slashes (E-123)`);
  }
  const start = reader.column;
  const expression = reader.quoted(delimiter);
  try {
    const compile = isUrl(attribute) ? compileUrlPattern : compilePattern;
    return { kind: 'test', attribute, negated, data: compile(expression) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return reader.fail(`the expression ${error.message}`, start);
  }
}

/** E-128: the sign after the names selects the instruction. */
function readInstruction(reader: LineReader): Instruction {
  const { line } = reader;
  const attributes = [reader.name()];
  if (attributes[0] === 'delete' && reader.consume('(')) {
    if (!reader.consume(')')) reader.fail('delete() has no arguments (E-128)');
    endOfLine(reader);
    return { kind: 'delete', line };
  }
  while (reader.consume(',')) attributes.push(reader.name());
  reader.skipBlanks();
  const column = reader.column;
  const sign = reader.match(/[=|!]/y) ?? reader.fail('=, | or ! is expected after the name (E-128)');
  const attribute = attributes[0]!;
  if (attributes.length > 1 && sign !== '!') {
    reader.fail(`${sign} takes one attribute; several are filtered by ! (E-128)`, column);
  }
  // E-130
  if (sign !== '|' && attributes.some(isUrl)) {
    reader.fail('the URL can only be rewritten by | and a program (E-130)', 0);
  }
  if (sign === '=') {
    reader.skipBlanks();
    if (reader.text[reader.column] !== '"') reader.fail('= takes a string in double quotes (E-128)');
    const value = reader.quoted('"');
    endOfLine(reader);
    return { kind: 'set', line, attribute, value };
  }
  const command = readCommand(reader);
  return sign === '|'
    ? { kind: 'filter', line, attribute, command }
    : { kind: 'exchange', line, attributes, command };
}

function endOfLine(reader: LineReader): void {
  reader.consume(';');
  reader.skipBlanks();
  if (!reader.isAtEnd) reader.fail('the end of the line is expected');
}

/**
 * Splits the rest of the line into words (E-135). Quotes keep blanks together, a backslash escapes the next
 * character; nothing else is special, because there is no shell.
 */
function readCommand(reader: LineReader): Command {
  const words: string[] = [];
  for (reader.skipBlanks(); !reader.isAtEnd; reader.skipBlanks()) {
    let word = '';
    for (let character = reader.text[reader.column]; character !== undefined && !/[ \t]/.test(character); ) {
      if (character === '"' || character === "'") word += reader.quoted(character);
      else {
        if (character === '\\' && reader.column + 1 < reader.text.length) reader.column++;
        word += reader.text[reader.column++];
      }
      character = reader.text[reader.column];
    }
    words.push(word);
  }
  const [program, ...rest] = words;
  if (program === undefined || program === '') return reader.fail('a program is expected (E-128)');
  return [program, ...rest];
}

// The operator's own programs that rules call: the objects depend on them as on the rules (G-110).

/**
 * Returns the files of the programs that the rules call: those in the Gatherer's directories, and every file
 * that a command names by an absolute path, e.g. a script after `perl`. Programs of the system, which are found
 * in PATH, are not among them.
 *
 * @param source the rules file
 * @param directories where programs are looked for before PATH
 * @returns absolute paths by the word that names them, in the order of the rules
 * @throws ConfigError if the rules cannot be parsed
 */
export async function ownPrograms(
  source: { readonly file: string; readonly text: string },
  { directories }: Pick<ProgramSettings, 'directories'>,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const command of commandsIn(parsePostRules(source.text, source.file))) {
    for (const [index, word] of command.entries()) {
      const places = isAbsolute(word)
        ? [word]
        : index === 0 && !word.includes('/')
          ? directories.map((directory) => join(directory, word))
          : [];
      for (const file of places) {
        if (!(await isFile(file))) continue;
        files.set(word, file);
        break;
      }
    }
  }
  return files;
}

function commandsIn({ rules }: PostRules): (readonly string[])[] {
  return rules.flatMap(({ instructions }) =>
    instructions.flatMap((instruction) => ('command' in instruction ? [instruction.command] : [])),
  );
}
