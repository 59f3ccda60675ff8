import { Command, Option } from 'commander';
import { STANDARD_INPUT } from '../../../clients/soif-tools/input.js';
import { lazyAction } from '../lazy-action.js';
import { countOption, objectBytesOption, portOption } from '../options/option-values.js';
import { rawOption } from '../output/standard-output.js';

/** The commands of this file by name. */
export const DEFINITIONS = {
  soif,
  cksoif,
  mktemplate,
  annotate,
  wrapit,
  'print-attr': printAttr,
  'print-template': printTemplate,
  'print-urlrefs': printUrlrefs,
  lsm2soif: () => toSoif('lsm2soif'),
  iafa2soif: () => toSoif('iafa2soif'),
  pcindex2soif: () => toSoif('pcindex2soif'),
  netfind2soif: () => toSoif('netfind2soif'),
};

const SOIF_HELP = `
SOIF is the format of the summaries that Gatherers and Brokers exchange. An object, with a tab after
each colon:

  @FILE { http://www.example.org/
  Title{5}:<tab>Hello
  }

A size counts the bytes of the value. These commands read files or standard input of any length,
plain or gzip, with or without the groups of an update stream. \`harvest soif COMMAND --help\`
explains each.

Examples:
  harvest gather localhost | harvest soif check -
  harvest soif cat --json All-Templates.gz | head -3
`;

/** `harvest soif COMMAND`: the tools over SOIF streams. */
function soif(): Command {
  const soif = new Command('soif').addHelpText('after', SOIF_HELP);
  for (const command of [
    checkCommand(),
    catCommand(),
    convertCommand(),
    mktemplate(),
    wrapit(),
    printAttr(),
    printTemplate(),
    printUrlrefs(),
  ]) {
    soif.addCommand(command);
  }
  return soif;
}

const CHECK_HELP = `
Prints for each attempt at an object whether it is valid, in the format of the original cksoif; an
invalid one is followed by the rule it breaks, the byte offset and the reason. Objects must have the
exact layout of SOIF writers. With --lenient everything that a tolerant reader of network data
accepts is valid, and each tolerated fault is listed. Update streams with @DELETE, @REFRESH and
@UPDATE groups and gzip files are recognized.

Examples:
  harvest soif check objects.soif
  harvest gather localhost | harvest soif check -
  harvest soif check --lenient --json All-Templates.gz

--json prints one object per line:
{"attempt":1,"valid":true,"offset":0,"type":"FILE","url":"http://..."}, with "rule", "message" and
the offset of the offending byte if it is not valid, with "warnings" for --lenient; the last line
has the counts.

Exit status: 0 everything is valid; 1 something is not, or the file cannot be read; 2 usage.
`;

const CKSOIF_HELP = `
The original validator: reads SOIF on standard input and prints one line for each attempt at an
object. Its verdicts are those of the original reader, which tolerates some faults (CR LF, blank
lines, a size like {1x}) but not others (a blank instead of the tab, a URL of more than 8190 bytes,
an "@" in text before an object), and does not mention an object that is truncated at the end of the
input. \`harvest soif check\` is strict and prints the fault and its position.

It does not know the @DELETE, @REFRESH and @UPDATE groups of an update stream and loses objects
after them; \`harvest soif cat\` removes the groups.

Example:
  cksoif < objects.soif
  harvest gather localhost | harvest soif cat | cksoif

Exit status: 0 for any input, as the original; 1 the input cannot be read.
`;

/** `harvest soif check` (SOIF-4.9). */
function checkCommand(): Command {
  return new Command('check')
    .summary('report for each object whether it is valid, and which rule it breaks')
    .argument('[file]', 'a SOIF file, plain or gzip; - is standard input', STANDARD_INPUT)
    .option('--lenient', 'accept faults that readers tolerate, with warnings', false)
    .option('--json', 'print JSON lines', false)
    .option(
      '--max-object <bytes>',
      'an object larger than this is invalid (default: 64 MiB)',
      objectBytesOption,
    )
    .addHelpText('after', CHECK_HELP)
    .action(lazyAction(async () => (await import('./actions/check.js')).check));
}

/** `cksoif` (SOIF-4.9, G-131). */
function cksoif(): Command {
  return new Command('cksoif')
    .argument('[file]', 'a SOIF file, plain or gzip; - is standard input', STANDARD_INPUT)
    .addHelpText('after', CKSOIF_HELP)
    .action(lazyAction(async () => (await import('./actions/check.js')).cksoif));
}

const CAT_HELP = `
Prints the objects of SOIF files in the exact layout of SOIF writers. The @DELETE, @REFRESH and
@UPDATE groups of update streams are removed, gzip files are decompressed; - or no file is standard
input. Unreadable parts are reported on standard error and skipped.

Examples:
  harvest soif cat old.soif new.soif.gz > all.soif
  harvest soif cat --url '^http://www\\.example\\.org/' All-Templates.gz
  harvest soif cat --json objects.soif | head -1
  harvest gather localhost | harvest soif cat --section delete

Exit status: 0 all objects were read; 1 some were not; 2 usage.
`;

