// `harvest completion` and `harvest man`: the help in other forms.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { UsageError } from '../../../protocols/errors.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import type { CommandEntry } from '../command-entry.js';
import { StandardOutput } from '../output/standard-output.js';
import { packageVersion } from '../version.js';
import { type CommandHelp, helpOf } from './command-help.js';
import { completionScript, SHELLS, type Shell } from './completion.js';
import { manPage, pageName } from './man-page.js';

const COMPLETION_HELP = `
Examples:
  source <(harvest completion bash)                                    in this shell
  harvest completion bash > ~/.local/share/bash-completion/completions/harvest
  harvest completion zsh > ~/.zfunc/_harvest                           a directory of $fpath
  harvest completion fish > ~/.config/fish/completions/harvest.fish

Exit status: 0 printed; 2 usage.
`;

/** `harvest completion SHELL`. */
export function completionCommand(commands: readonly CommandEntry[]): Command {
  return new Command('completion')
    .description('Prints the script by which a shell completes commands and options of harvest.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', COMPLETION_HELP)
    .action(async (shell: Shell) => {
      await new StandardOutput().write(completionScript(shell, await Promise.all(commands.map(helpOf))));
    });
}

const MAN_HELP = `
Without a name it prints the page of harvest itself, with a list of all commands.

Examples:
  harvest man query | man -l -
  harvest man --output ~/.local/share/man/man1      writes harvest.1, harvest-run.1, ... there

Exit status: 0 printed or written; 1 the directory cannot be written; 2 there is no such command.
`;

/** `harvest man [COMMAND]`. */
export function manCommand(commands: readonly CommandEntry[]): Command {
  return new Command('man')
    .description('Prints a manual page, for man, or writes all of them.')
    .argument('[command]', 'name of a command, e.g. query')
    .option('--output <dir>', 'writes the pages of all commands into this directory')
    .addHelpText('after', MAN_HELP)
    .action(async (name: string | undefined, { output }: { readonly output?: string }) => {
      if (output !== undefined) return await writePages(output, commands);
      const entry = commands.find((command) => command.name === name);
      if (name !== undefined && entry === undefined)
        throw new UsageError(`man: there is no command ${name}; harvest --help lists them`);
      const page =
        entry === undefined ? overview(commands) : manPage(await helpOf(entry), facts(entry, commands));
      await new StandardOutput().write(page);
      return undefined;
    });
}

async function writePages(directory: string, commands: readonly CommandEntry[]): Promise<void> {
  await createDirectory(directory);
  await writeFile(join(directory, 'harvest.1'), overview(commands));
  for (const entry of commands) {
    const file = join(directory, `${pageName(`harvest ${entry.name}`)}.1`);
    await writeFile(file, manPage(await helpOf(entry), facts(entry, commands)));
  }
}

/** The page of the program: its commands are the options' list. */
function overview(commands: readonly CommandEntry[]): string {
  const help: CommandHelp = {
    name: 'harvest',
    summary: 'gather documents, export, replicate and search their summaries',
    description: 'Gathers documents politely; exports, replicates and searches their summaries',
    usage: 'harvest COMMAND [options] [arguments]',
    operands: commands.map(({ name, summary }) => ({ name, description: summary })),
    options: [],
    parts: [],
    more: '',
    text: '',
  };
  const related = commands.map(({ name }) => `harvest ${name}`);
  return manPage(help, { version: packageVersion(), related });
}

function facts(entry: CommandEntry, commands: readonly CommandEntry[]) {
  const related = commands.filter(({ name, group }) => group === entry.group && name !== entry.name);
  return {
    version: packageVersion(),
    related: ['harvest', ...related.map(({ name }) => `harvest ${name}`)],
  };
}
