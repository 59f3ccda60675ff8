// Configurations whose objects expire before the next run can refresh them (G-103 beside G-108).
import { readFileSync } from 'node:fs';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';
import type { PostRules } from '../../essence/rules/model.js';
import { parsePostRules } from '../../essence/rules/parse.js';
import { findConfigFile } from './essence-options.js';

/** A time to live and the place that sets it. */
interface Life {
  readonly seconds: number;
  readonly file: string;
  readonly line: number;
  readonly name: string;
}

/**
 * One sentence for each time to live that is not longer than the time between two runs.
 *
 * @param file the configuration file, for messages
 * @param interval seconds between two runs. Default: the Refresh-Rate
 */
export function lifeWarnings(
  config: GathererConfig,
  file: string,
  interval?: { readonly seconds: number; readonly name: string },
): ConfigError[] {
  const { seconds, name } = interval ?? { seconds: config.refreshRate, name: 'the Refresh-Rate' };
  return livesOf(config, file)
    .filter((life) => life.seconds > 0 && life.seconds <= seconds)
    .map(
      (life) =>
        new ConfigError(
          life.file,
          life.line,
          life.name,
          `${life.seconds} seconds are not longer than ${name} (${seconds}): every run fetches these documents again, and their objects are missing when the next run ends later than that`,
        ),
    );
}

function livesOf(config: GathererConfig, file: string): Life[] {
  const own = { seconds: config.timeToLive, file, line: 0, name: 'Time-To-Live' };
  return [own, ...livesOfRules(config)];
}

/** The rules that set a number (E-128). A file that cannot be read is reported when the Gatherer opens it. */
function livesOfRules(config: GathererConfig): Life[] {
  if (config.postSummarizing === undefined) return [];
  const file = findConfigFile(config, config.postSummarizing);
  let parsed: PostRules;
  try {
    parsed = parsePostRules(readFileSync(file, 'utf8'), file);
  } catch {
    return [];
  }
  return parsed.rules
    .flatMap(({ instructions }) => instructions)
    .flatMap((instruction) =>
      instruction.kind === 'set' &&
      instruction.attribute.toLowerCase() === 'time-to-live' &&
      /^\s*\d{1,15}\s*$/.test(instruction.value)
        ? [{ seconds: Number(instruction.value), file, line: instruction.line, name: 'time-to-live' }]
        : [],
    );
}
