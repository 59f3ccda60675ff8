// `npm test`, the gate and `npm run verify`: runs the scripts of the manifest and prints a line for each.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { baseCommit, changedFiles, commitCount } from './changes.js';
import { MANIFEST } from './manifest.js';
import { provide, TEST_DATA } from './needs.js';
import { type Plan, planCore, planGate, planVerify, standsFor } from './plan.js';
import { addToRecord } from './record.js';
import { closingLines, linesOf, totalsOf } from './report.js';
import { type PlanResult, runPlan } from './run.js';
import { fileOf } from './run-script.js';
import type { Script } from './script.js';

const HELP = `npm test                           the core of the tests
npm run verify [-- AREA...]        everything of an area, or of all: a script, a folder of the tests or of the project

  --changed    the scripts of what differs from the base: $CI_BASE, else origin/main, else a day before
  --repeat N   each script N times
  --seed S     the seed of all chance (default: a new one, which is printed)
  --jobs N     scripts at the same time (default 2)
  --list       prints the scripts and ends
`;

/** Processor seconds of the gate for scripts of changed paths, and for those in turn. Two run at a time. */
const CHANGED_SECONDS = 520;
const TURN_SECONDS = 120;
/** Seconds after the beginning of the gate at which its last optional script must have ended. */
const GATE_SECONDS = 640;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: 'boolean', default: false },
    repeat: { type: 'string', default: '1' },
    seed: { type: 'string' },
    jobs: { type: 'string', default: process.env.HARVEST_JOBS ?? '2' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** A test file that is a part of an area runs alone, too: `servers/host/tcp-host`. */
function partOfArea(area: string): Script | undefined {
  const name = area.replace(/^test\//, '').replace(/(\.test)?\.[jt]s$/, '');
  if (MANIFEST.some((script) => script.name === name) || fileOf({ name }) === undefined) return undefined;
  return { name, tier: 'core', seconds: 30, kind: 'exact', paths: [], needs: [] };
}

function planOf(tier: string, areas: readonly string[]): Plan {
  if (tier === 'core') return planCore(MANIFEST);
  if (tier === 'gate') {
    const changed = changedFiles(baseCommit());
    return planGate(MANIFEST, {
      changed,
      turn: commitCount(),
      changedSeconds: CHANGED_SECONDS,
      turnSeconds: TURN_SECONDS,
    });
  }
  if (values.changed) {
    const changed = changedFiles(baseCommit());
    return planVerify(
      MANIFEST.filter((script) => standsFor(script, changed)),
      areas,
    );
  }
  const parts = areas.map(partOfArea);
  const rest = areas.filter((_, index) => parts[index] === undefined);
  const plan = rest.length === 0 && areas.length > 0 ? [] : planVerify(MANIFEST, rest).required;
  return { required: [...plan, ...parts.filter((part) => part !== undefined)], optional: [], postponed: [] };
}

async function main(): Promise<number> {
  const [tier = '', ...areas] = positionals;
  if (values.help || !['core', 'gate', 'verify'].includes(tier)) {
    print(HELP);
    return values.help ? 0 : 2;
  }
  const began = Number(process.env.HARVEST_GATE_BEGAN ?? Date.now() / 1_000);
  const once = planOf(tier, areas);
  if (values.list) {
    for (const { name } of [...once.required, ...once.optional]) print(name);
    return 0;
  }
  const repeat = Number(values.repeat);
  const plan = { ...once, required: Array.from({ length: repeat }, () => once.required).flat() };
  const seed = values.seed ?? (tier === 'verify' ? String(Math.floor(Math.random() * 1e9)) : '1');
  if (tier === 'verify') print(`seed ${seed}`);

  const missing = provide([...plan.required, ...plan.optional].flatMap(({ needs }) => needs));
  // Sockets lie below it, whose paths have at most 107 bytes.
  const directory = mkdtempSync(join(tmpdir(), 'hv-'));
  // Some scripts run programs as another user.
  chmodSync(directory, 0o755);
  const logDirectory = join(process.cwd(), '.ci', 'logs', tier);
  rmSync(logDirectory, { recursive: true, force: true });
  mkdirSync(logDirectory, { recursive: true });
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort());
  const variables = { HARVEST_SEED: seed, HARVEST_TIER: tier, HARVEST_TEST_DATA: TEST_DATA };
  let result: PlanResult;
  try {
    result = await runPlan(
      plan,
      { directory, logDirectory, variables, signal: interrupt.signal },
      {
        jobs: Number(values.jobs),
        reasonToSkip: ({ needs }) =>
          needs.map((need) => missing.get(need)).find((reason) => reason !== undefined),
        ...(tier === 'gate' ? { secondsLeft: () => began + GATE_SECONDS - Date.now() / 1_000 } : {}),
        onOutcome: (outcome) => {
          for (const line of linesOf(outcome)) print(line);
        },
      },
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const totals = addToRecord(totalsOf(result), began);
  for (const line of closingLines(totals)) print(line);
  return totals.failed > 0 || interrupt.signal.aborted ? 1 : 0;
}

process.exitCode = await main();
