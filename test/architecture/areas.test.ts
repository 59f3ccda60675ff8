// `npm test` runs the areas; a test file that no area names would never run.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

/** The TypeScript sources: the compiled tree may still contain files whose sources were deleted. */
const ROOT = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'test');
/** Folders whose tests have rows of their own in the manifest. */
const WITHOUT_AREA = /^(?:areas|programs|clients\/conformance|conformance|faults|attacks|slow|peers)\//;

t.test('every test file belongs to one area', async (t) => {
  const files = (await readdir(ROOT, { recursive: true }))
    .filter((file) => file.endsWith('.test.ts') && !WITHOUT_AREA.test(file))
    .sort();
  const imported: string[] = [];
  for (const area of await readdir(join(ROOT, 'areas'))) {
    if (!area.endsWith('.test.ts')) continue;
    const text = await readFile(join(ROOT, 'areas', area), 'utf8');
    for (const [, path = ''] of text.matchAll(/^import '(.+)';$/gm))
      imported.push(relative(ROOT, join(ROOT, 'areas', path)).replace(/\.js$/, '.ts'));
  }
  t.same(imported.sort(), files, 'the areas import every test file once');
});
