// The help of a command as data, for manual pages, documents and completion.
import type { Command } from 'commander';
import { Help, type Option } from 'commander';
import type { CommandEntry } from '../command-entry.js';

/** An option as the help shows it. */
export interface OptionHelp {
  /** E.g. `-c, --config <file>`. */
  readonly flags: string;
  readonly description: string;
  /** E.g. `-c`. */
  readonly short: string | undefined;
  /** E.g. `--config`. */
  readonly long: string | undefined;
  /** The placeholder of its value; undefined for a switch. */
  readonly value: string | undefined;
  /** The values it accepts, if they are a list. */
  readonly choices: readonly string[];
}

/** The help of a command or of a part of it. */
export interface CommandHelp {
  /** As typed, e.g. `harvest crawl watch`. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** The line after `Usage:`. */
  readonly usage: string;
  readonly operands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionHelp[];
  readonly parts: readonly CommandHelp[];
  /** The text after the options: explanations, examples, exit statuses. */
  readonly more: string;
  /** The whole text that `--help` prints, 100 columns wide, without colors. */
  readonly text: string;
}

/** Loads a command and describes it. */
export async function helpOf(entry: CommandEntry): Promise<CommandHelp> {
  const command = (await entry.load()).name(`harvest ${entry.name}`);
  return describe(command, entry.summary, command.name());
}

function describe(command: Command, summary: string, name: string): CommandHelp {
  let text = '';
  command.configureHelp({ optionDescription, helpWidth: 100 }).configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHasColors: () => false,
  });
  command.outputHelp();
  const help = command.createHelp();
  const generated = command.helpInformation();
  return {
    name,
    summary,
    description: command.description() || summary,
    usage: help.commandUsage(command),
    operands: help.visibleArguments(command).map((argument) => ({
      name: help.argumentTerm(argument),
      description: help.argumentDescription(argument),
    })),
    options: help.visibleOptions(command).map((option) => ({
      flags: option.flags,
      description: optionDescription(option),
      short: option.short,
      long: option.long,
      value: /[<[](.+?)[>\]]/.exec(option.flags)?.[1],
      choices: option.argChoices ?? [],
    })),
    parts: command.commands.map((part) =>
      describe(part, part.summary() || part.description(), `${name} ${part.name()}`),
    ),
    more: text.slice(text.indexOf(generated) + generated.length).trim(),
    text: text.trim(),
  };
}

/** Begins a text with a capital letter and ends it with a period. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

/**
 * Returns the description of an option with its default, unless the default is "on", "off" or an empty list.
 */
export function optionDescription(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: (?:true|false|\[\])\)$/, '');
}
