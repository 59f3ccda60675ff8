import { hostname } from 'node:os';
import { Command } from 'commander';
import { DEFAULT_MAX_BYTES } from '../../../clients/fetch/types.js';
import { lazyAction } from '../lazy-action.js';
import { countOption, integerOption, repeatedOption, timeoutOption } from '../options/option-values.js';

/** The commands of this file by name. */
export const DEFINITIONS = { essence, 'sgml-sum': sgmlSum };

/** Replaced objects after which the file of --dbdir is rewritten (E-119). */
const MAX_DELETIONS = 1000;

const ESSENCE_HELP = `
Recognizes the type of each file or URL, unpacks archives (tar, gzip, compress, bzip2, xz, zstd,
zip, ar, cpio, uuencode, shell archives, BinHex, mail with attachments) and prints a summary of each
document as SOIF. No content of a document is executed. Documents are written to disk only as
temporary files for your own programs (--bindir, --rules). The name - reads the document from
standard input.

Types come from the rule files byurl.cf, byname.cf and bycontent.cf, in this order; a file of the
same name in --libdir replaces one of them. Types on the stop list are skipped. --explain prints the
deciding line on standard error.

--dbdir stores all objects of a run in one transaction; an object replaces the stored one with its
URL. Documents on the stop list do not change stored objects. Standard output then has the counts,
with --json as one JSON object. To publish the objects of DIR: "harvest consoldb DIR/PRODUCTION.gdbm
DIR/WORKING.gdbm", then "harvest folddb DIR".

Examples:
  harvest essence paper.tar.gz                    its summary; components become Embed<n> attributes
  harvest essence --type-only *                   only the types: lines of type, tab, URL
  harvest essence --explain --type-only README.Z  which rule decides the type
  harvest essence --json http://www.example.org/  a summary as one line of JSON
  harvest essence --dbdir data --log log *.ps     store the summaries in data/WORKING.gdbm
  harvest essence --full-text report.pdf          the whole text
  harvest essence --stoplist /dev/null --libdir ./lib -f urls.txt
  cat mail | harvest essence --json -

Exit status: 0 every document was summarized or is on the stop list; 1 some could not be summarized;
2 usage.
`;

/** `essence [options] -f input-URLs`, `essence [options] URL ...` (E-5, section 11). */
function essence(): Command {
  return new Command('essence')
    .argument('[documents...]', 'files or URLs; - is standard input')
    .option('-f, --file <file>', 'read the files or URLs from this file, one a line; - is standard input')
    .option('--allowlist <file>', 'file that lists the types to summarize; all others are skipped')
    .option('--stoplist <file>', 'file with the types to skip (default: the shipped stoplist.cf)')
    .option('--libdir <directory>', 'directory whose files replace the shipped files of the same name')
    .option(
      '--bindir <directory>',
      'directory with TypeName.sum and TypeName.unnest (may be repeated)',
      repeatedOption,
      [],
    )
    .option('--rules <file>', 'post-summarizing rules')
    .option('--type-only', 'print only the types', false)
    .option('--explain', 'print on standard error which rule decided each step', false)
    .option('--json', 'one JSON object a line', false)
    .option('--full-text', 'the whole text instead of a summary', false)
    .option('--raw-text', 'the bytes of any document as text (--full-text=raw)', false)
    .option('--no-access', 'do not read the documents: use only their names')
    .option('--no-keywords', 'do not extract keywords')
    .option('--minimal-bookkeeping', 'only the required bookkeeping attributes', false)
    .option('--fake-md5s', 'add MD5 to objects from Exploders', false)
    .option(
      '--grouping',
      'skip components that were compiled from another one (main.o next to main.c)',
      false,
    )
    .option('--language', 'guess the Language of texts that do not state it', false)
    .option('--code', 'keep the text in CODE elements of pages', false)
    .option('--link-text', 'add the text of each link of a page, after its URL', false)
    .option('--navigation', 'set the text of navigation apart from the text and the keywords of pages', false)
    .option('--main-text', 'add the main text of pages, without navigation and the like', false)
    .option('--raw-references', 'references as written, not made absolute', false)
    .option('--fast-summarizing', 'accepted and ignored: summaries are always checked', false)
    .option('--dbdir <directory>', 'store the objects in WORKING.gdbm there instead of printing them')
    .option(
      '--max-deletions <n>',
      'with --dbdir: replaced objects after which the file is rewritten',
      countOption,
      MAX_DELETIONS,
    )
    .option('--log <file>', 'append messages with date and time to this file instead of standard error')
    .option('--gatherer-host <name>', 'Gatherer-Host of the objects', hostname())
    .option('--gatherer-name <name>', 'Gatherer-Name of the objects', 'essence')
    .option('--gatherer-version <text>', 'Gatherer-Version of the objects', '1.0')
    .option('--workers <n>', 'threads (default: processors minus one, at most 4; 0 = none)', integerOption)
    .option(
      '--time-limit <seconds>',
      'processor time of one document; ten times as long by the clock (default: 30)',
      timeoutOption,
    )
    .option('--max-size <bytes>', 'bytes read of one document', countOption, DEFAULT_MAX_BYTES)
    .option('--max-depth <n>', 'nested layers (default: 10)', countOption)
    .option('--max-components <n>', 'components of one document (default: 10000)', countOption)
    .option('--max-unpacked <bytes>', 'unpacked bytes of one document (default: 1 GiB)', countOption)
    .option('--max-ratio <n>', 'unpacked bytes for each packed one (default: 200)', countOption)
    .option('--max-memory <MiB>', 'memory of one process that reads documents (default: 384)', countOption)
    .option('--max-pool-memory <MiB>', 'memory of all these processes (default: 1024)', countOption)
    .option('-v, --verbose', 'print each document on standard error', false)
    .addHelpText('after', ESSENCE_HELP)
    .action(lazyAction(async () => (await import('./actions/essence.js')).essence));
}

const SGML_HELP = `
Prints the attributes that the extraction table of TYPE takes from the document, as summarizers do.
The table is TYPE.sum.tbl in the directory of --libdir (default: $HARVEST_HOME/lib/gatherer, if it
exists) or in its sgmls-lib/TYPE, else the shipped one. With a catalog sgmls-lib/catalog and OpenSP
(onsgmls) the document is read with its DTD.

--syntax-check, or the environment variable syntax_check=1 ($syntax_check of the original script),
shows the parser's errors and warnings. In a Gatherer's configuration: Essence-Options:
--syntax-check; they are in log.errors then.

Examples:
  SGML.sum HTML page.html
  SGML.sum -t lib/my-HTML.table HTML page.html
  SGML.sum --libdir lib --syntax-check FOO myfile.foo

Exit status: 0 done; 1 the document has no table or cannot be read; 2 usage or a wrong table.
`;

/** `SGML.sum TYPE FILE` (E-80, E-81). */
function sgmlSum(): Command {
  return new Command('sgml-sum')
    .description('Summarize an SGML, XML or HTML document by an extraction table.')
    .argument('<type>', 'its document type, e.g. HTML')
    .argument('<file>', 'the document; - is standard input')
    .option('-t, --table <file>', 'another extraction table')
    .option('-d, --declaration <file>', 'another SGML declaration')
    .option('--libdir <directory>', 'tables, DTDs, catalog')
    .option('--syntax-check', "show the parser's messages", process.env.syntax_check === '1')
    .addHelpText('after', SGML_HELP)
    .action(lazyAction(async () => (await import('./actions/sgml-sum.js')).summarize));
}
