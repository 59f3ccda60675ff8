import { changeDatabase } from '../../../../storage/databases/change.js';
import { locateSource } from '../../../../storage/databases/file-kind.js';
import { consolidate, mergeDatabases } from '../../../../storage/databases/merge.js';
import { prepareTarget, runTool } from '../run-tool.js';

/** The action of `harvest mergedb`. */
export async function mergedb(
  production: string,
  automatic: string,
  manual: string[],
  { force, json }: { force: boolean; json: boolean },
): Promise<number> {
  return await runTool('mergedb', { json }, async (tool) => {
    return { ...(await mergeDatabases(production, automatic, manual, { ...tool, force })) };
  });
}

/** The action of `harvest consoldb`. */
export async function consoldb(
  target: string,
  sources: string[],
  options: { json: boolean },
): Promise<number> {
  return await runTool('consoldb', options, async (tool) => {
    // Sources are checked before the database is created, so that a wrong name leaves no file.
    for (const source of sources) await locateSource(source);
    await prepareTarget(target, tool);
    return await changeDatabase(target, async (database) => ({
      ...(await consolidate(database, sources, tool)),
      objects: database.count,
    }));
  });
}
