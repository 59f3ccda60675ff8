import { SoifDecoder } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';

/**
 * The last objects of a block: those from the first one with `Update-Time >= since` on. They ascend, and each says its own
 * time, so nothing else need be looked up. A view of the block.
 */
export function objectsFrom(
  block: Uint8Array,
  since: UnixSeconds,
): { readonly bytes: Uint8Array; readonly objects: number } {
  const decoder = new SoifDecoder({ maxObjectBytes: Math.max(1, block.length) });
  let start = block.length;
  let objects = 0;
  for (const item of decoder.push(block)) {
    if (item.kind !== 'object') continue;
    if (objects === 0 && (item.object.number('Update-Time') ?? since) < since) continue;
    if (objects === 0) start = item.offset;
    objects++;
  }
  return { bytes: block.subarray(start), objects };
}
