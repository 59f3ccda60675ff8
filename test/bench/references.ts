// Benchmark `references`: refererd over a generated graph with power-law degrees. Compares loading with
// Berkeley DB's db5.3_load; first pages (at most 100 results) over TCP with Redis 7 (LRANGE of the same lists,
// pipelined, the same client program) and with a C program that reads Berkeley DB locally through cursors;
// pages of a large site with pages of a document; resident memory.
//   npm run bench -- references [--documents N] [--links N] [--clients N] [--servers N] [--seconds N]
//                              [--rounds N] [--load-rounds N]
// Needs gcc for the load client. The other programs come from redis-server with redis-tools, db5.3-util and
// libdb5.3-dev and are skipped if not installed. A small run: --documents 20000 --links 200000 --servers 50.
import { loadavg } from 'node:os';
import { ReferencesReader } from '../../storage/references/index.js';
import { print, readNumbers, scratchDirectory, writeResult } from './harness.js';
import { compareLoads } from './references/loads.js';
import { comparePages } from './references/pages.js';
import { ServerProcess } from './references/processes.js';
import { compile } from './references/programs.js';
import { compareSites } from './references/sites.js';

const SEED = 7;

/** Runs the comparison; see the head of the file. */
export async function run(args: string[]): Promise<void> {
  const {
    documents,
    links,
    servers,
    'load-rounds': loadRounds,
    ...measured
  } = readNumbers(args, {
    documents: 1_000_000,
    links: 20_000_000,
    // The degrees of servers follow a power law too: the largest of a thousand has a tenth of all documents.
    servers: 1000,
    clients: 64,
    requests: 200_000,
    seconds: 2,
    rounds: 5,
    'load-rounds': 3,
  });
  using scratch = scratchDirectory();
  const work = scratch.path;
  const loadClient = compile(work, 'load-client');
  const costMeter = compile(work, 'cost-meter');
  if (loadClient === undefined || costMeter === undefined) throw new Error('gcc and libc6-dev are required');
  const loadAverage = loadavg()[0] ?? 0;
  print(
    `references: ${documents} documents, ${links} links; load average ${loadAverage.toFixed(1)} at the start`,
  );
  const shape = { documents, links, servers, seed: SEED };
  const loads = await compareLoads(work, shape, loadRounds, costMeter);
  const { hubsdb } = loads;
  const cursors = hubsdb === undefined ? undefined : compile(work, 'bdb-pages', 'db-5.3');
  const options = {
    work,
    ...measured,
    loadClient,
    local: hubsdb === undefined || cursors === undefined ? undefined : { program: cursors, database: hubsdb },
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
    loadAverage: { before: loadAverage, after: loadavg()[0] },
    setup: { ...shape, loadRounds, ...measured },
    loads: loads.results,
    pages,
    sites,
    resident,
  });
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
