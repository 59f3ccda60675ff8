// Paths of a broker's pages and of its objects (BRK-4.10).
import { objectDirectory, objectName, oidOfFileName } from '../../../protocols/registry/index.js';

/** Returns the path of a broker's own pages: `/Harvest/brokers/<name>/` (BRK-4.10, BRK-7.3 Home-Page). */
export function brokerPath(brokerName: string): string {
  return `/Harvest/brokers/${encodeURIComponent(brokerName)}/`;
}

/**
 * BRK-4.10, REG-34: returns the path of an object's content summary,
 * `/Harvest/brokers/<name>/objects/<dir>/OBJ<n>`.
 */
export function objectPath(brokerName: string, oid: number): string {
  return `${brokerPath(brokerName)}objects/${objectName(oid)}`;
}

/**
 * Parses directory and file name of an {@link objectPath} and returns the object identifier; undefined unless
 * both are exactly as that function writes them.
 */
export function oidOf(directory: string, file: string): number | undefined {
  const oid = oidOfFileName(file);
  return oid !== undefined && directory === objectDirectory(oid) ? oid : undefined;
}

/**
 * Parses an {@link objectPath} of this broker and returns the object identifier; undefined for any other path.
 */
export function oidOfPath(brokerName: string, path: string): number | undefined {
  const prefix = `${brokerPath(brokerName)}objects/`;
  if (!path.startsWith(prefix)) return undefined;
  const [directory, file, ...more] = path.slice(prefix.length).split('/');
  if (directory === undefined || file === undefined || more.length > 0) return undefined;
  return oidOf(directory, file);
}

/** Returns `http://host[:port]`, with an IPv6 address in brackets and without port 80. */
export function httpOrigin(host: string, port: number): string {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `http://${name}${port === 80 ? '' : `:${port}`}`;
}

/**
 * Parses a name and returns the object identifier: `OBJn`, an {@link objectPath}, its end from `objects/` on,
 * or a URL with this path.
 */
export function oidOfName(brokerName: string, name: string): number | undefined {
  const path = name.replace(/^https?:\/\/[^/]*/i, '');
  const [file = '', directory] = path.split('/').reverse();
  if (directory === undefined) return oidOfFileName(file);
  return oidOfPath(brokerName, path.startsWith('objects/') ? `${brokerPath(brokerName)}${path}` : path);
}
