// Programs on disks that are full or cannot be written.
import { join } from 'node:path';
import type { Test } from 'tap';
import { CRASH } from '../disk/sweep.js';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { writeDocuments } from './documents.js';

/** Starts a program, which is killed at the latest when the test ends. */
export function start(t: Test, ...args: readonly string[]): CliProcess {
  const program = new CliProcess(args);
  t.teardown(() => program.kill('SIGKILL'));
  return program;
}

/**
 * Ends a program by SIGTERM. After its own limit, which is raised by `--stop-limit` for a busy machine, it
 * would kill itself.
 *
 * @returns its status
 */
export async function terminate(t: Test, program: CliProcess): Promise<number | null> {
  program.kill('SIGTERM');
  const { code, signal, stderr } = await program.finished;
  t.not(signal, 'SIGKILL', 'SIGTERM ends it');
  t.notMatch(stderr, CRASH);
  t.notMatch(stderr, /stopped after \d+ s while waiting/, 'it ends by itself');
  t.notMatch(stderr, /event loop is blocked|harvest store repair/, 'a full disk is not damage');
  return code;
}

/**
 * Writes documents, and gathers and collects them. @returns the directories of the documents and of the data
 */
export async function gatherDocuments(
  t: Test,
  count: number,
): Promise<{ readonly documents: string; readonly data: string }> {
  const root = await temporaryDirectory(t);
  const documents = await writeDocuments(join(root, 'documents'), count);
  const data = join(root, 'data');
  const { code, stderr } = await cli(
    'run',
    '--once',
    '--low-disk',
    '0',
    '--data',
    data,
    ...ANY_PORTS,
    documents,
  );
  if (code !== 0) throw new Error(stderr);
  return { documents, data };
}
