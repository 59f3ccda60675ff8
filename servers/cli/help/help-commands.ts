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

/** The commands of this file by name. */
export const DEFINITIONS = { man, completion, troubleshooting };

const COMPLETION_HELP = `
Examples:
  source <(harvest completion bash)                                    in this shell
  harvest completion bash > ~/.local/share/bash-completion/completions/harvest
  harvest completion zsh > ~/.zfunc/_harvest                           a directory of $fpath
  harvest completion fish > ~/.config/fish/completions/harvest.fish

Exit status: 0 printed; 2 usage.
`;

/** `harvest completion SHELL`. */
function completion(commands: readonly CommandEntry[]): Command {
  return new Command('completion')
    .description('Print the script of a shell that completes the commands and options of harvest.')
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
function man(commands: readonly CommandEntry[]): Command {
  return new Command('man')
    .description('Print a manual page, for man, or write all of them.')
    .argument('[command]', 'name of a command, e.g. query')
    .option('--output <dir>', 'write the pages of all commands into this directory')
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
    description: 'Gather documents politely; export, replicate and search their summaries',
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
    // The name of the command itself is one of them.
    originals: [entry.name, ...entry.originals],
    related: ['harvest', ...related.map(({ name }) => `harvest ${name}`)],
  };
}

/**
 * Common problems of a Gatherer, their causes and remedies (G-169). Rows about systems of the 1990s are left
 * out if the symptom cannot occur here.
 */
export const TROUBLESHOOTING = `Troubleshooting a Gatherer. A Gatherer is a WWW client: it sees what a simple browser sees.

Not all documents of a RootNode are gathered
    Enumeration has limits: 250 URLs, 1 host, unless the RootNode says otherwise. Raise them:
    URL=5000 Host=10 Depth=0. The default URL filter excludes images and sounds; URL=250,/dev/null
    switches it off. The last lines of the log say what stopped each RootNode.

Only a few pages are gathered
    The site needs JavaScript, cookies or plug-ins, or robots.txt forbids the rest (harvest robots
    check --file FILE ...).

A Local-Mapping does not work
    The file is fetched from the server if it cannot be read, is not a regular file, or is
    executable; the rest of the URL is not unescaped (~ and %7e differ). Documents that were read
    locally have [L] in the log; -D20,1 shows the file names.

Your own types or summarizers are ignored
    Lib-Directory does not point to your lib. Try: harvest essence --explain --type-only --libdir
    lib FILE

URLs differ from those in the configuration
    URLs are made canonical: harvest url canonical --gatherer URL shows the result. A tilde becomes
    %7e; filters, byurl.cf and rules match both spellings. Queries (cgi-bin) are on the stop list.

Data is not updated
    A Gatherer runs only when it is started: harvest schedule FILE prints lines for cron. Documents
    whose Refresh-Rate has not passed are skipped; -force gathers them anyway.

A changed file is not gathered again
    It came from the disk cache: urlpurge empties it, GATHERER_CACHE_TTL shortens its life,
    Keep-Cache: no switches it off.

A word of a document is not found
    Summaries contain selected words. Essence-Options: --full-text includes all words, but needs
    more disk space.

--full-text gives too much raw data
    --full-text=raw copies the bytes into the object unchanged. Use --full-text, or give the type
    FullText only to some files.

META words are missing
    The head of the HTML is malformed. harvest essence URL shows what is recognized.

No Last-Modification-Time or MD5, so a Broker finds no duplicates
    The objects come from an Exploder. Essence-Options: --fake-md5s adds MD5s to them.

Unknown host
    The name is not in DNS: nslookup HOST, /etc/resolv.conf.

Connection refused
    Nothing listens on that port of the target: the server is down, or the port in the URL is wrong.

Host is unreachable
    There is no route: the host or the network is down, or a firewall blocks it.

It does not work through a firewall
    HTTP-Proxy: host:port.

The database is inconsistent
    It is kept between runs. To start again: harvest kill-gatherd -d data, then rm -rf data tmp
    log.* in the Gatherer's directory.
`;

/** `harvest troubleshooting` (G-169). */
function troubleshooting(): Command {
  return new Command('troubleshooting').action(async () => {
    await new StandardOutput().write(TROUBLESHOOTING);
  });
}
