import { chownSync, existsSync } from 'node:fs';
import { messageOf, StorageError } from '../../protocols/errors.js';

/**
 * if the process runs as superuser, changes it to `user` and `group` for good: supplementary groups,
 * group, then user.
 *
 * @param files files opened as superuser that the user must be able to rename or remove
 * @returns whether anything was changed
 * @throws StorageError when the user or group does not exist
 */
export function dropPrivileges(user: string, group: string, files: readonly string[]): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    initGroups(user, group);
    process.setgid?.(group);
    const gid = process.getgid?.() ?? 0;
    const uid = uidOf(user);
    for (const file of files) if (existsSync(file)) chownSync(file, uid, gid);
    process.setuid?.(uid);
  } catch (cause) {
    const why = messageOf(cause);
    throw new StorageError(`cannot become user ${user} and group ${group}: ${why}`, { cause });
  }
  return true;
}

/** Sets the supplementary groups of the user; Node's types lack the function. */
function initGroups(user: string, group: string): void {
  const initgroups: unknown = Reflect.get(process, 'initgroups');
  if (typeof initgroups === 'function') initgroups.call(process, user, group);
}

/** Returns the number of a user by becoming that user for a moment, because Node has no lookup by name. */
function uidOf(user: string): number {
  process.seteuid?.(user);
  const uid = process.geteuid?.() ?? 0;
  process.seteuid?.(0);
  return uid;
}
