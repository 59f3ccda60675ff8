// `--config FILE` of `harvest run`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { UsageError } from '../../../../protocols/errors.js';
import { addConfigOption } from '../../../../servers/cli/options/config-option.js';
import { assertProperty } from '../../../helpers/property.js';

interface Parsed {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

function port(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('must be a port');
  return Number(value);
}

/** Runs a command with a configuration file; returns what its action gets. */
async function parse(t: Test, file: unknown, args: readonly string[] = []): Promise<Parsed> {
  let parsed: Parsed | undefined;
  const path = join(t.testdir(), 'run.json');
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
  const command = addConfigOption(
    new Command('run')
      .argument('[word...]')
      .option('--web-port <port>', '', port, 8080)
      .addOption(new Option('--low-disk <MiB>').argParser(port))
      .option('--once', '', false)
      .exitOverride()
      .action((words: string[], options: Record<string, unknown>) => {
        parsed = { words, options };
      }),
  );
  await command.parseAsync(['--config', path, ...args], { from: 'user' });
  if (parsed === undefined) throw new Error('the action did not run');
  return parsed;
}

t.test('the file gives options and arguments; the command line goes first', async (t) => {
  const file = { 'web-port': 9080, 'low-disk': '7', once: true, arguments: ['a', 'b'] };
  const read = await parse(t, file);
  t.same(read.words, ['a', 'b']);
  t.match(read.options, { webPort: 9080, lowDisk: 7, once: true });
  const typed = await parse(t, file, ['--web-port', '1', 'c']);
  t.same(typed.words, ['c']);
  t.match(typed.options, { webPort: 1, lowDisk: 7, once: true });
});

t.test('a wrong file is an error that names the file and the key', async (t) => {
  const CASES: readonly (readonly [unknown, RegExp])[] = [
    ['{', /run\.json: cannot be read: /],
    [[], /run\.json: must be an object/],
    [{ 'web-port': null }, /run\.json: web-port: must be an object|run\.json: web-port: /],
    [{ 'web-prot': 1 }, /run\.json: web-prot: the command has no such option/],
    [{ config: 'x' }, /run\.json: config: the command has no such option/],
    [{ 'web-port': 'x' }, /run\.json: web-port: must be a port/],
    [{ once: 'yes' }, /run\.json: once: must be true or false/],
    [{ 'web-port': true }, /run\.json: web-port: must be a value/],
  ];
  for (const [file, message] of CASES)
    await t.rejects(parse(t, file), { constructor: UsageError, message }, JSON.stringify(file));
});

t.test('any JSON is read or refused', async (t) => {
  await assertProperty(
    fc.asyncProperty(fc.json(), async (file) => {
      await parse(t, file).catch((error: unknown) => {
        if (!(error instanceof UsageError)) throw error;
      });
    }),
    { numRuns: 100 },
  );
});
