// Writes a copy of the compiled code in which every branch increments a counter. The copy keeps the lines of
// the code, so that a stack trace shows where the code is.
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const INSTRUMENTED = ['protocols', 'storage', 'clients', 'servers'];
const COPIED = ['test'];
/** Words of the code that are longer are messages. */
const MAX_WORD = 24;

/** Brings the copy in `to` of the compiled code in `from` up to date. */
export async function instrumentAll(from: string, to: string): Promise<void> {
  for (const folder of [...INSTRUMENTED, ...COPIED]) {
    const files = await readdir(join(from, folder), { recursive: true });
    for (const name of files) {
      if (!name.endsWith('.js') || name.endsWith('.test.js')) continue;
      const source = join(from, folder, name);
      const target = join(to, folder, name);
      const [made, original] = await Promise.all([modified(target), modified(source)]);
      if (made > original && made > (await modified(import.meta.filename))) continue;
      await mkdir(dirname(target), { recursive: true });
      if (COPIED.includes(folder)) await cp(source, target);
      else await writeFile(target, instrument(await readFile(source, 'utf8')));
    }
  }
}

async function modified(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

/** The module with counters. */
export function instrument(code: string): string {
  const module = ts.createSourceFile('module.js', code, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const marks = new Marks();
  visit(module, module, marks);
  const words = JSON.stringify([...marks.words]);
  const start = code.startsWith('#!') ? code.indexOf('\n') + 1 : 0;
  const preamble = `const fuzzed = (globalThis.fuzzCounters ?? ((n) => new Uint32Array(n)))(${marks.count}, ${words}); `;
  return code.slice(0, start) + preamble + marks.applyTo(code).slice(start);
}

/** Text to insert. */
class Marks {
  count = 0;
  readonly words = new Set<string>();
  readonly #before = new Map<number, string>();
  readonly #after = new Map<number, string>();

  counter(): string {
    return `fuzzed[${this.count++}]++`;
  }

  /** Outer before inner text at the same place. */
  open(at: number, text: string): void {
    this.#before.set(at, (this.#before.get(at) ?? '') + text);
  }

  /** Inner before outer text at the same place, and before all that opens there. */
  close(at: number, text: string): void {
    this.#after.set(at, (this.#after.get(at) ?? '') + text);
  }

  applyTo(code: string): string {
    const places = [...new Set([...this.#before.keys(), ...this.#after.keys()])].sort((a, b) => a - b);
    const parts: string[] = [];
    let last = 0;
    for (const place of places) {
      parts.push(code.slice(last, place), this.#after.get(place) ?? '', this.#before.get(place) ?? '');
      last = place;
    }
    return parts.join('') + code.slice(last);
  }
}

function visit(node: ts.Node, module: ts.SourceFile, marks: Marks): void {
  const children = (): void => {
    node.forEachChild((child) => visit(child, module, marks));
  };
  collectWord(node, marks);
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
  const closings: (() => void)[] = [];
  const block = (statement: ts.Statement): void => {
    if (ts.isBlock(statement)) {
      marks.open(statement.getStart(module) + 1, `${marks.counter()};`);
    } else {
      marks.open(statement.getStart(module), `{${marks.counter()};`);
      closings.push(() => marks.close(statement.end, '}'));
    }
  };
  const expression = (part: ts.Expression): void => {
    marks.open(part.getStart(module), `(${marks.counter()},`);
    closings.push(() => marks.close(part.end, ')'));
  };
  if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
    if (ts.isBlock(node.body)) block(node.body);
    else expression(node.body);
  } else if (ts.isIfStatement(node)) {
    block(node.thenStatement);
    if (node.elseStatement === undefined) {
      closings.push(() => marks.close(node.end, `else{${marks.counter()}}`));
    } else if (!ts.isIfStatement(node.elseStatement)) {
      block(node.elseStatement);
    }
  } else if (ts.isIterationStatement(node, false)) {
    block(node.statement);
  } else if (ts.isCaseOrDefaultClause(node)) {
    const first = node.statements[0];
    if (first !== undefined) marks.open(first.getStart(module), `${marks.counter()};`);
  } else if (ts.isConditionalExpression(node)) {
    expression(node.whenTrue);
    expression(node.whenFalse);
  } else if (ts.isBinaryExpression(node) && isShortCircuit(node.operatorToken.kind)) {
    expression(node.right);
  } else if (ts.isCatchClause(node)) {
    block(node.block);
  }
  children();
  for (const close of closings) close();
}

function isShortCircuit(kind: ts.SyntaxKind): boolean {
  return (
    kind === ts.SyntaxKind.AmpersandAmpersandToken ||
    kind === ts.SyntaxKind.BarBarToken ||
    kind === ts.SyntaxKind.QuestionQuestionToken
  );
}

function collectWord(node: ts.Node, marks: Marks): void {
  if (ts.isStringLiteralLike(node) && !ts.isImportDeclaration(node.parent)) {
    add(marks, node.text);
  } else if (ts.isTemplateExpression(node)) {
    add(marks, node.head.text);
  } else if (ts.isRegularExpressionLiteral(node)) {
    for (const [word] of node.text.matchAll(/[A-Za-z@#%<!-]{2,}/g)) add(marks, word);
  } else if (ts.isNumericLiteral(node)) {
    const number = Number(node.text);
    if (!Number.isInteger(number) || number > 0xffff_ffff) return;
    if (number < 256) add(marks, String.fromCharCode(number));
    else {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(number);
      const short = number < 0x10000 ? bytes.subarray(2) : bytes;
      add(marks, short.toString('latin1'));
      add(marks, Buffer.from(short).reverse().toString('latin1'));
    }
  } else if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)) {
    add(marks, node.name.text);
  }
}

function add(marks: Marks, word: string): void {
  if (word.length > 0 && word.length <= MAX_WORD && !/\s\S+\s/.test(word) && !word.startsWith('ERR_'))
    marks.words.add(word);
}
