// The documents and links of the example in the specification, and a function that publishes them or others.
import type { DocumentInput } from '../../../storage/references/contract.js';
import { ReferencesBuilder } from '../../../storage/references/index.js';

/**
 * The documents of section 13 of the references server's specification. Times are in seconds, lengths in bytes.
 */
export const FIXTURE_DOCUMENTS: readonly DocumentInput[] = [
  { id: 10, url: 'http://a.example/', time: 1000000100, checkTime: 1000001000, length: 1000, serverId: 1 },
  { id: 11, url: 'http://a.example/x', time: 1000000110, checkTime: 1000001100, length: 1100, serverId: 1 },
  { id: 12, url: 'http://a.example:81/', time: 1000000120, checkTime: 1000001200, length: 1200, serverId: 2 },
  { id: 20, url: 'http://b.example/', time: 1000000200, checkTime: 1000002000, length: 2000, serverId: 3 },
  {
    id: 21,
    url: 'http://b.example/lonely',
    time: 1000000210,
    checkTime: 1000002100,
    length: 2100,
    serverId: 3,
  },
];

/** The links of section 13, source first, in insertion order. */
export const FIXTURE_PAIRS: readonly (readonly [source: number, target: number])[] = [
  [10, 11],
  [10, 20],
  [10, 12],
  [11, 10],
  [11, 20],
  [20, 10],
  [12, 10],
  [12, 11],
];

/**
 * Publishes documents and links, by default those of section 13, as a new generation in `DATA/references`.
 *
 * @param data the data directory
 * @returns the generation's number
 */
export async function publishFixture(
  data: string,
  documents: Iterable<DocumentInput> = FIXTURE_DOCUMENTS,
  pairs: Iterable<readonly [number, number]> = FIXTURE_PAIRS,
): Promise<number> {
  await using builder = await ReferencesBuilder.create(data);
  for (const document of documents) builder.addDocument(document);
  for (const [source, target] of pairs) builder.addLink(source, target);
  return (await builder.publish()).generation;
}
