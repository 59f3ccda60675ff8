// Lists the source files of the four top folders and their imports, for the architecture tests.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = dirname(fileURLToPath(import.meta.resolve('#package.json')));

/** The top folders, lowest layer first. */
export const TOP_FOLDERS = ['protocols', 'storage', 'clients', 'servers'] as const;

/** Paths of the TypeScript files below a folder, relative to the project's root, with slashes. */
export function sourcesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

export function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Every module that a file imports: static, type-only and dynamic imports, and re-exports. */
export function specifiersOf(file: string): string[] {
  return ts.preProcessFile(textOf(file), true, true).importedFiles.map(({ fileName }) => fileName);
}

/** The project's own files that a file imports. */
export function importsOf(file: string): string[] {
  return specifiersOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) =>
      relative(ROOT, resolve(ROOT, dirname(file), specifier))
        .split(sep)
        .join('/')
        .replace(/\.js$/, '.ts'),
    );
}

/**
 * The component of a file: its top folder and the folder below, or only the top folder for a file directly in
 * it.
 */
export function componentOf(file: string): string {
  const [top = '', second = '', ...rest] = file.split('/');
  return rest.length === 0 ? top : `${top}/${second}`;
}
