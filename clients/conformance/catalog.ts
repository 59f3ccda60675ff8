// Finds and loads the suites.
import { readdir } from 'node:fs/promises';
import { UsageError } from '../../protocols/errors.js';
import type { Suite } from './runner.js';

/** Returns the names of all suites, which are the folders next to this module. A new folder adds a suite. */
export async function suiteNames(): Promise<string[]> {
  const entries = await readdir(new URL('.', import.meta.url), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** Loads a suite by its name. Rejects with UsageError for an unknown name. */
export async function loadSuite(name: string): Promise<Suite> {
  const names = await suiteNames();
  if (!names.includes(name)) {
    throw new UsageError(`no suite is named "${name}"; the suites are: ${names.join(', ')}`);
  }
  const module: object = await import(new URL(`${name}/suite.js`, import.meta.url).href);
  if (!hasSuite(module)) throw new TypeError(`clients/conformance/${name}/suite exports no suite`);
  return module.suite;
}

function hasSuite(module: object): module is { readonly suite: Suite } {
  if (!('suite' in module)) return false;
  const { suite } = module;
  return typeof suite === 'object' && suite !== null && 'prepare' in suite && 'cases' in suite;
}
