import { delimiter, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where and how the program was started. */
interface Start {
  /** The path of the script, which may be a link with the name of a command. */
  readonly script: string;
  readonly workingDirectory: string;
  /** The folders of $PATH. */
  readonly path: string;
  /** The folder of the package. */
  readonly home: string;
}

/**
 * Returns how the reader types `harvest` at this place: `harvest` if it is on the path, `npx harvest` in a
 * source tree or a project that has the package, `npx harvest-kit` where npx fetched it. Outside of these,
 * `npx harvest` would be somebody else's package.
 */
export function spellingOf({ script, workingDirectory, path, home }: Start): string {
  const folder = dirname(script);
  if (folder.split(sep).includes('_npx')) return 'npx harvest-kit';
  if (script.endsWith('.js')) {
    if (workingDirectory === home) return 'npx harvest';
    const shown = relative(workingDirectory, script);
    return `node ${shown.startsWith('..') ? script : shown}`;
  }
  if (folder.endsWith(join('node_modules', '.bin'))) return 'npx harvest';
  return path.split(delimiter).includes(folder) ? 'harvest' : join(folder, 'harvest');
}

/** {@link spellingOf} for this process. */
export function spelling(): string {
  return spellingOf({
    script: process.argv[1] ?? '',
    workingDirectory: process.cwd(),
    path: process.env.PATH ?? '',
    home: dirname(fileURLToPath(import.meta.resolve('#package.json'))),
  });
}
