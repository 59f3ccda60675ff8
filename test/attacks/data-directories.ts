// Data directories that real programs made: after their end, after kill -9 when everything was done and in the middle
// of a crawl, each with an earlier state of itself.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { kindOf } from '../../storage/files/file-kinds.js';
import { readFileList } from '../../storage/files/file-list.js';
import { findFiles } from '../../storage/files/list-files.js';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

const DOCUMENTS = 12;

/** A data directory that no program has open. */
export interface DataDirectory {
  readonly name: string;
  readonly path: string;
  /** The same at an earlier time. */
  readonly older: string;
}

const PARTS = ['gatherer', 'broker'];
const RUN = [...ANY_PORTS, '--low-disk', '0'];
const FOREVER = ['--every', '1d', '--force'];

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true });
}

/** Documents whose content differs from that of each earlier call. */
function writeDocuments(directory: string, round: number): string {
  mkdirSync(directory, { recursive: true });
  for (let i = 0; i < DOCUMENTS; i++)
    writeFileSync(
      join(directory, `${i}.html`),
      `<title>Page ${i}</title><p>word${i} round${i % 3 === 0 ? 0 : round}</p><a href="${(i + round) % DOCUMENTS}.html">next</a>`,
    );
  return directory;
}

/** Waits until the lists have every file as it is, and the index its sums. */
async function noted(data: string): Promise<void> {
  for (const part of PARTS) await waitUntil(() => isNoted(join(data, part)));
  // The index rests.
  const index = join(data, 'broker', 'index');
  await waitUntil(() => readdirSync(index).some((name) => existsSync(join(index, name, 'SUMS'))));
}

async function isNoted(directory: string): Promise<boolean> {
  const list = await readFileList(directory);
  if (typeof list !== 'object') return false;
  for (const [name, { size }] of await findFiles(directory)) {
    const listed = list.files.get(name);
    if (listed === undefined) return false;
    if (
      ['final', 'growing', 'replaced'].includes(kindOf(name)) &&
      (listed.mtimeNs === '0' || listed.size !== size)
    )
      return false;
  }
  return true;
}

/** `harvest run` of a directory, until everything can be searched and is in the lists. */
async function startRun(documents: string, data: string): Promise<CliProcess> {
  const program = new CliProcess(['run', documents, ...RUN, '--data', data, ...FOREVER]);
  await Promise.race([program.output(/What to try/), program.output(/What to try/, 'stderr')]);
  await noted(data);
  return program;
}

/** The data of `harvest run`, sealed and killed. */
export async function runData(t: Test): Promise<DataDirectory[]> {
  const directory = await temporaryDirectory(t);
  chmodSync(directory, 0o755);
  const documents = writeDocuments(join(directory, 'documents'), 1);
  const [older, sealed, killed] = ['older', 'sealed', 'killed'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const run = ['run', documents, ...RUN, '--once', '--force', '--data'];
  t.match(await cli(...run, older), { code: 0 });
  copy(older, sealed);
  writeDocuments(documents, 2);
  t.match(await cli(...run, sealed), { code: 0 });
  copy(sealed, killed);
  writeDocuments(documents, 3);
  const program = await startRun(documents, killed);
  program.kill('SIGKILL');
  await program.finished;
  return [
    { name: 'run, ended', path: sealed, older },
    { name: 'run, killed', path: killed, older: sealed },
  ];
}

/** The data of a crawl with WARC files, a filter on the disk, a journal, checkpoints: ended, killed between its steps. */
export async function crawlData(t: Test): Promise<DataDirectory[]> {
  const directory = await temporaryDirectory(t);
  chmodSync(directory, 0o755);
  const documents = writeDocuments(join(directory, 'documents'), 1);
  writeFileSync(
    join(directory, 'g.cf'),
    `Gatherer-Name: G\nCrawl-Order: order.json\n<RootNodes>\nfile://${documents}/ URL=1000\n</RootNodes>\n`,
  );
  const order = (pauseAtFinish: boolean) =>
    JSON.stringify({
      lowDiskMiB: 0,
      logs: true,
      seen: 'disk-merge',
      recoveryJournal: true,
      profile: 'archive',
      pauseAtFinish,
      warc: { directory: 'warc' },
      cookiesSaveFile: 'cookies.txt',
    });
  const [older, ended, killed] = ['older', 'ended', 'killed'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const run = ['run', join(directory, 'g.cf'), ...RUN, '--data'];
  writeFileSync(join(directory, 'order.json'), order(false));
  t.match(await cli(...run, older, '--once'), { code: 0 });
  copy(older, ended);
  writeDocuments(documents, 2);
  writeFileSync(join(directory, 'order.json'), order(true));
  for (const data of [ended, killed]) {
    const program = new CliProcess([...run, data, ...FOREVER]);
    const crawl = (...words: string[]) => cli('crawl', ...words, '--data', data);
    await waitUntil(async () =>
      /\b7 exhausted|0 queued, 0 in process/.test((await crawl('report', 'frontier')).stdout),
    );
    await waitUntil(async () => (await crawl('checkpoint')).code === 0);
    await noted(data);
    if (data === killed) program.kill('SIGKILL');
    else {
      await crawl('resume');
      await waitUntil(() => readdirSync(join(data, 'gatherer')).includes('generations'));
      program.kill('SIGTERM');
    }
    await program.finished;
    if (data === ended) copy(ended, killed);
    writeDocuments(documents, 3);
  }
  return [
    { name: 'crawl, ended', path: ended, older },
    { name: 'crawl, killed', path: killed, older: ended },
  ];
}
