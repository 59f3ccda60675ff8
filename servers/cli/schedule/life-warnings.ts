// Warnings about the objects of a Gatherer's configuration file, for commands that do not run it.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { parseGathererConf } from '../../../protocols/config/gatherer-conf.js';
import { lifeWarnings } from '../../gatherer/configuration/short-lives.js';

/**
 * One sentence for each time to live that is not longer than the Refresh-Rate (G-103 beside G-108); none for a file
 * that cannot be read or has an error, which the Gatherer reports.
 */
export function lifeWarningsOfFile(file: string): string[] {
  try {
    const text = readFileSync(file, 'utf8');
    const { config } = parseGathererConf(text, file, process.env, { gathererHost: hostname() });
    return lifeWarnings(config, file).map(({ message }) => message);
  } catch {
    return [];
  }
}
