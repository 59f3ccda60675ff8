import { join, resolve } from 'node:path';
import {
  type GathererIds,
  isRegistryVersion,
  type RegistryRecord,
} from '../../../../protocols/registry/index.js';
import { decodeText, urlFields, urlOfBytes } from '../../../../protocols/soif/index.js';
import { BrokerStore } from '../../../../storage/broker/broker-store.js';
import { locateBroker } from '../../../../storage/original-registry/broker-directory.js';
import { readGathererIds } from '../../../../storage/original-registry/export-registry.js';
import { RegistryFile } from '../../../../storage/original-registry/registry-file.js';
import type { RegistryEntry } from '../../../../storage/records/records.js';
import { complain, EXIT } from '../../output/exit.js';
import { printable, printableUrl } from '../../output/printable.js';
import { StandardOutput } from '../../output/standard-output.js';
import { type FormatOptions, formatOf } from '../registry-format.js';
import { withRemedy } from '../registry-remedy.js';
import { refuseRunning } from '../stopped-broker.js';

interface DumpOptions extends FormatOptions {
  readonly count: boolean;
  readonly json: boolean;
}

/** The printed fields of an object (REG-32). */
type DumpEntry = Omit<RegistryEntry, 'type' | 'length' | 'changed' | 'contentChanged' | 'contentTime'>;

/** The action of `harvest dumpregistry`; returns the exit status. */
export async function dump(directory: string, options: DumpOptions): Promise<number> {
  const located = await locateBroker(resolve(directory));
  if (located.directory !== undefined) await refuseRunning(located.directory);
  return located.kind === 'store'
    ? dumpStore(located.directory, options)
    : withRemedy(
        located.registry,
        () => dumpFile(located.registry, located.directory, options),
        'dumpregistry: ',
      );
}

async function dumpStore(directory: string, { count, json }: DumpOptions): Promise<number> {
  await using store = await BrokerStore.open(join(directory, 'store'), { create: false });
  const output = new StandardOutput();
  if (count) {
    // Our store has no deleted records.
    await output.write(countsText({ records: store.count, valid: store.count, deleted: 0 }, json));
    return EXIT.ok;
  }
  for await (const page of store.all()) {
    const text = Buffer.concat(page.map((entry) => (json ? entryJson(entry) : entryText(entry))));
    // The reader has closed the pipe.
    if (!(await output.write(text))) return EXIT.ok;
  }
  return EXIT.ok;
}

/** Prints an original broker's Registry up to the first damage, which is thrown. */
async function dumpFile(
  path: string,
  directory: string | undefined,
  { count, json, ...options }: DumpOptions,
): Promise<number> {
  await using registry = await RegistryFile.open(path, formatOf(options));
  const output = new StandardOutput();
  for (const { rule, offset, message } of registry.problems) {
    // The error that ends the program says it.
    if (registry.damage?.offset !== offset)
      complain('dumpregistry', `${path}: offset ${offset}: ${message} (${rule})`);
  }
  if (!isRegistryVersion(registry.version)) {
    complain('dumpregistry', `${path}: records of version ${registry.version} are not known (REG-9)`);
    if (!count) return EXIT.failure;
  }
  if (count) {
    const { records, valid, deleted } = registry.counts;
    await output.write(countsText({ records, valid, deleted }, json));
    return registry.damage === undefined ? EXIT.ok : EXIT.failure;
  }
  // REG-50: without the broker's directory the ids stay numbers.
  const ids =
    registry.version === 2 && directory !== undefined ? await readGathererIds(directory) : undefined;
  for await (const { state, record } of registry.records()) {
    if (state !== 'valid' || record === undefined) continue;
    const entry = entryOf(record, ids);
    if (!(await output.write(json ? entryJson(entry) : entryText(entry)))) return EXIT.ok;
  }
  return EXIT.ok;
}

function entryOf(record: RegistryRecord, ids: GathererIds | undefined): DumpEntry {
  const { oid, gatherer, updateTime, lastModificationTime, refreshRate, timeToLive } = record;
  const named =
    'id' in gatherer
      ? (ids?.get(gatherer.id) ?? { name: `id ${gatherer.id}`, host: '', version: '' })
      : {
          name: decodeText(gatherer.name),
          host: decodeText(gatherer.host),
          version: decodeText(gatherer.version),
        };
  return {
    oid,
    url: urlOfBytes(record.url),
    gathererName: named.name,
    gathererHost: named.host,
    gathererVersion: named.version,
    updateTime,
    lastModificationTime,
    refreshRate,
    timeToLive,
    md5: decodeText(record.md5),
    description: decodeText(record.description),
  };
}

/** Formats the numbers of records (REG-32). */
function countsText(
  counts: { readonly records: number; readonly valid: number; readonly deleted: number },
  json: boolean,
): string {
  if (json) return `${JSON.stringify(counts)}\n`;
  return `Records: ${counts.records}\nValid: ${counts.valid}\nDeleted: ${counts.deleted}\n`;
}

function entryJson(entry: DumpEntry): Uint8Array {
  return Buffer.from(`${JSON.stringify({ ...entry, ...urlFields(entry.url) })}\n`);
}

/** Formats an object as a block of `Name: value` lines (REG-32), the URL in its own bytes. */
function entryText(entry: DumpEntry): Uint8Array {
  const fields: readonly (readonly [string, string | number])[] = [
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
  const rest = `${fields.map(([name, value]) => `${name}: ${printable(String(value).replace(/\s+/g, ' '))}`.trimEnd()).join('\n')}\n\n`;
  const head = [Buffer.from(`OID: ${entry.oid}\nURL: `), printableUrl(entry.url)];
  return Buffer.concat([...head, Buffer.from(`\n${rest}`)]);
}
