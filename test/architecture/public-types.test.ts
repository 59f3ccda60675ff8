// Types that a public function, class or interface mentions can be imported by those who use it.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';
import { z } from 'zod';

const PACKAGE = fileURLToPath(import.meta.resolve('#package.json'));
const ROOT = dirname(PACKAGE);
const DIST = join(ROOT, 'dist');

/** The declarations of each entry of the package. */
function entries(): string[] {
  const { exports } = z
    .object({ exports: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(PACKAGE, 'utf8')));
  return Object.values(exports).flatMap((file) =>
    file.endsWith('.js') ? [join(ROOT, file.replace(/\.js$/, '.d.ts'))] : [],
  );
}

/** Follows imports and exports to the symbol that is declared. */
function declaredBy(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}

function isExported(checker: ts.TypeChecker, symbol: ts.Symbol): boolean {
  const source = symbol.declarations?.[0]?.getSourceFile();
  const module = source && checker.getSymbolAtLocation(source);
  return (
    module !== undefined &&
    checker.getExportsOfModule(module).some((other) => declaredBy(checker, other) === symbol)
  );
}

/** The names in the types of a declaration that are declared by this package. */
function* mentionedIn(checker: ts.TypeChecker, node: ts.Node): Generator<ts.Symbol> {
  if (ts.isClassElement(node) && ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) return;
  const name = ts.isTypeReferenceNode(node)
    ? node.typeName
    : ts.isExpressionWithTypeArguments(node)
      ? node.expression
      : undefined;
  const symbol = name === undefined ? undefined : checker.getSymbolAtLocation(name);
  if (symbol !== undefined) {
    const declared = declaredBy(checker, symbol);
    const [first] = declared.declarations ?? [];
    const isOwn = first?.getSourceFile().fileName.startsWith(DIST) === true;
    if (isOwn && (declared.flags & ts.SymbolFlags.TypeParameter) === 0) yield declared;
  }
  for (const child of node.getChildren()) yield* mentionedIn(checker, child);
}

t.test('all types of public signatures are exported by an entry of the package', (t) => {
  const files = entries();
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  /** What is exported, with the entry that exports it. */
  const known = new Map<ts.Symbol, string>();
  for (const file of files) {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    t.ok(module, file);
    if (module === undefined) continue;
    for (const symbol of checker.getExportsOfModule(module)) known.set(declaredBy(checker, symbol), file);
  }
  const missing: string[] = [];
  // A Map yields what is added during the iteration: the types of missing types are public, too.
  for (const [symbol, entry] of known)
    for (const declaration of symbol.declarations ?? [])
      for (const mentioned of mentionedIn(checker, declaration)) {
        if (known.has(mentioned)) continue;
        known.set(mentioned, entry);
        // A type that its own file does not export is a part of the one that mentions it.
        if (!isExported(checker, mentioned)) continue;
        const file = mentioned.declarations?.[0]?.getSourceFile().fileName ?? '';
        missing.push(`${relative(DIST, file)} ${mentioned.name}: ${symbol.name} of ${relative(DIST, entry)}`);
      }
  t.same(missing, []);
  t.end();
});
