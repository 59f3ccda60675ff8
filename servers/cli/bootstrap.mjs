#!/usr/bin/env node
// Runs the kit from a source tree: installs the packages and compiles if necessary, then runs the command. It is plain
// JavaScript, because it runs before anything is compiled. Its messages go to standard error, so that standard output has
// only the output of the command.
//
//   bootstrap.mjs COMMAND...   installs what the programs need, and compiles them alone
//   bootstrap.mjs --prepare    installs and compiles everything, for the tests; `check/types` is one of them
//   bootstrap.mjs --package    installs everything, checks the types, and then `dist` has what `npm pack` puts into the package
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const packages = join(root, 'node_modules');
const dist = join(root, 'dist');
const SOURCES = ['protocols', 'storage', 'clients', 'servers'];
const NPM_OPTIONS = ['--no-audit', '--no-fund', '--loglevel=error'];

function print(text) {
  process.stderr.write(`harvest: ${text}\n`);
}

/** Runs a command to its end. A signal that ends this program ends the command, too. */
async function run(command, args, description) {
  print(description);
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  let stopped = 0;
  const stop = (signal, number) => {
    stopped = 128 + number;
    child.kill(signal);
  };
  const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'];
  for (const signal of signals) process.on(signal, stop);
  const status = await once(child, 'close').then(
    ([code]) => code,
    (error) => error.message,
  );
  for (const signal of signals) process.off(signal, stop);
  if (stopped > 0) process.exit(stopped);
  if (status === 0) return;
  print(`${command} ${args.join(' ')} failed${typeof status === 'string' ? `: ${status}` : ''}`);
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
  const entry = lstatSync(packages, { throwIfNoEntry: false });
  return entry ? entry.isSymbolicLink() : false;
}

/** Returns whether the packages for development are installed too. */
function hasDevelopmentPackages() {
  return existsSync(join(packages, 'tap'));
}

/** Ends the program if Node is too old, before npm and the compiler take half a minute. An old Node must understand this file. */
function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const lowest = engines.node.replace('>=', '');
  if (lowest.localeCompare(process.versions.node, 'en', { numeric: true }) <= 0) return;
  const actual = process.versions.node;
  print(
    `Node ${lowest} or later is required, and this is Node ${actual}; newer versions are at https://nodejs.org/`,
  );
  process.exit(1);
}

/** Installs the packages that are missing: all of them, or those that the programs need and the compiler. */
async function install(all) {
  if (hasLinkedPackages()) return;
  // npm writes the inner lock file at the end of a complete install.
  const isOld = mtimeMs(join(packages, '.package-lock.json')) < mtimeMs(join(root, 'package-lock.json'));
  const wanted = all || hasDevelopmentPackages();
  if (!isOld && wanted === hasDevelopmentPackages()) return;
  if (wanted)
    await run('npm', ['ci', ...NPM_OPTIONS], 'installing the packages, also those for the tests (once)');
  else
    await run('npm', ['ci', '--omit=dev', ...NPM_OPTIONS], 'installing the packages (once, 110 MB on disk)');
}

/** Installs the compiler alone, in the version of the lock file, without a trace in package.json. */
async function installCompiler() {
  if (existsSync(join(packages, 'typescript')) || hasLinkedPackages()) return;
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const compiler = `typescript@${lock.packages['node_modules/typescript'].version}`;
  const options = ['--no-save', '--save-prod', '--omit=dev', ...NPM_OPTIONS];
  await run('npm', ['install', ...options, compiler], 'installing the compiler (once)');
}

/** Compiles if a source is newer than the last time: everything, or the programs alone. */
async function compile(all) {
  const changed = (folders) =>
    Math.max(
      mtimeMs(join(root, 'tsconfig.json')),
      ...folders.map((folder) => latestMtimeMs(join(root, folder), (name) => name.endsWith('.ts'))),
    );
  const built = join(dist, '.built');
  if (all) {
    if (mtimeMs(built) >= changed([...SOURCES, 'test'])) return;
    await tsc(['-p', root, '--noCheck'], 'compiling the programs and the tests');
    writeFileSync(built, '');
    return;
  }
  const builtPrograms = join(dist, '.built-programs');
  if (Math.max(mtimeMs(built), mtimeMs(builtPrograms)) >= changed(SOURCES)) return;
  await installCompiler();
  await tsc(['-p', join(root, 'tsconfig.start.json')], 'compiling the programs (once, 5 to 30 seconds)');
  writeFileSync(builtPrograms, '');
}

async function tsc(args, description) {
  await run(process.execPath, [join(packages, 'typescript', 'bin', 'tsc'), ...args], description);
}

/** Compiles the package's files into an empty `dist`: a file that has no source any more must not be published. */
async function compilePackage() {
  rmSync(dist, { recursive: true, force: true });
  await tsc(['-p', join(root, 'tsconfig.sources.json')], 'compiling the package');
  const program = join(dist, 'servers', 'cli', 'harvest.js');
  await run(process.execPath, [program, 'man', '--output', join(dist, 'man')], 'making the manual pages');
}

/** Without `await` outside of a function, which an old Node does not understand. */
async function main(args) {
  const isForDevelopment = args[0] === '--prepare' || args[0] === '--package';
  checkNode();
  await install(isForDevelopment);
  if (args[0] === '--package') await compilePackage();
  else await compile(isForDevelopment || hasDevelopmentPackages());
  if (isForDevelopment) return;
  process.argv = [process.argv[0], join(dist, 'servers', 'cli', 'harvest.js'), ...args];
  await import(pathToFileURL(process.argv[1]).href);
}

main(process.argv.slice(2));
