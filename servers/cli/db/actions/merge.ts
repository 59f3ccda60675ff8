import { changeDatabase } from '../../../../storage/databases/change.js';
import { locateSource } from '../../../../storage/databases/file-kind.js';
import { consolidate, mergeDatabases } from '../../../../storage/databases/merge.js';
import { prepareTarget, report, runTool } from '../run-tool.js';

/** The action of `harvest mergedb`. */
export async function mergedb(
  production: string,
  automatic: string,
  manual: string[],
  { force, json }: { force: boolean; json: boolean },
): Promise<void> {
  await runTool('mergedb', async (tool) => {
    const counts = await mergeDatabases(production, automatic, manual, { ...tool, force });
    await report(tool, json, 'mergedb', { ...counts });
  });
}

/** The action of `harvest consoldb`. */
export async function consoldb(target: string, sources: string[], options: { json: boolean }): Promise<void> {
  await runTool('consoldb', async (tool) => {
    // Sources are checked before the database is created, so that a wrong name leaves no file.
    for (const source of sources) await locateSource(source);
    await prepareTarget(target, tool);
    const counts = await changeDatabase(target, async (database) => ({
      ...(await consolidate(database, sources, tool)),
      objects: database.count,
    }));
    await report(tool, options.json, 'consoldb', counts);
  });
}
