// The error table of protocols/README.md is complete and true, and no two classes share a code.
import t from 'tap';
import ts from 'typescript';
import { sourcesOf, TOP_FOLDERS, textOf } from './sources.js';

const BUILT_IN = ['Error', 'TypeError', 'RangeError', 'AggregateError', 'DOMException'];

/** `| class | code | file | ...`; the base class has `-` for its code. */
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

/** Every class with a base class, at any depth of the sources. */
function declarations(): Declaration[] {
  return TOP_FOLDERS.flatMap(sourcesOf).flatMap((file) => {
    const text = textOf(file);
    return /\bclass\b[^{]*\bextends\b/.test(text) ? declarationsIn(file, text) : [];
  });
}

function declarationsIn(file: string, text: string): Declaration[] {
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

/** The classes whose chain of base classes ends in an error of the language. */
function errorClasses(): Declaration[] {
  const all = declarations();
  const names = new Set(BUILT_IN);
  for (let before = 0; before < names.size; ) {
    before = names.size;
    for (const { name, base } of all) if (names.has(base)) names.add(name);
  }
  return all.filter(({ base }) => names.has(base));
}

function documented(): ErrorClass[] {
  return [...textOf('protocols/README.md').matchAll(ROW)].map(([, name = '', code = '', file = '']) => ({
    name,
    code,
    file,
  }));
}

function duplicatesOf(values: readonly string[]): string[] {
  return values.filter((value, i) => values.indexOf(value) !== i);
}

t.test('every error class has a code of its own', async (t) => {
  const classes = errorClasses();
  const without = classes.filter(({ code, isAbstract }) => code === '' && !isAbstract);
  t.same(
    without.map(({ name, file }) => `${name} in ${file}`),
    [],
  );
  const codes = classes.filter(({ isAbstract }) => !isAbstract).map(({ code }) => code);
  t.same(duplicatesOf(codes), []);
  t.same(duplicatesOf(classes.map(({ name }) => name)), []);
  t.same(
    codes.filter((code) => !/^ERR_[A-Z_]+$/.test(code)),
    [],
  );
  t.ok(codes.includes('ERR_PROTOCOL'), 'classes were found');
});

t.test('the error table of protocols/README.md is that of the sources', async (t) => {
  const order = (a: ErrorClass, b: ErrorClass) => (a.name < b.name ? -1 : 1);
  const rows = documented();
  t.same(duplicatesOf(rows.map(({ name }) => name)), []);
  t.same(
    rows.sort(order),
    errorClasses()
      .map(({ name, code, file }) => ({ name, code, file }))
      .sort(order),
  );
});
