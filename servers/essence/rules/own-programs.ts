// The operator's own programs that rules call: the objects depend on them as on the rules (G-110).
import { isAbsolute, join } from 'node:path';
import type { ProgramSettings } from '../external/index.js';
import { isFile } from '../files.js';
import type { PostRules } from './model.js';
import { parsePostRules } from './parse.js';

/**
 * Returns the files of the programs that the rules call: those in the Gatherer's directories, and every file
 * that a command names by an absolute path, e.g. a script after `perl`. Programs of the system, which are found
 * in PATH, are not among them.
 *
 * @param source the rules file
 * @param directories where programs are looked for before PATH
 * @returns absolute paths by the word that names them, in the order of the rules
 * @throws ConfigError if the rules cannot be parsed
 */
export async function ownPrograms(
  source: { readonly file: string; readonly text: string },
  { directories }: Pick<ProgramSettings, 'directories'>,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const command of commandsIn(parsePostRules(source.text, source.file))) {
    for (const [index, word] of command.entries()) {
      const places = isAbsolute(word)
        ? [word]
        : index === 0 && !word.includes('/')
          ? directories.map((directory) => join(directory, word))
          : [];
      for (const file of places) {
        if (!(await isFile(file))) continue;
        files.set(word, file);
        break;
      }
    }
  }
  return files;
}

function commandsIn({ rules }: PostRules): (readonly string[])[] {
  return rules.flatMap(({ instructions }) =>
    instructions.flatMap((instruction) => ('command' in instruction ? [instruction.command] : [])),
  );
}