/** `harvest soif cat`: objects of several streams, unwrapped, in the layout of SOIF-2.2. */
function catCommand(): Command {
  return new Command('cat')
    .summary('print the objects of SOIF files in the exact layout, or as JSON')
    .argument('[files...]', 'SOIF files, plain or gzip; - is standard input')
    .option('--json', 'print JSON lines, as `harvest soif convert --to jsonl` does', false)
    .option('--type <type>', 'only objects of this template type, e.g. FILE')
    .option('--url <pattern>', 'only objects whose URL matches this regular expression (POSIX extended)')
    .addOption(
      new Option('--section <name>', 'only objects of this group of an update stream').choices([
        'delete',
        'refresh',
        'update',
      ]),
    )
    .option('--max-object <bytes>', 'skip objects larger than this (default: 64 MiB)', objectBytesOption)
    .addOption(rawOption())
    .addHelpText('after', CAT_HELP)
    .action(lazyAction(async () => (await import('./actions/objects.js')).cat));
}

const CONVERT_HELP = `
Converts SOIF into JSON lines and back. One line is one object:

  {"type":"FILE","url":"http://a.example/","attributes":
    [{"name":"Title","value":"Hello"},{"name":"Icon","base64":"AP8="}]}

Values that are not UTF-8 are in "base64", such a URL in "urlBase64". Objects of @DELETE and
@REFRESH groups have "section":"delete" or "refresh"; the conversion back writes these groups again.
Objects in the exact layout of SOIF writers are restored byte for byte.

Examples:
  harvest soif convert --to jsonl a.soif | grep -v '"GATHERER"' | harvest soif convert --to soif
  harvest gather localhost | harvest soif convert --to jsonl

Exit status: 0 done; 1 something could not be read (with the number of the JSON line); 2 usage.
`;

/** `harvest soif convert`: SOIF to JSON lines and back. */
function convertCommand(): Command {
  return new Command('convert')
    .summary('convert SOIF into JSON lines and back')
    .argument('[file]', 'SOIF, plain or gzip, or JSON lines; - is standard input', STANDARD_INPUT)
    .addOption(new Option('--to <format>', 'output format').choices(['jsonl', 'soif']).makeOptionMandatory())
    .option('--max-object <bytes>', 'skip objects larger than this (default: 64 MiB)', objectBytesOption)
    .addOption(rawOption())
    .addHelpText('after', CONVERT_HELP)
    .action(lazyAction(async () => (await import('./actions/objects.js')).convertSoif));
}

const MKTEMPLATE_HELP = `
Converts annotation files, which are written by hand, into SOIF. Such a file has no sizes; a value
is the rest of its line after exactly one tab:

  @FILE { http://www.example.org/paper.ps
  Title:<tab>A Paper About Something
  }

Small faults are tolerated and reported on standard error with file and line: a blank instead of the
tab, CR LF, a size in braces, a missing closing brace. Other wrong lines are skipped. --strict stops
at the first fault instead.

Examples:
  mktemplate annotations | template2db annotations.gdbm
  harvest mktemplate --strict annotations annotations2 > manual.soif

Exit status: 0 all lines were read; 1 some were skipped, or a file cannot be read; 2 usage.
`;

/** `mktemplate annotations [annotations2 ...]` (SOIF-11.1, G-137, G-138). */
function mktemplate(): Command {
  return new Command('mktemplate')
    .summary('convert hand-written annotation files into SOIF')
    .argument('[files...]', 'annotation files; - or none is standard input')
    .option('--strict', 'stop at the first fault', false)
    .addHelpText('after', MKTEMPLATE_HELP)
    .action(lazyAction(async () => (await import('./actions/mktemplate.js')).mktemplate));
}

const ANNOTATE_HELP = `
FILE is an annotation file: facts about documents that their summaries lack, such as the title of a
PostScript file. It is created if it does not exist. FILE alone serves a form on 127.0.0.1; the
address is printed and contains a secret. A URL with attributes sets them; Attribute= removes one; a
URL alone prints its annotation.

An attribute of FILE replaces the attribute that was found in the document. Name FILE in the
Gatherer's configuration (Annotations: FILE), or merge it yourself with mktemplate, template2db and
mergedb.

Examples:
  harvest annotate annotations                                                   the form
  harvest annotate annotations --data gatherers/sample/data    the form, with the Gatherer's objects
  harvest annotate annotations http://www.example.org/a.ps "Title=A Paper" Author=Unknown
  harvest annotate annotations http://www.example.org/a.ps Author=               removes Author
  harvest annotate --list --json annotations

Exit status: 0 done; 1 no such annotation, or FILE cannot be read or written; 2 usage, or FILE is
not an annotation file.
`;

