// The plans of the tiers: what runs always, what a change selects, what its turn selects, and what is left out.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { MANIFEST } from './manifest.js';
import { planCore, planGate, planVerify, standsFor, TURNS } from './plan.js';
import type { Script } from './script.js';

const script = (name: string, fields: Partial<Script> = {}): Script => ({
  name,
  tier: 'gate',
  seconds: 10,
  kind: 'exact',
  paths: [],
  needs: [],
  ...fields,
});
const names = (scripts: readonly Script[]): string[] => scripts.map(({ name }) => name);
const inputs = { changed: [], turn: 0, changedSeconds: 100, turnSeconds: 100 };

t.test('the core has only its own scripts, the longest first', async (t) => {
  const manifest = [
    script('a', { tier: 'core', seconds: 1 }),
    script('b'),
    script('c', { tier: 'core', seconds: 5 }),
    script('d', { tier: 'verify' }),
  ];
  t.same(names(planCore(manifest).required), ['c', 'a']);
});

t.test('a script stands for its folders and for its own file', async (t) => {
  const row = script('attacks/x', { paths: ['servers/broker', 'README.md'] });
  t.ok(standsFor(row, ['servers/broker/web/page.ts']));
  t.ok(standsFor(row, ['README.md']));
  t.ok(standsFor(row, ['test/attacks/x.test.ts']));
  t.notOk(standsFor(row, ['servers/brokers.ts', 'test/attacks/xy.test.ts', 'docs/README.md']));
});

t.test('the gate takes short scripts of changed paths first, until their budget is used up', async (t) => {
  const manifest = [
    script('long', { paths: ['servers'], seconds: 90 }),
    script('short', { paths: ['servers'], seconds: 20 }),
    script('shorter', { paths: ['servers'], seconds: 10 }),
    script('measured', { paths: ['servers'], kind: 'measured' }),
    script('verify', { paths: ['servers'], tier: 'verify' }),
    script('check', { command: ['true'] }),
  ];
  const plan = planGate(manifest, { ...inputs, changed: ['servers/a.ts'] });
  t.same(names(plan.required), ['check']);
  t.same(names(plan.optional), ['short', 'shorter'], 'the longest of them first');
  t.same(plan.postponed, ['long']);
});

t.test('the tests of the code that changed come before those of its programs', async (t) => {
  const manifest = [
    script('areas/broker-long', { paths: ['servers/broker'], seconds: 90 }),
    script('programs/broker', { paths: ['servers/broker'], seconds: 20 }),
  ];
  const plan = planGate(manifest, { ...inputs, changed: ['servers/broker/admin-commands.ts'] });
  t.same(names(plan.optional), ['areas/broker-long']);
  t.same(plan.postponed, ['programs/broker']);
});

t.test('what no change selects has its turn once in twelve', async (t) => {
  const manifest = Array.from({ length: 30 }, (_, index) => script(`s${index}`));
  const seen = new Map<string, number>();
  for (let turn = 0; turn < TURNS; turn++)
    for (const { name } of planGate(manifest, { ...inputs, turn }).optional)
      seen.set(name, (seen.get(name) ?? 0) + 1);
  t.equal(seen.size, 30);
  t.ok([...seen.values()].every((count) => count === 1));
});

t.test('verify selects by name, by folder of the tests and by path of the project', async (t) => {
  const manifest = [
    script('areas/broker', { paths: ['servers/broker'] }),
    script('attacks/floods', { paths: ['servers/broker/web'] }),
    script('faults/kill', { paths: ['storage'] }),
  ];
  t.same(names(planVerify(manifest, []).required), names(manifest).sort());
  t.same(names(planVerify(manifest, ['faults']).required), ['faults/kill']);
  t.same(names(planVerify(manifest, ['broker']).required), ['areas/broker']);
  t.same(
    names(planVerify(manifest, ['servers/broker']).required),
    ['areas/broker', 'attacks/floods'],
    'also below',
  );
  t.throws(() => planVerify(manifest, ['brokr']), /no script is called brokr/);
});

t.test('the manifest has a row for each script, and no other', async (t) => {
  const root = dirname(fileURLToPath(import.meta.resolve('#package.json')));
  const areaFolders = /^(?:architecture|protocols|servers|storage|clients(?!\/conformance)|rules|run|fuzz)\//;
  const scripts = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) => (file.endsWith('.test.ts') && !areaFolders.test(file)) || /^peers\/[^/]+\.ts$/.test(file),
    )
    .map((file) => file.replace(/(\.test)?\.ts$/, ''));
  const rows = MANIFEST.filter(({ command, args }) => command === undefined && args === undefined);
  t.same(names(rows).sort(), scripts.sort());
  t.equal(new Set(names(MANIFEST)).size, MANIFEST.length, 'no name stands twice');
  for (const { name, tier, kind, seconds } of MANIFEST) {
    const isKnown = /^(core|gate|verify) (exact|seeded|timed|measured)$/.test(`${tier} ${kind}`);
    t.ok(isKnown && seconds > 0, `${name}: tier, kind and seconds are known`);
  }
});
