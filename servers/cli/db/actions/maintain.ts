import { cleanDatabase, removeBinary } from '../../../../storage/databases/maintain.js';
import { nowOf, openTarget, runTool } from '../run-tool.js';

/** The action of `harvest expiredb`. */
export async function expiredb(path: string, options: { now?: number; json: boolean }): Promise<number> {
  return await runTool('expiredb', options, async (tool) => {
    using database = await openTarget(path, tool);
    const deleted = database.deleteExpired(nowOf(options));
    return { deleted, objects: database.count };
  });
}

/** The action of `harvest cleandb`. */
export async function cleandb(
  path: string,
  options: { truncate: boolean; complete: boolean; json: boolean },
): Promise<number> {
  return await runTool('cleandb', options, async (tool) => {
    using database = await openTarget(path, tool);
    const { truncate, complete } = options;
    const counts = await cleanDatabase(database, {
      ...tool,
      truncate,
      complete,
      onDeleted: (url, reason) => tool.onWarning?.(`${url}: deleted: ${reason}`),
    });
    return { ...counts, objects: database.count };
  });
}

/** The action of `harvest rmbinary`. */
export async function rmbinary(path: string, options: { json: boolean }): Promise<number> {
  return await runTool('rmbinary', options, async (tool) => {
    using database = await openTarget(path, tool);
    return { ...(await removeBinary(database, tool)) };
  });
}
