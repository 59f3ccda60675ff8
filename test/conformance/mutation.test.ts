// Tries every suite of the conformance kit with its correct peer, with peers that have one defect each, and
// with peers that differ in what the rules leave free. `node mutation.test.js [SUITE [TEXT]]` tries one suite,
// or its mutants with a text in their names. HARVEST_TIER=gate tries the cheapest mutant of each case only.
import t from 'tap';
import { suiteNames } from '../../clients/conformance/index.js';
import { BROKER } from './broker.js';
import { BROKER_CLIENT } from './broker-client.js';
import { BROKER_FIXTURE } from './broker-fixture.js';
import { BULK } from './bulk.js';
import { BULK_CLIENT } from './bulk-client.js';
import { BULK_FIXTURE } from './bulk-fixture.js';
import { GATHERD } from './gatherd.js';
import { GATHERD_CLIENT } from './gatherd-client.js';
import { GATHERD_FIXTURE } from './gatherd-fixture.js';
import type { MutatedSuite } from './mutant.js';
import { type Outcome, tryMutants } from './run-mutants.js';
import { SOIF } from './soif.js';
import { SSTP } from './sstp.js';
import { SSTP_CLIENT } from './sstp-client.js';

const [, , only = '', pattern = ''] = process.argv;
const cheapest = process.env.HARVEST_TIER === 'gate';
const choice = { pattern, cheapest, records: process.env.RECORD_MUTANTS === '1' };
const outcomes: Outcome[] = [];

// All mutants take minutes, longer than tap's default limit.
t.setTimeout(0);

function addTrial<Change>(mutated: MutatedSuite<Change>): void {
  const { suite, part } = mutated;
  if (only !== '' && only !== suite && only !== `${suite}-${part}`) return;
  t.test(
    `${suite}${part === undefined ? '' : `, ${part}`}: every mutant fails the cases about it, and every variant passes`,
    async (t) => {
      const outcome = await tryMutants(t, mutated, choice);
      outcomes.push(outcome);
      t.same(outcome.unnoticed, [], 'a case notices every mutant');
      if (pattern === '') t.same(outcome.uncovered, [], 'a mutant fails every case that is a MUST');
    },
  );
}

addTrial(GATHERD);
addTrial(GATHERD_FIXTURE);
addTrial(BROKER);
addTrial(BROKER_FIXTURE);
addTrial(BULK);
addTrial(BULK_FIXTURE);
addTrial(SSTP);
addTrial(SOIF);
addTrial(GATHERD_CLIENT);
addTrial(BROKER_CLIENT);
addTrial(BULK_CLIENT);
addTrial(SSTP_CLIENT);

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell, at) => (at === 0 ? String(cell).padEnd(20) : String(cell).padStart(10))).join('');
}

t.test('every suite has mutants; the table', async (t) => {
  t.comment(row(['suite', 'cases', 'mutants', 'tried', 'unnoticed', 'variants', 'MUST left']));
  for (const { name, cases, mutants, tried, unnoticed, variants, uncovered } of outcomes) {
    t.comment(row([name, cases, mutants, tried, unnoticed.length, variants, uncovered.length]));
  }
  if (only !== '') return;
  t.same([...new Set(outcomes.map(({ suite }) => suite))].sort(), await suiteNames());
  const total = (of: (outcome: Outcome) => number) => outcomes.reduce((sum, one) => sum + of(one), 0);
  t.ok(total(({ mutants }) => mutants) >= 1_000, 'at least a thousand mutants');
  t.ok(total(({ variants }) => variants) >= 100, 'at least a hundred variants');
});
