// Exit statuses of the program for each class of errors.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { cli, type Finished, finishedOf, PROGRAM } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const ERRORS = new URL('../../protocols/errors.js', import.meta.url).href;

/** Runs `harvest --help` with a standard output whose `write` throws the expression. */
function runWithFailure(expression: string): Promise<Finished> {
  const module = `import * as errors from ${JSON.stringify(ERRORS)};
    process.stdout.write = () => { throw ${expression}; };`;
  return runWithPreload(module, '--help');
}

/** Runs a command in a process that first loads a module, given as source text. */
function runWithPreload(module: string, ...words: readonly string[]): Promise<Finished> {
  const preload = `data:text/javascript,${encodeURIComponent(module)}`;
  return finishedOf(spawn(process.execPath, ['--import', preload, PROGRAM, ...words]));
}

t.test('2 and one sentence: the command line or a configuration file is wrong', async (t) => {
  const path = await temporaryDirectory(t);
  const file = join(path, 'wrong.cf');
  await writeFile(file, 'Gatherer-Name: Test\nGatherer-Port: many\n<RootNodes>\n</RootNodes>\n');
  for (const [words, sentence] of [
    [['no-such-command'], /^harvest: unknown command/],
    [['soif', 'cat', '--no-such-option'], /^harvest: unknown option/],
    [
      ['query', 'localhost', '--max', 'many', 'x'],
      /^harvest: option '--max <number>' argument 'many' is invalid/,
    ],
    [['gather', 'localhost:8500', '8500', '17'], /^gather: two ports are given\n$/],
    [['gatherer', file], /^harvest: .*wrong\.cf:2: Gatherer-Port: .*\n$/],
  ] as const) {
    const { code, stderr } = await cli(...words);
    t.equal(code, 2, words.join(' '));
    t.match(stderr, sentence);
    t.notMatch(stderr, /^ +at /m, 'no stack');
  }
});

t.test('1 and one sentence: refused, damaged or missing, by the kit or by the system', async (t) => {
  const path = await temporaryDirectory(t);
  const missing = await cli('robots', 'check', '--file', join(path, 'none'), '--agent', 'a', '/');
  t.equal(missing.code, 1);
  t.match(missing.stderr, /^harvest: ENOENT: .*\n$/);
  const noStore = await cli('dumpregistry', path);
  t.equal(noStore.code, 1);
  t.notMatch(noStore.stderr, /^ +at /m);
  for (const name of ['RefusedError', 'StorageError', 'ConnectionError']) {
    const failed = await runWithFailure(`new errors.${name}('injected')`);
    t.match(failed, { code: 1, stderr: 'harvest: injected\n' });
  }
});

t.test('70 and a stack: a bug', async (t) => {
  for (const expression of [
    "new errors.StateError('injected')",
    "new TypeError('injected')",
    "new RangeError('injected')",
    "new Error('injected', { cause: new Error('deeper') })",
  ]) {
    const { code, stderr } = await runWithFailure(expression);
    t.equal(code, 70, expression);
    t.match(stderr, /^harvest: internal error: \w*Error: injected\n +at /);
  }
  const caused = await runWithFailure("new Error('injected', { cause: new Error('deeper') })");
  t.match(caused.stderr, /deeper/);
  t.match(await runWithFailure("'injected'"), { code: 70, stderr: "harvest: internal error: 'injected'\n" });
  const later = await runWithPreload(
    // The program listens from its start on, and cat never ends.
    "setInterval(() => { if (process.listenerCount('uncaughtException') > 0) throw new TypeError('injected'); }, 1);",
    'soif',
    'cat',
    '/dev/zero',
  );
  t.equal(later.code, 70, 'an error in a timer counts as a bug too');
  t.match(later.stderr, /^harvest: internal error: TypeError: injected\n +at /m);
});

t.test('3: the peer cannot be reached', async (t) => {
  const { code, stderr } = await cli('query', '127.0.0.1:1', 'x');
  t.equal(code, 3);
  t.match(stderr, /^query: .*\n$/);
});
