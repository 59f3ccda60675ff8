import { join } from 'node:path';
import { decodeSoif, textOfUrl } from '../../../protocols/soif/index.js';
import { Generations } from '../../../storage/generations/generations.js';

/** An object of the Gatherer, for the list of the form. */
interface ListedObject {
  readonly url: string;
  /** Empty without a title. */
  readonly title: string;
}

/** One page of the Gatherer's objects. */
export interface ObjectPage {
  readonly objects: readonly ListedObject[];
  /** Whether further objects match. */
  readonly hasMore: boolean;
}

/**
 * Returns a page of the published objects whose URL or title contains a text, in the order of their
 * Update-Time. It reads no further than the page.
 *
 * @param dataDirectory Data-Directory of the Gatherer
 * @param isListed whether an object is shown elsewhere, e.g. because it is annotated
 * @throws StorageError if nothing is published there
 */
export async function pageOfObjects(
  dataDirectory: string,
  text: string,
  { first, size }: { readonly first: number; readonly size: number },
  isListed: (url: string) => boolean,
): Promise<ObjectPage> {
  const query = text.toLowerCase();
  const objects: ListedObject[] = [];
  const snapshot = await new Generations(join(dataDirectory, 'generations')).open();
  try {
    let matches = 0;
    for await (const summaries of snapshot.summariesSince(0)) {
      for (const { url, soif } of summaries) {
        if (isListed(url)) continue;
        const title = decodeSoif(soif).text('Title')?.trim().split('\n', 1)[0] ?? '';
        if (!`${textOfUrl(url)}\n${title}`.toLowerCase().includes(query)) continue;
        matches++;
        if (matches <= first) continue;
        if (objects.length === size) return { objects, hasMore: true };
        objects.push({ url, title });
      }
    }
    return { objects, hasMore: false };
  } finally {
    await snapshot.close();
  }
}
