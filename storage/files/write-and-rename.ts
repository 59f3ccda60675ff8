import { rename, rm, writeFile } from 'node:fs/promises';

/**
 * Replaces a small file: readers see the former content or the new one, also after a crash.
 *
 * @param move renames the draft to the path
 * @throws system errors, which name the file; the former content stays then
 */
export async function writeAndRename(
  path: string,
  content: string | Uint8Array,
  mode = 0o666,
  move: (draft: string) => Promise<void> = (draft) => rename(draft, path),
): Promise<void> {
  const draft = `${path}.new`;
  try {
    await writeFile(draft, content, { mode, flush: true });
    await move(draft);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw withPath(error, draft);
  }
}

/** Node names no file in the error of a write. */
function withPath(error: unknown, path: string): unknown {
  if (error instanceof Error && !('path' in error)) {
    error.message += ` '${path}'`;
    Object.assign(error, { path });
  }
  return error;
}
