import { Command, InvalidArgumentError, Option } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
The directory of an original broker has admin/Registry, a file with a record for each object, and the objects as
objects/NN/OBJn; that of a broker of this kit has store/. These commands convert one into the other; stop the broker first.

Examples:
  harvest registry import --from /usr/local/harvest/brokers/old --data ./broker
  harvest registry export --data ./broker --to ./original
  harvest registry check /usr/local/harvest/brokers/old
  dumpregistry ./original                               print its records

Exit status: 0 done; 1 failure, or problems that check finds remain; 2 usage; 130 interrupted.
`;

const FORMAT_HELP = `
The magic numbers and flags of the original are not documented. Use --magic, --record-magic, --valid and --deleted for a
Registry with other values. What a size field counts is detected; --reading sets it: a = the data, b = the whole record, c =
the bytes after the size.`;

/** `harvest registry export|import|check|repair` (REG-1 to REG-50). */
export function registryCommand(): Command {
  return new Command('registry')
    .summary("read, write, check and repair an original broker's directory")
    .addHelpText('after', HELP)
    .addCommand(exportCommand())
    .addCommand(importCommand())
    .addCommand(checkCommand())
    .addCommand(repairCommand());
}

const EXPORT_HELP = `
Writes all files beside their places, then moves objects/NN/OBJn (NN is the number modulo 100) and at last admin/Registry. A run that
fails leaves no new file. broker.conf, Collection.conf and LAST-COLLECTION are
copied if missing; check the paths in broker.conf. Each object keeps its OID.

Examples:
  harvest registry export --data ./broker --to ./original
  harvest registry export --data ./broker --to ./original --version 2 --force
`;

function exportCommand(): Command {
  return withFormat(
    new Command('export')
      .description("Writes an original broker's directory.")
      .requiredOption('--data <dir>', "directory of the kit's broker")
      .requiredOption('--to <dir>', 'directory to write')
      .addOption(
        new Option('--version <n>', '1: records with names of Gatherers; 2: with ids')
          .choices(['1', '2'])
          .default('1'),
      )
      .option('--force', 'replace an existing Registry', false)
      .option('--json', 'print the counts as JSON', false)
      .addHelpText('after', EXPORT_HELP),
  ).action(lazyAction(async () => (await import('./actions/registry.js')).runExport));
}

const IMPORT_HELP = `
Stores the object of every valid record in DIR/store under its OID. Objects without Gatherer-Name, -Host, -Version or Update-Time,
records without a file and files without a record are skipped and reported. The original directory is only read. Repeat an
interrupted run. broker.conf, Collection.conf and LAST-COLLECTION are copied if missing.
${FORMAT_HELP}

Example:
  harvest registry import --from /usr/local/harvest/brokers/old --data ./broker
`;

function importCommand(): Command {
  return withFormat(
    new Command('import')
      .description("Imports an original broker's directory.")
      .requiredOption('--from <dir>', 'directory of the original broker')
      .requiredOption('--data <dir>', "directory of the kit's broker; created if missing")
      .option('--json', 'print the counts as JSON', false)
      .addHelpText('after', IMPORT_HELP),
  ).action(lazyAction(async () => (await import('./actions/registry.js')).runImport));
}

const CHECK_HELP = `
Reports each defect with its byte offset and the rule it breaks. In a directory, also for its admin/Registry, the object files are read too. --json prints a
line for each problem and one for the totals.
${FORMAT_HELP}

Examples:
  harvest registry check /usr/local/harvest/brokers/old
  harvest registry check --json admin/Registry | jq -r 'select(.rule) | .rule'
`;

function checkCommand(): Command {
  return withFormat(
    new Command('check')
      .description('Checks a Registry.')
      .argument('<path>', "the Registry, or an original broker's directory")
      .option('--json', 'print JSON lines', false)
      .addHelpText('after', CHECK_HELP),
  ).action(lazyAction(async () => (await import('./actions/registry.js')).runCheck));
}

const REPAIR_HELP = `
Writes every readable record into a new Registry. The old file is kept as Registry.damaged. In a directory the files of the objects
decide: records that are missing or wrong are made from them, also all records of an empty Registry; records without a file are marked as
deleted, and files that belong to no record are moved to unreferenced/. If there is no object file at all, records stay. A Registry without
problems is not changed. Status 0 says that a check finds no problem now.
${FORMAT_HELP}

Examples:
  harvest registry repair --dry-run ./original
  harvest registry repair ./original/admin/Registry
`;

function repairCommand(): Command {
  return withFormat(
    new Command('repair')
      .description('Repairs a Registry.')
      .argument('<path>', "the Registry, or an original broker's directory")
      .option('--dry-run', 'only report what would be done', false)
      .option('--json', 'print JSON lines', false)
      .addHelpText('after', REPAIR_HELP),
  ).action(lazyAction(async () => (await import('./actions/registry.js')).runRepair));
}

function withFormat(command: Command): Command {
  return command
    .addOption(new Option('--reading <reading>', 'meaning of a size field').choices(['a', 'b', 'c']))
    .option('--magic <number>', 'magic number of the file (default: 0x48425247)', numberOption)
    .option('--record-magic <number>', 'magic number of a record (default: 0x48425252)', numberOption)
    .option('--valid <number>', 'flag of a valid record (default: 1)', numberOption)
    .option('--deleted <number>', 'flag of a deleted record (default: 2)', numberOption);
}

function numberOption(value: string): number {
  if (!/^(?:0x[0-9a-f]{1,8}|\d{1,10})$/i.test(value))
    throw new InvalidArgumentError('must be a number of 32 bits');
  return Number(value);
}
