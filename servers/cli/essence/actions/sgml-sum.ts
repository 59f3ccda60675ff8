import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { readInput } from '../../../../clients/soif-tools/input.js';
import { encodeAttributes } from '../../../../protocols/soif/index.js';
import { canonicalUrl } from '../../../../protocols/urls/index.js';
import { createEssenceContext } from '../../../essence/context.js';
import { installedPrograms } from '../../../essence/external/find.js';
import { summarizeByTable } from '../../../essence/sgml-document.js';
import { complain, EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';

interface SgmlSumOptions {
  readonly table?: string;
  readonly declaration?: string;
  readonly libdir?: string;
  readonly syntaxCheck: boolean;
}

/** The action of `harvest sgml-sum`; returns the exit status. */
export async function summarize(
  documentType: string,
  file: string,
  options: SgmlSumOptions,
): Promise<number> {
  const body = await buffer(readInput(file, { unpack: false }));
  const { libdir = installedLib(), table, declaration, syntaxCheck } = options;
  const context = await createEssenceContext({
    gathererName: '',
    gathererHost: '',
    gathererVersion: '',
    refreshRate: 0,
    timeToLive: 0,
    programs: { directories: [], ...installedPrograms(process.env) },
    libDirectory: libdir === undefined ? undefined : resolve(libdir),
  });
  const url = canonicalUrl(pathToFileURL(file).href) ?? 'file://localhost/-';
  const { attributes, warnings } = await summarizeByTable(
    { url, body },
    {
      documentType,
      syntaxCheck,
      table: table === undefined ? undefined : resolve(table),
      declaration: declaration === undefined ? undefined : resolve(declaration),
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
