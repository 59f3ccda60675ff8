import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { ConfigError } from '../../../protocols/errors.js';

/** A JSON text with comments, and the lines of its values. */
export interface CommentedJson {
  readonly value: unknown;
  /** The line, from 1, of the value at this path (names and indexes), or of the nearest value around it. */
  lineOf(path: readonly PropertyKey[]): number;
}

const MAX_DEPTH = 100;

/**
 * Reads JSON with `//` and block comments and with commas after last elements. A repeated name in an object is
 * an error.
 * @throws ConfigError with the file and the line
 */
export function parseJsonWithComments(text: string, file: string): CommentedJson {
  const json = text.replace(/^\ufeff/, '');
  const lineAt = (offset: number): number => json.slice(0, offset).split('\n').length;
  const fail = (offset: number, problem: string): never => {
    throw new ConfigError(file, lineAt(offset), '', problem);
  };
  checkDepth(json, fail);
  const errors: ParseError[] = [];
  const root = parseTree(json, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) return fail(error.offset, problemOf(error));
  if (root === undefined) return fail(0, PROBLEMS.ValueExpected);
  return {
    value: plainValue(root, fail),
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const node = findNodeAtLocation(root, path.slice(0, length).map(segmentOf));
        if (node !== undefined) return lineAt((node.parent?.type === 'property' ? node.parent : node).offset);
      }
      return lineAt(root.offset);
    },
  };
}

const PROBLEMS = {
  InvalidSymbol: 'not a value',
  InvalidNumberFormat: 'not a number',
  PropertyNameExpected: 'a name in double quotes is expected',
  ValueExpected: 'a value is expected',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a } is missing',
  CloseBracketExpected: 'a ] is missing',
  EndOfFileExpected: 'there is text after the end',
  InvalidCommentToken: 'not a comment',
  UnexpectedEndOfComment: 'a comment has no end',
  UnexpectedEndOfString: 'a string has no end on its line',
  UnexpectedEndOfNumber: 'not a number',
  InvalidUnicode: 'an invalid escape sequence',
  InvalidEscapeCharacter: 'an invalid escape sequence',
  InvalidCharacter: 'a control character in a string',
} as const;

function problemOf({ error }: ParseError): string {
  const name = printParseErrorCode(error);
  return name in PROBLEMS ? PROBLEMS[name as keyof typeof PROBLEMS] : 'not JSON';
}

type Fail = (offset: number, problem: string) => never;

/** The parser is recursive: a deeply nested text would exhaust the stack. */
function checkDepth(json: string, fail: Fail): void {
  const scanner = createScanner(json, true);
  let depth = 0;
  for (let end = -1; end < scanner.getPosition(); ) {
    end = scanner.getPosition();
    scanner.scan();
    const token = json[scanner.getTokenOffset()];
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    if (depth > MAX_DEPTH) fail(scanner.getTokenOffset(), 'nested too deeply');
  }
}

/** The parser's own conversion would set the prototype for the name `__proto__`. */
function plainValue(node: Node, fail: Fail): unknown {
  const { type, children = [] } = node;
  if (type === 'array') return children.map((child) => plainValue(child, fail));
  if (type !== 'object') return node.value;
  const entries = new Map<string, unknown>();
  for (const { offset, children: [name, value] = [] } of children) {
    const key = String(name?.value);
    if (entries.has(key)) fail(offset, `${key} is repeated`);
    entries.set(key, value === undefined ? undefined : plainValue(value, fail));
  }
  return Object.fromEntries(entries);
}

function segmentOf(part: PropertyKey): string | number {
  return typeof part === 'number' ? part : String(part);
}
