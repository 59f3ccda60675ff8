// `harvest completion`: in real shells; zsh and fish only where they are installed.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { COMMANDS } from '../../../../servers/cli/commands.js';
import { helpOf } from '../../../../servers/cli/help/command-help.js';
import { completionScript, type Shell } from '../../../../servers/cli/help/completion.js';

const commands = await Promise.all(COMMANDS.map(helpOf));

function script(t: Test, shell: Shell): string {
  const file = join(t.testdir(), shell === 'zsh' ? '_harvest' : `harvest.${shell}`);
  writeFileSync(file, completionScript(shell, commands));
  return file;
}

function skip(shell: Shell): false | string {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0 ? false : `${shell} is not installed`;
}

t.test('bash', { skip: skip('bash') }, async (t) => {
  const file = script(t, 'bash');
  /** What bash offers at the end of these words. */
  const complete = (...words: string[]): string[] => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const program = `source ${file}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _harvest; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', program], { encoding: 'utf8' });
    t.equal(status, 0, stderr);
    t.equal(stderr, '');
    return stdout.split('\n').filter((line) => line !== '');
  };
  t.same(complete('harvest', 'quer'), ['query']);
  t.same(
    complete('harvest', ''),
    COMMANDS.map(({ name }) => name),
  );
  t.same(complete('harvest', 'query', '--ma'), ['--max', '--max-results', '--max-lines']);
  t.same(complete('harvest', 'crawl', 'wat'), ['watch']);
  t.same(complete('harvest', 'crawl', 'watch', '--inter'), ['--interval']);
  t.same(complete('harvest', 'query', '--opaque-mode', ''), ['suppress', 'show']);
  t.same(complete('harvest', 'run', './'), [], 'file names are left to bash');
});

t.test('zsh', { skip: skip('zsh') }, async (t) => {
  const file = script(t, 'zsh');
  const { status, stderr } = spawnSync('zsh', ['-n', file], { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  // The functions of the completion system print what they are given.
  const program = `
    _describe() { local -a items; items=("\${(@P)2}"); print -l -- "\${items[@]}"; }
    _files() { print files; }
    words=(harvest crawl watch --); CURRENT=$1; (($1 == 2)) && words=(harvest '')
    source ${file}`;
  const complete = (at: number): string =>
    spawnSync('zsh', ['-f', '-c', program, 'zsh', String(at)], { encoding: 'utf8' }).stdout;
  t.match(complete(2), /^query:search a broker$/m);
  t.match(complete(4), /^--interval:/m);
});

t.test('fish', { skip: skip('fish') }, async (t) => {
  const file = script(t, 'fish');
  const complete = (line: string): string[] => {
    const { stdout, stderr } = spawnSync('fish', ['-N', '-c', `source ${file}; complete -C '${line}'`], {
      encoding: 'utf8',
    });
    t.equal(stderr, '');
    return stdout.split('\n').map((each) => each.split('\t')[0] ?? '');
  };
  t.ok(complete('harvest qu').includes('query'));
  t.ok(complete('harvest crawl wat').includes('watch'));
  t.ok(complete('harvest query --max-').includes('--max-lines'));
  t.ok(complete('harvest crawl watch --').includes('--interval'));
});
