// What a process knows of the index in use.
import { UNICODE_VERSION } from '../query/words.js';
import { INDEX_RULES } from './documents.js';
import type { IndexSet } from './index-state.js';

/** What the engine knows of the index in use. */
export interface IndexView {
  /** Its name; undefined before the first one. */
  readonly name: string | undefined;
  readonly watermark: number;
  readonly objects: number;
  readonly epoch: number;
  /** Whether its documents follow the rules of this version. If not, the next run makes another index. */
  readonly isUsable: boolean;
}

/**
 * Reads what is known of the index in use.
 *
 * @param known what was read before
 */
export async function readView(indexes: IndexSet, known?: IndexView): Promise<IndexView> {
  const found = await indexes.current();
  const { rules, unicode, epoch = 0, watermark = 0 } = found?.meta ?? {};
  const isUsable = rules === INDEX_RULES && unicode === UNICODE_VERSION;
  const name = found?.name;
  if (name === undefined || !isUsable) return { name, watermark: 0, objects: 0, epoch, isUsable };
  if (known?.name === name && known.watermark === watermark) return { ...known, epoch, isUsable };
  try {
    return { name, watermark, objects: await indexes.count(name), epoch, isUsable };
  } catch (error) {
    // Another writer may have replaced it meanwhile.
    if ((await indexes.current())?.name === name) throw error;
    return readView(indexes, known);
  }
}
