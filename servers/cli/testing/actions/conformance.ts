import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import {
  addRun,
  type CaseResult,
  htmlReport,
  json,
  junit,
  loadSuite,
  type ReportedRun,
  runSuite,
  runsOf,
  type Suite,
  selectCases,
  suiteNames,
  Tally,
  tap,
} from '../../../../clients/conformance/index.js';
import { ConnectionError, UsageError } from '../../../../protocols/errors.js';
import { encodeFixture, FIXTURE } from '../../../../protocols/fixture/index.js';
import type { Basis } from '../../../../protocols/specification/index.js';
import { ifPresent } from '../../../../storage/files/exists.js';
import { replaceFile } from '../../../../storage/files/replace-file.js';
import { StopSignal } from '../../../host/stop-signal.js';
import { complain, complainOrThrow, EXIT } from '../../output/exit.js';
import { printResult, StandardOutput } from '../../output/standard-output.js';
import { colorReport } from './color-report.js';

interface ConformanceOptions {
  readonly fixture?: string;
  readonly json: boolean;
  readonly junit: boolean;
  readonly list: boolean;
  readonly only: readonly string[];
  readonly timeout: number;
  readonly strict: boolean;
  readonly basis: Basis | 'recorded';
  readonly html?: string;
  readonly name?: string;
}

/** The action of `harvest conformance`. */
export async function conformance(
  _suite: string | undefined,
  _parameters: readonly string[],
  options: ConformanceOptions,
  command: Command,
): Promise<number> {
  const [name, ...parameters] = operandsOf(command.args, process.argv);
  if (options.fixture !== undefined) return await writeFixture(options.fixture, options);
  if (options.list) return await list(name, options);
  if (name === undefined) throw new UsageError('SUITE is required; --list shows the suites');
  return await run(await loadSuite(name), parameters, options);
}

/**
 * Returns the operands with the `--` that commander removes; it separates a suite's parameters from a client's
 * command.
 */
function operandsOf(operands: readonly string[], argv: readonly string[]): string[] {
  const separator = argv.indexOf('--');
  if (separator < 0) return [...operands];
  const after = argv.slice(separator + 1);
  const before = operands.slice(0, operands.length - after.length);
  return [...before.filter((operand) => operand !== '--'), '--', ...after];
}

/** Writes the objects of the fixture, and says what each of them is for. */
async function writeFixture(file: string, options: ConformanceOptions): Promise<number> {
  if (file === '-') {
    await new StandardOutput({ raw: true }).write(Buffer.from(encodeFixture()));
    return EXIT.ok;
  }
  await writeFile(file, encodeFixture());
  const described = FIXTURE.map(({ url, purpose, updateTime }) => ({ url, purpose, updateTime }));
  const lines = described.map(({ url, purpose }) => `${url}\n    ${purpose}\n`);
  await printResult(options, described, lines.join(''));
  return EXIT.ok;
}

/** Runs the cases of a suite and prints the report. */
async function run(
  suite: Suite,
  parameters: readonly string[],
  options: ConformanceOptions,
): Promise<number> {
  const { only, strict } = options;
  // A deployed client is the weakest of the records.
  const basis = options.basis === 'recorded' ? 'client' : options.basis;
  const timeoutMs = Math.ceil(options.timeout * 1000);
  if (timeoutMs === 0) throw new UsageError('--timeout: must be more than 0 seconds');
  if (selectCases(suite.cases, only).length === 0) {
    throw new UsageError(`no case of ${suite.name} is named ${only.join(', ')}`);
  }
  using stop = new StopSignal({ limit: { program: 'harvest conformance' } });
  const { signal } = stop;
  const tally = new Tally();
  const kept: CaseResult[] = [];
  // A page that cannot be read is reported before the run, not after it.
  const page = options.html === undefined ? undefined : await openPage(options.html);
  try {
    await using prepared = await suite.prepare(parameters, { timeoutMs, signal });
    const results = countResults(runSuite(prepared, { only, basis, timeoutMs, signal }), tally, kept);
    const about = { suite: suite.name, target: prepared.target, strict };
    const reporter = reporterOf(options);
    const isColored = reporter === tap && process.stdout.isTTY && process.stdout.hasColors();
    // Colors are control characters; those of the peer are made visible before.
    const output = new StandardOutput({ raw: isColored });
    for await (const piece of reporter(results, about)) {
      if (!(await output.write(isColored ? colorReport(piece) : piece))) break;
    }
    const { target } = prepared;
    const date = new Date().toISOString().slice(0, 10);
    await page?.add({ suite: suite.name, name: options.name ?? target, target, date, results: kept });
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    if (!(error instanceof ConnectionError)) throw error;
    return complainOrThrow('conformance', error, EXIT.connection);
  }
  if (!tally.decided) complain('conformance', 'no case could be decided');
  return tally.decided && tally.failures(strict) === 0 ? EXIT.ok : EXIT.failure;
}

function reporterOf(options: ConformanceOptions): typeof tap {
  if (options.json) return json;
  return options.junit ? junit : tap;
}

/** A page of {@link htmlReport} in a file. */
interface ReportPage {
  /** Adds a run and writes the page. */
  add(run: ReportedRun): Promise<void>;
}

/** Opens the page of `--html`. @throws UsageError if the file is something else */
async function openPage(file: string): Promise<ReportPage> {
  const text = await ifPresent(readFile(file, 'utf8'));
  const runs = text === undefined || text === '' ? [] : runsOf(text);
  if (runs === undefined) throw new UsageError(`--html: ${file} exists and is not a report of this command`);
  return {
    add: (run) =>
      replaceFile(file, (temporary) => writeFile(temporary, htmlReport(addRun(runs, run))), { force: true }),
  };
}

/** Adds each result to the tally and the list, and passes it on. */
async function* countResults(
  results: AsyncIterable<CaseResult>,
  tally: Tally,
  kept: CaseResult[],
): AsyncGenerator<CaseResult, void, undefined> {
  for await (const result of results) {
    tally.add(result);
    kept.push(result);
    yield result;
  }
}

async function list(name: string | undefined, options: ConformanceOptions): Promise<number> {
  if (name === undefined) {
    const suites = await Promise.all((await suiteNames()).map(loadSuite));
    const described = suites.map(({ name, title, usage, requirements, cases }) => ({
      name,
      title,
      usage,
      ...(requirements === undefined ? {} : { requirements: requirements.join(' ') }),
      cases: cases.length,
    }));
    await printResult(options, described, suites.map(describeSuite).join(''));
    return EXIT.ok;
  }
  const suite = await loadSuite(name);
  const cases = selectCases(suite.cases, options.only);
  const described = cases.map(({ id, title, rules, source, level }) => ({ id, title, rules, source, level }));
  const lines = described.map(
    ({ id, title, rules, source, level }) =>
      `${id}  ${level}  ${rules.join(', ')}\n    ${title} [${source}]\n`,
  );
  await printResult(options, described, [`${describeSuite(suite)}\n`, ...lines].join(''));
  return EXIT.ok;
}

function describeSuite({ name, usage, title, requirements = [] }: Suite): string {
  return [`${name} ${usage}`, ...[title, ...requirements].map((line) => `    ${line}`), ''].join('\n');
}
