// The error table of protocols/README.md lists exactly the error classes of the sources, and no two classes
// share a code.
import t from 'tap';
import ts from 'typescript';
import { sourcesOf, TOP_FOLDERS, textOf } from './sources.js';

const BUILT_IN = ['Error', 'TypeError', 'RangeError', 'AggregateError', 'DOMException'];

/** A row of the table: `| class | code | file | ...`; the base class has `-` instead of a code. */
const ROW = /^\| `(\w+)` +\| (?:`(ERR_\w+)`|-) +\| `([\w./-]+)` +\| [^|]+ \| [^|]+ \| [^|]+ \|$/gm;

interface ErrorClass {
  readonly name: string;
  /** '' for a class without a code. */
  readonly code: string;
  readonly file: string;
}

interface Declaration extends ErrorClass {
  readonly base: string;
  readonly isAbstract: boolean;
}

/** Finds every class with a base class in the sources. */
function findDeclarations(): Declaration[] {
  return TOP_FOLDERS.flatMap(sourcesOf).flatMap((file) => {
    const text = textOf(file);
    return /\bclass\b[^{]*\bextends\b/.test(text) ? findDeclarationsIn(file, text) : [];
  });
}

function findDeclarationsIn(file: string, text: string): Declaration[] {
  const found: Declaration[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassLike(node)) {
      const clause = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword);
      const base = clause?.types[0]?.expression.getText() ?? '';
      const isAbstract = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword) ?? false;
      found.push({ name: node.name?.text ?? '(anonymous)', base, file, isAbstract, code: codeOf(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

function codeOf(node: ts.ClassLikeDeclaration): string {
  for (const member of node.members) {
    if (!ts.isPropertyDeclaration(member) || member.name.getText() !== 'code') continue;
    if (member.initializer !== undefined && ts.isStringLiteral(member.initializer))
      return member.initializer.text;
  }
  return '';
}

/** Finds the classes that extend a built-in error, directly or not. */
function findErrorClasses(): Declaration[] {
  const all = findDeclarations();
  const names = new Set(BUILT_IN);
  for (let before = 0; before < names.size; ) {
    before = names.size;
    for (const { name, base } of all) if (names.has(base)) names.add(name);
  }
  return all.filter(({ base }) => names.has(base));
}

function readErrorTable(): ErrorClass[] {
  return [...textOf('protocols/README.md').matchAll(ROW)].map(([, name = '', code = '', file = '']) => ({
    name,
    code,
    file,
  }));
}

function duplicatesOf(values: readonly string[]): string[] {
  return values.filter((value, i) => values.indexOf(value) !== i);
}

t.test('every error class has a unique code', async (t) => {
  const classes = findErrorClasses();
  const withoutCode = classes.filter(({ code, isAbstract }) => code === '' && !isAbstract);
  t.same(
    withoutCode.map(({ name, file }) => `${name} in ${file}`),
    [],
    'every concrete class has a code',
  );
  const codes = classes.filter(({ isAbstract }) => !isAbstract).map(({ code }) => code);
  t.same(duplicatesOf(codes), [], 'no two classes share a code');
  t.same(duplicatesOf(classes.map(({ name }) => name)), [], 'no two classes share a name');
  t.same(
    codes.filter((code) => !/^ERR_[A-Z_]+$/.test(code)),
    [],
    'every code begins with ERR_',
  );
  t.ok(codes.includes('ERR_PROTOCOL'), 'the search finds error classes');
});

t.test('the error table of protocols/README.md lists the classes of the sources', async (t) => {
  const byName = (a: ErrorClass, b: ErrorClass) => (a.name < b.name ? -1 : 1);
  const rows = readErrorTable();
  t.same(duplicatesOf(rows.map(({ name }) => name)), [], 'no class has two rows');
  t.same(
    rows.sort(byName),
    findErrorClasses()
      .map(({ name, code, file }) => ({ name, code, file }))
      .sort(byName),
  );
});
