// Cuts a block of an export where an update begins.
import { SoifDecoder } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';

/**
 * Returns the last objects of an inflated block, from the first one with `Update-Time >= since`. The objects ascend by Update-Time, and
 * each contains this attribute. The result is a view of the block.
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
    // An object without a time is kept: it is sent with every update (GATHERD-4.3).
    if (objects === 0 && (item.object.number('Update-Time') ?? since) < since) continue;
    if (objects === 0) start = item.offset;
    objects++;
  }
  return { bytes: block.subarray(start), objects };
}
