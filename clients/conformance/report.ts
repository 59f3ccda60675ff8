// Reports of a run: TAP 14, JSON, JUnit XML.
import type { CaseResult } from './runner.js';
import type { TranscriptEntry } from './transcript.js';

/** Counts the verdicts. */
export class Tally {
  pass = 0;
  skip = 0;
  /** Failures of cases that are a MUST. */
  failedMust = 0;
  /** Failures of cases that are a SHOULD. */
  failedShould = 0;
  /** Failures that rest on a choice of this project. */
  failedChoice = 0;

  add({ verdict, level, basis }: CaseResult): void {
    if (verdict === 'fail' && basis === 'choice') this.failedChoice++;
    if (verdict === 'pass') this.pass++;
    else if (verdict === 'skip') this.skip++;
    else if (level === 'MUST') this.failedMust++;
    else this.failedShould++;
  }

  get total(): number {
    return this.pass + this.skip + this.failedMust + this.failedShould;
  }

  /** Whether any case was decided: a run in which every case was skipped proves nothing. */
  get decided(): boolean {
    return this.total > this.skip;
  }

  /** Returns the number of failures that count. @param strict whether a SHOULD counts like a MUST */
  failures(strict: boolean): number {
    return this.failedMust + (strict ? this.failedShould : 0);
  }

  /** The counts as one line. */
  toString(): string {
    const { total, pass, failedMust, failedShould, skip } = this;
    return `${total} cases: ${pass} passed, ${failedMust} MUST failed, ${failedShould} SHOULD failed, ${skip} skipped`;
  }
}

/** Options of a report. */
export interface ReportOptions {
  readonly suite: string;
  readonly target: string;
  /** Whether a SHOULD counts like a MUST. Default false: it is shown, but is not a failure. */
  readonly strict?: boolean;
}

export type Results = AsyncIterable<CaseResult> | Iterable<CaseResult>;
export type Report = AsyncGenerator<string, void, undefined>;

/** Formats a turn: `>` from the kit to the peer, `<` from the peer, `#` a note. */
function formatTurn({ direction, text }: TranscriptEntry): string {
  return `${{ sent: '>', received: '<', note: '#' }[direction]} ${text}`;
}

/** Names a case; says so when its verdict rests on a choice of this project. */
function formatLabel({ id, title, level, rules, basis }: CaseResult): string {
  const choice = basis === 'choice' ? ', a choice of this project' : '';
  return `${id}: ${title} (${level} ${rules.join(', ')}${choice})`;
}

/**
 * Writes TAP version 14, case by case. A SHOULD that failed is `not ok` with the TODO directive, which
 * consumers show but do not count, unless `strict`.
 */
export async function* tap(results: Results, options: ReportOptions): Report {
  const tally = new Tally();
  yield `TAP version 14\n# harvest conformance ${oneLine(options.suite)} ${oneLine(options.target)}\n`;
  for await (const result of results) {
    tally.add(result);
    const ok = result.verdict === 'fail' ? 'not ok' : 'ok';
    yield `${ok} ${tally.total} - ${escapeTap(formatLabel(result))}${formatDirective(result, options)}\n${formatDiagnostics(result)}`;
  }
  yield `1..${tally.total}\n# ${tally}\n${aboutChoices(tally)}`;
}

/** Says how many failures no source of the protocol would call so. */
function aboutChoices({ failedChoice }: Tally): string {
  if (failedChoice === 0) return '';
  const cases = failedChoice === 1 ? '1 failure rests' : `${failedChoice} failures rest`;
  return `# ${cases} on choices of this project, where the record is silent; --basis recorded leaves such cases out\n`;
}

function formatDirective(
  { verdict, level, message = '' }: CaseResult,
  { strict = false }: ReportOptions,
): string {
  if (verdict === 'skip') return ` # SKIP ${escapeTap(message)}`;
  return verdict === 'fail' && level === 'SHOULD' && !strict ? ' # TODO a SHOULD' : '';
}

