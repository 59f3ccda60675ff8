import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The part of a test that runs handlers at its end. */
export interface Teardown {
  teardown(handler: () => Promise<void>): void;
}

/** Creates an empty directory, which is removed with its contents when the test ends. */
export async function temporaryDirectory(t: Teardown): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'harvest-test-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
