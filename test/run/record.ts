// The record of the gate, `.ci/last-run.json`: its two runs, `npm test` and the chosen scripts, are one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { currentCommit } from './changes.js';
import type { Totals } from './report.js';

/** Adds the numbers of a run to the record that `HARVEST_RECORD` names, if it names one. @returns the sums */
export function addToRecord(totals: Totals, began: number): Totals {
  const file = process.env.HARVEST_RECORD;
  if (file === undefined || file === '') return totals;
  const sums = existsSync(file) ? add(JSON.parse(readFileSync(file, 'utf8')), totals) : totals;
  const seconds = Math.round(Date.now() / 1_000 - began);
  writeFileSync(file, `${JSON.stringify({ commit: currentCommit(), seconds, ...sums }, undefined, 2)}\n`);
  return sums;
}

function add(before: Totals, now: Totals): Totals {
  return {
    passed: before.passed + now.passed,
    failed: before.failed + now.failed,
    flaky: [...before.flaky, ...now.flaky],
    skipped: [...before.skipped, ...now.skipped],
    notRun: [...before.notRun, ...now.notRun],
  };
}