/** TAP 14: `#` and `\` are escaped in descriptions and reasons; a comment is taken as it is. */
function escapeTap(text: string): string {
  return oneLine(text).replace(/[\\#]/g, '\\$&');
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ');
}

/** The YAML block. JSON strings are YAML strings, so no text can end the block. A pass has no transcript. */
function formatDiagnostics(result: CaseResult): string {
  const {
    message,
    expected,
    received,
    statements = [],
    source,
    basis,
    milliseconds,
    verdict,
    transcript,
  } = result;
  const lines: string[] = [];
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined) lines.push(`  ${name}: ${JSON.stringify(value)}\n`);
  };
  const addList = (name: string, values: readonly string[]) => {
    if (values.length === 0) return;
    lines.push(`  ${name}:\n`, ...values.map((value) => `    - ${JSON.stringify(value)}\n`));
  };
  if (verdict === 'fail') {
    add('message', message);
    add('expected', expected);
    add('received', received);
    addList('rules', statements);
  }
  add('source', source);
  add('basis', basis);
  lines.push(`  milliseconds: ${milliseconds}\n`);
  if (verdict === 'fail') addList('transcript', transcript.map(formatTurn));
  return `  ---\n${lines.join('')}  ...\n`;
}

/** Writes one JSON document: `{ suite, target, results: CaseResult[], totals }`, with one result per line. */
export async function* json(results: Results, { suite, target, strict = false }: ReportOptions): Report {
  const tally = new Tally();
  yield `{"suite":${JSON.stringify(suite)},"target":${JSON.stringify(target)},"results":[`;
  for await (const result of results) {
    yield `${tally.total === 0 ? '' : ','}\n${JSON.stringify(result)}`;
    tally.add(result);
  }
  const { total, pass, failedMust, failedShould, failedChoice, skip } = tally;
  const totals = {
    total,
    pass,
    failedMust,
    failedShould,
    failedChoice,
    skip,
    conforms: tally.decided && tally.failures(strict) === 0,
  };
  yield `\n],"totals":${JSON.stringify(totals)}}\n`;
}

/** Writes JUnit XML. Its counts precede the cases, so the report is written after the last case. */
export async function* junit(results: Results, options: ReportOptions): Report {
  const { suite, target, strict = false } = options;
  const tally = new Tally();
  const cases: string[] = [];
  let milliseconds = 0;
  for await (const result of results) {
    tally.add(result);
    milliseconds += result.milliseconds;
    cases.push(formatTestcase(result, strict));
  }
  const failures = tally.failures(strict);
  const counts = [
    `tests="${tally.total}" failures="${failures}" errors="0"`,
    `skipped="${tally.total - tally.pass - failures}" time="${formatSeconds(milliseconds)}"`,
  ].join(' ');
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="harvest conformance" ${counts}>\n`;
  yield `<testsuite name="${escapeXml(`${suite} ${target}`)}" ${counts}>\n`;
  yield* cases;
  yield '</testsuite>\n</testsuites>\n';
}

function formatTestcase(result: CaseResult, strict: boolean): string {
  const { suite, milliseconds, transcript, source, basis } = result;
  const attributes = `classname="${escapeXml(suite)}" name="${escapeXml(formatLabel(result))}" time="${formatSeconds(milliseconds)}"`;
  const output = [`source: ${source}`, `basis: ${basis}`, ...transcript.map(formatTurn)].join('\n');
  return `<testcase ${attributes}>\n${formatVerdict(result, strict)}<system-out>${escapeXml(output)}</system-out>\n</testcase>\n`;
}

function formatVerdict(result: CaseResult, strict: boolean): string {
  const { verdict, level, message = '', expected, received, statements = [] } = result;
  if (verdict === 'pass') return '';
  if (verdict === 'skip') return `<skipped message="${escapeXml(message)}"/>\n`;
  // JUnit has no failure that does not count.
  if (level === 'SHOULD' && !strict)
    return `<skipped message="${escapeXml(`SHOULD, failed: ${message}`)}"/>\n`;
  const details = [`expected: ${expected ?? '-'}`, `received: ${received ?? '-'}`, ...statements].join('\n');
  return `<failure type="${level}" message="${escapeXml(message)}">${escapeXml(details)}</failure>\n`;
}

function formatSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/** Escapes text and attributes in double quotes; characters that XML 1.0 does not allow become `?`. */
function escapeXml(text: string): string {
  return text
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu, '?')
    .replace(/[&<>"]/g, (character) => XML_NAMES[character] ?? character);
}

const XML_NAMES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
