import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { integerOption } from '../options/option-values.js';
import { EXIT_HELP } from './exit-help.js';

const TARGET_HELP = `
DB is a database file. Original GDBM files are not changed: \`harvest gdbmutil import\` converts one into a database file. If a Gatherer's
data directory has no PRODUCTION.gdbm, it is made from the published objects; "harvest mkindex" publishes it.`;

const EXPIRE_HELP = `
Deletes objects whose Update-Time plus Time-to-Live has passed. A Time-to-Live of 0 means never; the default is four weeks; an
object without Update-Time stays.
${TARGET_HELP}

Examples:
  harvest expiredb PRODUCTION.gdbm
  harvest expiredb --now 1735689600 PRODUCTION.gdbm     as of the beginning of 2025
${EXIT_HELP}`;

/** `expiredb DB` (G-103, SOIF-6.7, SOIF-6.8). */
export function expiredbCommand(): Command {
  return new Command('expiredb')
    .description('Deletes expired objects.')
    .argument('<db>', 'the database file')
    .option('--now <seconds>', 'time to compare with, seconds since 1970-01-01 UTC', integerOption)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', EXPIRE_HELP)
    .action(lazyAction(async () => (await import('./actions/maintain.js')).expiredb));
}

const CLEAN_HELP = `
Deletes records that are not valid SOIF objects: damaged ones, and those with a URL other than their key or with invalid names or
times. The reason for each is printed on standard error.
${TARGET_HELP}

Examples:
  harvest cleandb PRODUCTION.gdbm
  harvest cleandb -truncate PRODUCTION.gdbm      also shorten Keywords to 8 kilobytes, at the end of a line or word
  harvest cleandb --complete PRODUCTION.gdbm     also delete objects without a Gatherer's name, which Brokers reject
${EXIT_HELP}`;

/** `cleandb [-truncate] DB` (G-134). */
export function cleandbCommand(): Command {
  return new Command('cleandb')
    .description('Deletes invalid objects.')
    .argument('<db>', 'the database file')
    .option('--truncate', 'shorten Keywords to 8 kilobytes (-truncate)', false)
    .option('--complete', 'also delete objects without Gatherer-Name, -Host, -Version or Update-Time', false)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', CLEAN_HELP)
    .action(lazyAction(async () => (await import('./actions/maintain.js')).cleandb));
}

const BINARY_HELP = `
Removes binary data from the values of objects: control characters, and bytes that are not text. A value that is more than
30 % binary is removed.
${TARGET_HELP}

Example:
  harvest rmbinary PRODUCTION.gdbm
${EXIT_HELP}`;

/** `rmbinary DB` (G-133). */
export function rmbinaryCommand(): Command {
  return new Command('rmbinary')
    .description('Removes binary data from objects.')
    .argument('<db>', 'the database file')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', BINARY_HELP)
    .action(lazyAction(async () => (await import('./actions/maintain.js')).rmbinary));
}
