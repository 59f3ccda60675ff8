import { wrapAttribute } from '../../../../clients/soif-tools/attributes.js';
import { readInput, STANDARD_INPUT } from '../../../../clients/soif-tools/input.js';
import { StandardOutput } from '../../output/standard-output.js';

/** The action of `harvest wrapit`. */
export async function wrapit(attribute: string, { maxBytes }: { readonly maxBytes?: number }): Promise<void> {
  const data = readInput(STANDARD_INPUT, { unpack: false });
  await new StandardOutput().write(await wrapAttribute(attribute, data, maxBytes));
}
