// Decides whether a request names this server, so that no other site can reach it under its own name (DNS
// rebinding).
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { withoutBrackets } from '../../protocols/urls/index.js';

/**
 * The names of an application. IP addresses, `localhost` and the name of this machine are always among them.
 */
export interface HostNames {
  readonly names: readonly string[];
  /** How a user adds a name, as the end of a sentence, e.g. `add it to Web-Names in broker.conf`. */
  readonly remedy?: string;
}

/** Why a request is refused. */
export interface HostProblem {
  /** 400 for a request that breaks HTTP, 421 (Misdirected Request) for a name of another server. */
  readonly status: 400 | 421;
  /** One sentence or two. */
  readonly text: string;
}

/** A host of a URL, with a port or without one; nothing else belongs into `Host`. */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]{1,255})(?::\d{0,5})?$/i;

/**
 * Checks the host that a request names, in `Host` and in an absolute request target. The owner of a name may
 * point it to the address of this server; a browser then treats the pages as those of the owner's site. It
 * sends the name in `Host`, so a foreign name is refused. An IP address cannot be pointed elsewhere. Browsers
 * always send `Host`; a request of HTTP/1.0 without it comes from another program and is served.
 */
export function hostProblem(request: IncomingMessage, known: HostNames): HostProblem | undefined {
  const given = hostHeaders(request);
  if (given.length > 1) return { status: 400, text: 'The request has more than one Host header.' };
  const [header] = given;
  if (header === undefined && request.httpVersionMajor === 1 && request.httpVersionMinor > 0)
    return { status: 400, text: 'The request has no Host header.' };
  const target = request.url ?? '';
  if (header !== undefined && !isOwnHost(header, known.names)) return foreign(header, known);
  if (target.startsWith('/') || target === '*') return undefined;
  const authority = /^https?:\/\/([^/?#]*)/i.exec(target)?.[1];
  if (authority === undefined) return { status: 400, text: 'The request target is not a path.' };
  return isOwnHost(authority, known.names) ? undefined : foreign(authority, known);
}

/** Whether a value of `Host` is an IP address, `localhost`, the name of this machine or one of `names`. */
function isOwnHost(authority: string, names: readonly string[]): boolean {
  const host = AUTHORITY.exec(authority)?.[1];
  const name = host === undefined ? undefined : plainName(host);
  if (name === undefined) return false;
  if (isIP(withoutBrackets(name)) !== 0 || name === 'localhost' || name === plainName(hostname()))
    return true;
  return names.some((own) => plainName(own) === name);
}

/** Lower case, ASCII, IP addresses in their usual form, no trailing dot; undefined if it is not a host. */
function plainName(host: string): string | undefined {
  const bare = host.replace(/\.$/, '');
  if (bare === '' || !URL.canParse(`http://${bare}/`)) return undefined;
  return new URL(`http://${bare}/`).hostname;
}

function hostHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const values = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'host');
  return values.length > 0 || headers.host === undefined ? values : [headers.host];
}

function foreign(authority: string, { remedy }: HostNames): HostProblem {
  const host = AUTHORITY.exec(authority)?.[1];
  if (host === undefined)
    return { status: 421, text: 'This server does not have the name that the request gives it.' };
  const hint = remedy === undefined ? '' : ` If it is one of its names, ${remedy}.`;
  return { status: 421, text: `This server does not have the name ${host}.${hint}` };
}
