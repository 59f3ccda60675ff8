import { Command, Option } from 'commander';
import { BASES, RULE_LEVELS } from '../../../protocols/specification/index.js';
import { lazyAction } from '../lazy-action.js';
import { repeatedOption, secondsOption } from '../options/option-values.js';

/** The commands of this file by name. */
export const DEFINITIONS = { conformance, spec, doctor };

const CONFORMANCE_HELP = `
Tests a server, a client or data against the rules of a specification. Each case names its rules,
their source, and MUST or SHOULD: a peer that fails a MUST does not speak the protocol; one that
fails a SHOULD makes its peers compensate. A case that cannot be decided with this peer is skipped
with the reason. The report is TAP 14; a failed case includes the dialogue. SUITE is a kind of peer,
PARAMETERs are its parameters: see --list.

The suites about clients run COMMAND against servers that play a script, and judge what it sends,
what it writes to standard output, and its exit status: --list says what each suite requires.

A gatherd or a Broker that has loaded the objects of --fixture, unchanged, is tested more closely:
the kit knows each byte of their values, and which of them a query finds. The cases fixture/* notice
them. A Broker loads them by collecting from a gatherd that has them, or by #add-object.

Examples:
  harvest conformance --list                                  the suites and their parameters
  harvest conformance gatherd --list                          the cases of the suite gatherd
  harvest conformance gatherd localhost:8500                  test the gatherd there
  harvest conformance gatherd localhost --only 'compression/*' --only GATHERD-4.3
  harvest conformance gatherd-client -- gather {host} {port}  test a client that fetches everything
  harvest conformance bulk localhost:8501                     test a Broker's bulk transfers
  harvest conformance --fixture fixture.soif                  objects for a server to load
  harvest conformance soif All-Templates.gz                   test a stream
  harvest conformance sstp localhost:3324 --basis seed        only what the seed documents say
  harvest conformance gatherd localhost --html report.html --name 'my gatherd 1.2'

What a case rests on: seed, a document that this project restores; manual, another document of the
original systems; client, a program of the time; inferred, a conclusion; choice, a choice of this
project where the record is silent. --basis recorded means seed, manual or client. A failure that
rests on a choice says so. \`harvest spec RULE\` prints a rule.

The page of --html compares implementations: each run with another --name adds a column, each suite
has a table. It needs no other file and no script.

Exit status: 0 no MUST failed (with --strict: no SHOULD either); 1 one failed; 2 usage; 3 no server
answers at this address.
`;

/** `harvest conformance [options] SUITE [PARAMETER...]`; the suites are the folders of clients/conformance. */
function conformance(): Command {
  return (
    new Command('conformance')
      .usage('[options] SUITE [PARAMETER...] [-- COMMAND...]')
      .argument('[suite]', 'kind of peer')
      .argument('[parameter...]', 'parameters of the suite, e.g. HOST:PORT')
      // Unknown options may belong to the suite.
      .allowUnknownOption()
      .option(
        '--fixture <file>',
        'write the objects of the fixture as SOIF (- is standard output), list them, and test nothing',
      )
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
      .addOption(
        new Option('--basis <basis>', 'judge only cases that rest on this, or on more: see below')
          .choices([...BASES, 'recorded'])
          .default('choice'),
      )
      .option('--strict', 'treat a failed SHOULD like a failed MUST', false)
      .addOption(new Option('--json', 'one JSON document instead of TAP').default(false).conflicts('junit'))
      .option('--junit', 'JUnit XML instead of TAP', false)
      .option('--html <file>', 'also write a page to publish, or add a column to the page there')
      .option('--name <name>', 'heading of the column of --html (default: the target)')
      .addHelpText('after', CONFORMANCE_HELP)
      .action(lazyAction(async () => (await import('./actions/conformance.js')).conformance))
  );
}

const SPEC_HELP = `
Prints rules of the specifications: the text, the level (MUST, SHOULD, MAY; EXT is an extension of
this project, NOTE binds no implementation), what the rule rests on, and the cases of \`harvest
conformance\` that judge it. A section (SOIF-2) or a prefix (SOIF) stands for all of its rules.

Examples:
  harvest spec GATHERD-4.3                    a rule
  harvest spec BRK-2 --list                   the rules about the query language, a sentence each
  harvest spec S --level MUST --basis choice --list
                                              what SSTP requires that no source records
  harvest spec --list --json > rules.jsonl    all rules, an object each

Exit status: 0 done; 1 no rule matches the options; 2 usage, and an unknown rule.
`;

/** `harvest spec [RULE...]`: rules of the specifications. */
function spec(): Command {
  return new Command('spec')
    .argument('[rule...]', 'number, section or prefix of rules, e.g. SOIF-2.3, SOIF-2 or SOIF')
    .option('--list', 'a line and a sentence for each rule', false)
    .addOption(new Option('--level <level>', 'only rules of this level').choices(RULE_LEVELS))
    .addOption(new Option('--basis <basis>', 'only rules that rest on this, at least in part').choices(BASES))
    .option('--json', 'one JSON object per rule', false)
    .addHelpText('after', SPEC_HELP)
    .action(lazyAction(async () => (await import('./actions/spec.js')).printRules));
}

const DOCTOR_HELP = `
Looks at Node, memory, disk, ports, the limit of open files, the processes and stores of a data
directory, and the optional programs. It changes nothing and opens no store: \`harvest store check
DIR\` reads every byte of one.

Each line begins with ok, note, warning or problem. A note is about something optional.

Examples:
  harvest doctor                           before the first run
  harvest doctor --data DIR --json         of the servers of a data directory, for a program

Exit status: 0 no problem; 1 at least one; 2 usage.
`;

/** `harvest doctor`: what could keep the programs from working here. */
function doctor(): Command {
  return new Command('doctor')
    .option('--data <dir>', 'the directory of `harvest run`, of a Gatherer or a Broker', './data')
    .option('--json', 'print one JSON object per finding', false)
    .addHelpText('after', DOCTOR_HELP)
    .action(lazyAction(async () => (await import('./actions/doctor.js')).examine));
}
