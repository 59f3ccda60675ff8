// The clock of running programs, by Debian's faketime. The one that cannot be set, by which they wait, goes on.
import { existsSync, writeFileSync } from 'node:fs';

const LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file));

/** The options of tests that need faketime. */
export const NEEDS_FAKETIME = { skip: LIBRARY === undefined && 'faketime is not installed' };

/** By a minute, an hour and a year, to 1970 and to 2040. */
export const JUMPS: readonly string[] = ['+1m', '-1m', '+1h', '-1h', '+1y', '-1y', '-56y', '+14y'];
export const RIGHT = '+0';

/** The clock of some processes, in a file. */
export class FakeClock {
  constructor(readonly file: string) {
    this.set(RIGHT);
  }

  set(time: string): void {
    writeFileSync(this.file, time);
  }

  get variables(): Record<string, string> {
    return {
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    };
  }
}
