// Reads the SOIF that programs write. What the decoder tolerates is logged: a wrong size loses data.
import {
  decodeSoif,
  type SoifAttribute,
  SoifBodyDecoder,
  SoifDecoder,
  type SoifObject,
  type SoifWarning,
} from '../../../protocols/soif/index.js';
import { latin } from '../bytes.js';

/** Receives a clause about the output, with its rule and offset. */
export type OutputWarning = (message: string) => void;

/** Decodes a list of attributes, as summarizers write it (SOIF-3.7). @throws ProtocolError if it is not one */
export function decodeList(output: Uint8Array, warn: OutputWarning): readonly SoifAttribute[] {
  const decoder = new SoifBodyDecoder();
  decoder.push(output);
  const attributes = decoder.end();
  for (const warning of decoder.warnings) warn(clauseOf(warning));
  return attributes;
}

/** Decodes all objects, as unnesters write them (E-46). */
export function decodeObjects(output: Uint8Array, warn: OutputWarning): readonly SoifObject[] {
  const decoder = new SoifDecoder();
  const objects: SoifObject[] = [];
  for (const item of [...decoder.push(output), ...decoder.end()]) {
    if (item.kind === 'object') objects.push(item.object);
    else warn(clauseOf(item));
  }
  return objects;
}

/** Decodes one object or a list of attributes (E-132). @throws ProtocolError if it is neither */
export function decodeObjectOrList(output: Uint8Array, warn: OutputWarning): readonly SoifAttribute[] {
  if (!/^\s*@/.test(latin(output, 0, 200))) return decodeList(output, warn);
  const { attributes } = decodeSoif(output);
  decodeObjects(output, warn);
  return attributes;
}

/** As a ProtocolError says it. */
function clauseOf({ message, rule, offset }: SoifWarning): string {
  return `its output: ${message} (${rule}, offset ${offset})`;
}
