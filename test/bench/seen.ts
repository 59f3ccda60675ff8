// Benchmark `seen`: checks per second of every seen filter.
//   npm run bench -- seen [--checks N] [--kinds KIND,...]
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { openSeenFilter, SEEN_KINDS, type SeenKind } from '../../storage/seen/index.js';
import { print, scratchDirectory, writeResult } from './harness.js';

const BATCH = 5000;

interface SeenResult {
  readonly kind: SeenKind;
  readonly checks: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly checksPerSecond: number;
  readonly checksPerCpuSecond: number;
  readonly memoryBytes: number;
}

/**
 * Checks batches of URIs, half of which were seen before, some of them long ago. The URIs are generated before
 * the clock starts; their fingerprints are computed by the filter. Filters on disk commit after each batch.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      checks: { type: 'string', default: '1000000' },
      kinds: { type: 'string', default: SEEN_KINDS.join(',') },
    },
  });
  const checks = Number(values.checks);
  const kinds = SEEN_KINDS.filter((kind) => values.kinds.split(',').includes(kind));
  const results: SeenResult[] = [];
  for (const kind of kinds) {
    const result = await measure(kind, checks);
    results.push(result);
    const millions = (rate: number): string => (rate / 1e6).toFixed(2);
    print(
      `${kind.padEnd(13)} ${millions(result.checksPerSecond)} million checks/s by the clock, ` +
        `${millions(result.checksPerCpuSecond)} by processor time, ${Math.round(result.memoryBytes / 1e6)} MB`,
    );
  }
  await writeResult('seen', { checks, batch: BATCH, results });
}

async function measure(kind: SeenKind, checks: number): Promise<SeenResult> {
  using scratch = scratchDirectory(tmpdir());
  await using filter = await openSeenFilter({ kind, directory: scratch.path, bloomCapacity: checks });
  let seconds = 0;
  let cpu = 0;
  for (let from = 0; from < checks; from += BATCH) {
    const uris = createBatch(from);
    const cpuBefore = process.cpuUsage();
    const before = process.hrtime.bigint();
    const fresh = await filter.add(uris);
    await filter.commit();
    seconds += Number(process.hrtime.bigint() - before) / 1e9;
    const { user, system } = process.cpuUsage(cpuBefore);
    cpu += (user + system) / 1e6;
    const count = fresh.reduce((sum, flag) => sum + flag, 0);
    if (from > 0 && Math.abs(count - BATCH / 2) > 2) throw new Error(`${kind}: ${count} of ${BATCH} are new`);
  }
  return {
    kind,
    checks,
    seconds,
    cpuSeconds: cpu,
    checksPerSecond: checks / seconds,
    checksPerCpuSecond: checks / cpu,
    memoryBytes: filter.memoryBytes,
  };
}

/** Creates a batch: half of its URIs are new, the other half is drawn from all earlier ones. */
function createBatch(from: number): string[] {
  return Array.from({ length: BATCH }, (_, i) => {
    const number = i % 2 === 0 || from === 0 ? from + i : scatteredEven(from, i);
    return `http://www${number % 997}.example.org/department/${number % 31}/page-${number}.html`;
  });
}

function scatteredEven(below: number, i: number): number {
  return 2 * ((Math.imul(below + i, 0x9e3779b1) >>> 0) % (below / 2));
}
