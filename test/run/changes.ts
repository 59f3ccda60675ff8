// What git says of the change that a run checks.
import { execFileSync } from 'node:child_process';

/** A change without any other base begins so many seconds before HEAD. */
const DAY_SECONDS = 24 * 60 * 60;

/** The answer of git in the current directory; undefined if it fails. */
function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1 << 28,
    }).trim();
  } catch {
    return undefined;
  }
}

/** The commit that is checked out, or `unknown` outside of a checkout. */
export function currentCommit(): string {
  return git('rev-parse', 'HEAD') ?? 'unknown';
}

/** A number that grows with each commit. */
export function commitCount(): number {
  return Number(git('rev-list', '--count', 'HEAD') ?? 0);
}

/**
 * The commit with which HEAD is compared: `$CI_BASE`, else where HEAD left `origin/main`, else the parent of
 * the oldest commit of the 24 hours before HEAD. Undefined if absent: everything has changed.
 */
export function baseCommit(): string | undefined {
  const named = process.env.CI_BASE;
  if (named !== undefined && named !== '') return git('rev-parse', '--verify', `${named}^{commit}`);
  const forked = git('merge-base', 'HEAD', 'origin/main');
  // A clone's own origin/main is where HEAD is, which says nothing.
  if (forked !== undefined && forked !== currentCommit()) return forked;
  const since = Number(git('show', '-s', '--format=%ct', 'HEAD') ?? 0) - DAY_SECONDS;
  const oldest = git('rev-list', `--since=${since}`, 'HEAD')?.split('\n').at(-1);
  return oldest === undefined || oldest === '' ? git('rev-parse', 'HEAD^') : git('rev-parse', `${oldest}^`);
}

/**
 * Files that differ between a commit and the checkout, and files that git does not know yet; all files without
 * a commit.
 */
export function changedFiles(base: string | undefined): string[] {
  const changed = base === undefined ? git('ls-files') : git('diff', '--name-only', base);
  const added = git('ls-files', '--others', '--exclude-standard');
  return [...(changed ?? '').split('\n'), ...(added ?? '').split('\n')].filter((file) => file !== '');
}
