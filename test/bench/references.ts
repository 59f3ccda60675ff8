// Benchmark `references`: refererd over a generated graph with power-law degrees. Compares loading with Berkeley DB's db5.3_load;
// first pages (at most 100 results) over TCP with Redis 7 (LRANGE of the same lists, pipelined, the same client program) and with a
// C program that reads Berkeley DB locally through cursors; pages of a large site with pages of a document; resident memory.
//   npm run bench -- references [--documents N] [--links N] [--clients N] [--servers N] [--seconds N] [--rounds N] [--load-rounds N]
// Needs gcc for the load client. The other programs come from redis-server with redis-tools, db5.3-util and libdb5.3-dev and are
// skipped if not installed. A small run: --documents 20000 --links 200000 --servers 50.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ReferencesReader } from '../../storage/references/index.js';
import { print, writeResult } from './harness.js';
import { compareLoads } from './references/loads.js';
import { comparePages } from './references/pages.js';
import { ServerProcess } from './references/processes.js';
import { compile } from './references/programs.js';
import { compareSites } from './references/sites.js';

const SEED = 7;

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      documents: { type: 'string', default: '1000000' },
      links: { type: 'string', default: '20000000' },
      // The degrees of servers follow a power law too: the largest of a thousand has a tenth of all documents.
      servers: { type: 'string', default: '1000' },
      clients: { type: 'string', default: '64' },
      requests: { type: 'string', default: '200000' },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '5' },
      'load-rounds': { type: 'string', default: '3' },
    },
  });
  const [documents, links, servers] = [values.documents, values.links, values.servers].map(Number) as [
    number,
    number,
    number,
  ];
  const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const work = mkdtempSync(join(memory, 'harvest-bench-'));
  try {
    const loadClient = compile(work, 'load-client');
    const costMeter = compile(work, 'cost-meter');
    if (loadClient === undefined || costMeter === undefined)
      throw new Error('gcc and libc6-dev are required');
    const loadAverage = loadavg()[0] ?? 0;
    print(
      `references: ${documents} documents, ${links} links; load average ${loadAverage.toFixed(1)} at the start`,
    );
    const shape = { documents, links, servers, seed: SEED };
    const loads = await compareLoads(work, shape, Number(values['load-rounds']), costMeter);
    const { hubsdb } = loads;
    const cursors = hubsdb === undefined ? undefined : compile(work, 'bdb-pages', 'db-5.3');
    const options = {
      work,
      clients: Number(values.clients),
      rounds: Number(values.rounds),
      seconds: Number(values.seconds),
      requests: Number(values.requests),
      loadClient,
      local:
        hubsdb === undefined || cursors === undefined ? undefined : { program: cursors, database: hubsdb },
    };
    // Used only to draw keys: the server under test has its own reader.
    await using reader = await ReferencesReader.openCurrent(loads.data, { residentBytes: 0 });
    await using refererd = await ServerProcess.refererd(loads.data);
    const residentAtStart = refererd.residentBytes;
    const { results: pages, redisResident } = await comparePages(refererd, reader, options);
    const sites = await compareSites(refererd, reader, options);
    const resident = { atStart: residentAtStart, most: refererd.peakResidentBytes, redis: redisResident };
    print(
      `  resident memory of refererd: ${formatMegabytes(resident.atStart)} at the start, ${formatMegabytes(resident.most)} peak under load`,
    );
    if (redisResident !== undefined) print(`  resident memory of Redis: ${formatMegabytes(redisResident)}`);
    await writeResult(`references-${documents}`, {
      node: process.version,
      processor: cpus()[0]?.model ?? 'unknown',
      loadAverage: { before: loadAverage, after: loadavg()[0] },
      setup: { ...shape, ...values },
      loads: loads.results,
      pages,
      sites,
      resident,
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
