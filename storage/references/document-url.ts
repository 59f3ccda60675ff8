import { ProtocolError } from '../../protocols/errors.js';

/** The stored parts of a canonical URL. {@link joinUrl} restores the URL from them. */
export interface UrlParts {
  readonly scheme: string;
  /** Without a port. */
  readonly host: string;
  /** 0 if neither the URL nor its scheme has a port. */
  readonly port: number;
  /** Whether the URL contains the port. */
  readonly portWritten: boolean;
  /** Path with query. */
  readonly path: string;
}

/** The default ports of R-39. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ftp: 21, gopher: 70 };

const URL_PARTS =
  /^([a-z][a-z\d+.-]*):\/\/((?:\[[\da-f:.]+\]|[^\s/?#:@[\]]+)?)(?::([1-9]\d{0,4}))?(\/[!-~]*)$/;
const MAX_PORT = 65_535;

/**
 * Splits a canonical URL.
 *
 * @throws ProtocolError with rule R-41 if the URL is not canonical
 */
export function splitUrl(url: string): UrlParts {
  const match = URL_PARTS.exec(url);
  const [, scheme = '', host = '', written, path = ''] = match ?? [];
  const port = written === undefined ? (DEFAULT_PORTS[scheme] ?? 0) : Number(written);
  if (match === null || path.includes('#') || port > MAX_PORT) {
    throw new ProtocolError(`${JSON.stringify(url)} is not the canonical URL of a document`, {
      protocol: 'url',
      rule: 'R-41',
      offset: 0,
    });
  }
  return { scheme, host, port, portWritten: written !== undefined, path };
}

/** Restores the URL that {@link splitUrl} split. */
export function joinUrl({ scheme, host, port, portWritten, path }: UrlParts): string {
  return portWritten ? `${scheme}://${host}:${port}${path}` : `${scheme}://${host}${path}`;
}

const FNV_BASIS = 0x811c_9dc5;
const FNV_PRIME = 0x0100_0193;

/** Returns the 32-bit FNV-1a hash of the text's UTF-16 code units. The hash is part of the file format. */
export function textHash(text: string): number {
  let hash = FNV_BASIS;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash >>> 0;
}
