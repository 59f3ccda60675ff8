// DESIGN 2: protocols import no other top folder; storage and clients import protocols and not each other;
// servers import all three, and each component of servers only those of lower layers. DESIGN 3: protocols do no
// I/O. No rule has an exception.
//
// A component is a folder directly below a top folder, such as `protocols/soif`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { componentOf, importsOf, ROOT, sourcesOf, specifiersOf, TOP_FOLDERS, textOf } from './sources.js';

const below = (folder: string, names: string) => names.split(' ').map((name) => `${folder}/${name}`);

/** The other top folders that a top folder may import. */
const LOWER_TOP_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  protocols: [],
  storage: ['protocols'],
  clients: ['protocols'],
  servers: ['protocols', 'storage', 'clients'],
};

/**
 * The components of the same top folder that each component may import. The test fails for a component that is
 * not listed and for a rule that no import uses, so that every new direction is a decision made here.
 */
const SIBLINGS: Readonly<Record<string, readonly string[]>> = {
  // The files directly in protocols/ are shared by all components: errors, times, buffers, locks.
  protocols: [],
  // Expressions for URLs see one spelling of unreserved characters (G-48).
  'protocols/patterns': ['protocols', 'protocols/urls'],
  'protocols/urls': ['protocols'],
  'protocols/specification': [],
  'protocols/soif': ['protocols'],
  'protocols/registry': ['protocols'],
  'protocols/robots': ['protocols'],
  'protocols/http': ['protocols'],
  'protocols/nntp': ['protocols'],
  'protocols/gopher': ['protocols', 'protocols/urls'],
  'protocols/sstp': ['protocols', 'protocols/urls'],
  // Collection.conf contains queries and flags of the Broker's protocol (BRK-7.6).
  'protocols/config': ['protocols', 'protocols/broker', 'protocols/patterns', 'protocols/urls'],
  'protocols/fixture': ['protocols', 'protocols/soif'],
  'protocols/gatherd': ['protocols', 'protocols/soif'],
  'protocols/broker': ['protocols', 'protocols/soif'],
  'protocols/bulk': ['protocols', 'protocols/broker', 'protocols/gatherd', 'protocols/soif'],

  // storage/index.ts is the entry point; no component imports it.
  storage: below(
    'storage',
    'records summaries generations gatherer broker level rows blobs leases place publishing',
  ),
  'storage/records': [],
  'storage/files': [],
  // What the stores ask of a database; the databases.
  'storage/rows': [],
  'storage/level': ['storage/rows', 'storage/files', 'storage/records'],
  'storage/postgres': ['storage/rows', 'storage/records', 'storage/files'],
  'storage/place': below('storage', 'level postgres rows files'),
  'storage/leases': ['storage/rows', 'storage/records', 'storage/files'],
  'storage/seen': ['storage/files', 'storage/level', 'storage/rows'],
  'storage/summaries': below('storage', 'rows records files'),
  'storage/broker': below('storage', 'place level rows records files leases'),
  'storage/indexers': ['storage/broker', 'storage/files'],
  'storage/generations': below('storage', 'summaries level rows files records'),
  'storage/references': ['storage/generations', 'storage/files'],
  'storage/gatherer': below(
    'storage',
    'references generations summaries seen place level leases rows records',
  ),
  'storage/databases': ['storage/gatherer', 'storage/generations', 'storage/summaries', 'storage/files'],
  'storage/check': below('storage', 'broker gatherer generations summaries level rows files records'),
  'storage/blobs': ['storage/files'],
  'storage/publishing': below('storage', 'blobs generations files'),
  'storage/backup': below('storage', 'blobs files publishing'),
  'storage/original-registry': below('storage', 'broker level files records'),

  // clients/index.ts is the entry point; no component imports it.
  clients: ['clients/broker', 'clients/bulk', 'clients/gatherd', 'clients/references'],
  'clients/connection': [],
  // For the log of large objects.
  'clients/soif-tools': ['clients/connection'],
  'clients/broker': ['clients/connection'],
  'clients/gatherd': ['clients/connection'],
  'clients/references': ['clients/connection'],
  'clients/fetch': ['clients/connection'],
  'clients/bulk': ['clients/broker', 'clients/connection', 'clients/gatherd'],
  'clients/conformance': ['clients/broker', 'clients/connection'],

  // The layers of the servers, lowest first. No component imports another one of its layer.
  'servers/essence': [],
  'servers/host': [],
  'servers/web': ['servers/host'],
  'servers/monitor': ['servers/host', 'servers/web'],
  'servers/gatherd': ['servers/host', 'servers/monitor'],
  'servers/broker': ['servers/host', 'servers/monitor', 'servers/web'],
  'servers/refererd': ['servers/host', 'servers/monitor', 'servers/web'],
  'servers/crawler': ['servers/host', 'servers/web', 'servers/essence'],
  'servers/gatherer': below('servers', 'crawler host monitor web essence'),
  'servers/all-in-one': below('servers', 'gatherer gatherd broker refererd host monitor web'),
  'servers/cli': below(
    'servers',
    'all-in-one gatherer gatherd broker refererd crawler essence host monitor web',
  ),
};

