import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';

const HELP = `
Prints the attributes that the extraction table of TYPE takes from the document, as summarizers do. The table is TYPE.sum.tbl in the
directory of --libdir (default: $HARVEST_HOME/lib/gatherer, if it exists) or in its sgmls-lib/TYPE, else the shipped one. With a catalog
sgmls-lib/catalog and OpenSP (onsgmls) the document is read with its DTD.

--syntax-check, or the environment variable syntax_check=1 ($syntax_check of the original script), shows the parser's errors and warnings.
In a Gatherer's configuration: Essence-Options: --syntax-check; they are in log.errors then.

Examples:
  SGML.sum HTML page.html
  SGML.sum -t lib/my-HTML.table HTML page.html
  SGML.sum --libdir lib --syntax-check FOO myfile.foo

Exit status: 0 done; 1 the document has no table or cannot be read; 2 usage or a wrong table.
`;

/** `SGML.sum TYPE FILE` (E-80, E-81). */
export function sgmlSumCommand(): Command {
  return new Command('sgml-sum')
    .description('Summarizes an SGML, XML or HTML document by an extraction table.')
    .argument('<type>', 'its document type, e.g. HTML')
    .argument('<file>', 'the document; - is standard input')
    .option('-t, --table <file>', 'another extraction table')
    .option('-d, --declaration <file>', 'another SGML declaration')
    .option('--libdir <directory>', 'tables, DTDs, catalog')
    .option('--syntax-check', "show the parser's messages", process.env.syntax_check === '1')
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/sgml-sum.js')).summarize));
}