/** `harvest annotate FILE [URL [Attribute=Value...]]` (G-137, G-141). */
function annotate(): Command {
  return new Command('annotate')
    .argument('<file>', 'annotation file')
    .argument('[url]', 'the document')
    .argument('[attribute...]', 'Attribute=Value; Attribute= removes one')
    .option('--port <port>', 'port of the form; 0 = any free one', portOption, 0)
    .option('--data <directory>', 'Data-Directory of a Gatherer, whose objects the form lists too')
    .option('--list', 'print all annotations', false)
    .option('--json', 'print as JSON lines', false)
    .addHelpText('after', ANNOTATE_HELP)
    .action(lazyAction(async () => (await import('./actions/annotate.js')).runAnnotate));
}

const WRAPIT_HELP = `
Reads raw data from standard input and prints it as one SOIF attribute with its byte count, the
output format of summarizer programs. All bytes are counted, including a final newline. Without data
no attribute is printed.

Example (a summarizer Abstract.sum):
  head -50 "$1" | wrapit Abstract

Exit status: 0 done; 1 too much data; 2 usage, or an invalid attribute name.
`;

/** `wrapit Attribute` (E-62). */
function wrapit(): Command {
  return new Command('wrapit')
    .summary('convert standard input into one SOIF attribute')
    .argument('<attribute>', "the attribute's name: letters, digits, - _ . < >")
    .option('--max-bytes <bytes>', 'maximum number of bytes (default: 64 MiB)', countOption)
    .addHelpText('after', WRAPIT_HELP)
    .action(lazyAction(async () => (await import('./actions/wrapit.js')).wrapit));
}

const EXIT_HELP = `
Exit status: 0 all objects were read; 1 some were not (reported on standard error); 2 usage.
`;

const ATTR_HELP = `
Prints the value of one attribute and a newline for each object that has it. Names ignore case; of
several attributes with the same name the last one is printed.

Examples:
  print-attr Title < objects.soif
  harvest print-attr url-references All-Templates.gz | sort -u
${EXIT_HELP}`;

const TEMPLATE_HELP = `
Prints each object in the exact layout of SOIF writers and adds the attribute Print-Time, the time
of printing in seconds since 1970, as the original does; \`harvest soif cat\` adds nothing.

Examples:
  print-template < objects.soif
  harvest print-template --no-print-time old.soif
${EXIT_HELP}`;

const URLREFS_HELP = `
Prints for each object the URLs of its attribute URL-References, made absolute and normalized, one
per line, then the object's own URL. Invalid URLs are skipped.

Example:
  harvest gather localhost | print-urlrefs | sort -u
${EXIT_HELP}`;

const FILES_HELP = 'SOIF files, plain or gzip; - or none is standard input';

/** `print-attr Attribute` (G-132). */
function printAttr(): Command {
  return new Command('print-attr')
    .summary("print one attribute's value of each object")
    .argument('<attribute>', "the attribute's name")
    .argument('[files...]', FILES_HELP)
    .addOption(rawOption())
    .addHelpText('after', ATTR_HELP)
    .action(lazyAction(async () => (await import('./actions/objects.js')).printAttr));
}

/** `print-template` (G-132, SOIF-10.2). */
function printTemplate(): Command {
  return new Command('print-template')
    .summary('print each object, with Print-Time added')
    .argument('[files...]', FILES_HELP)
    .option('--no-print-time', 'do not add Print-Time')
    .addOption(rawOption())
    .addHelpText('after', TEMPLATE_HELP)
    .action(lazyAction(async () => (await import('./actions/objects.js')).printTemplate));
}

/** `print-urlrefs` (G-132, G-61). */
function printUrlrefs(): Command {
  return new Command('print-urlrefs')
    .summary("print each object's references and its URL, normalized")
    .argument('[files...]', FILES_HELP)
    .addOption(rawOption())
    .addHelpText('after', URLREFS_HELP)
    .action(lazyAction(async () => (await import('./actions/objects.js')).printUrlrefs));
}

/** The converters and the types of their input (E-48 to E-51). */
const TYPES = {
  lsm2soif: 'LSM',
  iafa2soif: 'IAFA',
  pcindex2soif: 'PCIndex',
  netfind2soif: 'Netfind',
} as const;

/** `lsm2soif URL FILE` and its relatives (G-143). */
function toSoif(name: keyof typeof TYPES): Command {
  return new Command(name)
    .argument('[url]', 'URL of the document, for objects that have none of their own', 'file://localhost/-')
    .argument('[file]', 'the data; - or none is standard input', STANDARD_INPUT)
    .addHelpText(
      'after',
      `
Prints an object for each entry, as the built-in Exploder of the type ${TYPES[name]} does.
For scripts TypeName.unnest.

Example:
  ${name} http://www.example.org/list list.txt | cksoif

Exit status: 0 done; 1 the data holds no entry, or cannot be read; 2 usage.
`,
    )
    .action(
      lazyAction(async () => {
        const { convert } = await import('./actions/to-soif.js');
        return (url: string, file: string) => convert(name, TYPES[name], url, file);
      }),
    );
}
