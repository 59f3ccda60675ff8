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
import { brokerPidFile } from '../broker/index.js';
import { runningProcess } from '../host/index.js';
import { report, runTool, type Tool } from './db/run-tool.js';
import { EXIT } from './exit.js';

const HELP = `
An original broker's directory has admin/Registry, a file with a record for each object, and objects/NN/OBJn, the objects.
Ours has store/. These commands go from one to the other; a broker that uses a directory must be stopped first.

Examples:
  harvest registry import --from /usr/local/harvest/brokers/old --data ./broker
  harvest registry export --data ./broker --to ./original
  harvest registry check /usr/local/harvest/brokers/old
  dumpregistry ./original                               what is in it

Exit status: 0 done, 1 failure, or a check found something, 2 usage, 130 interrupted.
`;

const FORMAT_HELP = `
Nobody knows the original's magic numbers and flags. A Registry of another origin is read with --magic, --record-magic, --valid and
--deleted; what its sizes count is found out, or said with --reading: a the data, b the whole record, c what follows the size.`;

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
Writes objects/ first, then admin/Registry, whole. A run that was interrupted is simply run again. broker.conf, Collection.conf and
LAST-COLLECTION are copied where there are none; look at the paths in broker.conf. Each object keeps its OID.

Examples:
  harvest registry export --data ./broker --to ./original
  harvest registry export --data ./broker --to ./original --version 2 --force
`;

function exportCommand(): Command {
  return withFormat(
    new Command('export')
      .description("Writes an original broker's directory.")
      .requiredOption('--data <dir>', 'the directory of our broker')
      .requiredOption('--to <dir>', 'the directory to write')
      .addOption(
        new Option('--version <n>', '1: names of the Gatherers in each record; 2: ids')
          .choices(['1', '2'])
          .default('1'),
      )
      .option('--force', 'replace a Registry that is there', false)
      .option('--json', 'print the counts as JSON', false)
      .addHelpText('after', EXPORT_HELP),
  ).action(
    async (
      options: FormatOptions & { data: string; to: string; version: string; force: boolean; json: boolean },
    ) => {
      await runTool('registry export', async (tool) => {
        const { directory, store: path } = await ourDirectory(options.data);
        const to = resolve(options.to);
        const version: RegistryVersion = options.version === '2' ? 2 : 1;
        await using store = await BrokerStore.open(path, { create: false });
        const { force } = options;
        const settings = { ...tool, ...formatOf(options), version, force };
        const counts = await exportRegistry(store, path, to, settings);
        const copied = (await copyAdminFiles(directory, to)).length;
        await report(tool, options.json, 'registry export', { ...counts, filesCopied: copied });
      });
    },
  );
}

const IMPORT_HELP = `
Takes every valid record's object into DIR/store, under its OID. Objects that lack Gatherer-Name, -Host, -Version or Update-Time are
skipped and said; so are records without a file, and files without a record. The original directory is only read. A run that was
interrupted is simply run again. broker.conf, Collection.conf and LAST-COLLECTION are copied where there are none.
${FORMAT_HELP}

Example:
  harvest registry import --from /usr/local/harvest/brokers/old --data ./broker
`;

function importCommand(): Command {
  return withFormat(
    new Command('import')
      .description("Takes over an original broker's directory.")
      .requiredOption('--from <dir>', "the original broker's directory")
      .requiredOption('--data <dir>', 'the directory of our broker; it is made')
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
Says of each damage at which byte it is and which rule it breaks. Of a directory the objects' files are looked for as well. --json prints
a line for each problem and one for the whole.
${FORMAT_HELP}

Examples:
  harvest registry check /usr/local/harvest/brokers/old
  harvest registry check --json admin/Registry | jq -r 'select(.rule) | .rule'
`;

