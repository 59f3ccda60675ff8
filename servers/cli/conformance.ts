import { Command, Option } from 'commander';
import {
  type CaseResult,
  json,
  junit,
  loadSuite,
  runSuite,
  type Suite,
  selectCases,
  suiteNames,
  Tally,
  tap,
} from '../../clients/conformance/index.js';
import { ConnectionError, UsageError } from '../../protocols/errors.js';
import { StopSignal } from '../host/index.js';
import { complain, complainOrThrow, EXIT } from './exit.js';
import { repeatedOption, secondsOption } from './option-values.js';
import { StandardOutput } from './standard-output.js';

const HELP = `
Tests a server, a client or data against the rules of a specification. Each case names its rules, their source, and MUST or
SHOULD: a peer that fails a MUST does not speak the protocol; one that fails a SHOULD makes its peers compensate. A case that
cannot be decided with this peer is skipped with the reason. The report is TAP 14; a failed case includes the dialogue. SUITE
is a kind of peer, PARAMETERs are its parameters: see --list.

Examples:
  harvest conformance --list                                  the suites and their parameters
  harvest conformance gatherd --list                          the cases of the suite gatherd
  harvest conformance gatherd localhost:8500                  test the gatherd there
  harvest conformance gatherd localhost --only 'compression/*' --only GATHERD-4.3
  harvest conformance gatherd-client -- gather {host} {port}  test a client: a command that fetches everything
  harvest conformance bulk localhost:8501                     test a Broker as a sender of bulk transfers
  harvest conformance soif All-Templates.gz                   test a stream

Exit status: 0 no MUST failed (with --strict: no SHOULD either); 1 one failed; 2 usage; 3 no server answers at this address.
`;

interface ConformanceOptions {
  readonly json: boolean;
  readonly junit: boolean;
  readonly list: boolean;
  readonly only: readonly string[];
  readonly timeout: number;
  readonly strict: boolean;
}

/** `harvest conformance [options] SUITE [PARAMETER...]`; the suites are the folders of clients/conformance. */
export function conformanceCommand(): Command {
  return (
    new Command('conformance')
      .summary('test a server, a client or SOIF against the specification')
      .usage('[options] SUITE [PARAMETER...] [-- COMMAND...]')
      .argument('[suite]', 'kind of peer')
      .argument('[parameter...]', 'parameters of the suite, e.g. HOST:PORT')
      // Unknown options may belong to the suite.
      .allowUnknownOption()
      .option('--list', 'list the suites, or the cases of SUITE, and test nothing', false)
      .option(
        '--only <pattern>',
        'only cases with this id or rule; * matches any text; may be repeated',
        repeatedOption,
        [],
      )
      .option(
        '--timeout <seconds>',
        'limit of one case, and between two pieces of a large transfer',
        secondsOption,
        10,
      )
      .option('--strict', 'treat a failed SHOULD like a failed MUST', false)
      .addOption(new Option('--json', 'one JSON document instead of TAP').default(false).conflicts('junit'))
      .option('--junit', 'JUnit XML instead of TAP', false)
      .addHelpText('after', HELP)
      .action(async (_suite, _parameters, options: ConformanceOptions, command: Command) => {
        const [name, ...parameters] = operandsOf(command.args, process.argv);
        if (options.list) process.exitCode = await list(name, options);
        else if (name === undefined) throw new UsageError('SUITE is required; --list shows the suites');
        else process.exitCode = await run(await loadSuite(name), parameters, options);
      })
  );
}

/** Returns the operands with the `--` that commander removes; it separates a suite's parameters from a client's command. */
function operandsOf(operands: readonly string[], argv: readonly string[]): string[] {
  const separator = argv.indexOf('--');
  if (separator < 0) return [...operands];
  const after = argv.slice(separator + 1);
  const before = operands.slice(0, operands.length - after.length);
  return [...before.filter((operand) => operand !== '--'), '--', ...after];
}

/** Runs the cases of a suite and prints the report. */
async function run(
  suite: Suite,
  parameters: readonly string[],
  options: ConformanceOptions,
): Promise<number> {
  const { only, strict } = options;
  const timeoutMs = Math.ceil(options.timeout * 1000);
  if (timeoutMs === 0) throw new UsageError('--timeout: must be more than 0 seconds');
  if (selectCases(suite.cases, only).length === 0) {
    throw new UsageError(`no case of ${suite.name} is named ${only.join(', ')}`);
  }
  using stop = new StopSignal({ limit: { program: 'harvest conformance' } });
  const { signal } = stop;
  const tally = new Tally();
  try {
    await using prepared = await suite.prepare(parameters, { timeoutMs, signal });
    const results = countResults(runSuite(prepared, { only, timeoutMs, signal }), tally);
    const about = { suite: suite.name, target: prepared.target, strict };
    const output = new StandardOutput();
    for await (const piece of reporterOf(options)(results, about)) {
      if (!(await output.write(piece))) break;
    }
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

/** Adds each result to the tally and passes it on. */
async function* countResults(
  results: AsyncIterable<CaseResult>,
  tally: Tally,
): AsyncGenerator<CaseResult, void, undefined> {
  for await (const result of results) {
    tally.add(result);
    yield result;
  }
}

async function list(name: string | undefined, options: ConformanceOptions): Promise<number> {
  const output = new StandardOutput();
  if (name === undefined) {
    const suites = await Promise.all((await suiteNames()).map(loadSuite));
    const described = suites.map(({ name, title, usage, cases }) => ({
      name,
      title,
      usage,
      cases: cases.length,
    }));
    const lines = described.map((suite) => `${suite.name} ${suite.usage}\n    ${suite.title}\n`);
    await output.write(options.json ? `${JSON.stringify(described)}\n` : lines.join(''));
    return EXIT.ok;
  }
  const cases = selectCases((await loadSuite(name)).cases, options.only);
  const described = cases.map(({ id, title, rules, source, level }) => ({ id, title, rules, source, level }));
  const lines = described.map(
    ({ id, title, rules, source, level }) =>
      `${id}  ${level}  ${rules.join(', ')}\n    ${title} [${source}]\n`,
  );
  await output.write(options.json ? `${JSON.stringify(described)}\n` : lines.join(''));
  return EXIT.ok;
}
