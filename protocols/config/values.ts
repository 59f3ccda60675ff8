// Lines, words, paths and types of values in configuration files.
import { z } from 'zod';

/** One logical line of a configuration file. */
export interface ConfigLine {
  /** Without its line end and trailing blanks. Leading blanks are kept, because column one can matter. */
  readonly text: string;
  /** 1-based number of its first physical line. */
  readonly line: number;
}

/**
 * Splits a configuration file into its logical lines, without comments (`#` as first non-blank, G-15, BRK-7.2)
 * and blank lines. Lines end with LF or CR LF; a byte-order mark is skipped.
 *
 * @param options.continuation G-16: a `\` at the end joins the next line, without a separator
 */
export function readLines(text: string, options: { readonly continuation?: boolean } = {}): ConfigLine[] {
  const lines: ConfigLine[] = [];
  let open: { parts: string[]; line: number } | undefined;
  let number = 0;
  for (const physical of text.replace(/^\ufeff/, '').split('\n')) {
    number += 1;
    const content = physical.trimEnd();
    if (open === undefined && /^\s*(?:#|$)/.test(content)) continue;
    const continued = options.continuation === true && content.endsWith('\\');
    open ??= { parts: [], line: number };
    open.parts.push(continued ? content.slice(0, -1) : content);
    if (continued) continue;
    lines.push({ text: open.parts.join('').trimEnd(), line: open.line });
    open = undefined;
  }
  if (open !== undefined) lines.push({ text: open.parts.join('').trimEnd(), line: open.line });
  return lines.filter((line) => line.text !== '');
}

/** Splits a line into its words, which white space separates (in ASCII: HT, VT, FF, CR, SP). */
export function wordsOf(text: string): string[] {
  return text.split(/[\t\v\f\r ]+/).filter((word) => word !== '');
}

/*
 * Schemas that turn the text of a variable into its value. `syntax` describes the text for the documentation.
 * No message repeats the text, which may be a password. The schemas never get `undefined`: a missing variable
 * takes its default, and an empty one counts as missing.
 */

/** 2^31 - 1: the largest int of the original programs. */
export const INT_MAX = 2_147_483_647;

/** Any text. */
export const text = z.string({ error: 'must be given' }).meta({ syntax: 'text' });

/** A value with its own parser, which throws a {@link ValueError} for a bad text. */
export function parsed<T>(parse: (value: string) => T) {
  return text.transform((value, context): T => {
    try {
      return parse(value);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      context.addIssue(error.message);
      return z.NEVER;
    }
  });
}

/** Thrown by the parsers of {@link parsed}. It becomes an issue of zod and never leaves this folder. */
export class ValueError extends Error {
  readonly code = 'ERR_CONFIG_VALUE';
}

/** A value as a variable: its name in the file, and its description for the documentation. */
export function variable<Schema extends z.ZodType>(
  title: string,
  description: string,
  schema: Schema,
): Schema {
  return schema.meta({ title, description });
}

/** A strict decimal number: digits only. */
export function integer(minimum: number, maximum: number) {
  return parsed((value) => parseInteger(value, minimum, maximum)).meta({
    syntax: maximum === INT_MAX ? `number from ${minimum}` : `number from ${minimum} to ${maximum}`,
  });
}

export function parseInteger(value: string, minimum: number, maximum: number): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= minimum && number <= maximum)) {
    throw new ValueError(`must be a whole number from ${minimum} to ${maximum}`);
  }
  return number;
}

/** Parses seconds with up to three decimals, for delays between requests. */
export function parseDelay(value: string): number {
  if (!/^\d{1,7}(?:\.\d{1,3})?$/.test(value)) throw new ValueError('must be a number of seconds');
  return Number(value);
}

export const delay = parsed(parseDelay).meta({ syntax: 'seconds, decimals allowed' });

export const seconds = integer(0, INT_MAX).meta({ syntax: 'seconds' });
export const port = integer(1, 65_535);

