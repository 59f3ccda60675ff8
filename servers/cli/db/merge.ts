import { Command } from 'commander';
import { consolidate, DatabaseFile, locateSource, mergeDatabases } from '../../../storage/databases/index.js';
import { EXIT_HELP, report, runTool } from './run-tool.js';

const MERGE_HELP = `
Makes PRODUCTION, a new database: everything of AUTOMATIC, what the Gatherer made, with the attributes of the MANUAL databases, what
people wrote. For an attribute that both have, the manual value wins; of several manual databases the one named first.
Sources may be database files, original GDBM files, SOIF streams, or a Gatherer's data directory. PRODUCTION.gdbm, where there is
no such file, means what the Gatherer has published there, and WORKING.gdbm its working store.

Example, in a Gatherer's data directory:
  harvest mktemplate annotations | harvest template2db annotations.gdbm
  harvest mergedb PRODUCTION.new PRODUCTION.gdbm annotations.gdbm
  mv PRODUCTION.new PRODUCTION.gdbm
  harvest mkindex

The Gatherer knows nothing of annotations: merge again after each of its runs, from WORKING.gdbm.
${EXIT_HELP}`;

/** `mergedb production automatic manual [manual ...]` (G-139 to G-142). */
export function mergedbCommand(): Command {
  return new Command('mergedb')
    .description('Merges hand-written data into automatic data.')
    .argument('<production>', 'the database to make')
    .argument('<automatic>', 'what the Gatherer made')
    .argument('<manual...>', 'what people wrote')
    .option('--force', 'replace PRODUCTION when there is one', false)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', MERGE_HELP)
    .action(
      async (
        production: string,
        automatic: string,
        manual: string[],
        { force, json }: { force: boolean; json: boolean },
      ) => {
        await runTool('mergedb', async (tool) => {
          const counts = await mergeDatabases(production, automatic, manual, { ...tool, force });
          await report(tool, json, 'mergedb', { ...counts });
        });
      },
    );
}

const CONSOLIDATE_HELP = `
Merges the databases into the first one, which is made when there is none. Of objects with the same URL the one with the newer
Update-Time stays, of equally new ones the one that was there first. Sources may be of every kind that mergedb reads.

Example:
  harvest consoldb all.gdbm site1.gdbm site2.gdbm old-gatherer/PRODUCTION.gdbm
${EXIT_HELP}`;

/** `consoldb DB DB...` (G-136). */
export function consoldbCommand(): Command {
  return new Command('consoldb')
    .description('Merges several databases into one.')
    .argument('<db>', 'the database to merge into')
    .argument('<sources...>', 'the databases to merge')
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', CONSOLIDATE_HELP)
    .action(async (target: string, sources: string[], options: { json: boolean }) => {
      await runTool('consoldb', async (tool) => {
        // Before a database is made: a name that is wrong shall leave nothing behind.
        for (const source of sources) await locateSource(source);
        using database = DatabaseFile.open(target, { create: true });
        const counts = await consolidate(database, sources, tool);
        await report(tool, options.json, 'consoldb', { ...counts, objects: database.count });
      });
    });
}
