// The inputs that a target starts from.
import { coverageFile, findingsFolder, readCorpus, readFolder, readInputs } from './corpus.js';
import { bytesOf, type FuzzTarget } from './target.js';

export async function seedsOf(name: string, target: FuzzTarget): Promise<Uint8Array[]> {
  const own = (target.seeds ?? []).map((seed) => (typeof seed === 'string' ? bytesOf(seed) : seed));
  const stored = await readInputs(coverageFile(name));
  const found = (await readFolder(findingsFolder(name))).map(({ input }) => input);
  return [...own, ...(await readCorpus(target.corpus ?? [])), ...stored, ...found];
}
