import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

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
    .action(lazyAction(async () => (await import('./actions/turtle-passwd.js')).turtlePasswd));
}
