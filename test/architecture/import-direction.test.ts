// DESIGN 2: protocols import nothing of ours; storage imports protocols; clients import protocols; servers import all
// three; nothing imports clients/cli. And DESIGN 3: protocols touch no sockets, files, clocks or randomness.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = dirname(fileURLToPath(import.meta.resolve('#package.json')));

/** Rooms that a room may import from, itself included. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  protocols: ['protocols'],
  storage: ['storage', 'protocols'],
  clients: ['clients', 'protocols'],
  servers: ['servers', 'clients', 'storage', 'protocols'],
  'clients/cli': ['clients/cli', 'clients', 'servers', 'storage', 'protocols'],
};

/** What a sans-I/O codec has no business with. */
const IMPURE =
  /^node:(fs|net|http|https|tls|dgram|dns|child_process|worker_threads|cluster|zlib|timers|os|process|crypto)/;
const IMPURE_CALLS =
  /\b(Date\.now|new Date\(\)|Math\.random|setTimeout|setInterval|performance\.now|console\.)/;

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

function imports(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [
    ...text.matchAll(/^(?:import|export)\b[^'"]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/gms),
  ].map((match) => match[1] ?? match[2] ?? '');
}

function roomOf(file: string): string {
  return file.startsWith('clients/cli/') ? 'clients/cli' : (file.split('/')[0] ?? '');
}

for (const folder of ['protocols', 'storage', 'clients', 'servers']) {
  t.test(`DESIGN 2: ${folder} imports only what it may`, async (t) => {
    const wrong: string[] = [];
    let seen = 0;
    for (const file of sources(folder)) {
      for (const specifier of imports(file)) {
        if (!specifier.startsWith('.')) continue;
        seen++;
        const target = relative(root, resolve(root, dirname(file), specifier))
          .split(sep)
          .join('/');
        if (!ALLOWED[roomOf(file)]?.includes(roomOf(target))) wrong.push(`${file} imports ${target}`);
      }
    }
    t.same(wrong, []);
    t.ok(seen > 0, 'imports were found, so the test looks at something');
  });
}

t.test('DESIGN 3: protocols do no I/O, read no clock, roll no dice', async (t) => {
  const wrong: string[] = [];
  for (const file of sources('protocols')) {
    for (const specifier of imports(file))
      if (IMPURE.test(specifier)) wrong.push(`${file} imports ${specifier}`);
    const code = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const call = IMPURE_CALLS.exec(code);
    if (call !== null) wrong.push(`${file} uses ${call[0]}`);
  }
  t.same(wrong, []);
});

t.test('every entry of package.json exists', async (t) => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string>;
  };
  for (const [name, target] of Object.entries(exports)) {
    if (!target.startsWith('./dist/')) continue;
    const source = target.replace('./dist/', '').replace(/\.js$/, '.ts');
    t.ok(readFileSync(join(root, source)).length > 0, `${name} -> ${source}`);
  }
});
