import { Command } from 'commander';
import { cleanDatabase, DatabaseFile, removeBinary } from '../../../storage/databases/index.js';
import { integerOption } from '../option-values.js';
import { EXIT_HELP, nowOf, report, runTool } from './run-tool.js';

const TARGET_HELP = `
DB is a database file. An original GDBM file is only read here: \`harvest gdbmutil import\` makes a database file of it.`;

const EXPIRE_HELP = `
Deletes the objects whose Update-Time plus Time-to-Live has passed. A Time-to-Live of 0 means never; an object that does not say lives
four weeks; one without Update-Time stays.
${TARGET_HELP}

Examples:
  harvest expiredb PRODUCTION.gdbm
  harvest expiredb --now 1735689600 PRODUCTION.gdbm     as if it were the beginning of 2025
${EXIT_HELP}`;

/** `expiredb DB` (G-103, SOIF-6.7, SOIF-6.8). */
export function expiredbCommand(): Command {
  return new Command('expiredb')
    .description('Deletes expired objects.')
    .argument('<db>', 'the database file')
    .option('--now <seconds>', 'the time to compare with, seconds since 1970-01-01 UTC', integerOption)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', EXPIRE_HELP)
    .action(async (path: string, options: { now?: number; json: boolean }) => {
      await runTool('expiredb', async (tool) => {
        using database = DatabaseFile.open(path);
        const deleted = database.deleteExpired(nowOf(options));
        await report(tool, options.json, 'expiredb', { deleted, objects: database.count });
      });
    });
}

const CLEAN_HELP = `
Deletes the records that are no valid SOIF object: damaged, about another URL than the one they are stored under, with names or times that
are none. Why a record goes is said on standard error.
${TARGET_HELP}

Examples:
  harvest cleandb PRODUCTION.gdbm
  harvest cleandb -truncate PRODUCTION.gdbm      also cut Keywords to 8 kilobytes, at the end of a line or word
  harvest cleandb --complete PRODUCTION.gdbm     also delete what Brokers reject because it does not say who gathered it
${EXIT_HELP}`;

/** `cleandb [-truncate] DB` (G-134). */
export function cleandbCommand(): Command {
  return new Command('cleandb')
    .description('Deletes invalid objects.')
    .argument('<db>', 'the database file')
    .option('--truncate', 'cut Keywords to 8 kilobytes (-truncate)', false)
    .option('--complete', 'also delete objects without Gatherer-Name, -Host, -Version or Update-Time', false)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', CLEAN_HELP)
    .action(async (path: string, options: { truncate: boolean; complete: boolean; json: boolean }) => {
      await runTool('cleandb', async (tool) => {
        using database = DatabaseFile.open(path);
        const { truncate, complete, json } = options;
        const counts = await cleanDatabase(database, {
          ...tool,
          truncate,
          complete,
          onDeleted: (url, reason) => tool.onWarning?.(`${url}: deleted: ${reason}`),
        });
        await report(tool, json, 'cleandb', { ...counts, objects: database.count });
      });
    });
}

const BINARY_HELP = `
Takes binary data out of the objects' values: control characters, and bytes that are no text. A value of which more than
30 % is binary goes as a whole.
${TARGET_HELP}

Example:
  harvest rmbinary PRODUCTION.gdbm
${EXIT_HELP}`;

/** `rmbinary DB` (G-133). */
export function rmbinaryCommand(): Command {
  return new Command('rmbinary')
    .description('Takes binary data out of objects.')
    .argument('<db>', 'the database file')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', BINARY_HELP)
    .action(async (path: string, options: { json: boolean }) => {
      await runTool('rmbinary', async (tool) => {
        using database = DatabaseFile.open(path);
        await report(tool, options.json, 'rmbinary', { ...(await removeBinary(database, tool)) });
      });
    });
}