function checkCommand(): Command {
  return withFormat(
    new Command('check')
      .description('Checks a Registry.')
      .argument('<place>', "the Registry, or an original broker's directory")
      .option('--json', 'print JSON lines', false)
      .addHelpText('after', CHECK_HELP),
  ).action(async (place: string, options: FormatOptions & { json: boolean }) => {
    let problems = 0;
    await runTool('registry check', async (tool) => {
      const { registry, directory } = await originalPlace(place);
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
Writes every record that can be read into a new Registry. The old one stays beside it as Registry.damaged. A sound Registry is left
as it is.
${FORMAT_HELP}

Examples:
  harvest registry repair --dry-run ./original
  harvest registry repair ./original/admin/Registry
`;

function repairCommand(): Command {
  return withFormat(
    new Command('repair')
      .description('Repairs a Registry.')
      .argument('<place>', "the Registry, or an original broker's directory")
      .option('--dry-run', 'only say what would be done', false)
      .option('--json', 'print JSON lines', false)
      .addHelpText('after', REPAIR_HELP),
  ).action(async (place: string, options: FormatOptions & { dryRun: boolean; json: boolean }) => {
    await runTool('registry repair', async (tool) => {
      const { registry, directory } = await originalPlace(place);
      if (directory !== undefined) await refuseRunning(directory);
      const { dryRun } = options;
      const { version, counts, kept, ...rest } = await repairRegistry(registry, {
        ...scanOptions(tool, options),
        dryRun,
      });
      const old = kept === undefined ? {} : { old: kept };
      const shown = options.json ? version : String(version);
      await report(tool, options.json, 'registry repair', { version: shown, ...rest, ...counts, ...old });
    });
  });
}

/** What check and repair are told, and say. */
function scanOptions(tool: Tool, options: FormatOptions & { readonly json: boolean }) {
  return {
    ...formatOf(options),
    signal: tool.signal,
    onRecord: () => tool.onObject?.(),
    onProblem: async (problem: RegistryProblem) => {
      await tool.output.write(options.json ? `${JSON.stringify(problem)}\n` : lineOf(problem));
    },
  };
}

function lineOf({ rule, offset, message, lost }: RegistryProblem): string {
  const place = offset === undefined ? '' : `offset ${offset}: `;
  return `${place}${message}${lost === undefined ? '' : `, ${lost} bytes`} (${rule})\n`;
}

/** The store of a broker of ours that does not run. */
async function ourDirectory(path: string): Promise<{ readonly directory: string; readonly store: string }> {
  const place = await locateBroker(resolve(path));
  if (place.kind !== 'store') throw new StorageError(`${path} has no store of ours`);
  await refuseRunning(place.directory);
  return { directory: place.directory, store: join(place.directory, 'store') };
}

async function originalPlace(
  path: string,
): Promise<{ readonly registry: string; readonly directory: string | undefined }> {
  const place = await locateBroker(resolve(path));
  if (place.kind === 'registry') return place;
  const registry = join(place.directory, 'admin', 'Registry');
  throw new StorageError(`${path} is a broker of ours; give ${registry} itself, if it was exported there`);
}

async function refuseRunning(directory: string): Promise<void> {
  const running = await runningProcess(brokerPidFile(directory));
  if (running === undefined) return;
  throw new StorageError(`a broker is running in ${directory} (process ${running.pid}); stop it first`);
}

function withFormat(command: Command): Command {
  return command
    .addOption(new Option('--reading <reading>', 'what a size field counts').choices(['a', 'b', 'c']))
    .option('--magic <number>', "the file's magic number (default: 0x48425247)", numberOption)
    .option('--record-magic <number>', "a record's magic number (default: 0x48425252)", numberOption)
    .option('--valid <number>', 'the flag of a valid record (default: 1)', numberOption)
    .option('--deleted <number>', 'the flag of a deleted record (default: 2)', numberOption);
}

function numberOption(value: string): number {
  if (!/^(?:0x[0-9a-f]{1,8}|\d{1,10})$/i.test(value))
    throw new InvalidArgumentError('a number of 32 bits is wanted');
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
