// Parses filter files, which allow and deny URLs and hosts (G-42 to G-48).
import { channel } from 'node:diagnostics_channel';
import { ConfigError, ProtocolError } from '../errors.js';
import { compileUrlPattern, type Pattern } from '../patterns/index.js';
import { unescapeUnreserved } from '../urls/index.js';
import { readLines } from './values.js';

/**
 * A filter file (G-42 to G-48). The subject of a URL filter is the canonical path with its query (G-44), in
 * which `~`, `%7e` and `%7E` are the same (G-48); the subjects of a host filter are `name:port` and
 * `address:port` (G-45).
 */
export interface UrlFilter {
  /**
   * The first line that matches any of the subjects decides; without a match the result is true (G-46).
   * A URL filter has one subject, a host filter one or two.
   */
  allows(subject: string, ...others: string[]): boolean;
  readonly rules: readonly FilterRule[];
}

/** A decision of a filter file, for debugging (G-150, section 44). */
export interface FilterEvent {
  readonly file: string;
  /** As the filter sees them: without escapes of unreserved characters (G-48). */
  readonly subjects: readonly string[];
  readonly allowed: boolean;
  /** The line that decided; absent when no line matched. */
  readonly rule: FilterRule | undefined;
}

/** The channel `harvest:filter`; its messages are {@link FilterEvent}s. */
export const filterChannel = channel('harvest:filter');

export interface FilterRule {
  readonly allow: boolean;
  /** As written. */
  readonly expression: string;
  /** 1-based. */
  readonly line: number;
}

/** The filter of a missing file and of `/dev/null`, which restricts nothing (G-46, G-50). */
export const ALLOW_ALL: UrlFilter = { allows: () => true, rules: [] };

/**
 * Parses a filter file for URLs: `Allow regex` and `Deny regex`, comments and blank lines.
 * @throws ConfigError with the line of the first bad rule
 */
export function parseFilter(text: string, file: string): UrlFilter {
  return new Filter(text, file, false);
}

/** Parses a filter file for hosts, whose names have no case (G-45). @throws ConfigError as {@link parseFilter} */
export function parseHostFilter(text: string, file: string): UrlFilter {
  return new Filter(text, file, true);
}

interface CompiledRule extends FilterRule {
  readonly pattern: Pattern;
}

class Filter implements UrlFilter {
  readonly #file: string;
  readonly rules: readonly CompiledRule[];

  constructor(text: string, file: string, ignoreCase: boolean) {
    this.#file = file;
    this.rules = readLines(text).map(({ text, line }) => readRule(text, file, line, ignoreCase));
  }

  allows(...subjects: string[]): boolean {
    const rule = this.rules.find(({ pattern }) => subjects.some((subject) => pattern.test(subject)));
    const allowed = rule?.allow ?? true;
    if (filterChannel.hasSubscribers) {
      const seen = subjects.map(unescapeUnreserved);
      const event: FilterEvent = { file: this.#file, subjects: seen, allowed, rule };
      filterChannel.publish(event);
    }
    return allowed;
  }
}

function readRule(text: string, file: string, line: number, ignoreCase: boolean): CompiledRule {
  const match = /^\s*(allow|deny)\s+(.+)$/is.exec(text);
  if (match === null) throw new ConfigError(file, line, '', 'a line must be `Allow regex` or `Deny regex`');
  const expression = match[2]!.trim();
  try {
    return {
      allow: match[1]!.toLowerCase() === 'allow',
      expression,
      line,
      pattern: compileUrlPattern(expression, { ignoreCase }),
    };
  } catch (error) {
    if (error instanceof ProtocolError)
      throw new ConfigError(file, line, match[1]!, `the expression ${error.message}`);
    throw error;
  }
}
