import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { integerOption } from '../options/option-values.js';

/** The commands of this file by name. */
export const DEFINITIONS = {
  template2db,
  mergedb,
  consoldb,
  expiredb,
  cleandb,
  rmbinary,
  gdbmutil,
  folddb,
  mkindex,
  mkcompressed,
  mkgathererstats,
};

/** The end of every tool's help. */
export const EXIT_HELP = `
Exit status: 0 done; 1 failure; 2 usage; 130 interrupted. A tool that fails or is killed leaves the
database unchanged.
`;

const LOAD_HELP = `
Reads SOIF from standard input or files and stores the objects in the database DB, which is created
if missing. An object replaces the stored one with the same URL; the last of several wins. All
changes are one transaction: after a failure DB is unchanged, or absent if it was. Input may be gzip
and may have the @DELETE, @REFRESH and @UPDATE groups of gather: deletions and refreshes are then
applied too. A file may also be another database, of this kit or original GDBM.

Examples:
  harvest mktemplate annotations | harvest template2db annotations.gdbm
  harvest gather somehost 8500 | harvest template2db copy.gdbm
  harvest template2db everything.gdbm one.soif All-Templates.gz
${EXIT_HELP}`;

/** `template2db DB < SOIF` (G-138). */
function template2db(): Command {
  return new Command('template2db')
    .argument('<db>', 'the database file')
    .argument('[files...]', 'sources; - or none is standard input')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', LOAD_HELP)
    .action(lazyAction(async () => (await import('./actions/edit.js')).template2db));
}

const MERGE_HELP = `
Creates the database PRODUCTION from AUTOMATIC, the Gatherer's objects, and the attributes of the
hand-written MANUAL databases. For an attribute that both have, the manual value wins; of several
manual databases, the first. Sources may be database files, original GDBM files, SOIF streams, or a
Gatherer's data directory. If the file PRODUCTION.gdbm does not exist, its name stands for the
published generation of its directory, and WORKING.gdbm for the working store.

Example, in a Gatherer's data directory:
  harvest mktemplate annotations | harvest template2db annotations.gdbm
  harvest mergedb PRODUCTION.new PRODUCTION.gdbm annotations.gdbm
  mv PRODUCTION.new PRODUCTION.gdbm
  harvest mkindex

Run these lines again after each run of the Gatherer, which publishes its own objects.
${EXIT_HELP}`;

/** `mergedb production automatic manual [manual ...]` (G-139 to G-142). */
function mergedb(): Command {
  return new Command('mergedb')
    .argument('<production>', 'the database to create')
    .argument('<automatic>', "the Gatherer's objects")
    .argument('<manual...>', 'databases of hand-written attributes')
    .option('--force', 'replace an existing PRODUCTION', false)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', MERGE_HELP)
    .action(lazyAction(async () => (await import('./actions/edit.js')).mergedb));
}

const CONSOLIDATE_HELP = `
Merges the databases into the first one, which is created if missing. Of objects with the same URL,
the one with the later Update-Time stays; if the times are equal, the one merged first. Sources may
be of every kind that mergedb reads.

Example:
  harvest consoldb all.gdbm site1.gdbm site2.gdbm old-gatherer/PRODUCTION.gdbm
${EXIT_HELP}`;

/** `consoldb DB DB...` (G-136). */
function consoldb(): Command {
  return new Command('consoldb')
    .argument('<db>', 'the database to merge into')
    .argument('<sources...>', 'the databases to merge')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', CONSOLIDATE_HELP)
    .action(lazyAction(async () => (await import('./actions/edit.js')).consoldb));
}

const TARGET_HELP = `
DB is a database file. Original GDBM files are not changed: \`harvest gdbmutil import\` converts one
into a database file. If a Gatherer's data directory has no PRODUCTION.gdbm, it is made from the
published objects; "harvest mkindex" publishes it.`;

const EXPIRE_HELP = `
Deletes objects whose Update-Time plus Time-to-Live has passed. A Time-to-Live of 0 means never; the
default is four weeks; an object without Update-Time stays.
${TARGET_HELP}

Examples:
  harvest expiredb PRODUCTION.gdbm
  harvest expiredb --now 1735689600 PRODUCTION.gdbm     as of the beginning of 2025
${EXIT_HELP}`;

/** `expiredb DB` (G-103, SOIF-6.7, SOIF-6.8). */
function expiredb(): Command {
  return new Command('expiredb')
    .argument('<db>', 'the database file')
    .option('--now <seconds>', 'time to compare with, seconds since 1970-01-01 UTC', integerOption)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', EXPIRE_HELP)
    .action(lazyAction(async () => (await import('./actions/edit.js')).expiredb));
}

