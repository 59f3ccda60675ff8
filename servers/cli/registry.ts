import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { StorageError } from '../../protocols/errors.js';
import type { RegistryFormat, RegistryReading, RegistryVersion } from '../../protocols/registry/index.js';
import { BrokerStore } from '../../storage/index.js';
import {
  checkRegistry,
  copyAdminFiles,
  exportRegistry,
  importRegistry,
  locateBroker,
  type RegistryProblem,
  repairRegistry,
} from '../../storage/original-registry/index.js';
import { report, runTool, type Tool } from './db/run-tool.js';
import { complain, EXIT } from './exit.js';
import { refuseRunning } from './stopped-broker.js';

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

interface FormatOptions {
  readonly reading?: RegistryReading;
  readonly magic?: number;
  readonly recordMagic?: number;
  readonly valid?: number;
  readonly deleted?: number;
}

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
  ).action(
    async (
      options: FormatOptions & { data: string; to: string; version: string; force: boolean; json: boolean },
    ) => {
      await runTool('registry export', async (tool) => {
        const { directory, store: path } = await locateStore(options.data);
        const to = resolve(options.to);
        const version: RegistryVersion = options.version === '2' ? 2 : 1;
        await using store = await BrokerStore.open(path, { create: false });
        const { force } = options;
        const settings = { ...tool, ...formatOf(options), version, force, adminFrom: directory };
        const counts = await exportRegistry(store, path, to, settings);
        await report(tool, options.json, 'registry export', { ...counts });
      });
    },
  );
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
  ).action(async (options: FormatOptions & { from: string; data: string; json: boolean }) => {
    await runTool('registry import', async (tool) => {
      const from = resolve(options.from);
      const data = resolve(options.data);
      await refuseRunning(from);
      await refuseRunning(data);
      const settings = { ...tool, ...formatOf(options) };
      const counts = await importRegistry(from, join(data, 'store'), settings);
      const copied = (await copyAdminFiles(from, data)).length;
      await report(tool, options.json, 'registry import', { ...counts, filesCopied: copied });
    });
  });
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
  ).action(async (path: string, options: FormatOptions & { json: boolean }) => {
    let problems = 0;
    await runTool('registry check', async (tool) => {
      const { registry, directory } = await locateOriginal(path);
      const { version, counts, ...rest } = await checkRegistry(
        registry,
        scanOptions(tool, options),
        directory,
      );
      problems = rest.problems;
      const shown = options.json ? version : String(version);
      await report(tool, options.json, 'registry check', { version: shown, ...rest, ...counts });
    });
    if (problems > 0 && process.exitCode === EXIT.ok) process.exitCode = EXIT.failure;
  });
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
  ).action(async (path: string, options: FormatOptions & { dryRun: boolean; json: boolean }) => {
    let remaining = 0;
    await runTool('registry repair', async (tool) => {
      const { registry, directory } = await locateOriginal(path);
      if (directory !== undefined) await refuseRunning(directory);
      const { dryRun } = options;
      const settings = { ...scanOptions(tool, options), onWarning: tool.onWarning, dryRun };
      const { version, counts, kept, ...rest } = await repairRegistry(registry, settings, directory);
      remaining = rest.remaining;
      const old = kept === undefined ? {} : { old: kept };
      const shown = options.json ? version : String(version);
      await report(tool, options.json, 'registry repair', { version: shown, ...rest, ...counts, ...old });
      if (remaining > 0 && !dryRun) complain('registry repair', `${remaining} problems remain`);
    });
    if (remaining > 0 && process.exitCode === EXIT.ok) process.exitCode = EXIT.failure;
  });
}

/** Options and callbacks of check and repair. */
function scanOptions(tool: Tool, options: FormatOptions & { readonly json: boolean }) {
  return {
    ...formatOf(options),
    signal: tool.signal,
    onRecord: () => tool.onObject?.(),
    onProblem: async (problem: RegistryProblem) => {
      await tool.output.write(options.json ? `${JSON.stringify(problem)}\n` : problemLine(problem));
    },
  };
}

function problemLine({ rule, offset, message, lost }: RegistryProblem): string {
  const position = offset === undefined ? '' : `offset ${offset}: `;
  return `${position}${message}${lost === undefined ? '' : `, ${lost} bytes`} (${rule})\n`;
}

/** Finds the store of a broker of this kit. @throws StorageError if the broker runs or there is no store */
async function locateStore(path: string): Promise<{ readonly directory: string; readonly store: string }> {
  const located = await locateBroker(resolve(path));
  if (located.kind !== 'store') throw new StorageError(`${path} has no store of a broker of this kit`);
  await refuseRunning(located.directory);
  return { directory: located.directory, store: join(located.directory, 'store') };
}

/** Finds the Registry of an original broker. @throws StorageError if the path is a broker of this kit */
async function locateOriginal(
  path: string,
): Promise<{ readonly registry: string; readonly directory: string | undefined }> {
  const located = await locateBroker(resolve(path));
  if (located.kind === 'registry') return located;
  const registry = join(located.directory, 'admin', 'Registry');
  throw new StorageError(`${path} is a broker of this kit; give ${registry} itself if it was exported there`);
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

function formatOf({ reading, magic, recordMagic, valid, deleted }: FormatOptions): Partial<RegistryFormat> {
  return {
    ...(reading === undefined ? {} : { reading }),
    ...(magic === undefined ? {} : { fileMagic: magic }),
    ...(recordMagic === undefined ? {} : { recordMagic }),
    ...(valid === undefined ? {} : { validFlag: valid }),
    ...(deleted === undefined ? {} : { deletedFlag: deleted }),
  };
}
