// Generates the graph and compares how long `harvest links load` and db5.3_load need to load it.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, print } from '../harness.js';
import { documentTexts, type GraphShape, linkTexts, writeTexts } from '../references-graph.js';
import { type Cost, canRun, harvest, runMeasured } from './programs.js';

/** Configuration of Berkeley DB while it loads: a cache of 256 MiB. */
const DB_CONFIG = 'set_cachesize 0 268435456 1\n';

/** The loaded graph and the measurements. */
export interface Loads {
  /** The data directory with the whole graph. */
  readonly data: string;
  /** `hubsdb`, loaded by db5.3_load. */
  readonly hubsdb: string | undefined;
  readonly results: object;
}

/**
 * Generates the graph and loads it. Compares `harvest links load` with db5.3_load, both from the same text of
 * `refdb`. Ours builds both directions from it; Berkeley DB also needs the text of `hubsdb` and runs
 * twice. Documents and site lists, which Berkeley DB does not have, are loaded once outside the comparison.
 */
export async function compareLoads(
  work: string,
  shape: GraphShape,
  rounds: number,
  costMeter: string,
): Promise<Loads> {
  const path = (name: string): string => join(work, name);
  await writeTexts(path('documents.jsonl'), documentTexts(shape));
  await writeTexts(path('links.txt'), linkTexts(shape));
  const data = path('data');
  const whole = runMeasured(costMeter, work, [
    ...harvest('links', 'load', '--documents', path('documents.jsonl'), '--refs', path('links.txt')),
    ...['--data', data, '--json'],
  ]);
  print(`  harvest links load, documents, links and site lists: ${formatCost(whole)}`);
  for (const name of ['documents.jsonl', 'links.txt']) rmSync(path(name));
  if (!canRun('db5.3_load', '-V')) {
    print('  skipped: db5.3_load is not installed: no comparison of loads or with its cursors');
    return { data, hubsdb: undefined, results: { whole } };
  }

  for (const kind of ['refs', 'hubs']) dump(data, kind, path(`${kind}.dump`));
  const home = path('bdb');
  const ours: Cost[] = [];
  const theirs: Cost[] = [];
  const loadOurs = (): void => {
    const target = path('links-only');
    ours.push(
      runMeasured(
        costMeter,
        work,
        harvest('links', 'load', '--refs', path('refs.dump'), '--data', target, '--json'),
      ),
    );
    rmSync(target, { recursive: true });
  };
  const loadTheirs = (): void => {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home);
    writeFileSync(join(home, 'DB_CONFIG'), DB_CONFIG);
    const load = (kind: string) => ['db5.3_load', '-h', home, '-f', path(`${kind}.dump`), `${kind}.db`];
    theirs.push(runMeasured(costMeter, work, load('refs'), load('hubs')));
  };
  for (let round = 0; round < rounds; round++)
    for (const load of round % 2 === 0 ? [loadOurs, loadTheirs] : [loadTheirs, loadOurs]) load();
  for (const kind of ['refs', 'hubs']) rmSync(path(`${kind}.dump`));
  const ratios = { clock: ratio(theirs, ours, 'seconds'), cpu: ratio(theirs, ours, 'cpuSeconds') };
  print(`  links only, both directions, from the same db_dump text: ours ${formatCost(medianOf(ours))}`);
  print(`    db5.3_load, twice: ${formatCost(medianOf(theirs))}`);
  print(
    `    db5.3_load / ours: ${ratios.clock.toFixed(2)} by the clock, ${ratios.cpu.toFixed(2)} by processor time`,
  );
  return { data, hubsdb: join(home, 'hubs.db'), results: { whole, ours, theirs, ratios } };
}

function dump(data: string, kind: string, path: string): void {
  const [program, ...args] = harvest('links', 'dump', `--${kind}`, '--data', data);
  const file = openSync(path, 'w');
  try {
    execFileSync(program, args, { stdio: ['ignore', file, 'inherit'] });
  } finally {
    closeSync(file);
  }
}

function ratio(above: readonly Cost[], below: readonly Cost[], figure: 'seconds' | 'cpuSeconds'): number {
  return median(above.map((cost) => cost[figure])) / median(below.map((cost) => cost[figure]));
}

/** The median of each figure. */
function medianOf(costs: readonly Cost[]): Cost {
  return {
    seconds: median(costs.map(({ seconds }) => seconds)),
    cpuSeconds: median(costs.map(({ cpuSeconds }) => cpuSeconds)),
    maxRss: median(costs.map(({ maxRss }) => maxRss)),
  };
}

function formatCost({ seconds, cpuSeconds, maxRss }: Cost): string {
  return `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} cpu s, ${(maxRss / 1e6).toFixed(0)} MB peak`;
}
