import { StorageError } from '../../../../protocols/errors.js';
import { changeDatabase } from '../../../../storage/databases/change.js';
import { locateSource } from '../../../../storage/databases/file-kind.js';
import { loadObjects } from '../../../../storage/databases/load.js';
import { openSource, readStream } from '../../../../storage/databases/sources.js';
import { runTool, type Tool } from '../run-tool.js';

/** The action of `harvest template2db`. */
export async function template2db(
  path: string,
  files: string[],
  options: { json: boolean },
): Promise<number> {
  return await runTool('template2db', options, async (tool) => {
    // Sources are checked before the database is created, so that a wrong name leaves no file.
    for (const file of files) if (file !== '-') await locateSource(file);
    return await changeDatabase(path, async (database) => ({
      ...(await loadObjects(database, objectsOf(files, tool), tool)),
      objects: database.count,
    }));
  });
}

/** Yields the objects of all files in sequence, so that they become one transaction. */
async function* objectsOf(files: readonly string[], tool: Tool): ReturnType<typeof openSource> {
  for (const file of files.length === 0 ? ['-'] : files) {
    if (file !== '-') yield* openSource(file, tool);
    else if (process.stdin.isTTY)
      throw new StorageError('standard input is a terminal; give a file, or pipe SOIF into the command');
    else yield* readStream(process.stdin, 'standard input', tool);
  }
}
