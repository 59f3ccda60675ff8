// Reads the bombs of one kind by a pool, and checks what every bomb must satisfy.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { EssencePool } from '../../../servers/essence/index.js';
import { treeMs } from '../../../servers/essence/time-budget.js';
import { attributesOf, IDENTITY, inputOf } from '../../servers/essence/helpers.js';
import { childProcesses, TreeWatch, treeBytes } from '../process-tree.js';
import { SEED } from '../seed.js';
import { temporaryDirectory } from '../temporary-directory.js';

const GENERATE = fileURLToPath(new URL('./generate.js', import.meta.url));
const MIB = 1024 * 1024;
/** Memory of a reader process; what a bomb may take besides it is in {@link MAX_GROWTH_BYTES}. */
const READER_MEMORY_MB = 256;
/** Growth of this process and its children while any bomb is read. */
const MAX_GROWTH_BYTES = 400 * MIB;
/** Milliseconds of processor time of a bomb whose cost is time. */
const TIME_LIMIT_MS = 2500;
/**
 * Milliseconds of processor time that any bomb may take in all processes: its limit, and the start of new
 * processes.
 */
const MAX_PROCESSOR_MS = 4 * TIME_LIMIT_MS;

/** Documents that must be summarized as ever after each kind of bombs. */
const GOOD: readonly (readonly [name: string, body: string, attribute: string, value: string])[] = [
  ['good.html', '<title>good words</title>', 'title', 'good words\n'],
  [
    'good.ps',
    '%!PS\n/Helvetica findfont 12 scalefont setfont 72 700 moveto (good words) show showpage',
    'Partial-Text',
    'good words\n',
  ],
];

/**
 * Summarizes bombs of a kind, as many as `count` in the order of the seed, and good documents after them. One
 * that never ends is ended with the script by the runner.
 */
export async function defuse(t: Test, kind: string, count: number): Promise<void> {
  const directory = await temporaryDirectory(t);
  await promisify(execFile)(process.execPath, [GENERATE, kind, String(SEED), String(count), directory]);
  const names: readonly { name: string; what: string }[] = JSON.parse(
    await readFile(join(directory, 'names.json'), 'utf8'),
  );
  // Pictures and sound are read, too.
  await writeFile(join(directory, 'stoplist.cf'), '');
  await using pool = await EssencePool.create({
    ...IDENTITY,
    libDirectory: directory,
    workers: 2,
    maxReaderMemoryMb: READER_MEMORY_MB,
    maxPoolMemoryMb: READER_MEMORY_MB,
    timeLimitMs: TIME_LIMIT_MS,
    maxProgramMs: TIME_LIMIT_MS / 2,
  });
  await readGood(t, pool);
  const before = treeBytes();
  for (const [index, { name, what }] of names.entries()) {
    const body = new Uint8Array(await readFile(join(directory, `${index}.bomb`)));
    const md5 = createHash('md5').update(body).digest('hex');
    using watch = new TreeWatch();
    const begin = processorMs();
    const output = await pool.summarize(inputOf(`http://a.test/${encodeURIComponent(name)}`, body));
    const label = `${name}: ${what} (${kind}, seed ${SEED})`;
    const growth = watch.peak - before;
    const used = processorMs() - begin;
    if (process.env.BOMB_REPORT !== undefined)
      t.comment(
        `${label}: ${Math.round(used)} ms, ${Math.round(growth / MIB)} MiB; ${output.warnings.join('; ').slice(0, 300)}`,
      );
    if (used > MAX_PROCESSOR_MS) t.fail(`${label}: ${Math.round(used)} ms of processor time`);
    if (growth > MAX_GROWTH_BYTES) t.fail(`${label}: memory grows by ${Math.round(growth / MIB)} MiB`);
    if (output.md5 !== md5) t.fail(`${label}: wrong MD5`);
    if (output.soif === undefined) continue;
    if (/root:[^:]*:0:0:/.test(Buffer.from(output.soif).toString('latin1')))
      t.fail(`${label}: a file of the machine`);
    const attributes = attributesOf(output.soif);
    if (attributes.MD5 !== md5 || attributes['File-Size'] !== String(body.length))
      t.fail(`${label}: bookkeeping`);
    const byName = output.warnings.find((warning) => warning.includes('summarized by its name'));
    if (byName === undefined) continue;
    if (!byName.startsWith(`the ${output.type} document`) || !byName.includes('(E-45)'))
      t.fail(`${label}: ${byName}`);
    if (attributes.Title === undefined) t.fail(`${label}: no Title`);
  }
  await readGood(t, pool);
  await pool.close();
  t.same(childProcesses(), [], 'no reader process is left');
  t.ok(names.length > 0, `${names.length} bombs are read`);
}

/** Processor time of this process and of all that it started; 0 without /proc. */
function processorMs(): number {
  return treeMs(process.pid) ?? 0;
}

async function readGood(t: Test, pool: EssencePool): Promise<void> {
  for (const [name, body, attribute, value] of GOOD) {
    const { soif, warnings } = await pool.summarize(inputOf(`http://a.test/${name}`, body));
    t.equal(attributesOf(soif ?? new Uint8Array())[attribute], value, name);
    t.same(warnings, []);
  }
}
