// `-Dsection,level`: which debugging messages a program writes (GATHERD-12.5, G-149).
import { UsageError } from '../../protocols/errors.js';
import type { Logger } from './logger.js';

/** Numbers that sections and levels may have (GATHERD-12.5). */
const MAX_SECTION = 255;
const MAX_LEVEL = 9;

/** The debugging messages that are shown: for each section the highest level. */
export class DebugFlags {
  readonly #levels: ReadonlyMap<number, number>;

  private constructor(levels: ReadonlyMap<number, number>) {
    this.#levels = levels;
  }

  /**
   * Reads the flags of the command line and of `Debug-Options` (GATHERD-12.5, G-149): `-D69,5`, or `-D69` for
   * all levels. Several in one text are separated by blanks; the `-D` is optional. The last flag of a section
   * takes effect.
   *
   * @param environment `$HARVEST_DEBUG`, read before the others. Words in it that are not flags are ignored,
   *   because all programs share it
   * @throws UsageError for a section that is not 1 to 255, or a level that is not 1 to 9
   */
  static parse(texts: readonly string[], environment = ''): DebugFlags {
    const levels = new Map<number, number>();
    for (const word of splitWords(environment)) {
      const flag = word.startsWith('-D') ? readFlag(word) : undefined;
      if (flag !== undefined) levels.set(...flag);
    }
    for (const word of texts.flatMap(splitWords)) {
      const flag = readFlag(word);
      if (flag === undefined) {
        throw new UsageError(
          `${word}: a debug flag is -Dsection,level, section 1 to ${MAX_SECTION}, level 1 to ${MAX_LEVEL}`,
        );
      }
      levels.set(...flag);
    }
    return new DebugFlags(levels);
  }

  /** Whether any section is switched on. */
  get any(): boolean {
    return this.#levels.size > 0;
  }

  /** G-151: a message of a level is shown when the section's level is at least that. */
  shows(section: number, level: number): boolean {
    return level <= (this.#levels.get(section) ?? 0);
  }
}

function splitWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function readFlag(word: string): [section: number, level: number] | undefined {
  const [, section, level] = /^(?:-D)?(\d{1,3})(?:,(\d{1,3}))?$/.exec(word) ?? [];
  const number = Number(section);
  const highest = level === undefined ? MAX_LEVEL : Number(level);
  const isFlag = number >= 1 && number <= MAX_SECTION && highest >= 1 && highest <= MAX_LEVEL;
  return isFlag ? [number, highest] : undefined;
}

/** Writes debugging messages. */
export interface Debug {
  /** Writes the text if its section and level are shown; an expensive text is passed as a function. */
  (section: number, level: number, text: string | (() => string)): void;
  shows(section: number, level: number): boolean;
}

/** Creates a {@link Debug} that writes lines of level `debug`. Texts that are not shown are not computed. */
export function createDebug(flags: DebugFlags, log: Logger): Debug {
  const write = (section: number, level: number, text: string | (() => string)): void => {
    if (!flags.shows(section, level)) return;
    log.debug(`[${section},${level}] ${typeof text === 'string' ? text : text()}`);
  };
  return Object.assign(write, {
    shows: (section: number, level: number) => flags.shows(section, level),
  });
}
