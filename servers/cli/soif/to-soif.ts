import { Command } from 'commander';
import { STANDARD_INPUT } from '../../../clients/soif-tools/input.js';

/** The converters and the types of their input (E-48 to E-51). */
const TYPES = {
  lsm2soif: 'LSM',
  iafa2soif: 'IAFA',
  pcindex2soif: 'PCIndex',
  netfind2soif: 'Netfind',
} as const;

/** `lsm2soif URL FILE` and its relatives (G-143). */
export function toSoifCommand(name: keyof typeof TYPES): Command {
  return new Command(name)
    .summary(`convert ${TYPES[name]} data into SOIF`)
    .argument('[url]', 'URL of the document, for objects that have none of their own', 'file://localhost/-')
    .argument('[file]', 'the data; - or none is standard input', STANDARD_INPUT)
    .addHelpText(
      'after',
      `
Prints an object for each entry, as the built-in Exploder of the type ${TYPES[name]} finds it. For scripts TypeName.unnest.

Example:
  ${name} http://www.example.org/list list.txt | cksoif

Exit status: 0 done; 1 the data holds no entry, or cannot be read; 2 usage.
`,
    )
    .action(async (url: string, file: string) => {
      const { convert } = await import('./actions/to-soif.js');
      process.exitCode = await convert(name, TYPES[name], url, file);
    });
}
