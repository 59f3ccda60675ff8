import { readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { StorageError, UsageError } from '../../protocols/errors.js';
import { replaceFile } from '../../storage/files/replace-file.js';
import { checkUserName, UserBase, userLine, withUser } from '../refererd/index.js';
import { complain, EXIT } from './exit.js';
import { firstLine, hiddenAnswer } from './hidden-answer.js';

const HELP = `
FILE is the password file of a references server (pwfile in referer.cf, --pwfile of harvest refererd). Its users have access to /stat,
/clean and /reload. Passwords are stored as scrypt hashes. Only its owner can read a new file; an existing one keeps owner, group and
mode. A server that changes its user (user and group in referer.cf) must be able to read it as that user.

At a terminal the command asks for the password twice and does not show it; otherwise it is the first line of standard input.

Examples:
  harvest turtle-passwd --create conf/turtle.passwd anna     a new file with one user
  harvest turtle-passwd conf/turtle.passwd anna              adds a user, or changes the password
  harvest turtle-passwd --delete conf/turtle.passwd anna
  echo "$PASSWORD" | harvest turtle-passwd --check conf/turtle.passwd anna
  harvest turtle-passwd --list conf/turtle.passwd

A running server reads the file again after /reload or SIGHUP.

Exit status: 0 done, or the password is right; 1 wrong password, no such user, failure; 2 usage.
`;

interface PasswordOptions {
  readonly create: boolean;
  readonly delete: boolean;
  readonly check: boolean;
  readonly list: boolean;
}

/** `turtle_passwd FILE USER`: creates and edits the password file. */
export function turtlePasswdCommand(): Command {
  return new Command('turtle-passwd')
    .description('Creates and edits the password file of a references server.')
    .argument('<file>', 'the password file')
    .argument('[user]', 'name of the user')
    .option('-c, --create', 'create a new file', false)
    .option('-D, --delete', 'delete the user', false)
    .option('--check', 'check a password', false)
    .option('--list', 'print the names of the users', false)
    .addHelpText('after', HELP)
    .action(async (file: string, user: string | undefined, options: PasswordOptions) => {
      const { create, delete: remove, check, list } = options;
      if ([create, remove, check, list].filter(Boolean).length > 1) {
        throw new UsageError('--create, --delete, --check and --list are mutually exclusive');
      }
      if (list) {
        for (const name of UserBase.parse(await readBase(file)).names) process.stdout.write(`${name}\n`);
        return;
      }
      if (user === undefined) throw new UsageError('the name of a user is required');
      checkUserName(user);
      process.exitCode = check
        ? await checkPassword(file, user)
        : remove
          ? await removeUser(file, user)
          : await setPassword(file, user, create);
    });
}

async function setPassword(file: string, user: string, create: boolean): Promise<number> {
  // A file that cannot be used is reported before the user types a password.
  const before = create ? '' : await readBase(file);
  if (create && (await exists(file))) throw new UsageError(`${file} exists already: omit --create`);
  const password = await newPassword();
  await writeBase(file, withUser(before, user, await userLine(user, password)));
  return EXIT.ok;
}

async function removeUser(file: string, user: string): Promise<number> {
  const before = await readBase(file);
  const after = withUser(before, user, undefined);
  if (!hasUser(before, user)) {
    complain('turtle-passwd', `there is no user ${user} in ${file}`);
    return EXIT.failure;
  }
  await writeBase(file, after);
  return EXIT.ok;
}

async function checkPassword(file: string, user: string): Promise<number> {
  const base = UserBase.parse(await readBase(file));
  const isRight = (await base.check(user, await readPassword('Password: '))) === 'right';
  process.stderr.write(isRight === true ? 'right\n' : 'wrong\n');
  return isRight === true ? EXIT.ok : EXIT.failure;
}

function hasUser(base: string, user: string): boolean {
  return UserBase.parse(base).names.includes(user);
}

async function newPassword(): Promise<string> {
  const password = await readPassword('New password: ');
  if (password === '') throw new UsageError('the password must not be empty');
  if (process.stdin.isTTY && (await readPassword('Repeat the password: ')) !== password) {
    throw new UsageError('the passwords differ');
  }
  return password;
}

async function readPassword(question: string): Promise<string> {
  return process.stdin.isTTY ? hiddenAnswer(question) : firstLine(await text(process.stdin));
}

async function readBase(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const hint = why === 'ENOENT' ? '; --create creates a new file' : '';
    throw new StorageError(`${file} cannot be read: ${why}${hint}`, { cause });
  }
}

function exists(file: string): Promise<boolean> {
  return readFile(file).then(
    () => true,
    () => false,
  );
}

/** Replaces the file atomically. A new one is readable by its owner only; an old one keeps its owner, group and mode. */
function writeBase(file: string, content: string): Promise<void> {
  const build = (temporary: string) => writeFile(temporary, content, { flag: 'wx', mode: 0o600 });
  return replaceFile(file, build, { force: true, keepOwner: true });
}
