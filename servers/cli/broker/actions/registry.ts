import { join, resolve } from 'node:path';
import { StorageError } from '../../../../protocols/errors.js';
import { FILE_HEADER_BYTES, type RegistryVersion } from '../../../../protocols/registry/index.js';
import { BrokerStore } from '../../../../storage/broker/broker-store.js';
import { locateBroker, registryPath } from '../../../../storage/original-registry/broker-directory.js';
import { checkRegistry } from '../../../../storage/original-registry/check.js';
import { copyAdminFiles, exportRegistry } from '../../../../storage/original-registry/export-registry.js';
import { importRegistry } from '../../../../storage/original-registry/import-registry.js';
import { repairRegistry } from '../../../../storage/original-registry/repair.js';
import type { RegistryProblem } from '../../../../storage/original-registry/scan.js';
import { complain, EXIT } from '../../output/exit.js';
import { runTool, type Tool } from '../../output/run-tool.js';
import { type FormatOptions, formatOf } from '../registry-format.js';
import { registryRemedy, withRemedy } from '../registry-remedy.js';
import { refuseRunning } from '../stopped-broker.js';

/** The action of `harvest registry export`. */
export async function runExport(
  options: FormatOptions & { data: string; to: string; version: string; force: boolean; json: boolean },
): Promise<number> {
  return await runTool('registry export', options, async (tool) => {
    const { directory, store: path } = await locateStore(options.data);
    const to = resolve(options.to);
    const version: RegistryVersion = options.version === '2' ? 2 : 1;
    await using store = await BrokerStore.open(path, { create: false });
    const { force } = options;
    const settings = { ...tool, ...formatOf(options), version, force, adminFrom: directory };
    const counts = await exportRegistry(store, path, to, settings);
    return { ...counts };
  });
}

/** The action of `harvest registry import`. */
export async function runImport(
  options: FormatOptions & { from: string; data: string; json: boolean },
): Promise<number> {
  return await runTool('registry import', options, async (tool) => {
    const from = resolve(options.from);
    const data = resolve(options.data);
    await refuseRunning(from);
    await refuseRunning(data);
    const settings = { ...tool, ...formatOf(options) };
    const counts = await withRemedy(registryPath(from), () =>
      importRegistry(from, join(data, 'store'), settings),
    );
    const copied = (await copyAdminFiles(from, data)).length;
    return { ...counts, filesCopied: copied };
  });
}

/** The action of `harvest registry check`. */
export async function runCheck(path: string, options: FormatOptions & { json: boolean }): Promise<number> {
  let problems = 0;
  const status = await runTool('registry check', options, async (tool) => {
    const { registry, directory } = await locateOriginal(path);
    const { version, counts, ...rest } = await checkRegistry(
      registry,
      scanOptions(tool, options, registry),
      directory,
    );
    problems = rest.problems;
    const shown = options.json ? version : String(version);
    return { version: shown, ...rest, ...counts };
  });
  return problems > 0 && status === EXIT.ok ? EXIT.failure : status;
}

/** The action of `harvest registry repair`. */
export async function runRepair(
  path: string,
  options: FormatOptions & { dryRun: boolean; json: boolean },
): Promise<number> {
  let remaining = 0;
  const { dryRun } = options;
  const status = await runTool('registry repair', options, async (tool) => {
    const { registry, directory } = await locateOriginal(path);
    if (directory !== undefined) await refuseRunning(directory);
    const settings = { ...scanOptions(tool, options, registry), onWarning: tool.onWarning, dryRun };
    const { version, counts, kept, ...rest } = await repairRegistry(registry, settings, directory);
    remaining = rest.remaining;
    const old = kept === undefined ? {} : { old: kept };
    const shown = options.json ? version : String(version);
    return { version: shown, ...rest, ...counts, ...old };
  });
  if (remaining === 0 || status !== EXIT.ok) return status;
  if (!dryRun) complain('registry repair', `${remaining} problems remain`);
  return EXIT.failure;
}

/** Options and callbacks of check and repair. */
function scanOptions(tool: Tool, options: FormatOptions & { readonly json: boolean }, path: string) {
  return {
    ...formatOf(options),
    signal: tool.signal,
    onRecord: () => tool.onObject?.(),
    onProblem: async (problem: RegistryProblem) => {
      await tool.output.write(options.json ? `${JSON.stringify(problem)}\n` : problemLine(problem));
      const { rule, offset } = problem;
      if (rule !== 'REG-8' && (rule !== 'REG-15' || offset !== FILE_HEADER_BYTES)) return;
      const remedy = await registryRemedy(path, problem);
      if (remedy !== undefined) tool.onWarning?.(`${path}: ${remedy}`);
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
