import { readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { StorageError, UsageError } from '../../../../protocols/errors.js';
import { replaceFile } from '../../../../storage/files/replace-file.js';
import { checkUserName, UserBase, userLine, withUser } from '../../../refererd/user-base.js';
import { firstLine, hiddenAnswer } from '../../options/passwords.js';
import { complain, EXIT } from '../../output/exit.js';

interface PasswordOptions {
  readonly create: boolean;
  readonly delete: boolean;
  readonly check: boolean;
  readonly list: boolean;
}

/** The action of `harvest turtle-passwd`. */
export async function turtlePasswd(
  file: string,
  user: string | undefined,
  options: PasswordOptions,
): Promise<number> {
  const { create, delete: remove, check, list } = options;
  if ([create, remove, check, list].filter(Boolean).length > 1) {
    throw new UsageError('--create, --delete, --check and --list are mutually exclusive');
  }
  if (list) {
    for (const name of UserBase.parse(await readBase(file)).names) process.stdout.write(`${name}\n`);
    return EXIT.ok;
  }
  if (user === undefined) throw new UsageError('the name of a user is required');
  checkUserName(user);
  return check
    ? await checkPassword(file, user)
    : remove
      ? await removeUser(file, user)
      : await setPassword(file, user, create);
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

/**
 * Replaces the file atomically. A new one is readable by its owner only; an old one keeps its owner, group and
 * mode.
 */
function writeBase(file: string, content: string): Promise<void> {
  const build = (temporary: string) => writeFile(temporary, content, { flag: 'wx', mode: 0o600 });
  return replaceFile(file, build, { force: true, keepOwner: true });
}
