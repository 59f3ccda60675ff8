import { resolve } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { textOfUrl, urlFields } from '../../protocols/soif/index.js';
import { canonicalUrl } from '../../protocols/urls/index.js';
import { type Annotation, AnnotationFile, FormServer } from '../gatherer/annotate/index.js';
import { StopSignal } from '../host/index.js';
import { complain, EXIT } from './exit.js';
import { portOption } from './option-values.js';
import { StandardOutput } from './standard-output.js';

const HELP = `
FILE is an annotation file: facts about documents that their summaries lack, such as the title of a PostScript file. It is
created if it does not exist. FILE alone serves a form on 127.0.0.1; the address is printed and contains a secret. A URL
with attributes sets them; Attribute= removes one; a URL alone prints its annotation.

An attribute of FILE replaces the attribute that was found in the document. Name FILE in the Gatherer's configuration
(Annotations: FILE), or merge it yourself with mktemplate, template2db and mergedb.

Examples:
  harvest annotate annotations                                                   the form
  harvest annotate annotations --data gatherers/sample/data                      the form, with the Gatherer's objects
  harvest annotate annotations http://www.example.org/a.ps "Title=A Paper" Author=Unknown
  harvest annotate annotations http://www.example.org/a.ps Author=               removes Author
  harvest annotate --list --json annotations

Exit status: 0 done; 1 no such annotation, or FILE cannot be read or written; 2 usage, or FILE is not an annotation file.
`;

interface AnnotateOptions {
  readonly port: number;
  readonly data?: string;
  readonly list: boolean;
  readonly json: boolean;
}

/** `harvest annotate FILE [URL [Attribute=Value...]]` (G-137, G-141). */
export function annotateCommand(): Command {
  return new Command('annotate')
    .description('Edits hand-written annotations of documents.')
    .argument('<file>', 'annotation file')
    .argument('[url]', 'the document')
    .argument('[attribute...]', 'Attribute=Value; Attribute= removes one')
    .option('--port <port>', 'port of the form; 0 = any free one', portOption, 0)
    .option('--data <directory>', 'Data-Directory of a Gatherer, whose objects the form lists too')
    .option('--list', 'print all annotations', false)
    .option('--json', 'print as JSON lines', false)
    .addHelpText('after', HELP)
    .action(
      async (file: string, url: string | undefined, assignments: string[], options: AnnotateOptions) => {
        process.exitCode =
          url !== undefined
            ? await annotate(resolve(file), url, assignments, options)
            : options.list
              ? await list(resolve(file), options)
              : await serve(resolve(file), options);
      },
    );
}

async function annotate(
  path: string,
  typedUrl: string,
  assignments: readonly string[],
  options: AnnotateOptions,
): Promise<number> {
  const file = await AnnotationFile.open(path);
  // Summaries have the canonical form (G-57); a URL that the file already has keeps its spelling.
  const typed = file.urlOf(typedUrl);
  const url = file.get(typed) === undefined ? (canonicalUrl(typedUrl) ?? typed) : typed;
  if (assignments.length > 0) {
    file.change(url, assignments.map(parseAssignment));
    await file.save();
    return EXIT.ok;
  }
  const found = file.get(url);
  if (found === undefined) {
    complain('annotate', `${textOfUrl(url)} is not annotated`);
    return EXIT.failure;
  }
  const lines = found.attributes.map(([name, value]) => `${name}:\t${value}\n`).join('');
  await new StandardOutput().write(options.json ? jsonOf(found) : lines);
  return EXIT.ok;
}

/** Parses `Name=Value`; the value of `Name=` is undefined, which removes the attribute. */
function parseAssignment(text: string): readonly [name: string, value: string | undefined] {
  const separator = text.indexOf('=');
  if (separator < 1) throw new UsageError(`${text}: must be Attribute=Value`);
  const value = text.slice(separator + 1);
  return [text.slice(0, separator), value === '' ? undefined : value];
}

function jsonOf(annotation: Annotation): string {
  return `${JSON.stringify({ ...annotation, ...urlFields(annotation.url) })}\n`;
}

async function list(path: string, { json }: AnnotateOptions): Promise<number> {
  const file = await AnnotationFile.open(path);
  const text = json ? file.list().map(jsonOf).join('') : file.bytes();
  await new StandardOutput().write(text);
  return EXIT.ok;
}

async function serve(path: string, { port, data }: AnnotateOptions): Promise<number> {
  await using server = await FormServer.listen({
    file: path,
    port,
    ...(data === undefined ? {} : { dataDirectory: resolve(data) }),
  });
  process.stdout.write(`ready annotate=${server.url}\n`);
  await new StopSignal({ limit: { program: 'annotate' } }).stopped;
  return EXIT.ok;
}
