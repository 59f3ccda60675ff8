// DESIGN 2: protocols import nothing of ours; storage and clients import protocols and not each other; servers import all
// three, and each floor of the tower only the floors below it. DESIGN 3: protocols do no I/O. No rule has an exception.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { importsOf, ROOT, roomOf, sourcesOf, specifiersOf, TOP_FOLDERS, textOf } from './sources.js';

/** Top folders that a top folder may import, besides itself. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  protocols: [],
  storage: ['protocols'],
  clients: ['protocols'],
  servers: ['protocols', 'storage', 'clients'],
};

/**
 * For each room the rooms of its own top folder that it may import. A room that is not listed fails the test, so does a rule
 * that no import uses: a new direction is decided here, not discovered later.
 */
const SIBLINGS: Readonly<Record<string, readonly string[]>> = {
  // The files directly in protocols/ are what all rooms share: errors, times, buffers, locks.
  protocols: [],
  'protocols/patterns': ['protocols'],
  'protocols/urls': ['protocols'],
  'protocols/soif': ['protocols'],
  'protocols/registry': ['protocols'],
  'protocols/robots': ['protocols'],
  'protocols/nntp': ['protocols'],
  'protocols/gopher': ['protocols', 'protocols/urls'],
  'protocols/sstp': ['protocols', 'protocols/urls'],
  'protocols/config': ['protocols', 'protocols/patterns', 'protocols/urls'],
  'protocols/gatherd': ['protocols', 'protocols/soif'],
  'protocols/broker': ['protocols', 'protocols/soif'],
  'protocols/bulk': ['protocols', 'protocols/broker', 'protocols/gatherd', 'protocols/soif'],

  // storage/index.ts is the entry point; no room imports it.
  storage: [
    'storage/records',
    'storage/summaries',
    'storage/generations',
    'storage/gatherer',
    'storage/broker',
  ],
  'storage/records': [],
  'storage/files': [],
  'storage/level': ['storage/records'],
  'storage/seen': ['storage/level'],
  'storage/summaries': ['storage/level', 'storage/records'],
  'storage/broker': ['storage/level', 'storage/records'],
  'storage/indexers': ['storage/broker'],
  'storage/generations': ['storage/summaries', 'storage/level', 'storage/files', 'storage/records'],
  'storage/references': ['storage/generations', 'storage/files'],
  'storage/gatherer': [
    'storage/references',
    'storage/generations',
    'storage/summaries',
    'storage/seen',
    'storage/level',
    'storage/records',
  ],
  'storage/databases': ['storage/gatherer', 'storage/generations', 'storage/summaries', 'storage/files'],
  'storage/original-registry': ['storage/broker', 'storage/level', 'storage/files', 'storage/records'],

  'clients/connection': [],
  'clients/soif-tools': [],
  'clients/broker': ['clients/connection'],
  'clients/gatherd': ['clients/connection'],
  'clients/references': ['clients/connection'],
  'clients/fetch': ['clients/connection'],
  'clients/bulk': ['clients/broker', 'clients/gatherd'],
  'clients/conformance': ['clients/broker', 'clients/connection'],

  // The tower, from the ground up. No floor imports a neighbor.
  'servers/essence': [],
  'servers/host': [],
  'servers/web': [],
  'servers/gatherd': ['servers/host'],
  'servers/broker': ['servers/host', 'servers/web'],
  'servers/refererd': ['servers/host', 'servers/web'],
  'servers/crawler': ['servers/host', 'servers/web', 'servers/essence'],
  'servers/gatherer': ['servers/crawler', 'servers/host', 'servers/web', 'servers/essence'],
  'servers/all-in-one': [
    'servers/gatherer',
    'servers/gatherd',
    'servers/broker',
    'servers/refererd',
    'servers/host',
  ],
  'servers/cli': [
    'servers/all-in-one',
    'servers/gatherer',
    'servers/gatherd',
    'servers/broker',
    'servers/refererd',
    'servers/crawler',
    'servers/essence',
    'servers/host',
    'servers/web',
  ],
};

/** Anything that a sans-I/O codec must not import. */
const IMPURE =
  /^node:(fs|net|http|https|tls|dgram|dns|child_process|worker_threads|cluster|zlib|timers|os|process|crypto)/;
const IMPURE_CALLS =
  /\b(Date\.now|new Date\(\)|Math\.random|setTimeout|setInterval|performance\.now|console\.)/;

const topOf = (room: string): string => room.split('/')[0] ?? '';

for (const folder of TOP_FOLDERS) {
  t.test(`DESIGN 2: ${folder} imports only the rooms below it`, async (t) => {
    const wrong: string[] = [];
    const used = new Set<string>();
    const rooms = new Set<string>();
    for (const file of sourcesOf(folder)) {
      const room = roomOf(file);
      rooms.add(room);
      for (const target of importsOf(file)) {
        const other = roomOf(target);
        if (other === room) continue;
        const allowed =
          topOf(other) === folder ? SIBLINGS[room]?.includes(other) : BELOW[folder]?.includes(topOf(other));
        if (allowed !== true) wrong.push(`${file} imports ${target}`);
        used.add(`${room} imports ${other}`);
      }
    }
    t.same(wrong, []);
    t.ok(used.size > 0, 'imports were found, so the test looks at something');
    const named = Object.keys(SIBLINGS).filter((room) => topOf(room) === folder);
    t.same([...rooms].sort(), named.sort(), 'every room has its rule, every rule its room');
    const unused = named.flatMap((room) =>
      (SIBLINGS[room] ?? []).map((other) => `${room} imports ${other}`).filter((rule) => !used.has(rule)),
    );
    t.same(unused, [], 'every rule is used');
  });
}

t.test('DESIGN 3: protocols do no I/O, read no clock, use no randomness', async (t) => {
  const wrong: string[] = [];
  for (const file of sourcesOf('protocols')) {
    for (const specifier of specifiersOf(file))
      if (IMPURE.test(specifier)) wrong.push(`${file} imports ${specifier}`);
    const code = textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const call = IMPURE_CALLS.exec(code);
    if (call !== null) wrong.push(`${file} uses ${call[0]}`);
  }
  t.same(wrong, []);
});

t.test('test/ mirrors the rooms', async (t) => {
  for (const top of TOP_FOLDERS) {
    const rooms = new Set(sourcesOf(top).map(roomOf));
    for (const entry of readdirSync(join(ROOT, 'test', top), { withFileTypes: true })) {
      if (entry.isDirectory())
        t.ok(rooms.has(`${top}/${entry.name}`), `test/${top}/${entry.name} has its room`);
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
