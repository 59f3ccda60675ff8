import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { readInput } from '../../clients/soif-tools/input.js';
import { encodeAttributes } from '../../protocols/soif/index.js';
import { canonicalUrl } from '../../protocols/urls/index.js';
import { createEssenceContext, installedPrograms, summarizeByTable } from '../essence/index.js';
import { complain, EXIT } from './exit.js';
import { StandardOutput } from './standard-output.js';

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

interface SgmlSumOptions {
  readonly table?: string;
  readonly declaration?: string;
  readonly libdir?: string;
  readonly syntaxCheck: boolean;
}

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
    .action(async (type: string, file: string, options: SgmlSumOptions) => {
      process.exitCode = await summarize(type, file, options);
    });
}

async function summarize(documentType: string, file: string, options: SgmlSumOptions): Promise<number> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readInput(file, { unpack: false })) chunks.push(chunk);
  const { libdir = installedLib(), table, declaration, syntaxCheck } = options;
  const context = await createEssenceContext({
    gathererName: '',
    gathererHost: '',
    gathererVersion: '',
    refreshRate: 0,
    timeToLive: 0,
    programs: { directories: [], ...installedPrograms(process.env) },
    ...(libdir === undefined ? {} : { libDirectory: resolve(libdir) }),
  });
  const url = canonicalUrl(pathToFileURL(file).href) ?? 'file://localhost/-';
  const { attributes, warnings } = await summarizeByTable(
    { url, body: Buffer.concat(chunks) },
    {
      documentType,
      syntaxCheck,
      ...(table === undefined ? {} : { table: resolve(table) }),
      ...(declaration === undefined ? {} : { declaration: resolve(declaration) }),
    },
    context,
  );
  for (const warning of warnings) complain('SGML.sum', warning);
  if (attributes.length === 0)
    complain('SGML.sum', `the table of ${documentType} takes nothing from this document`);
  // E-68: the last newline of a value counts.
  const lines = attributes.map(
    ([name, value]) => [name, value.endsWith('\n') ? value : `${value}\n`] as const,
  );
  await new StandardOutput().write(encodeAttributes(lines));
  return attributes.length === 0 ? EXIT.failure : EXIT.ok;
}

/** E-82. */
function installedLib(): string | undefined {
  const { HARVEST_HOME: home } = process.env;
  const lib = home === undefined || home === '' ? undefined : join(home, 'lib', 'gatherer');
  return lib !== undefined && existsSync(lib) ? lib : undefined;
}
