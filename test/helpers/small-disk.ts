// A small file system that tests fill up.
import { execFileSync } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { temporaryDirectory } from './temporary-directory.js';

/** A directory on a file system of its own. */
export interface SmallDisk {
  readonly directory: string;
  /** Takes all space, or all but this many bytes. */
  fill(leave?: number): Promise<void>;
  /** Gives the space back that {@link fill} took. */
  free(): Promise<void>;
  /** Changes options of the mounted file system: `ro` lets nothing be written, `rw` everything again. */
  remount(options: string): void;
  /** Changes the size of the file system. */
  resize(mebibytes: number): void;
}

/**
 * Mounts a file system in memory, until the test ends. Only the superuser can; elsewhere the test says that it
 * is left out.
 *
 * @returns undefined if it cannot be mounted
 */
export async function smallDisk(t: Test, mebibytes: number): Promise<SmallDisk | undefined> {
  const directory = await temporaryDirectory(t);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', directory], {
      stdio: 'ignore',
    });
  } catch {
    t.comment('left out: a file system cannot be mounted here; the superuser can');
    return undefined;
  }
  t.teardown(() => execFileSync('umount', ['-l', directory]));
  const filler = join(directory, 'filler');
  const remount = (options: string): void => {
    execFileSync('mount', ['-o', `remount,${options}`, directory], { stdio: 'ignore' });
  };
  return {
    directory,
    async fill(leave = 0) {
      const file = await open(filler, 'a');
      try {
        for (let size = 1 << 20; size >= 1; size = Math.floor(size / 2)) {
          const bytes = Buffer.alloc(size);
          for (;;) {
            const written = await file.write(bytes).then(
              (result) => result.bytesWritten,
              () => 0,
            );
            if (written < size) break;
          }
        }
        if (leave > 0) await file.truncate((await file.stat()).size - leave);
      } finally {
        await file.close();
      }
    },
    free: () => rm(filler, { force: true }),
    remount,
    resize: (mebibytes) => remount(`size=${mebibytes}m`),
  };
}