const CLEAN_HELP = `
Deletes records that are not valid SOIF objects: damaged ones, and those with a URL other than their
key or with invalid names or times. The reason for each is printed on standard error.
${TARGET_HELP}

Examples:
  harvest cleandb PRODUCTION.gdbm
  harvest cleandb -truncate PRODUCTION.gdbm      also shorten Keywords to 8 kilobytes
  harvest cleandb --complete PRODUCTION.gdbm     also delete objects without a Gatherer's name,
                                                 which Brokers reject
${EXIT_HELP}`;

/** `cleandb [-truncate] DB` (G-134). */
function cleandb(): Command {
  return new Command('cleandb')
    .argument('<db>', 'the database file')
    .option('--truncate', 'shorten Keywords to 8 kilobytes (-truncate)', false)
    .option('--complete', 'also delete objects without Gatherer-Name, -Host, -Version or Update-Time', false)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', CLEAN_HELP)
    .action(lazyAction(async () => (await import('./actions/edit.js')).cleandb));
}

const BINARY_HELP = `
Removes binary data from the values of objects: control characters, and bytes that are not text. A
value that is more than 30 % binary is removed.
${TARGET_HELP}

Example:
  harvest rmbinary PRODUCTION.gdbm
${EXIT_HELP}`;

/** `rmbinary DB` (G-133). */
function rmbinary(): Command {
  return new Command('rmbinary')
    .argument('<db>', 'the database file')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', BINARY_HELP)
    .action(lazyAction(async () => (await import('./actions/edit.js')).rmbinary));
}

const GDBMUTIL_HELP = `
Reads and edits database files. DB is a database file; list, get, dump, count and import read every
kind of source: an original GDBM file (if Debian's gdbmtool is installed) or its dump, a SOIF
stream, a Gatherer's data directory.

Examples:
  harvest gdbmutil list PRODUCTION.gdbm
  harvest gdbmutil get PRODUCTION.gdbm http://www.example.org/
  harvest gdbmutil put annotations.gdbm < object.soif
  harvest gdbmutil dump PRODUCTION.gdbm | gzip > backup.soif.gz
  harvest gdbmutil load restored.gdbm backup.soif.gz
  harvest gdbmutil import old-harvest/data/PRODUCTION.gdbm PRODUCTION.new
${EXIT_HELP}`;

/** `gdbmutil list | get | put | delete | dump | load | count | reorganize | import` (G-135). */
function gdbmutil(): Command {
  return new Command('gdbmutil')
    .addCommand(
      subcommand('list', 'print the URLs')
        .option('--json', 'one JSON object per line, with times and size', false)
        .action(lazyAction(async () => (await import('./actions/edit.js')).list)),
    )
    .addCommand(
      subcommand('get', "print a URL's object")
        .argument('<url>', 'its URL')
        .action(lazyAction(async () => (await import('./actions/edit.js')).get)),
    )
    .addCommand(
      subcommand('put', 'store the single object on standard input')
        .argument('[url]', 'URL that the object must have')
        .option('--json', 'print the counts as JSON', false)
        .action(lazyAction(async () => (await import('./actions/edit.js')).put)),
    )
    .addCommand(
      subcommand('delete', 'delete the objects of these URLs')
        .argument('<urls...>', 'their URLs')
        .option('--json', 'print the counts as JSON', false)
        .action(lazyAction(async () => (await import('./actions/edit.js')).remove)),
    )
    .addCommand(
      subcommand('dump', 'print all objects as SOIF').action(
        lazyAction(async () => (await import('./actions/edit.js')).dump),
      ),
    )
    .addCommand(
      subcommand('load', 'store the objects of a SOIF stream')
        .argument('[file]', 'SOIF stream; - or none is standard input')
        .option('--replace', 'first delete all objects of the database', false)
        .option('--json', 'print the counts as JSON', false)
        .action(lazyAction(async () => (await import('./actions/edit.js')).load)),
    )
    .addCommand(
      subcommand('count', 'print the number of objects').action(
        lazyAction(async () => (await import('./actions/edit.js')).count),
      ),
    )
    .addCommand(
      subcommand('reorganize', 'rewrite the file without the space of deleted objects')
        .option('--json', 'print the counts as JSON', false)
        .action(lazyAction(async () => (await import('./actions/edit.js')).reorganize)),
    )
    .addCommand(
      new Command('import')
        .summary('store the objects of an original GDBM file, or of another source, in a database')
        .argument('<source>', 'the GDBM file')
        .argument('<db>', 'the database file; created if missing')
        .option('--json', 'print the counts as JSON', false)
        .action(lazyAction(async () => (await import('./actions/edit.js')).importDatabase)),
    )
    .addHelpText('after', GDBMUTIL_HELP);
}

/** Creates a subcommand with the argument DB. */
function subcommand(name: string, summary: string): Command {
  return new Command(name).summary(summary).argument('<db>', 'the database');
}

