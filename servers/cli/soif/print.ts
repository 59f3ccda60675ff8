import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { rawOption } from '../output/standard-output.js';

const EXIT_HELP = `
Exit status: 0 all objects were read; 1 some were not (reported on standard error); 2 usage.
`;

const ATTR_HELP = `
Prints the value of one attribute and a newline for each object that has it. Names ignore case; of several attributes with the
same name the last one is printed.

Examples:
  print-attr Title < objects.soif
  harvest print-attr url-references All-Templates.gz | sort -u
${EXIT_HELP}`;

const TEMPLATE_HELP = `
Prints each object in the exact layout of SOIF writers and adds the attribute Print-Time, the time of printing in seconds since
1970, as the original does; \`harvest soif cat\` adds nothing.

Examples:
  print-template < objects.soif
  harvest print-template --no-print-time old.soif
${EXIT_HELP}`;

const URLREFS_HELP = `
Prints for each object the URLs of its attribute URL-References, made absolute and normalized, one per line, then the object's
own URL. Invalid URLs are skipped.

Example:
  harvest gather localhost | print-urlrefs | sort -u
${EXIT_HELP}`;

const FILES_HELP = 'SOIF files, plain or gzip; - or none is standard input';

/** `print-attr Attribute` (G-132). */
export function printAttrCommand(): Command {
  return new Command('print-attr')
    .summary("print one attribute's value of each object")
    .argument('<attribute>', "the attribute's name")
    .argument('[files...]', FILES_HELP)
    .addOption(rawOption())
    .addHelpText('after', ATTR_HELP)
    .action(lazyAction(async () => (await import('./actions/print.js')).printAttr));
}

/** `print-template` (G-132, SOIF-10.2). */
export function printTemplateCommand(): Command {
  return new Command('print-template')
    .summary('print each object, with Print-Time added')
    .argument('[files...]', FILES_HELP)
    .option('--no-print-time', 'do not add Print-Time')
    .addOption(rawOption())
    .addHelpText('after', TEMPLATE_HELP)
    .action(lazyAction(async () => (await import('./actions/print.js')).printTemplate));
}

/** `print-urlrefs` (G-132, G-61). */
export function printUrlrefsCommand(): Command {
  return new Command('print-urlrefs')
    .summary("print each object's references and its URL, normalized")
    .argument('[files...]', FILES_HELP)
    .addOption(rawOption())
    .addHelpText('after', URLREFS_HELP)
    .action(lazyAction(async () => (await import('./actions/print.js')).printUrlrefs));
}
