// The error table of protocols/README.md is complete and true, and no two classes share a code.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = dirname(fileURLToPath(import.meta.resolve('#package.json')));
const ROOMS = ['protocols', 'storage', 'clients', 'servers'];
const BUILT_IN = ['Error', 'TypeError', 'RangeError', 'AggregateError', 'DOMException'];

const CLASS =
  /^(?:export )?(abstract )?class (\w+)(?:<[^>]*>)? extends (\w+)(?:<[^>]*>)?[^{]*(\{\}|\{[\s\S]*?\n\})/gm;
const CODE = /^ {2}(?:override )?readonly code = '(\w+)';$/m;
/** `| class | code | file | ...`; the base class has `-` for its code. */
const ROW = /^\| `(\w+)` +\| (?:`(ERR_\w+)`|-) +\| `([\w./-]+)` +\| [^|]+ \| [^|]+ \| [^|]+ \|$/gm;

interface ErrorClass {
  readonly name: string;
  /** '' for an abstract class, which has none. */
  readonly code: string;
  readonly file: string;
}

interface Declaration extends ErrorClass {
  readonly base: string;
  readonly isAbstract: boolean;
}

function declarations(): Declaration[] {
  return ROOMS.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .flatMap((entry) => {
        const path = join(entry.parentPath, entry.name);
        const file = relative(root, path).split(sep).join('/');
        return [...readFileSync(path, 'utf8').matchAll(CLASS)].map(
          ([, abstract, name = '', base = '', body = '']) => ({
            name,
            base,
            file,
            isAbstract: abstract !== undefined,
            code: CODE.exec(body)?.[1] ?? '',
          }),
        );
      }),
  );
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
  const text = readFileSync(join(root, 'protocols/README.md'), 'utf8');
  return [...text.matchAll(ROW)].map(([, name = '', code = '', file = '']) => ({ name, code, file }));
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
