import { readFile } from 'node:fs/promises';

/** descriptors that are not for clients. */
const RESERVED = 32;

/** `wanted`, or the number of clients that the limit of open files allows, where the system tells one. */
export async function affordableClients(wanted: number): Promise<number> {
  const limit = await openFilesLimit();
  return limit === undefined ? wanted : Math.max(1, Math.min(wanted, limit - RESERVED));
}

async function openFilesLimit(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '');
  const soft = /^Max open files +(\d+) /m.exec(limits)?.[1];
  return soft === undefined ? undefined : Number(soft);
}
