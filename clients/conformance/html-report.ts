// A page that compares implementations: a table for each suite, a column for each of them. The page holds its own data, so
// that a later run adds its column.
import { z } from 'zod';
import { BASES } from '../../protocols/specification/index.js';
import { Tally } from './report.js';
import { BASIS_NAMES, type CaseResult } from './runner.js';

const TEXT = z.string().max(100_000);

const RESULT = z.object({
  suite: TEXT,
  id: TEXT,
  title: TEXT,
  rules: z.array(TEXT),
  source: TEXT,
  level: z.enum(['MUST', 'SHOULD']),
  basis: z.enum(BASES),
  verdict: z.enum(['pass', 'fail', 'skip']),
  message: TEXT.optional(),
  expected: TEXT.optional(),
  received: TEXT.optional(),
  statements: z.array(TEXT).optional(),
  transcript: z.array(z.object({ direction: z.enum(['sent', 'received', 'note']), text: TEXT })),
  milliseconds: z.number(),
});

const RUNS = z.array(
  z.object({ suite: TEXT, name: TEXT, target: TEXT, date: TEXT, results: z.array(RESULT).max(10_000) }),
);

/** One run of a suite against one implementation. */
export interface ReportedRun {
  readonly suite: string;
  /** What the column is called, e.g. the name and version of the implementation. */
  readonly name: string;
  readonly target: string;
  /** ISO 8601, e.g. `2026-11-29`. */
  readonly date: string;
  readonly results: readonly CaseResult[];
}

const OPENING = '<script type="application/json" id="runs">';

/**
 * Reads the runs that a page holds.
 * @returns undefined if it is not a page of {@link htmlReport}
 */
