// The base with which a change is compared, in small repositories.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const MODULE = fileURLToPath(new URL('./changes.js', import.meta.url));
const HOUR = 3_600;
const NOW = 1_767_225_600;

/** A repository with one commit for each number of hours before NOW. */
class Repository {
  readonly commits: string[] = [];
  constructor(readonly directory: string) {
    this.git('init', '--quiet', '--initial-branch', 'main');
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.test', ...args], {
      cwd: this.directory,
      encoding: 'utf8',
      env: { ...process.env, ...this.#dates },
    }).trim();
  }

  #dates: Record<string, string> = {};

  commit(hoursAgo: number): void {
    writeFileSync(join(this.directory, `file-${hoursAgo}`), '');
    const date = `${NOW - hoursAgo * HOUR} +0000`;
    this.#dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    this.git('add', '.');
    this.git('commit', '--quiet', '--message', 'a');
    this.commits.push(this.git('rev-parse', 'HEAD'));
  }

  /** What the module says in this repository. */
  ask(variables: Readonly<Record<string, string>> = {}): { base: string; changed: string[] } {
    const program = `import { baseCommit, changedFiles } from ${JSON.stringify(MODULE)};
      const base = baseCommit(); console.log(JSON.stringify({ base, changed: changedFiles(base) }));`;
    const text = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: this.directory,
      encoding: 'utf8',
      env: { ...process.env, CI_BASE: '', ...variables },
    });
    return JSON.parse(text);
  }
}

t.test('a day before HEAD, a named commit, the place where HEAD left origin/main', async (t) => {
  const repository = new Repository(await temporaryDirectory(t));
  for (const hours of [50, 30, 20, 0]) repository.commit(hours);
  const [, second, third, fourth] = repository.commits;
  writeFileSync(join(repository.directory, 'new'), '');
  t.same(repository.ask(), { base: second, changed: ['file-0', 'file-20', 'new'] });
  t.equal(repository.ask({ CI_BASE: String(third) }).base, third);
  repository.git('update-ref', 'refs/remotes/origin/main', String(third));
  t.same(repository.ask(), { base: third, changed: ['file-0', 'new'] });
  repository.git('update-ref', 'refs/remotes/origin/main', String(fourth));
  t.equal(repository.ask().base, second, 'a clone is where its origin is, which says nothing');
});

t.test('without a base everything has changed', async (t) => {
  const repository = new Repository(await temporaryDirectory(t));
  repository.commit(0);
  t.same(repository.ask(), { changed: ['file-0'] });
});
