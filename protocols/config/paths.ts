/** Path arithmetic on strings, as the configuration needs it; nothing here looks at a disk. */

export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/');
}

/** `name` inside `directory`; an absolute name stays as it is. */
export function joinPath(directory: string, name: string): string {
  if (isAbsolutePath(name) || directory === '' || directory === '.') return name;
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}

/** The directory a path lies in; `.` when it has none. */
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
