import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseBrokerConf } from '../../../../protocols/config/index.js';
import { messageOf } from '../../../../protocols/errors.js';
import { findStores } from '../../../../storage/check/find-stores.js';
import type { Engine } from '../../../../storage/indexers/engine.js';
import { ENGINES, isModuleType, parseIndexerType } from '../../../../storage/indexers/open.js';
import { openSearchSettings } from '../../../broker/opensearch-settings.js';
import { runningProcess } from '../../../host/pid-file.js';
import { listenProblem } from '../../listen-problem.js';
import { EXIT, RUN_PORTS } from '../../output/exit.js';
import { printable } from '../../output/printable.js';
import { StandardOutput } from '../../output/standard-output.js';
import { lifeWarningsOfFile } from '../../schedule/life-warnings.js';
import { packageVersion } from '../../version.js';

/** A finding of a check. */
interface Finding {
  readonly status: 'ok' | 'note' | 'warning' | 'problem';
  readonly check: string;
  readonly text: string;
}

/** The action of `harvest doctor`; returns the exit status. */
export async function examine({
  data,
  json,
}: {
  readonly data: string;
  readonly json: boolean;
}): Promise<number> {
  const directory = resolve(data);
  const checks = [checkNode, checkMemory, () => checkDisk(directory), checkFiles, checkPorts];
  const output = new StandardOutput();
  let status: number = EXIT.ok;
  for (const check of [
    ...checks,
    () => checkData(directory),
    () => checkIndexers(directory),
    checkPrograms,
  ]) {
    for (const finding of await check()) {
      if (finding.status === 'problem') status = EXIT.failure;
      await output.write(json ? `${JSON.stringify(finding)}\n` : lineOf(finding));
    }
  }
  return status;
}

function lineOf({ status, check, text }: Finding): string {
  return `${status.padEnd(8)} ${check.padEnd(10)} ${printable(text)}\n`;
}

async function checkNode(): Promise<Finding[]> {
  // The start of the program has refused older versions.
  return [
    {
      status: 'ok',
      check: 'version',
      text: `harvest-kit ${packageVersion()}, Node ${process.versions.node}`,
    },
  ];
}

/** Below this a crawl has to share its memory with the operating system's caches. */
const LOW_MEMORY_MIB = 1024;

async function checkMemory(): Promise<Finding[]> {
  const total = Math.floor(totalmem() / 2 ** 20);
  const text = `${Math.floor(freemem() / 2 ** 20)} of ${total} MiB are free`;
  return [{ status: total < LOW_MEMORY_MIB ? 'warning' : 'ok', check: 'memory', text }];
}

/** Default of --low-disk: below it, gathering pauses. */
const LOW_DISK_MIB = 512;

async function checkDisk(directory: string): Promise<Finding[]> {
  let existing = directory;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    const { bavail, bsize, files, ffree } = await statfs(existing);
    const free = Math.floor((bavail * bsize) / 2 ** 20);
    const low = free < LOW_DISK_MIB;
    const remedy = low ? `: gathering pauses below ${LOW_DISK_MIB} MiB (--low-disk)` : '';
    const findings: Finding[] = [
      { status: low ? 'problem' : 'ok', check: 'disk', text: `${existing}: ${free} MiB are free${remedy}` },
    ];
    if (files > 0 && ffree < 1000)
      findings.push({
        status: 'problem',
        check: 'disk',
        text: `${existing}: only ${ffree} files can be created`,
      });
    return findings;
  } catch (error) {
    return [{ status: 'problem', check: 'disk', text: `${existing}: ${messageOf(error)}` }];
  }
}

/** Connections of a references server (8192), the other servers, and the files of the stores. */
const FEW_FILES = 16_384;

async function checkFiles(): Promise<Finding[]> {
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '');
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  if (soft === undefined) return [];
  const few = Number(soft) < FEW_FILES;
  const text = `${soft} files and connections may be open${few ? `; ulimit -n ${FEW_FILES} allows all connections of every server` : ''}`;
  return [{ status: few ? 'warning' : 'ok', check: 'open files', text }];
}

