// docs/architecture.md names files that exist, and every folder of the project.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from './sources.js';

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

t.test('every file that docs/architecture.md names exists', async (t) => {
  const named = new Set(page.match(/(?:protocols|storage|clients|servers|test)\/[\w/.-]*[\w/]/g));
  t.ok(named.size > 50, `${named.size} names`);
  for (const name of named) if (!existsSync(join(ROOT, name))) t.fail(`${name} does not exist`);
});

t.test('docs/architecture.md names every folder', async (t) => {
  for (const room of ['protocols', 'storage', 'clients', 'servers']) {
    for (const entry of readdirSync(join(ROOT, room), { withFileTypes: true })) {
      if (entry.isDirectory() && !new RegExp(`[\`/]${entry.name}\\b`).test(page))
        t.fail(`${room}/${entry.name} is not named`);
    }
  }
});
