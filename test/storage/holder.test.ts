// A store that another process has open is refused with the id of that process, and only while it lives.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lockHolder, nameHolder } from '../../storage/files/holder.js';
import { openDatabase } from '../../storage/level/open-database.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

/** Opens a LevelDB in another process, which prints a line when it has it. */
async function hold(directory: string) {
  const module = import.meta.resolve('classic-level');
  const code = `import { ClassicLevel } from ${JSON.stringify(module)};
await new ClassicLevel(process.env.STORE).open();
console.log('open');
setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { ...process.env, STORE: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

t.test('a store in use: the message names the process that has it, and after its end it opens', async (t) => {
  const directory = join(await temporaryDirectory(t), 'store');
  const child = await hold(directory);
  t.teardown(() => child.kill('SIGKILL'));
  const message = `the store in ${directory} is in use by process ${child.pid} (node)`;
  await t.rejects(openDatabase(directory), { name: 'StorageError', message });
  child.kill('SIGKILL');
  await once(child, 'close');
  const opened = await openDatabase(directory);
  await t.rejects(openDatabase(directory), {
    message: `the store in ${directory} is in use by this process`,
  });
  await opened.close();
  t.equal(lockHolder(join(directory, 'LOCK')), 'another process', 'none is known');
});

t.test('without a process that can be named it is another one', async (t) => {
  const directory = await temporaryDirectory(t);
  t.equal(lockHolder(join(directory, 'missing')), 'another process');
  writeFileSync(join(directory, 'free'), '');
  t.equal(lockHolder(join(directory, 'free')), 'another process');
  t.equal(nameHolder([]), 'another process');
  t.equal(nameHolder([process.pid]), 'this process');
});

t.test(
  'the program of a process: the command of this kit, another program, a name that is not plain',
  async (t) => {
    const directory = await temporaryDirectory(t);
    mkdirSync(join(directory, 'odd'));
    const nameOf = async (file: string, ...args: string[]): Promise<string> => {
      const path = join(directory, file);
      writeFileSync(path, 'console.log(1); setInterval(() => {}, 1e6);');
      const child = spawn(process.execPath, ['--no-warnings', path, ...args], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      await once(child.stdout, 'data');
      const name = nameHolder([child.pid ?? 0]);
      child.kill('SIGKILL');
      await once(child, 'close');
      return name.replace(/\d+/, 'N');
    };
    t.equal(await nameOf('harvest.js', 'run', 'http://user:password@h/'), 'process N (harvest run)');
    t.equal(await nameOf('harvest.js', '--version'), 'process N (harvest)');
    t.equal(await nameOf('gatherd', '-d', 'x'), 'process N (gatherd)');
    t.equal(await nameOf('odd/\u001b[2J name.js'), 'process N');
  },
);
