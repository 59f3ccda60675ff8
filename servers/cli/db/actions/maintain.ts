import { cleanDatabase, removeBinary } from '../../../../storage/databases/maintain.js';
import { nowOf, openTarget, report, runTool } from '../run-tool.js';

/** The action of `harvest expiredb`. */
export async function expiredb(path: string, options: { now?: number; json: boolean }): Promise<void> {
  await runTool('expiredb', async (tool) => {
    using database = await openTarget(path, tool);
    const deleted = database.deleteExpired(nowOf(options));
    await report(tool, options.json, 'expiredb', { deleted, objects: database.count });
  });
}

/** The action of `harvest cleandb`. */
export async function cleandb(
  path: string,
  options: { truncate: boolean; complete: boolean; json: boolean },
): Promise<void> {
  await runTool('cleandb', async (tool) => {
    using database = await openTarget(path, tool);
    const { truncate, complete, json } = options;
    const counts = await cleanDatabase(database, {
      ...tool,
      truncate,
      complete,
      onDeleted: (url, reason) => tool.onWarning?.(`${url}: deleted: ${reason}`),
    });
    await report(tool, json, 'cleandb', { ...counts, objects: database.count });
  });
}

/** The action of `harvest rmbinary`. */
export async function rmbinary(path: string, options: { json: boolean }): Promise<void> {
  await runTool('rmbinary', async (tool) => {
    using database = await openTarget(path, tool);
    await report(tool, options.json, 'rmbinary', { ...(await removeBinary(database, tool)) });
  });
}
