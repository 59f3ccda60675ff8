#!/usr/bin/env node
// Runs the kit from a source tree: installs the packages and compiles when that is needed, then hands over to the
// command. Plain JavaScript, because it runs before anything is compiled. All it says goes to standard error, so that
// the output of a command stays clean.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const SOURCES = ['protocols', 'storage', 'clients', 'servers', 'test'];

function say(text) {
  process.stderr.write(`harvest: ${text}\n`);
}

function run(command, args, what) {
  say(what);
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  say(`${command} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`);
  process.exit(1);
}

/** The newest change below a folder, in milliseconds. */
function newest(folder, test) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) latest = Math.max(latest, newest(path, test));
    else if (test(entry.name)) latest = Math.max(latest, statSync(path).mtimeMs);
  }
  return latest;
}

function time(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

// npm writes the inner lock file at the end of a complete install.
if (time(join(root, 'node_modules', '.package-lock.json')) < time(join(root, 'package-lock.json'))) {
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], 'installing packages (once)');
}
const stamp = join(root, 'dist', '.built');
const changed = Math.max(
  time(join(root, 'tsconfig.json')),
  ...SOURCES.map((folder) => newest(join(root, folder), (name) => name.endsWith('.ts'))),
);
if (time(stamp) < changed) {
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', root], 'compiling');
  writeFileSync(stamp, '');
}

const args = process.argv.slice(2);
if (args[0] !== '--prepare') {
  process.argv = [process.argv[0], join(root, 'dist', 'servers', 'cli', 'harvest.js'), ...args];
  await import(pathToFileURL(process.argv[1]).href);
}