async function checkPorts(): Promise<Finding[]> {
  const taken: Finding[] = [];
  for (const { port, option } of RUN_PORTS) {
    const problem = await listenProblem(port);
    if (problem === undefined) continue;
    taken.push({
      status: 'warning',
      check: 'ports',
      text: `${port} cannot be used: ${problem}; ${option} of harvest run chooses another`,
    });
  }
  if (taken.length > 0) return taken;
  return [{ status: 'ok', check: 'ports', text: `${RUN_PORTS.map(({ port }) => port).join(', ')} are free` }];
}

/** PID files of the servers, below a Gatherer, a Broker, or the directory of `harvest run`. */
const PID_FILES = ['gatherd.pid', 'admin/broker.pid', 'gatherer/gatherd.pid', 'broker/admin/broker.pid'];

async function checkData(directory: string): Promise<Finding[]> {
  if (!existsSync(directory))
    return [{ status: 'note', check: 'data', text: `${directory} does not exist yet` }];
  const findings: Finding[] = [];
  for (const name of PID_FILES) {
    const file = join(directory, name);
    if (!existsSync(file)) continue;
    const running = await runningProcess(file).catch(() => undefined);
    findings.push(
      running === undefined
        ? {
            status: 'note',
            check: 'processes',
            text: `${file} is of a process that ended; the next start replaces it`,
          }
        : { status: 'ok', check: 'processes', text: `process ${running.pid} runs here (${file})` },
    );
  }
  const configurations = (await readdir(directory)).filter((name) => name.endsWith('.cf')).sort();
  for (const text of configurations.flatMap((name) => lifeWarningsOfFile(join(directory, name))))
    findings.push({ status: 'warning', check: 'lives', text });
  try {
    let stores = 0;
    for await (const store of findStores(directory)) if (store.database || store.generations) stores++;
    findings.push({ status: 'ok', check: 'data', text: `${directory}: ${stores} stores` });
  } catch (error) {
    findings.push({ status: 'problem', check: 'data', text: `${directory}: ${messageOf(error)}` });
  }
  return findings;
}

/** Configurations of Brokers, below a Broker, an installation, or the directory of `harvest run`. */
const BROKER_CONFS = ['admin/broker.conf', 'broker/admin/broker.conf'];

/** Looks at what the engines of Brokers need elsewhere. */
async function checkIndexers(directory: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const name of BROKER_CONFS) {
    const file = join(directory, name);
    if (!existsSync(file)) continue;
    try {
      const text = await readFile(file, 'utf8');
      const { config } = parseBrokerConf(text, file);
      if (isModuleType(config.indexerType)) continue;
      const engine: Engine = ENGINES[parseIndexerType(config.indexerType)];
      const { brokerDirectory } = config;
      const found = await engine.examine?.({
        brokerDirectory,
        isStoreShared: config.storeUrl !== undefined,
        openSearch: openSearchSettings(config),
      });
      for (const finding of found ?? []) findings.push({ ...finding, check: 'index' });
    } catch (error) {
      findings.push({ status: 'problem', check: 'index', text: messageOf(error) });
    }
  }
  return findings;
}

/** Programs that some features use, with these features. */
const PROGRAMS = [
  ...Object.values<Engine>(ENGINES).map(({ program, title }) => [program, `Indexer-Type ${title}`] as const),
  ['chromium', 'fetcher: browser'] as const,
];

async function checkPrograms(): Promise<Finding[]> {
  return PROGRAMS.flatMap(([program, feature]): Finding[] => {
    if (program === undefined) return [];
    const found = spawnSync('sh', ['-c', 'command -v "$0"', program], { encoding: 'utf8' });
    if (found.status === 0) return [{ status: 'ok', check: 'programs', text: found.stdout.trim() }];
    const text = `${program} is not installed; only ${feature} needs it`;
    return [{ status: 'note', check: 'programs', text }];
  });
}