export function runsOf(page: string): ReportedRun[] | undefined {
  const start = page.indexOf(OPENING);
  const end = page.indexOf('</script>', start);
  if (start < 0 || end < 0) return undefined;
  try {
    const parsed = RUNS.safeParse(JSON.parse(page.slice(start + OPENING.length, end)));
    return parsed.success ? (parsed.data as ReportedRun[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Adds a run, in place of an older one of the same suite and name. */
export function addRun(runs: readonly ReportedRun[], run: ReportedRun): ReportedRun[] {
  const others = runs.filter(({ suite, name }) => suite !== run.suite || name !== run.name);
  return [...others, run].sort((a, b) => compare(a.suite, b.suite) || compare(a.name, b.name));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Writes the page: complete in itself, without scripts. */
export function htmlReport(runs: readonly ReportedRun[]): string {
  const suites = [...new Set(runs.map(({ suite }) => suite))];
  const sections = suites.map((suite) =>
    suiteSection(
      suite,
      runs.filter((run) => run.suite === suite),
    ),
  );
  // A `<` could end the element that holds the data.
  const data = JSON.stringify(runs).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conformance report</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Conformance report</h1>
<p>Each row is a case, each column an implementation. A failed MUST means that an implementation does not speak the protocol; a
failed SHOULD, that its peers work around it. <i>choice</i> marks a case that rests on a choice of harvest-kit where the record is
silent. A case that could not be decided with an implementation is skipped.</p>
${sections.join('')}${OPENING}${data}</script>
</body>
</html>
`;
}

function suiteSection(suite: string, runs: readonly ReportedRun[]): string {
  const cases = new Map<string, CaseResult>();
  for (const { results } of runs)
    for (const result of results) cases.set(result.id, cases.get(result.id) ?? result);
  const heads = runs.map(
    ({ name, target, date }) =>
      `<th scope="col">${escapeHtml(name)}<br><small>${escapeHtml(target === name ? date : `${target}, ${date}`)}</small></th>`,
  );
  const byId = runs.map(({ results }) => new Map(results.map((result) => [result.id, result])));
  const rows = [...cases.values()].map((one) => {
    const cells = byId.map((results, column) => cell(results.get(one.id), detailId(suite, column, one.id)));
    const choice = one.basis === 'choice' ? ' <i>choice</i>' : '';
    return `<tr><th scope="row"><code>${escapeHtml(one.id)}</code><br>${escapeHtml(one.title)}</th><td>${one.level}${choice}<br><small>${escapeHtml(one.rules.join(', '))}</small></td>${cells.join('')}</tr>\n`;
  });
  const totals = runs.map(({ results }) => `<td>${totalsOf(results)}</td>`);
  const details = runs.flatMap(({ name, results }, column) =>
    results
      .filter(({ verdict }) => verdict === 'fail')
      .map((result) => detail(result, name, detailId(suite, column, result.id))),
  );
  return `<h2>${escapeHtml(suite)}</h2>
<div class="wide" role="region" aria-label="Results of ${escapeHtml(suite)}" tabindex="0"><table>
<thead><tr><th scope="col">case</th><th scope="col">level</th>${heads.join('')}</tr></thead>
<tbody>
${rows.join('')}</tbody>
<tfoot><tr><th scope="row">total</th><td></td>${totals.join('')}</tr></tfoot>
</table></div>
${details.length === 0 ? '' : `<h3>Failures of ${escapeHtml(suite)}</h3>\n${details.join('')}`}`;
}

function detailId(suite: string, column: number, id: string): string {
  return escapeHtml(`${suite}-${column}-${id}`);
}

function cell(result: CaseResult | undefined, id: string): string {
  if (result === undefined) return '<td class="skip">not run</td>';
  if (result.verdict === 'fail')
    return `<td class="${result.level === 'MUST' ? 'fail' : 'weak'}"><a href="#${id}">fail</a></td>`;
  const title = result.message === undefined ? '' : ` title="${escapeHtml(result.message)}"`;
  return `<td class="${result.verdict}"${title}>${result.verdict}</td>`;
}

function totalsOf(results: readonly CaseResult[]): string {
  const tally = new Tally();
  for (const result of results) tally.add(result);
  const { pass, failedMust, failedShould, skip } = tally;
  return `${pass} passed<br>${failedMust} MUST failed<br>${failedShould} SHOULD failed<br>${skip} skipped`;
}

function detail(result: CaseResult, name: string, id: string): string {
  const { message, expected, received, statements = [], basis, transcript } = result;
  const lines = [
    ['message', message],
    ['expected', expected],
    ['received', received],
    ...statements.map((statement) => ['rule', statement] as const),
    ['rests on', BASIS_NAMES[basis]],
  ] as const;
  const rows = lines
    .filter(([, value]) => value !== undefined)
    .map(([label, value = '']) => `<dt>${label}</dt><dd>${escapeHtml(value)}</dd>`);
  const turns = transcript.map(
    ({ direction, text }) =>
      `${{ sent: '&gt;', received: '&lt;', note: '#' }[direction]} ${escapeHtml(text)}`,
  );
  return `<details><summary>${escapeHtml(name)}: <code>${escapeHtml(result.id)}</code> ${escapeHtml(result.title)} (${result.level})</summary>
<dl id="${id}">${rows.join('')}</dl>
${turns.length === 0 ? '' : `<pre>${turns.join('\n')}</pre>\n`}</details>
`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f]|\p{Surrogate}/gu, '\ufffd');
}

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#bbb, #555); }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 1rem auto; max-width: 75rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top; font-weight: normal; }
thead th { font-weight: bold; }
td a { color: inherit; }
.pass { background: light-dark(#dff2df, #163a16); }
.fail { background: light-dark(#f8d7d7, #5c1a1a); font-weight: bold; }
.weak { background: light-dark(#fdeecb, #4d3a0a); }
.skip { background: light-dark(#eee, #333); }
details { border-left: .25rem solid var(--line); margin: .5rem 0; padding-left: .75rem; }
dl { display: grid; gap: .1rem 1rem; grid-template-columns: max-content 1fr; }
dd { margin: 0; overflow-wrap: anywhere; }
pre { overflow-x: auto; white-space: pre-wrap; }
:target { outline: 2px solid; scroll-margin-top: 4rem; }
`;
