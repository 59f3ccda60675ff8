// Decides by gatherd.cf whether a peer may connect (GATHERD-9).
import { readFile } from 'node:fs/promises';
import { type GatherdAccess, parseGatherdConf } from '../../protocols/config/gatherd-conf.js';
import { errorCode } from '../../protocols/errors.js';
import { isAboutDescriptors } from '../host/fd-limit.js';
import type { PeerLog } from '../host/log-limit.js';
import type { Peer } from '../host/peer.js';

/** Whether a peer may connect. */
export interface AccessDecision {
  readonly allowed: boolean;
  /** It cannot be decided now, because no file can be opened: the peer may try again. */
  readonly busy?: boolean;
  /** The peer's confirmed name, if a rule contains names and the peer has one. */
  readonly name: string | undefined;
}

/** Size limit of a gatherd.cf in bytes. */
const MAX_CONF_BYTES = 1 << 20;

/**
 * GATHERD-9: decides whether a peer may connect, by a gatherd.cf that is read for every connection
 * (GATHERD-9.6). If the file does not exist, every peer may connect; if it cannot be read, none may.
 */
export async function admitPeer(peer: Peer, file: string | undefined, log: PeerLog): Promise<AccessDecision> {
  if (file === undefined) return { allowed: true, name: undefined };
  let conf: GatherdAccess;
  try {
    conf = parseGatherdConf(await readConf(file), file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      return { allowed: true, name: undefined };
    }
    log.error(`${file} cannot be used, no peer is admitted`, error);
    return { allowed: false, busy: isAboutDescriptors(error), name: undefined };
  }
  for (const warning of conf.warnings) log.warn(warning.message);
  // Looks up the name only if a rule can match one: a lookup takes time and queries a foreign name server.
  const hasNameRules = conf.rules.some((rule) => rule.names.some(isHostName));
  const name = hasNameRules ? await peer.name() : undefined;
  return { allowed: conf.decide(name, peer.address), name };
}

/** Whether the word of a rule is a host name, that is, neither `all` nor an address or a range. */
function isHostName(name: string): boolean {
  return name.toLowerCase() !== 'all' && !/^[\d.]+(?:\/\d+)?$|:/.test(name);
}

async function readConf(file: string): Promise<string> {
  const bytes = await readFile(file);
  if (bytes.length > MAX_CONF_BYTES) throw new RangeError(`longer than ${MAX_CONF_BYTES} bytes`);
  return bytes.toString('utf8');
}
