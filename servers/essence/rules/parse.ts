import { ConfigError, ProtocolError } from '../../../protocols/errors.js';
import { compilePattern } from '../../../protocols/patterns/index.js';
import type { Command, Condition, Instruction, PostRule, PostRules, Test } from './model.js';

/** Deepest nesting of parentheses in a condition. */
const MAX_DEPTH = 100;

/**
 * Parses a rules file (E-122): a condition begins in column one, its instructions follow on lines indented by a tab. Blank lines and
 * lines that begin with `#` are ignored.
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
        const rule = rules.at(-1) ?? reader.fail('an instruction stands before the first condition (E-122)');
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
  at = 0;

  constructor(
    readonly text: string,
    readonly file: string,
    readonly line: number,
  ) {}

  get atEnd(): boolean {
    return this.at >= this.text.length;
  }

  skipBlanks(): void {
    while (this.text[this.at] === ' ' || this.text[this.at] === '\t') this.at++;
  }

  /** Consumes `text` if it is next, after blanks. */
  take(text: string): boolean {
    this.skipBlanks();
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  /** Consumes what the sticky expression matches, after blanks. */
  match(expression: RegExp): string | undefined {
    this.skipBlanks();
    expression.lastIndex = this.at;
    const found = expression.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  /** Consumes an attribute's name. */
  name(): string {
    return this.match(/[A-Za-z0-9._<>-]+/y) ?? this.fail('the name of an attribute is expected (E-123)');
  }

  /** Consumes a delimited text; a backslash escapes the delimiter (E-127). The opening delimiter is next. */
  quoted(delimiter: string): string {
    const start = this.at;
    let text = '';
    for (this.at++; this.at < this.text.length; this.at++) {
      const character = this.text[this.at]!;
      if (character === '\\' && this.text[this.at + 1] === delimiter) text += this.text[++this.at];
      else if (character === delimiter) {
        this.at++;
        return text;
      } else text += character;
    }
    this.at = start;
    return this.fail(`the closing ${delimiter} is missing`);
  }

  /** @throws ConfigError with the reader's column, from 1 */
  fail(problem: string, at = this.at): never {
    throw new ConfigError(this.file, this.line, `column ${at + 1}`, problem);
  }
}

/** E-124: `&&` binds tighter than `||`; a `;` at the end is ignored. */
function readCondition(reader: LineReader): Condition {
  const condition = readAlternatives(reader, 0);
  reader.take(';');
  reader.skipBlanks();
  if (!reader.atEnd) reader.fail('&&, || or the end of the line is expected (E-124)');
  return condition;
}

function readAlternatives(reader: LineReader, depth: number): Condition {
  const parts: [Condition, ...Condition[]] = [readConjunction(reader, depth)];
  while (reader.take('||')) parts.push(readConjunction(reader, depth));
  return parts.length === 1 ? parts[0] : { kind: 'any', parts };
}

function readConjunction(reader: LineReader, depth: number): Condition {
  const parts: [Condition, ...Condition[]] = [readUnit(reader, depth)];
  while (reader.take('&&')) parts.push(readUnit(reader, depth));
  return parts.length === 1 ? parts[0] : { kind: 'all', parts };
}

function readUnit(reader: LineReader, depth: number): Condition {
  if (!reader.take('(')) return readTest(reader);
  if (depth >= MAX_DEPTH) reader.fail(`more than ${MAX_DEPTH} parentheses, one in the other`);
  const inner = readAlternatives(reader, depth + 1);
  if (!reader.take(')')) reader.fail('the closing parenthesis is missing (E-124)');
  return inner;
}

/** E-123: attribute, operator, data. */
function readTest(reader: LineReader): Test {
  const attribute = reader.name();
  const operator =
    reader.match(/==|!=|!~|~/y) ?? reader.fail('an operator is expected: ==, !=, ~ or !~ (E-123)');
  reader.skipBlanks();
  const delimiter = reader.text[reader.at];
  const negated = operator.startsWith('!');
  if (operator.endsWith('=')) {
    if (delimiter !== "'") reader.fail(`${operator} takes a string in single quotes (E-123)`);
    return { kind: 'test', attribute, negated, data: reader.quoted("'") };
  }
  // E-123: an example of the manual quotes the expression with single quotes.
  if (delimiter !== '/' && delimiter !== "'") {
    reader.fail(`${operator} takes a regular expression between slashes (E-123)`);
  }
  const start = reader.at;
  const expression = reader.quoted(delimiter);
  try {
    return { kind: 'test', attribute, negated, data: compilePattern(expression) };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return reader.fail(`the expression ${error.message}`, start);
  }
}

/** E-128: the sign after the names selects the instruction. */
function readInstruction(reader: LineReader): Instruction {
  const { line } = reader;
  const attributes = [reader.name()];
  if (attributes[0] === 'delete' && reader.take('(')) {
    if (!reader.take(')')) reader.fail('delete() has no arguments (E-128)');
    endOfLine(reader);
    return { kind: 'delete', line };
  }
  while (reader.take(',')) attributes.push(reader.name());
  reader.skipBlanks();
  const column = reader.at;
  const sign = reader.match(/[=|!]/y) ?? reader.fail('=, | or ! is expected after the name (E-128)');
  const attribute = attributes[0]!;
  if (attributes.length > 1 && sign !== '!') {
    reader.fail(`${sign} takes one attribute; several are filtered by ! (E-128)`, column);
  }
  // E-130
  if (sign !== '|' && attributes.some((name) => name.toLowerCase() === 'url')) {
    reader.fail('the URL can only be rewritten by | and a program (E-130)', 0);
  }
  if (sign === '=') {
    reader.skipBlanks();
    if (reader.text[reader.at] !== '"') reader.fail('= takes a string in double quotes (E-128)');
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
  reader.take(';');
  reader.skipBlanks();
  if (!reader.atEnd) reader.fail('the end of the line is expected');
}

/**
 * Splits the rest of the line into words (E-135). Quotes keep blanks together, a backslash escapes the next character; nothing else is
 * special, because there is no shell.
 */
function readCommand(reader: LineReader): Command {
  const words: string[] = [];
  for (reader.skipBlanks(); !reader.atEnd; reader.skipBlanks()) {
    let word = '';
    for (let character = reader.text[reader.at]; character !== undefined && !/[ \t]/.test(character); ) {
      if (character === '"' || character === "'") word += reader.quoted(character);
      else {
        if (character === '\\' && reader.at + 1 < reader.text.length) reader.at++;
        word += reader.text[reader.at++];
      }
      character = reader.text[reader.at];
    }
    words.push(word);
  }
  const [program, ...rest] = words;
  if (program === undefined || program === '') return reader.fail('a program is expected (E-128)');
  return [program, ...rest];
}
