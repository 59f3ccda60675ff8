import { decodeText, encodeSoif } from '../../../../protocols/soif/index.js';
import { convertDocument } from '../../../essence/unnest/explode.js';
import { complain, EXIT } from '../../output/exit.js';
import { OUTPUT_BUFFER_BYTES, StandardOutput } from '../../output/standard-output.js';
import { openFile } from '../files.js';

/** Bytes of one list: it is converted in memory. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The action of `harvest lsm2soif` and its relatives; returns the exit status. */
export async function convert(name: string, type: string, url: string, file: string): Promise<number> {
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
  for (const object of convertDocument(type, decodeText(Buffer.concat(chunks)), url)) {
    count++;
    if (!(await output.write(encodeSoif(object)))) return EXIT.ok;
  }
  if (count > 0) return EXIT.ok;
  complain(name, `there is no entry in this ${type} data`);
  return EXIT.failure;
}
