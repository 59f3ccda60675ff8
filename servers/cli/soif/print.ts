import { Command } from 'commander';
import type { StreamObject } from '../../../clients/soif-tools/objects.js';
import {
  attributeOf,
  bytesOfUrl,
  encodeSoif,
  rangeOf,
  rewriteLarge,
  type SoifBytes,
  urlProblem,
} from '../../../protocols/soif/index.js';
import { EXIT } from '../exit.js';
import { OUTPUT_BUFFER_BYTES, rawOption, StandardOutput } from '../standard-output.js';
import { filesOf } from './files.js';
import { ObjectReader } from './reader.js';
import { writeBytes } from './write-objects.js';

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

interface RawOptions {
  readonly raw: boolean;
}

const FILES_HELP = 'SOIF files, plain or gzip; - or none is standard input';

/** `print-attr Attribute` (G-132). */
export function printAttrCommand(): Command {
  return new Command('print-attr')
    .summary("print one attribute's value of each object")
    .argument('<attribute>', "the attribute's name")
    .argument('[files...]', FILES_HELP)
    .addOption(rawOption())
    .addHelpText('after', ATTR_HELP)
    .action(async (attribute: string, files: string[], { raw }: RawOptions) => {
      process.exitCode = await print('print-attr', files, raw, ({ object, large }) => {
        if (large !== undefined) {
          const found = attributeOf(large.outline, attribute);
          return found === undefined ? [] : [rangeOf(large.source, found.start, found.end), '\n'];
        }
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
    .addOption(rawOption())
    .addHelpText('after', TEMPLATE_HELP)
    .action(async (files: string[], { printTime, raw }: RawOptions & { readonly printTime: boolean }) => {
      process.exitCode = await print('print-template', files, raw, ({ object, offset, large }, reader) => {
        const message = urlProblem(object.urlBytes, object.type);
        if (message !== undefined) {
          reader.leaveOut({ kind: 'warning', rule: 'SOIF-2.9', offset, message });
          return [];
        }
        const now = String(Math.floor(Date.now() / 1000));
        const added = printTime ? ([['Print-Time', now]] as const) : [];
        if (large !== undefined) return [rewriteLarge(large.source, large.outline, added)];
        return [encodeSoif(printTime ? object.with(added) : object)];
      });
    });
}

/** `print-urlrefs` (G-132, G-61). */
export function printUrlrefsCommand(): Command {
  return new Command('print-urlrefs')
    .summary("print each object's references and its URL, normalized")
    .argument('[files...]', FILES_HELP)
    .addOption(rawOption())
    .addHelpText('after', URLREFS_HELP)
    .action(async (files: string[], { raw }: RawOptions) => {
      const { urlReferences, largeUrlReferences } = await import('../../../clients/soif-tools/index.js');
      process.exitCode = await print('print-urlrefs', files, raw, ({ object, large }) =>
        bytesOfLines(large === undefined ? urlReferences(object) : largeUrlReferences(large)),
      );
    });
}

/** The lines of URLs with one character a byte. */
async function* bytesOfLines(
  urls: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string | Uint8Array> {
  for await (const url of urls) yield* [bytesOfUrl(url), '\n'];
}

type Piece = string | SoifBytes;

/** Prints the result of `render` for each object; returns the exit status. */
async function print(
  command: string,
  files: readonly string[],
  raw: boolean,
  render: (item: StreamObject, reader: ObjectReader) => Iterable<Piece> | AsyncIterable<Piece>,
): Promise<number> {
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES, raw });
  const reader = new ObjectReader(command);
  for await (const item of reader.objects(filesOf(files))) {
    for await (const piece of render(item, reader)) {
      const written = typeof piece === 'string' ? output.write(piece) : writeBytes(output, piece);
      if (!(await written)) return EXIT.ok;
    }
  }
  return reader.incomplete ? EXIT.failure : EXIT.ok;
}
