/** Path functions on strings, without file access. */

export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/');
}

/** Joins `name` to `directory`; an absolute name stays unchanged. */
export function joinPath(directory: string, name: string): string {
  if (isAbsolutePath(name) || directory === '' || directory === '.') return name;
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}

/** The directory of a path; `.` for a name without a directory. */
export function directoryOf(path: string): string {
  const slash = path.replace(/\/+$/, '').lastIndexOf('/');
  if (slash < 0) return '.';
  return slash === 0 ? '/' : path.slice(0, slash);
}

/** The last part of a path. */
export function baseNameOf(path: string): string {
  const trimmed = path.replace(/\/+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('/') + 1);
}
