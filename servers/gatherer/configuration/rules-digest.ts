// Digests of everything besides a document that its objects depend on (G-110): they show which objects a change
// of the configuration affects.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { DocumentRecord } from '../../../storage/records/records.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { gathererAttributes } from '../../essence/assemble.js';
import { readEssenceSources } from '../../essence/context.js';
import type { EssencePoolOptions } from '../../essence/pool/pool.js';
import { ownPrograms } from '../../essence/rules/parse.js';

/**
 * Computes the digest that is stored with a document. Its parts are `RULES-VALUES+ANNOTATIONS`: other rules
 * need the document for a new summary; other values and annotations are written into the objects that are
 * there.
 */
export type RulesDigest = (document: Pick<DocumentRecord, 'url' | 'objects'>) => string;

/** The digests of a configuration. */
export interface ConfigurationDigests {
  /** Of all that makes summaries: options, files, programs. */
  readonly rules: string;
  /** Of the attributes that are the same in every object. */
  readonly values: string;
}

/**
 * Returns the digests of Essence's options and files, and of an order. Limits of time and memory, and where
 * programs are looked for, are not part of them: cron has another PATH than a shell.
 */
export async function configurationDigests(
  options: EssencePoolOptions,
  order: CrawlOrderConfig | undefined,
): Promise<ConfigurationDigests> {
  const {
    gathererName: _n,
    gathererHost: _h,
    gathererVersion: _v,
    refreshRate: _r,
    timeToLive: _t,
    libDirectory: _l,
    workers: _w,
    timeLimitMs: _tl,
    maxWorkerHeapMb: _wh,
    maxReaderMemoryMb: _rm,
    maxPoolMemoryMb: _pm,
    readerIdleMs: _ri,
    maxProgramMs: _mp,
    programs: _p,
    ...switches
  } = options;
  const { programs, ...sources } = await readEssenceSources(options);
  const { summarizers = {}, unnesters = {}, installed } = programs?.found ?? {};
  const { postSummarizing } = sources;
  const filters =
    programs === undefined || postSummarizing === undefined
      ? {}
      : Object.fromEntries(await ownPrograms(postSummarizing, programs.settings));
  const files = await Promise.all(
    [summarizers, unnesters, installed?.summarizers ?? {}, installed?.unnesters ?? {}, filters].map(
      programDigests,
    ),
  );
  const texts = Object.entries(sources).map(([key, source]) => [
    key,
    'text' in source ? source.text : source,
  ]);
  return {
    rules: digest([
      JSON.stringify(switches),
      JSON.stringify(texts.sort()),
      JSON.stringify(files),
      ...(order === undefined ? [] : orderDigest(order)),
    ]),
    values: digest(gathererAttributes(options).flat()),
  };
}

/**
 * Returns types, or names, with the digests of their programs, which may be the same file under another path.
 */
async function programDigests(programs: Readonly<Record<string, string>>): Promise<string[]> {
  return Promise.all(
    Object.entries(programs)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      // A program that cannot be read can still be run.
      .map(async ([type, file]) => `${type} ${digest([await readFile(file, 'latin1').catch(() => file)])}`),
  );
}

/**
 * Joins the digests of a configuration; `canReplace` is whether its values can be written into the objects that
 * are there.
 */
export function joinedDigest({ rules, values }: ConfigurationDigests, canReplace: boolean): string {
  return canReplace ? `${rules}-${values}` : digest([rules, values]);
}

/** The digest of a document with annotations (G-141). */
export function annotatedDigest(configuration: string, annotations: readonly string[]): string {
  return annotations.length === 0 ? configuration : `${configuration}+${digest(annotations)}`;
}

/** Whether a stored digest is that of an annotated document. */
export function isAnnotated(stored: string): boolean {
  return stored.includes('+');
}

/** Whether two digests differ in values and annotations at most. */
export function hasSameRules(stored: string, current: string): boolean {
  return stored.split(/[-+]/, 1)[0] === current.split(/[-+]/, 1)[0];
}

/** Whether two digests differ in annotations at most. */
export function hasSameValues(stored: string, current: string): boolean {
  return stored.split('+', 1)[0] === current.split('+', 1)[0];
}

/** Returns a digest of texts, 32 hexadecimal characters. */
export function digest(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 32);
}

/** What summaries depend on in an order (G-110); nothing for the defaults, so that older digests stay valid. */
function orderDigest(order: CrawlOrderConfig): string[] {
  return [...embedSettings(order), ...fetcherSettings(order)];
}

/** Which references of a document are stored. */
function embedSettings({ settings, sheets }: CrawlOrderConfig): string[] {
  const chosen = [settings.embeds, ...sheets.map((sheet) => sheet.settings.embeds ?? '')];
  return chosen.every((embeds) => embeds === '' || embeds === 'frames') ? [] : [`embeds ${chosen.join(' ')}`];
}

/** Whether scripts of pages run. */
function fetcherSettings({ settings, sheets }: CrawlOrderConfig): string[] {
  const chosen = [settings.fetcher, ...sheets.map((sheet) => sheet.settings.fetcher ?? '')];
  return chosen.includes('browser') ? [`fetcher ${chosen.join(' ')}`] : [];
}
