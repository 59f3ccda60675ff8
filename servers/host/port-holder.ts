// Names the process that listens on a port of this machine, for a server that cannot listen there.
import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { errorCode, messageOf } from '../../protocols/errors.js';
import { listOpenFiles, nameHolder } from '../../storage/files/holder.js';
import { hasOpen, processIds } from '../../storage/files/open-descriptors.js';

/**
 * Why a server cannot listen: for a port in use with the process that has it, as far as the system tells (Linux;
 * elsewhere with `lsof`), e.g. `the port is in use by process 123 (harvest run)`.
 */
export function listenFailure(error: unknown, port: number): string {
  if (errorCode(error) !== 'EADDRINUSE') return messageOf(error);
  const address = error instanceof Error && 'address' in error ? String(error.address) : '';
  const pids =
    process.platform === 'linux'
      ? pidsOfListeners(address, port)
      : listOpenFiles(['-n', '-P', `-iTCP:${port}`, '-sTCP:LISTEN']);
  return `the port is in use by ${nameHolder(pids)}`;
}

/** The state of a socket that listens, in /proc/net/tcp. */
const LISTENS = '0A';
/** Local address and port, state and inode of a socket there. */
const SOCKET_LINE = /^ *\d+: ([\dA-F]+):([\dA-F]{4}) [\dA-F:]+ ([\dA-F]{2}) (?:\S+ +){5}(\d+) /gm;

function pidsOfListeners(address: string, port: number): number[] {
  const inodes = ['tcp', 'tcp6'].flatMap((table) =>
    [...readTable(table).matchAll(SOCKET_LINE)]
      .filter(([, local = '', hexPort = '', state]) => {
        return state === LISTENS && Number.parseInt(hexPort, 16) === port && excludes(local, address);
      })
      .map(([, , , , inode]) => inode),
  );
  if (inodes.length === 0) return [];
  const sockets = inodes.map((inode) => `socket:[${inode}]`);
  const holder = processIds().find((pid) => sockets.some((socket) => hasOpen(pid, socket)));
  return holder === undefined ? [] : [holder];
}

function readTable(name: string): string {
  try {
    return readFileSync(`/proc/net/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** The prefix of an IPv4 address among those of IPv6: `::ffff:`, in words of the machine's order. */
const MAPPED = '0000000000000000FFFF0000';

/** Whether a socket at an address of /proc/net/tcp keeps another from listening at `address`. */
function excludes(local: string, address: string): boolean {
  if (!isIPv4(address)) return true;
  const isAny = /^0+$/.test(local) || address === '0.0.0.0';
  const own = Buffer.from(address.split('.').reverse().map(Number)).toString('hex').toUpperCase();
  return isAny || local === own || local === MAPPED + own;
}
