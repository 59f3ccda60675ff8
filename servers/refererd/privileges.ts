import { chownSync, existsSync } from 'node:fs';
import { messageOf, StorageError } from '../../protocols/errors.js';

/**
 * a superuser becomes `user` and `group`, for good: supplementary groups, group, then user. Anybody else stays.
 *
 * @param files what was opened as superuser and is to be renamed or removed by the user
 * @returns whether anything was changed
 * @throws StorageError when there is no such user or group
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

/** The supplementary groups of the user; Node's types do not know the function. */
function initGroups(user: string, group: string): void {
  const initgroups: unknown = Reflect.get(process, 'initgroups');
  if (typeof initgroups === 'function') initgroups.call(process, user, group);
}

/** The number of a user: the effective one is taken on for a moment. */
function uidOf(user: string): number {
  process.seteuid?.(user);
  const uid = process.geteuid?.() ?? 0;
  process.seteuid?.(0);
  return uid;
}
