// The help of every command as a Markdown document.
import type { Command } from 'commander';
import { createDocument, type OwnDocument } from '../all-in-one/index.js';
import type { CommandEntry } from './command-entry.js';
import { optionDescription } from './option-description.js';

/**
 * Creates a document from the help of each command, with links to the commands that it mentions. The commands' modules are loaded for
 * it.
 *
 * @param modified when the help was last changed: the time of the program's files
 */
export async function commandDocuments(
  commands: readonly CommandEntry[],
  modified: Date,
): Promise<OwnDocument[]> {
  return await Promise.all(
    commands.map(async (entry) =>
      createDocument(pathOf(entry), await commandMarkdown(entry, commands), modified),
    ),
  );
}

async function commandMarkdown(entry: CommandEntry, commands: readonly CommandEntry[]): Promise<string> {
  const name = `harvest ${entry.name}`;
  const command = (await entry.load()).name(name);
  const helps = [command, ...command.commands].map((each) => ({ name: each.name(), help: helpOf(each) }));
  const text = helps.map(({ help }) => help).join('\n');
  const mentioned = commands.filter(
    (other) => other !== entry && new RegExp(`\\bharvest ${other.name}(?![\\w-])`).test(text),
  );
  return [
    `# ${name}\n`,
    `${sentence(command.description() || entry.summary)}\n`,
    ...(entry.originals === undefined ? [] : [`Original programs: ${entry.originals.join(', ')}.\n`]),
    ...helps.map(
      ({ name: part, help }) => `## ${part === name ? 'Help' : `${name} ${part}`}\n\n${fenced(help)}`,
    ),
    ...(mentioned.length === 0 ? [] : ['## See also\n', ...mentioned.map(link), '']),
  ].join('\n');
}

function pathOf({ name }: CommandEntry): string {
  return `/commands/${name}.md`;
}

function link({ name, summary }: CommandEntry): string {
  return `- [harvest ${name}](${name}.md): ${summary}`;
}

/** The whole help, with the text before and after the options. */
function helpOf(command: Command): string {
  let text = '';
  command.configureHelp({ optionDescription }).configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 100,
  });
  command.outputHelp();
  return text.trim();
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\`\n`;
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
