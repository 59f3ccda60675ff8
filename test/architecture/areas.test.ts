// `npm test` runs the areas; a test file that no area names would never run.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

/** The sources: what was compiled may have more, of files that are gone. */
const ROOT = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'test');
/** Run by themselves, by `.ci/run`. */
const APART = /^(?:areas|programs|clients\/conformance|faults|slow|peers)\//;

t.test('every test file belongs to one area', async (t) => {
  const files = (await readdir(ROOT, { recursive: true }))
    .filter((file) => file.endsWith('.test.ts') && !APART.test(file))
    .sort();
  const named: string[] = [];
  for (const area of await readdir(join(ROOT, 'areas'))) {
    if (!area.endsWith('.test.ts')) continue;
    const text = await readFile(join(ROOT, 'areas', area), 'utf8');
    for (const [, path = ''] of text.matchAll(/^import '(.+)';$/gm))
      named.push(relative(ROOT, join(ROOT, 'areas', path)).replace(/\.js$/, '.ts'));
  }
  t.same(named.sort(), files);
});
