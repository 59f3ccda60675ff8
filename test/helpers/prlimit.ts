import { execFileSync } from 'node:child_process';

function hasPrlimit(): boolean {
  try {
    execFileSync('prlimit', ['--nofile=64', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Why tests of limited programs are skipped; false if `prlimit` is there. */
export const withoutPrlimit = hasPrlimit() ? false : 'prlimit is missing';
/** Traces of an error that a program did not foresee. */
export const CRASH = /internal error|\n {4}at |ConnectionFailed|Unknown system error/;
