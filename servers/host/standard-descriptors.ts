// The descriptors 0, 1 and 2 as inetd passes them.
import { closeSync, fstatSync, openSync, type Stats } from 'node:fs';

/**
 * Redirects standard error to /dev/null if it is the socket of the peer, as under inetd: nothing that this
 * process or the runtime writes there may reach the peer.
 *
 * @returns whether it was redirected
 */
export function shieldStandardError(): boolean {
  try {
    const [input, output, error] = [fstatSync(0), fstatSync(1), fstatSync(2)];
    if (!isStream(error) || (!isSame(error, input) && !isSame(error, output))) return false;
  } catch {
    return false;
  }
  closeSync(2);
  // The system assigns the lowest free number, which is 2.
  openSync('/dev/null', 'w');
  return true;
}

/** Whether a descriptor is a socket or a pipe. */
export function isStream(descriptor: Stats): boolean {
  return descriptor.isSocket() || descriptor.isFIFO();
}

/** Whether two descriptors are of the same file. */
export function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}
