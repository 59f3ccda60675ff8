import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { StorageError } from '../../protocols/errors.js';
import { brokerPidFile } from '../../servers/broker/index.js';
import { runningProcess } from '../../servers/host/index.js';
import { BrokerStore, type RegistryEntry } from '../../storage/index.js';
import { EXIT } from './exit.js';
import { StandardOutput } from './standard-output.js';

const HELP = `
BrokerDirectory is the broker's directory (default: the present one); the broker must not be running. Each object is one block
of lines, \`OID:\` first; a blank line ends it. The OIDs are those that \`harvest broker admin HOST rem-object-oid\` takes.

Examples:
  dumpregistry /var/harvest/brokers/mybroker
  dumpregistry -count
  dumpregistry --json | jq -r .url

Exit status: 0 printed, 1 there is no Registry, or it is in use; 2 usage.
`;

interface DumpOptions {
  readonly count: boolean;
  readonly json: boolean;
}

/** `dumpregistry [-count] [BrokerDirectory]` (BRK-6.7, REG-32). */
export function dumpregistryCommand(): Command {
  return new Command('dumpregistry')
    .description("Prints a broker's Registry.")
    .argument('[directory]', "the broker's directory", '.')
    .option('--count', 'print only how many records there are (-count)', false)
    .option('--json', 'print JSON lines', false)
    .addHelpText('after', HELP)
    .action(async (directory: string, options: DumpOptions) => {
      process.exitCode = await dump(resolve(directory), options);
    });
}

async function dump(directory: string, { count, json }: DumpOptions): Promise<number> {
  const running = await runningProcess(brokerPidFile(directory));
  if (running !== undefined) {
    throw new StorageError(`a broker is running in ${directory} (process ${running.pid}); stop it first`);
  }
  await using store = await BrokerStore.open(join(directory, 'store'), { create: false });
  const output = new StandardOutput();
  if (count) {
    // Our store keeps no deleted records: what is in it is valid.
    const counts = { records: store.count, valid: store.count, deleted: 0 };
    const lines = `Records: ${counts.records}\nValid: ${counts.valid}\nDeleted: ${counts.deleted}\n`;
    await output.write(json ? `${JSON.stringify(counts)}\n` : lines);
    return EXIT.ok;
  }
  for await (const page of store.all()) {
    const text = page.map((entry) => (json ? `${JSON.stringify(entry)}\n` : block(entry))).join('');
    // Nobody reads any more: there is nobody left to be told.
    if (!(await output.write(text))) return EXIT.ok;
  }
  return EXIT.ok;
}

/** REG-32. */
function block(entry: RegistryEntry): string {
  const fields: readonly (readonly [string, string | number])[] = [
    ['OID', entry.oid],
    ['URL', entry.url],
    ['Gatherer-Name', entry.gathererName],
    ['Gatherer-Host', entry.gathererHost],
    ['Gatherer-Version', entry.gathererVersion],
    ['Update-Time', entry.updateTime],
    ['Last-Modification-Time', entry.lastModificationTime],
    ['Refresh-Rate', entry.refreshRate],
    ['Time-to-Live', entry.timeToLive],
    ['MD5', entry.md5],
    ['Description', entry.description],
  ];
  return `${fields.map(([name, value]) => `${name}: ${oneLine(String(value))}`.trimEnd()).join('\n')}\n\n`;
}

/** A value from outside must not look like another line or move the reader's cursor. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\x00-\x1f\x7f-\x9f]/g, '?');
}