export const yesNo = parsed((value) => {
  const word = value.toLowerCase();
  if (['yes', 'true', 'on', '1'].includes(word)) return true;
  if (['no', 'false', 'off', '0'].includes(word)) return false;
  throw new ValueError('must be yes or no');
}).meta({ syntax: 'yes or no' });

export const words = text.transform(wordsOf).meta({ syntax: 'words' });

/**
 * `host:port` or `tls://host:port`; the old form `http://host:port/` is accepted too, without its scheme in the
 * result.
 */
export const secureHostAndPort = parsed((value) => {
  const [, tls = '', address = ''] = /^(tls:\/\/)?(.*)$/s.exec(value) ?? [];
  return tls + parseHostAndPort(address);
}).meta({ syntax: '[tls://]host:port' });

/** `host:port`; the old form `http://host:port/` is accepted too. The result is `host:port`. */
export const hostAndPort = parsed(parseHostAndPort).meta({ syntax: 'host:port' });

function parseHostAndPort(value: string): string {
  const match = /^(?:http:\/\/)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+):(\d{1,5})\/?$/.exec(value);
  if (match === null) throw new ValueError('must be host:port');
  return `${match[1]}:${parseInteger(match[2]!, 1, 65_535)}`;
}

/**
 * A configuration that was read again, except for the values that are bound at the start.
 *
 * @returns also the keys whose new values take effect at the next start
 */
export function keepBound<Config extends object>(
  running: Config,
  read: Config,
  bound: readonly (keyof Config)[],
): { readonly config: Config; readonly waiting: readonly (keyof Config)[] } {
  const kept = Object.fromEntries(bound.map((key) => [key, running[key]]));
  return { config: { ...read, ...kept }, waiting: bound.filter((key) => running[key] !== read[key]) };
}

/** Path functions on strings, without file access. */

export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/');
}

/** Joins `name` to `directory`; an absolute name stays unchanged. */
export function joinPath(directory: string, name: string): string {
  if (isAbsolutePath(name) || directory === '' || directory === '.') return name;
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}

/** The directory of a path; `.` for a name without a directory. */
export function directoryOf(path: string): string {
  const slash = path.replace(/\/+$/, '').lastIndexOf('/');
  if (slash < 0) return '.';
  return slash === 0 ? '/' : path.slice(0, slash);
}

/** The last part of a path. */
export function baseNameOf(path: string): string {
  const trimmed = path.replace(/\/+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

/** Where something is published: a bucket of S3, without a login, or a directory. */
export const publishPlace = parsed(requirePublishPlace).meta({ syntax: 's3:// URL or directory' });

/**
 * Returns the place of a publication.
 *
 * @throws ValueError, which does not repeat it
 */
export function requirePublishPlace(value: string): string {
  if (/^s3:\/\/[^/?#]*@/i.test(value))
    throw new ValueError('must have no login: the environment or ~/.aws/credentials has it');
  const isBucket = /^s3:\/\/[a-z0-9][a-z0-9.-]+(?:[/?]\S*)?$/i.test(value);
  if (!isBucket && (value === '' || /^[a-z][a-z0-9+-]*:\/\//i.test(value)))
    throw new ValueError('must be s3://BUCKET/PREFIX or a directory');
  return value;
}

/** The URL of a database, without its password, which is shown in no configuration. */
export const databaseUrl = parsed(requireDatabaseUrl).meta({ syntax: 'text' });

/**
 * Returns the URL of a database.
 *
 * @throws ValueError, which does not repeat the URL
 */
export function requireDatabaseUrl(value: string): string {
  if (!/^postgres(?:ql)?:\/\/[^\s]+$/.test(value))
    throw new ValueError('must be postgres://USER@HOST[:PORT][,HOST...]/DATABASE');
  if (/^[^/]*\/\/[^/@]*:[^/]*@/.test(value))
    throw new ValueError('must have no password: the variable PGPASSWORD or the file ~/.pgpass has it');
  return value;
}
