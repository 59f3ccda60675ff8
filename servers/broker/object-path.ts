// Paths of a broker's pages and of its objects (BRK-4.10).
/** Objects in a numbered directory, as in the original's `objects/` (BRK-6.6). */
const OBJECTS_PER_DIRECTORY = 1000;

/** Largest object identifier: registry identifiers are unsigned 32-bit numbers. */
const MAX_OID = 0xffff_ffff;

/** Returns the path of a broker's own pages: `/Harvest/brokers/<name>/` (BRK-4.10, BRK-7.3 Home-Page). */
export function brokerPath(brokerName: string): string {
  return `/Harvest/brokers/${encodeURIComponent(brokerName)}/`;
}

/** BRK-4.10: returns the path of an object's content summary, `/Harvest/brokers/<name>/objects/<dir>/OBJ<n>`. */
export function objectPath(brokerName: string, oid: number): string {
  return `${brokerPath(brokerName)}objects/${Math.floor(oid / OBJECTS_PER_DIRECTORY)}/OBJ${oid}`;
}

/**
 * Parses directory and file name of an {@link objectPath} and returns the object identifier; undefined unless both are exactly as
 * that function writes them.
 */
export function oidOf(directory: string, file: string): number | undefined {
  const digits = /^OBJ([1-9][0-9]{0,9})$/.exec(file)?.[1];
  if (digits === undefined) return undefined;
  const oid = Number(digits);
  return oid <= MAX_OID && directory === String(Math.floor(oid / OBJECTS_PER_DIRECTORY)) ? oid : undefined;
}

/** Parses an {@link objectPath} of this broker and returns the object identifier; undefined for any other path. */
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
 * Parses a name and returns the object identifier: `OBJn`, an {@link objectPath}, its end from `objects/` on, or a URL with this
 * path.
 */
export function oidOfName(brokerName: string, name: string): number | undefined {
  const path = name.replace(/^https?:\/\/[^/]*/i, '');
  const [file = '', directory] = path.split('/').reverse();
  if (directory === undefined) {
    const digits = /^OBJ([1-9][0-9]{0,9})$/.exec(file)?.[1];
    return digits === undefined ? undefined : Number(digits);
  }
  return oidOfPath(brokerName, path.startsWith('objects/') ? `${brokerPath(brokerName)}${path}` : path);
}
