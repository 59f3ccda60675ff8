// Writes objects that may be too large for the memory.
import type { StreamObject } from '../../../clients/soif-tools/objects.js';
import type { SoifBytes } from '../../../protocols/soif/index.js';
import type { StandardOutput } from '../output/standard-output.js';

/** Writes bytes or a source. Returns false if the reader has closed the pipe. */
export function writeBytes(output: StandardOutput, bytes: SoifBytes): Promise<boolean> {
  return bytes instanceof Uint8Array ? output.write(bytes) : output.writeFrom(bytes.pieces());
}

/**
 * Returns a function that writes an object as a line of JSON; it returns false if the reader has closed the
 * pipe.
 */
export async function jsonWriter(output: StandardOutput): Promise<(item: JsonItem) => Promise<boolean>> {
  const { jsonLine, jsonPieces } = await import('../../../clients/soif-tools/index.js');
  return async ({ object, section, large }) => {
    if (large === undefined) return output.write(`${jsonLine(object, section)}\n`);
    return (await output.writeFrom(jsonPieces(large, section))) && (await output.write('\n'));
  };
}

type JsonItem = Pick<StreamObject, 'object' | 'section' | 'large'>;
