// Parses `Collection.conf`, the collection points of a Broker (BRK-7.4 to 7.8).
import { checkFlags, parseQuery } from '../broker/index.js';
import { ConfigError, messageOf } from '../errors.js';
import { readLines } from './values.js';

/**
 * BRK-7.5: 0 to 3 are Gatherers, 4 to 7 Brokers; odd means incremental; 2 and 3 compressed; 6 and 7 by query.
 */
export type CollectionType = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

export interface CollectionFilter {
  readonly query: string;
  /** The flags sent to the peer (BRK-7.7); '' for no flags. */
  readonly flags: string;
}

/** One line of Collection.conf (BRK-7.4). */
export interface CollectionPoint {
  /** A name or an address; `tls://` before it collects with TLS. */
  readonly host: string;
  /**
   * Of a point that a program makes, with `tls://`: the SHA-256 fingerprint that the server's certificate must
   * have, as OpenSSL writes it. Default: a certificate that is trusted here.
   */
  readonly fingerprint?: string | undefined;
  readonly port: number;
  /**
   * Of a point that a program makes: the Gatherer of the same data, whatever its port in this run. A Broker that has
   * objects but has not collected from it yet asks for its deletions, too. Default false.
   */
  readonly own?: boolean;
  readonly type: CollectionType;
  readonly filter?: CollectionFilter;
  /** 1-based. */
  readonly line: number;
}

/** The meaning of a type (BRK-7.5). */
export function collectionMode(type: CollectionType): {
  readonly peer: 'gatherer' | 'broker';
  readonly incremental: boolean;
  readonly compressed: boolean;
  readonly byQuery: boolean;
} {
  return {
    peer: type < 4 ? 'gatherer' : 'broker',
    incremental: type % 2 === 1,
    compressed: type === 2 || type === 3,
    byQuery: type >= 6,
  };
}

/**
 * Parses a Collection.conf (BRK-7.4 to 7.8). No error stops the Broker: an unusable line is skipped and
 * reported, in file order.
 */
export function parseCollectionConf(
  text: string,
  file: string,
): { points: CollectionPoint[]; warnings: ConfigError[] } {
  const points: CollectionPoint[] = [];
  const warnings: ConfigError[] = [];
  for (const { text: content, line } of readLines(text)) {
    const warn = (variable: string, problem: string) =>
      warnings.push(new ConfigError(file, line, variable, problem));
    const point = readPoint(content, line, warn);
    if (point !== undefined) points.push(point);
  }
  return { points, warnings };
}

type Warn = (variable: string, problem: string) => void;

function readPoint(content: string, line: number, warn: Warn): CollectionPoint | undefined {
  const match = /^\s*(\S+)\s+(\S+)\s+(\S+)(?:\s+(.*))?$/s.exec(content);
  if (match === null) {
    warn('', 'skipped: host, port and type are needed'); // BRK-7.8
    return undefined;
  }
  const [, host = '', portText = '', typeText = '', rest = ''] = match;
  const port = /^\d{1,5}$/.test(portText) ? Number(portText) : 0;
  if (port < 1 || port > 65_535) {
    warn('port', 'skipped: must be a number from 1 to 65535');
    return undefined;
  }
  if (!/^[0-7]$/.test(typeText)) {
    warn('type', 'skipped: must be a number from 0 to 7'); // BRK-7.5, 7.8
    return undefined;
  }
  const type = COLLECTION_TYPES[Number(typeText)] ?? 0;
  const filter = readFilter(rest.trim(), warn);
  const { byQuery } = collectionMode(type);
  const fault = filter !== undefined && byQuery ? findFault(filter) : undefined;
  if (fault !== undefined) {
    warn(...fault);
    return undefined;
  }
  if (filter !== undefined && !byQuery) warn('filter', `type ${type} takes no query; the filter is not used`);
  if (filter === undefined && byQuery) warn('filter', `type ${type} without --QUERY collects everything`);
  return { host, port, type, ...(filter !== undefined && byQuery ? { filter } : {}), line };
}

const COLLECTION_TYPES: readonly CollectionType[] = [0, 1, 2, 3, 4, 5, 6, 7];

/** BRK-7.6: `--QUERY words` and `--FLAGS flags`, in either order; `--` or nothing means no filter (BRK-7.8). */
function readFilter(text: string, warn: Warn): CollectionFilter | undefined {
  if (text === '' || text === '--') return undefined;
  const options = [...text.matchAll(/(?:^|(?<=\s))--(query|flags)(?=\s|$)/gi)];
  if (options.length === 0 || text.slice(0, options[0]?.index).trim() !== '') {
    warn('filter', 'must be -- or --QUERY ... --FLAGS ...');
  }
  let query = '';
  let flags = '';
  options.forEach((option, index) => {
    const value = text.slice(option.index + option[0].length, options[index + 1]?.index).trim();
    if (option[1]?.toLowerCase() === 'query') query = value;
    else flags = value;
  });
  for (const flag of unknownFlags(flags)) warn('--FLAGS', `${flag} is not a known flag`);
  return query === '' && flags === '' ? undefined : { query, flags };
}

/**
 * Returns the option of a filter that cannot be sent, and why: the peer would refuse the message of every
 * collection. Anything after a `#END` among the flags would be a query of its own.
 */
function findFault({
  query,
  flags,
}: CollectionFilter): readonly [variable: string, problem: string] | undefined {
  try {
    checkFlags(flags);
  } catch (error) {
    return ['--FLAGS', `skipped: ${messageOf(error)}`];
  }
  try {
    if (query !== '') parseQuery(query);
  } catch (error) {
    return ['--QUERY', `skipped: ${messageOf(error)}`];
  }
  return undefined;
}

/** BRK-7.7, BRK-3.1: the flags that are not meant for filters. They are sent to the peer nevertheless. */
function unknownFlags(flags: string): string[] {
  return flags
    .split(/(?=#)/)
    .map((flag) => flag.trim().replace(/\s+/g, ' '))
    .filter((flag) => flag !== '' && !KNOWN_FLAG.test(flag));
}

const KNOWN_FLAG =
  /^#(?:desc|opaque|index (?:case (?:insensitive|insenstive|sensitive)|error \d+|matchword|maxresult \d+))$/i;
