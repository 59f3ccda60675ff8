import { Command } from 'commander';
import type { StreamObject } from '../../../clients/soif-tools/objects.js';
import { encodeSoif } from '../../../protocols/soif/index.js';
import { EXIT } from '../exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../standard-output.js';
import { filesOf } from './files.js';
import { ObjectReader } from './reader.js';

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
    .addHelpText('after', ATTR_HELP)
    .action(async (attribute: string, files: string[]) => {
      process.exitCode = await print('print-attr', files, ({ object }) => {
        const value = object.get(attribute);
        return value === undefined ? [] : [value, '\n'];
      });
    });
}

/** `print-template` (G-132, SOIF-10.2). */
export function printTemplateCommand(): Command {
  return new Command('print-template')
    .summary('print each object, with Print-Time added')
    .argument('[files...]', FILES_HELP)
    .option('--no-print-time', 'do not add Print-Time')
    .addHelpText('after', TEMPLATE_HELP)
    .action(async (files: string[], { printTime }: { readonly printTime: boolean }) => {
      process.exitCode = await print('print-template', files, ({ object }) => {
        if (object.urlBytes.length === 0) return [];
        const now = String(Math.floor(Date.now() / 1000));
        return [encodeSoif(printTime ? object.with([['Print-Time', now]]) : object)];
      });
    });
}

/** `print-urlrefs` (G-132, G-61). */
export function printUrlrefsCommand(): Command {
  return new Command('print-urlrefs')
    .summary("print each object's references and its URL, normalized")
    .argument('[files...]', FILES_HELP)
    .addHelpText('after', URLREFS_HELP)
    .action(async (files: string[]) => {
      const { urlReferences } = await import('../../../clients/soif-tools/attributes.js');
      process.exitCode = await print('print-urlrefs', files, ({ object }) =>
        [...urlReferences(object), ''].join('\n'),
      );
    });
}

/** Prints the result of `render` for each object; returns the exit status. */
async function print(
  command: string,
  files: readonly string[],
  render: (item: StreamObject) => string | readonly (string | Uint8Array)[],
): Promise<number> {
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES });
  const reader = new ObjectReader(command);
  for await (const item of reader.objects(filesOf(files))) {
    const pieces = render(item);
    for (const piece of typeof pieces === 'string' ? [pieces] : pieces) {
      if (!(await output.write(piece))) return EXIT.ok;
    }
  }
  return reader.incomplete ? EXIT.failure : EXIT.ok;
}