const INDEX_HELP = `
DIR is a Gatherer's data directory (default: the current one). Its PRODUCTION.gdbm (of any kind),
else the Gatherer's working store, else All-Templates.gz becomes a new generation with time index,
compressed copy and statistics. A gatherd that serves DIR switches to it immediately. Objects that
are missing since the last generation are recorded as deleted, and unchanged ones with newer times
as refreshed, for collectors that request changes.

Brokers reject objects without a Gatherer's name, such as objects that were only written by hand:
--gatherer-name, -host and -version are added where they are missing.

Examples:
  harvest mkindex
  harvest mkindex --gatherer-name Reports --gatherer-host a.example.org --gatherer-version 1.8 data
${EXIT_HELP}`;

/** Adds the options of {@link GathererOptions}. */
export function withGathererOptions(command: Command): Command {
  return command
    .option('--gatherer-name <name>', 'Gatherer-Name of objects that have none')
    .option('--gatherer-host <host>', 'Gatherer-Host of objects that have none')
    .option('--gatherer-version <version>', 'Gatherer-Version of objects that have none');
}

/** `mkindex [DIR]` (GATHERD-10.5, G-140). */
function mkindex(): Command {
  return withGathererOptions(new Command('mkindex'))
    .description('Publish the database of a data directory, with its time index.')
    .argument('[dir]', "the Gatherer's data directory", '.')
    .option('--now <seconds>', 'time of deletions, seconds since 1970-01-01 UTC', integerOption)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', INDEX_HELP)
    .action(lazyAction(async () => (await import('./actions/publish.js')).mkindex));
}

const COMPRESSED_HELP = `
Writes All-Templates.gz into the data directory DIR (default: the current one): all published
objects in one gzip member, in @DELETE, @REFRESH and @UPDATE groups as gatherd sends them. gatherd
does not need the file.

Example:
  harvest mkcompressed data && gzip -dc data/All-Templates.gz | grep -a -c '^@FILE'
${EXIT_HELP}`;

/** `mkcompressed [DIR]` (GATHERD-10.1, 10.2). */
function mkcompressed(): Command {
  return new Command('mkcompressed')
    .argument('[dir]', "the Gatherer's data directory", '.')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', COMPRESSED_HELP)
    .action(lazyAction(async () => (await import('./actions/publish.js')).mkcompressed));
}

const STATISTICS_HELP = `
Prints a description of the published objects of the data directory DIR (default: the current one)
as one SOIF object: their attributes, the Gatherer's name, the range of the Update-Times, the number
of objects. gather -info requests the same.

Examples:
  harvest mkgathererstats data
  harvest mkgathererstats --write data      into data/INFO.soif
${EXIT_HELP}`;

/** `mkgathererstats [DIR]` (GATHERD-10.1, G-121). */
function mkgathererstats(): Command {
  return new Command('mkgathererstats')
    .argument('[dir]', "the Gatherer's data directory", '.')
    .option('--write', 'write INFO.soif into DIR instead of printing', false)
    .option('--json', 'with --write: print the counts as JSON', false)
    .option('--now <seconds>', "the description's Update-Time, seconds since 1970-01-01 UTC", integerOption)
    .addHelpText('after', STATISTICS_HELP)
    .action(lazyAction(async () => (await import('./actions/publish.js')).mkgathererstats));
}

const FOLD_HELP = `
Runs all steps that prepare a data directory (DIR; default: the current one) for export, in this
order:

  consoldb          merges WORKING.gdbm, if it exists, into PRODUCTION.gdbm; newer objects win
  expiredb          deletes expired objects (not with --keep-expired)
  cleandb           deletes records that are not valid SOIF
  rmbinary          removes binary data
  mkindex           publishes a generation, which gatherd serves immediately
  mkcompressed      writes All-Templates.gz
  mkgathererstats   writes INFO.soif

An original GDBM file, or an All-Templates.gz without a database, is only read: the steps work on a
copy. The Gatherer's working store is published unchanged, because the Gatherer has done the first
four steps.

Examples:
  harvest folddb data
  harvest folddb --keep-expired old-harvest/data      data of an original Gatherer, expired long ago
${EXIT_HELP}`;

/** `folddb [DIR]` (G-115, GATHERD-10.3). */
function folddb(): Command {
  return withGathererOptions(new Command('folddb'))
    .argument('[dir]', "the Gatherer's data directory", '.')
    .option('--keep-expired', 'skip expiredb', false)
    .option('--truncate', 'shorten Keywords to 8 kilobytes (cleandb -truncate)', false)
    .option('--now <seconds>', 'time to compare with, seconds since 1970-01-01 UTC', integerOption)
    .option('--json', 'print the counts of all steps as one JSON object', false)
    .addHelpText('after', FOLD_HELP)
    .action(lazyAction(async () => (await import('./actions/publish.js')).folddb));
}
