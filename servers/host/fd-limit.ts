// The number of connections that the limit of open files allows.
import { readFile } from 'node:fs/promises';

/** Descriptors that are not for connections: logs, databases, listening sockets. */
const RESERVED_DESCRIPTORS = 32;

/** Lowers a number of connections to what the limit of open files allows, where the system has one. */
export async function connectionsWithinLimit(requested: number): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '');
  const soft = /^Max open files +(\d+) /m.exec(limits)?.[1];
  return soft === undefined
    ? requested
    : Math.max(1, Math.min(requested, Number(soft) - RESERVED_DESCRIPTORS));
}
