import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { type BrokerConfig, parseBrokerConf } from '../../../protocols/config/broker-conf.js';
import { parseCollectionConf } from '../../../protocols/config/collection-conf.js';
import { type GathererConfig, parseGathererConf } from '../../../protocols/config/gatherer-conf.js';
import { messageOf, UsageError } from '../../../protocols/errors.js';
import { lifeWarnings } from '../../gatherer/configuration/short-lives.js';
import { fileNameOf } from '../init/answers.js';

/** Intervals between the runs of a Gatherer. */
export const PERIODS = ['daily', 'weekly', 'monthly'] as const;
export type Period = (typeof PERIODS)[number];

/** The longest time between two runs. */
const SECONDS: Readonly<Record<Period, number>> = {
  daily: 86_400,
  weekly: 7 * 86_400,
  monthly: 31 * 86_400,
};

/** A Broker that collects after a Gatherer. */
export interface Collection {
  /** Absolute path of its broker.conf. */
  readonly file: string;
  readonly name: string;
  readonly port: number;
}

/** A Gatherer to be run by cron or systemd. */
export interface Job {
  /** Absolute path of its configuration file. */
  readonly file: string;
  readonly name: string;
  /** Unique among the jobs; usable in a file name. */
  readonly id: string;
  readonly directory: string;
  /** Path of RunGatherer; undefined if the script does not exist. */
  readonly script: string | undefined;
  /** Brokers that collect after it (G-157). */
  readonly collections: readonly Collection[];
  /** Objects that do not live until its next run. */
  readonly warnings: readonly string[];
}

/**
 * Reads the configuration files of Gatherers and Brokers and combines them: a Broker collects from a Gatherer
 * if its Collection.conf names the Gatherer's port on this machine.
 *
 * @param period of the runs
 * @throws UsageError if a file cannot be read or is not a configuration file; ConfigError if it has an error
 */
export function readJobs(files: readonly string[], period: Period): Job[] {
  const gatherers: { readonly file: string; readonly config: GathererConfig }[] = [];
  const brokers: { readonly file: string; readonly config: BrokerConfig }[] = [];
  for (const name of new Set(files.map((file) => resolve(file)))) {
    const text = readText(name);
    if (/^(?:Gatherer-Name\s*:|\s*<(?:RootNodes|LeafNodes)>)/im.test(text)) {
      const { config } = parseGathererConf(text, name, process.env, { gathererHost: hostname() });
      gatherers.push({ file: name, config });
    } else if (/^\s*(?:Broker|Admin|Collection|HTTP)-\w+[\s:]/im.test(text)) {
      brokers.push({ file: name, config: parseBrokerConf(text, name).config });
    } else throw new UsageError(`${name}: is neither a Gatherer's configuration file nor a broker.conf`);
  }
  if (gatherers.length === 0)
    throw new UsageError('no file is a Gatherer; a Broker without one collects at its Collection-Time');
  const taken = new Set<string>();
  return gatherers.map(({ file, config }) => ({
    file,
    name: config.gathererName,
    id: uniqueId(basename(file).replace(/\.cf$/, ''), taken),
    directory: resolve(config.topDirectory),
    script: scriptOf(config.topDirectory),
    collections: brokers
      .filter((broker) => collectsFrom(broker.config, config))
      .map((broker) => ({
        file: broker.file,
        name: broker.config.brokerName,
        port: broker.config.brokerPort,
      })),
    warnings: lifeWarnings(config, file, { seconds: SECONDS[period], name: 'the time between two runs' }).map(
      ({ message }) => message,
    ),
  }));
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`${file}: cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function scriptOf(directory: string): string | undefined {
  const path = join(resolve(directory), 'RunGatherer');
  return existsSync(path) ? path : undefined;
}

function collectsFrom(broker: BrokerConfig, { gathererHost, gathererPort }: GathererConfig): boolean {
  if (!existsSync(broker.collectionFile)) return false;
  const { points } = parseCollectionConf(readText(broker.collectionFile), broker.collectionFile);
  const here = new Set([
    'localhost',
    '127.0.0.1',
    '::1',
    hostname().toLowerCase(),
    gathererHost.toLowerCase(),
  ]);
  return points.some(({ host, port }) => port === gathererPort && here.has(host.toLowerCase()));
}

function uniqueId(name: string, taken: Set<string>): string {
  const plain = fileNameOf(name);
  let id = plain;
  for (let number = 2; taken.has(id); number++) id = `${plain}-${number}`;
  taken.add(id);
  return id;
}
