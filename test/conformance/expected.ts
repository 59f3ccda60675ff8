// The cases that each mutant fails, one file for each suite.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The sources: a compiled tree has no copy of the lists. */
const FOLDER = join(
  dirname(fileURLToPath(import.meta.resolve('#package.json'))),
  'test',
  'conformance',
  'fixtures',
);

/** Returns the ids of the failing cases by the names of the mutants of a suite; empty if there is no list. */
export async function readExpected(suite: string): Promise<Readonly<Record<string, readonly string[]>>> {
  let text: string;
  try {
    text = await readFile(join(FOLDER, `${suite}.json`), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  return JSON.parse(text) as Record<string, readonly string[]>;
}

/** Writes the list of a suite, one line for each mutant. */
export async function writeExpected(
  suite: string,
  expected: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const lines = Object.entries(expected)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, ids]) => `  ${JSON.stringify(name)}: ${JSON.stringify(ids)}`);
  await writeFile(join(FOLDER, `${suite}.json`), `{\n${lines.join(',\n')}\n}\n`);
}
