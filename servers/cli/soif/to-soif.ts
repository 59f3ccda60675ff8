import { Command } from 'commander';
import { STANDARD_INPUT } from '../../../clients/soif-tools/input.js';
import { decodeText, encodeSoif } from '../../../protocols/soif/index.js';
import { convertDocument } from '../../essence/index.js';
import { complain, EXIT } from '../exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../standard-output.js';
import { openFile } from './files.js';

/** The converters and the types of their input (E-48 to E-51). */
const TYPES = {
  lsm2soif: 'LSM',
  iafa2soif: 'IAFA',
  pcindex2soif: 'PCIndex',
  netfind2soif: 'Netfind',
} as const;

/** Bytes of one list: it is converted in memory. */
const MAX_BYTES = 64 * 1024 * 1024;

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
      process.exitCode = await convert(name, url, file);
    });
}

async function convert(name: keyof typeof TYPES, url: string, file: string): Promise<number> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of openFile(file)) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) {
      complain(name, `more than ${MAX_BYTES} bytes`);
      return EXIT.failure;
    }
    chunks.push(chunk);
  }
  await using output = new StandardOutput({ bufferBytes: OUTPUT_BUFFER_BYTES });
  let count = 0;
  for (const object of convertDocument(TYPES[name], decodeText(Buffer.concat(chunks)), url)) {
    count++;
    if (!(await output.write(encodeSoif(object)))) return EXIT.ok;
  }
  if (count > 0) return EXIT.ok;
  complain(name, `there is no entry in this ${TYPES[name]} data`);
  return EXIT.failure;
}
