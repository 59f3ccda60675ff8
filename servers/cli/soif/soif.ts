import { Command } from 'commander';
import { catCommand } from './cat.js';
import { checkCommand } from './check.js';
import { convertCommand } from './convert.js';
import { mktemplateCommand } from './mktemplate.js';
import { printAttrCommand, printTemplateCommand, printUrlrefsCommand } from './print.js';
import { wrapitCommand } from './wrapit.js';

const HELP = `
SOIF is the format of the summaries that Gatherers and Brokers exchange. An object, with a tab after each colon:

  @FILE { http://www.example.org/
  Title{5}:<tab>Hello
  }

A size counts the bytes of the value. These commands read files or standard input of any length, plain or gzip, with or
without the groups of an update stream. \`harvest soif COMMAND --help\` explains each.

Examples:
  harvest gather localhost | harvest soif check -
  harvest soif cat --json All-Templates.gz | head -3
`;

/** `harvest soif COMMAND`: the tools over SOIF streams. */
export function soifCommand(): Command {
  const soif = new Command('soif')
    .summary('check, print and convert SOIF streams')
    .addHelpText('after', HELP);
  for (const command of [
    checkCommand(),
    catCommand(),
    convertCommand(),
    mktemplateCommand(),
    wrapitCommand(),
    printAttrCommand(),
    printTemplateCommand(),
    printUrlrefsCommand(),
  ]) {
    soif.addCommand(command);
  }
  return soif;
}
