// Tries every suite of the conformance kit with its correct peer, with peers that have one defect each, and with peers that
// differ in what the rules leave free. `node mutation.test.js [SUITE [TEXT]]` tries one suite, or its mutants with a text in
// their names.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { suiteNames } from '../../clients/conformance/index.js';
import { BROKER } from './broker.js';
import { BROKER_CLIENT } from './broker-client.js';
import { BULK } from './bulk.js';
import { BULK_CLIENT } from './bulk-client.js';
import { GATHERD } from './gatherd.js';
import { GATHERD_CLIENT } from './gatherd-client.js';
import type { MutatedSuite } from './mutant.js';
import { type Outcome, tryMutants } from './run-mutants.js';
import { SOIF } from './soif.js';
import { SSTP } from './sstp.js';

const [, , only = '', pattern = ''] = process.argv;
const choice = { pattern, records: process.env.RECORD_MUTANTS === '1' };
/** Starts the comment that carries the outcome of a suite from its process. */
const OUTCOME = 'outcome: ';
const TIMEOUT_MS = 900_000;
const trials = new Map<string, () => void>();

function addTrial<Change>(mutated: MutatedSuite<Change>): void {
  trials.set(mutated.suite, () => {
    t.test(mutated.suite, async (t) => {
      const outcome = await tryMutants(t, mutated, choice);
      t.comment(OUTCOME + JSON.stringify(outcome));
      t.same(outcome.unnoticed, [], 'a case notices every mutant');
      if (pattern === '') t.same(outcome.uncovered, [], 'a mutant fails every case that is a MUST');
    });
  });
}

addTrial(GATHERD);
addTrial(BROKER);
addTrial(BULK);
addTrial(SSTP);
addTrial(SOIF);
addTrial(GATHERD_CLIENT);
addTrial(BROKER_CLIENT);
addTrial(BULK_CLIENT);

/** Tries a suite in a process of its own, so that two run at a time. Returns its TAP. */
function tryInProcess(suite: string): Promise<{ readonly code: number; readonly tap: string }> {
  return new Promise((resolve) => {
    const args = [fileURLToPath(import.meta.url), suite];
    const env = { ...process.env, TAP_TIMEOUT: String(TIMEOUT_MS / 1000) };
    const options = { env, maxBuffer: 1 << 28, timeout: TIMEOUT_MS };
    execFile(process.execPath, args, options, (error, stdout) => {
      resolve({ code: error === null ? 0 : 1, tap: stdout });
    });
  });
}

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell, at) => (at === 0 ? String(cell).padEnd(16) : String(cell).padStart(10))).join('');
}

if (only === '') {
  const outcomes: Outcome[] = [];
  t.test('every mutant fails the cases about it, and every variant passes', async (t) => {
    t.jobs = 2;
    for (const suite of trials.keys()) {
      t.test(suite, async (t) => {
        const { code, tap } = await tryInProcess(suite);
        const failures = tap.split('\n').filter((line) => /^ +not ok /.test(line));
        t.same(failures, []);
        t.equal(code, 0, tap.slice(-2_000));
        const found = tap.split('\n').find((line) => line.includes(OUTCOME)) ?? '';
        const outcome = JSON.parse(found.slice(found.indexOf('{')) || 'null') as Outcome | null;
        if (outcome !== null) outcomes.push(outcome);
      });
    }
  });
  t.test('every suite has mutants; the table', async (t) => {
    t.same(outcomes.map(({ suite }) => suite).sort(), await suiteNames());
    t.comment(row(['suite', 'cases', 'mutants', 'unnoticed', 'variants', 'MUST left']));
    for (const { suite, cases, mutants, unnoticed, variants, uncovered } of outcomes) {
      t.comment(row([suite, cases, mutants, unnoticed.length, variants, uncovered.length]));
    }
    const total = (of: (outcome: Outcome) => number) => outcomes.reduce((sum, one) => sum + of(one), 0);
    t.ok(total(({ mutants }) => mutants) >= 1_000, 'at least a thousand mutants');
    t.ok(total(({ variants }) => variants) >= 100, 'at least a hundred variants');
  });
} else trials.get(only)?.();
