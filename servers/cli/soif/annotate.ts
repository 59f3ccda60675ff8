import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { portOption } from '../options/option-values.js';

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
    .action(lazyAction(async () => (await import('./actions/annotate.js')).runAnnotate));
}
