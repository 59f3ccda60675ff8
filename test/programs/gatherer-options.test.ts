// The options of the original Gatherer (G-11, G-12), and its directories (G-152).
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { cli, cliWithInput } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

/**
 * A Gatherer's directory with one document, `documents/a.txt`; returns the directory and its configuration
 * file.
 */
async function gatherer(t: Test, lines = ''): Promise<{ top: string; file: string }> {
  const top = await temporaryDirectory(t);
  await mkdir(join(top, 'documents'));
  await writeFile(join(top, 'documents', 'a.txt'), 'wheat\n');
  const file = join(top, 'test.cf');
  await writeFile(
    file,
    `Gatherer-Name: Test\nGatherer-Host: g.example\nGatherd-Inetd: yes\n${lines}<LeafNodes>\nfile://localhost${top}/documents/a.txt\n</LeafNodes>\n`,
  );
  return { top, file };
}

t.test('G-12: -export gathers nothing, publishes and writes the export files', async (t) => {
  const { top, file } = await gatherer(t);
  t.equal((await cli('gatherer', file)).code, 0);
  await writeFile(join(top, 'documents', 'a.txt'), 'rye\n');
  const { code, stdout } = await cli('gatherer', '-export', file);
  t.equal(code, 0);
  t.match(stdout, /^Published generation 2: 1 objects\n/);
  t.same((await readdir(join(top, 'data'))).filter((name) => /^(?:All|INFO)/.test(name)).sort(), [
    'All-Templates.gz',
    'INFO.soif',
  ]);
});

t.test('G-12: -manual stops after each phase, goes on after a line, ends at q', async (t) => {
  const { top, file } = await gatherer(t);
  const ended = await cliWithInput('q\n', 'gatherer', '-manual', file);
  t.equal(ended.code, 0, ended.stderr);
  t.match(
    ended.stderr,
    /^Gathered: 1 summarized, .*\nNext: publish\. Press Enter to continue, q to end here: $/m,
  );
  t.notOk(existsSync(join(top, 'data', 'INFO.soif')));
  const whole = await cliWithInput('\n\n', 'gatherer', '-manual', file);
  t.equal(whole.code, 0, whole.stderr);
  t.match(whole.stderr, /Published generation 1: 1 objects\n.*Next: write the scripts/s);
  t.match(whole.stdout, /^Gathered: 0 summarized, .*\nPublished generation 1: 1 objects\n/);
});

t.test('-background checks the configuration, returns at once, and gathers', async (t) => {
  const { top, file } = await gatherer(t);
  const { code, stdout } = await cli('gatherer', '-background', '--json', file);
  t.equal(code, 0);
  t.type(JSON.parse(stdout).background, 'number');
  await waitUntil(() => existsSync(join(top, 'RunGatherd')));
  t.match(await readFile(join(top, 'log.gatherer'), 'utf8'), 'a.txt Text 200');
  t.equal(await readFile(join(top, 'log.errors'), 'utf8'), '', 'no progress in the file of errors');
  t.equal((await cli('gatherer', '-background', '-manual', file)).code, 2);
  await writeFile(file, 'Gatherer-Port: x\n');
  t.equal((await cli('gatherer', '-background', file)).code, 2);
});

t.test('G-12, G-152: -debug shows all sections and keeps the files of programs in tmp', async (t) => {
  const { top, file } = await gatherer(t);
  await mkdir(join(top, 'bin'));
  await writeFile(join(top, 'bin', 'Text.sum'), '#!/bin/sh\nprintf "Title{5}:\\tother\\n"\n');
  await chmod(join(top, 'bin', 'Text.sum'), 0o755);
  t.equal((await cli('gatherer', file)).code, 0);
  t.same(await readdir(join(top, 'tmp')), []);
  await writeFile(join(top, 'documents', 'a.txt'), 'rye\n');
  t.equal((await cli('gatherer', '-debug', '-force', file)).code, 0);
  t.match(await readFile(join(top, 'log.gatherer'), 'utf8'), /\[62,1\] .*\[69,/s);
  const [directory = '', ...more] = await readdir(join(top, 'tmp'));
  t.same(more, []);
  t.equal(await readFile(join(top, 'tmp', directory, 'a.txt'), 'utf8'), 'rye\n');
});
