import { statSync } from 'node:fs';
import { loadReferences } from '../../../../storage/references/load.js';
import type { ByteOrder } from '../../../../storage/references/pair-parser.js';
import type { BuildPhase } from '../../../../storage/references/progress-reporter.js';
import { runTool } from '../../db/run-tool.js';
import { Progress } from '../../output/progress.js';

interface LoadCommandOptions {
  readonly documents?: string;
  readonly refs: string;
  readonly hubs?: string;
  readonly data: string;
  readonly byteOrder: ByteOrder;
  readonly memory: number;
  readonly json: boolean;
}

/** The action of `harvest links load`. */
export async function loadLinks({ memory, json, ...files }: LoadCommandOptions): Promise<number> {
  return await runTool('links load', { json }, async (tool) => {
    using progress = new Progress({ format: 'links load: {bar} {percentage}%  {what}' });
    const sizeOf = createSizeLookup();
    const published = await loadReferences({
      ...files,
      memoryBytes: memory * MEBIBYTE,
      signal: tool.signal,
      onRead: (file, bytes) =>
        progress.update(bytes, Math.max(bytes, sizeOf(file)), { what: `reading ${file}` }),
      onProgress: (phase, done, total) => progress.update(done, total, { what: PHASE_LABELS[phase] }),
    });
    const { documents, servers, links, repeated, generation } = published;
    progress.clear();
    return { documents, servers, links, repeated, generation };
  });
}

const MEBIBYTE = 1024 * 1024;

/** Labels of the phases of building a link graph. */
export const PHASE_LABELS: Readonly<Record<BuildPhase, string>> = {
  documents: 'sorting documents',
  refs: 'sorting links',
  hubs: 'sorting reverse links',
  siterefs: 'links of sites',
  sitehubs: 'links to sites',
  ranks: 'numbering links',
};

/**
 * Returns a function from a file to its size in bytes, cached; 0 for standard input, whose size is not known.
 */
function createSizeLookup(): (file: string) => number {
  const sizes = new Map<string, number>();
  return (file) => {
    const known = sizes.get(file);
    if (known !== undefined) return known;
    const size = file === '-' ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    sizes.set(file, size);
    return size;
  };
}
