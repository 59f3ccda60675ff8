// Compiles the shim that records and fails the changes of a directory, and starts programs with it. README.md
// describes it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorCode } from '../../protocols/errors.js';
import type { Teardown } from '../helpers/temporary-directory.js';

/** The C sources stay where they are; only TypeScript is compiled to `dist`. */
const SOURCES = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'test/disk/shim');

/**
 * Compiles the shim into a directory.
 *
 * @returns the path of the shared library; undefined if there is no C compiler or no libc that loads it (Linux
 *   only)
 * @throws Error with the compiler's messages
 */
export async function buildShim(directory: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const sources = (await readdir(SOURCES)).filter((name) => name.endsWith('.c'));
  const output = join(directory, 'disk-shim.so');
  const options = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-o', output];
  try {
    await promisify(execFile)('gcc', [...options, ...sources, '-ldl', '-lpthread'], { cwd: SOURCES });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  return output;
}

/** Where a program runs with the shim. */
export interface ShimPlaces {
  /** Path of the compiled shim. */
  readonly shim: string;
  /** The directory whose changes are recorded; created if absent. */
  readonly root: string;
  /** File of the log, outside of the root. Without it nothing is recorded. */
  readonly log?: string;
  /** File for marks and commands, outside of the root. */
  readonly control?: string;
  /** As long as this file exists, changes that need space fail. */
  readonly full?: string;
}

/**
 * The variables of the environment with which a program has the shim.
 *
 * @public for tests of servers on a full disk
 */
export async function shimEnvironment(places: ShimPlaces): Promise<Record<string, string>> {
  const { shim, root, log, control, full } = places;
  await mkdir(root, { recursive: true });
  return {
    LD_PRELOAD: shim,
    // The root must not contain symbolic links: names are compared as texts.
    HARVEST_DISK_ROOT: realpathSync(root),
    ...(log !== undefined && { HARVEST_DISK_LOG: log }),
    ...(control !== undefined && { HARVEST_DISK_CONTROL: control }),
    ...(full !== undefined && { HARVEST_DISK_FULL: full }),
  };
}

/**
 * Runs a program of this folder to its end. Its arguments are the root, the control file and `options`.
 *
 * @returns what it printed
 * @throws Error with its messages if it fails
 */
export async function runWithShim(
  program: string,
  places: ShimPlaces,
  options: readonly string[] = [],
): Promise<string> {
  // Makes the folder, too.
  const variables = await shimEnvironment(places);
  const path = fileURLToPath(new URL(`programs/${program}.js`, import.meta.url));
  const words = [path, realpathSync(places.root), places.control ?? '', ...options];
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} failed (${code}): ${errors}${output}`);
  return output;
}

/**
 * Creates a directory in memory, if the system has one, where nothing is flushed to a disk. It is removed when
 * the test ends.
 */
export async function fastDirectory(t: Teardown): Promise<string> {
  const parent = await access('/dev/shm').then(
    () => '/dev/shm',
    () => tmpdir(),
  );
  const directory = await mkdtemp(join(parent, 'harvest-disk-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
