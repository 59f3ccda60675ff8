// Runs the example of a README as a test file of its own.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Teardown } from '../helpers/temporary-directory.js';

const ROOT = dirname(fileURLToPath(import.meta.resolve('#package.json')));

/**
 * Runs the first JavaScript example of a README with `node --test`.
 *
 * @param readme its path in the package
 * @returns the exit status and the output in TAP
 */
export async function runReadmeExample(
  t: Teardown,
  readme: string,
): Promise<{ status: number | null; output: string }> {
  const text = await readFile(join(ROOT, readme), 'utf8');
  const example = /```js\n(.*?)```/s.exec(text)?.[1] ?? '';
  // The file is inside the package, so that it can import the package by its own name.
  const directory = await mkdtemp(join(ROOT, 'dist', 'example-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'example.test.mjs');
  await writeFile(file, example);
  const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], {
    encoding: 'utf8',
  });
  return { status, output: stdout };
}
