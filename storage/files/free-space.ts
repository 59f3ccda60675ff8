import { statfs } from 'node:fs/promises';

/** A file that only saves time is left out if the disk has not this many times its size free. */
const FREE_FACTOR = 4;

/** Whether a disk may have a file that only saves time. @param bytes its size @throws system errors */
export async function hasSpareSpace(directory: string, bytes: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize >= FREE_FACTOR * bytes;
}
