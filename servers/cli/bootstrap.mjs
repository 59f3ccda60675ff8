#!/usr/bin/env node
// Runs the kit from a source tree: installs the packages and compiles if necessary, then runs the command. It is plain
// JavaScript, because it runs before anything is compiled. Its messages go to standard error, so that standard output has
// only the output of the command.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const SOURCES = ['protocols', 'storage', 'clients', 'servers', 'test'];

function print(text) {
  process.stderr.write(`harvest: ${text}\n`);
}

function run(command, args, description) {
  print(description);
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  print(`${command} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`);
  process.exit(1);
}

/** Returns the latest modification time of the matching files below a folder, in milliseconds since 1970. */
function latestMtimeMs(folder, matches) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) latest = Math.max(latest, latestMtimeMs(path, matches));
    else if (matches(entry.name)) latest = Math.max(latest, statSync(path).mtimeMs);
  }
  return latest;
}

/** Returns the modification time of a file in milliseconds since 1970; 0 if it does not exist. */
function mtimeMs(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

/** Returns whether the packages are another checkout's: installing would empty the folder that the link points to. */
function hasLinkedPackages() {
  return lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

// npm writes the inner lock file at the end of a complete install.
const installed = mtimeMs(join(root, 'node_modules', '.package-lock.json'));
if (installed < mtimeMs(join(root, 'package-lock.json')) && !hasLinkedPackages()) {
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], 'installing packages (once)');
}
const stamp = join(root, 'dist', '.built');
const changed = Math.max(
  mtimeMs(join(root, 'tsconfig.json')),
  ...SOURCES.map((folder) => latestMtimeMs(join(root, folder), (name) => name.endsWith('.ts'))),
);
if (mtimeMs(stamp) < changed) {
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', root], 'compiling');
  writeFileSync(stamp, '');
}

const args = process.argv.slice(2);
if (args[0] !== '--prepare') {
  process.argv = [process.argv[0], join(root, 'dist', 'servers', 'cli', 'harvest.js'), ...args];
  await import(pathToFileURL(process.argv[1]).href);
}