/** Modules that a sans-I/O codec must not import. */
const IMPURE_MODULES =
  /^node:(fs|net|http|https|tls|dgram|dns|child_process|worker_threads|cluster|zlib|timers|os|process|crypto)/;
const IMPURE_CALLS =
  /\b(Date\.now|new Date\(\)|Math\.random|setTimeout|setInterval|performance\.now|console\.)/;

const topFolderOf = (component: string): string => component.split('/')[0] ?? '';

for (const folder of TOP_FOLDERS) {
  t.test(`DESIGN 2: ${folder} imports only the components that its rules allow`, async (t) => {
    const violations: string[] = [];
    const seenImports = new Set<string>();
    const components = new Set<string>();
    for (const file of sourcesOf(folder)) {
      const component = componentOf(file);
      components.add(component);
      for (const target of importsOf(file)) {
        const imported = componentOf(target);
        if (imported === component) continue;
        const isAllowed =
          topFolderOf(imported) === folder
            ? SIBLINGS[component]?.includes(imported)
            : LOWER_TOP_FOLDERS[folder]?.includes(topFolderOf(imported));
        if (isAllowed !== true) violations.push(`${file} imports ${target}`);
        seenImports.add(`${component} imports ${imported}`);
      }
    }
    t.same(violations, [], 'every import is allowed');
    t.ok(seenImports.size > 0, 'the test finds imports');
    const listed = Object.keys(SIBLINGS).filter((component) => topFolderOf(component) === folder);
    t.same([...components].sort(), listed.sort(), 'every component has a rule, and every rule a component');
    const unused = listed.flatMap((component) =>
      (SIBLINGS[component] ?? [])
        .map((imported) => `${component} imports ${imported}`)
        .filter((rule) => !seenImports.has(rule)),
    );
    t.same(unused, [], 'every rule is used');
  });
}

t.test('DESIGN 3: protocols do no I/O, read no clock, use no randomness', async (t) => {
  const violations: string[] = [];
  for (const file of sourcesOf('protocols')) {
    for (const specifier of specifiersOf(file))
      if (IMPURE_MODULES.test(specifier)) violations.push(`${file} imports ${specifier}`);
    const code = textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const call = IMPURE_CALLS.exec(code);
    if (call !== null) violations.push(`${file} uses ${call[0]}`);
  }
  t.same(violations, []);
});

t.test('the folders of test/ mirror the components', async (t) => {
  for (const top of TOP_FOLDERS) {
    const components = new Set(sourcesOf(top).map(componentOf));
    for (const entry of readdirSync(join(ROOT, 'test', top), { withFileTypes: true })) {
      if (entry.isDirectory())
        t.ok(components.has(`${top}/${entry.name}`), `test/${top}/${entry.name} mirrors a component`);
    }
  }
});

t.test('every entry of package.json exists', async (t) => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string>;
  };
  for (const [name, target] of Object.entries(exports)) {
    if (!target.startsWith('./dist/')) continue;
    const source = target.replace('./dist/', '').replace(/\.js$/, '.ts');
    t.ok(readFileSync(join(ROOT, source)).length > 0, `${name} -> ${source}`);
  }
});
