// A site that was gathered, and the Broker that collects from its gatherd, for the tests of this folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { cli } from '../helpers/cli.js';
import { type Page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

/** What a run of the Gatherer left. */
export interface GatheredSite {
  readonly directory: string;
  /** The data directory of the Gatherer. */
  readonly data: string;
  /** The URL of the first page. The site is gone. */
  readonly url: string;
}

/** Gathers a site. `variables` are more lines of the configuration. */
export async function gatherSite(
  t: Test,
  pages: Readonly<Record<string, Page>>,
  variables = '',
): Promise<GatheredSite> {
  const directory = await temporaryDirectory(t);
  await using site = await Site.start(pages);
  const file = writeGatherer(directory, `${variables}<RootNodes>\n${site.url}/ Delay=0\n</RootNodes>\n`);
  const run = await cli('gatherer', '--no-daemon', file);
  t.equal(run.code, 0, run.stderr);
  return { directory, data: join(directory, 'data'), url: `${site.url}/` };
}

/** Writes the configuration of a Gatherer in a directory; returns its file. */
export function writeGatherer(directory: string, lines: string): string {
  const file = join(directory, 'gatherer.cf');
  writeFileSync(file, `Gatherer-Name: Test\nTop-Directory: ${directory}\n${lines}`);
  return file;
}

/**
 * Writes the configuration of a Broker below a directory; returns the directory of the Broker and its
 * broker.conf.
 */
export function writeBroker(
  directory: string,
  conf: string,
  points: string,
): { broker: string; conf: string } {
  const broker = join(directory, 'broker');
  mkdirSync(join(broker, 'admin'), { recursive: true });
  const file = join(broker, 'admin', 'broker.conf');
  writeFileSync(file, conf);
  writeFileSync(join(broker, 'admin', 'Collection.conf'), points);
  return { broker, conf: file };
}
