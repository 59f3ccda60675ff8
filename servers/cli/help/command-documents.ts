// The help of every command as a Markdown document.
import { createDocument, type OwnDocument } from '../../all-in-one/own-documents.js';
import type { CommandEntry } from '../command-entry.js';
import { helpOf, sentence } from './command-help.js';

/**
 * Creates a document from the help of each command, with links to the commands that it mentions. The commands'
 * modules are loaded for it.
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
  const command = await helpOf(entry);
  const helps = [command, ...command.parts];
  const text = helps.map(({ text }) => text).join('\n');
  const mentioned = commands.filter(
    (other) => other !== entry && new RegExp(`\\bharvest ${other.name}(?![\\w-])`).test(text),
  );
  return [
    `# ${command.name}\n`,
    `${sentence(command.description)}\n`,
    ...(entry.originals.length === 0 ? [] : [`Original programs: ${entry.originals.join(', ')}.\n`]),
    ...helps.map((part) => `## ${part === command ? 'Help' : part.name}\n\n${fenced(part.text)}`),
    ...(mentioned.length === 0 ? [] : ['## See also\n', ...mentioned.map(link), '']),
  ].join('\n');
}

function pathOf({ name }: CommandEntry): string {
  return `/commands/${name}.md`;
}

function link({ name, summary }: CommandEntry): string {
  return `- [harvest ${name}](${name}.md): ${summary}`;
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\`\n`;
}
