// `npm run rules [-- PREFIX...] [--gaps] [--json]`: what stands behind each rule.
import { parseArgs } from 'node:util';
import { allRules, type BookedRule } from '../../clients/conformance/index.js';
import { basisOf } from '../../protocols/specification/index.js';
import { type Coverage, coverageOf, isChecked } from './rule-coverage.js';
import { UNCHECKED } from './unchecked-rules.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { gaps: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});

const COLUMNS = ['code', 'tests', 'cases', 'vectors', 'mutants'] as const;

const rules = await allRules();
const coverages = await coverageOf(rules);
const rows = rules
  .filter(({ id }) => positionals.length === 0 || positionals.some((prefix) => id.startsWith(`${prefix}-`)))
  .flatMap((rule) => {
    const coverage = coverages.get(rule.id);
    return coverage === undefined ? [] : [{ rule, coverage }];
  })
  .filter(({ rule, coverage }) => !values.gaps || (rule.level === 'MUST' && !isChecked(coverage)));

function lineOf(rule: BookedRule, coverage: Coverage): string {
  const counts = COLUMNS.map((kind) => String(coverage[kind] || '-').padStart(7)).join(' ');
  const reason = UNCHECKED[rule.id];
  return `${rule.id.padEnd(14)} ${rule.level.padEnd(6)} ${basisOf(rule).padEnd(8)} ${counts}${reason === undefined ? '' : `  ${reason}`}\n`;
}

if (values.json) {
  for (const { rule, coverage } of rows) {
    const { id, level, document } = rule;
    process.stdout.write(`${JSON.stringify({ id, level, basis: basisOf(rule), document, ...coverage })}\n`);
  }
} else {
  const counts = COLUMNS.map((kind) => kind.padStart(7)).join(' ');
  process.stdout.write(`${'rule'.padEnd(14)} ${'level'.padEnd(6)} ${'basis'.padEnd(8)} ${counts}\n`);
  for (const { rule, coverage } of rows) process.stdout.write(lineOf(rule, coverage));
  const musts = rows.filter(({ rule }) => rule.level === 'MUST');
  const checked = musts.filter(({ coverage }) => isChecked(coverage));
  process.stdout.write(
    `${rows.length} rules, ${musts.length} MUST: ${checked.length} with a test, case or vector, ${musts.length - checked.length} without\n`,
  );
}
