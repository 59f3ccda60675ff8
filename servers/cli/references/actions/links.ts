import { statSync } from 'node:fs';
import { UsageError } from '../../../../protocols/errors.js';
import {
  type DumpFormat,
  dumpDocuments,
  dumpLinks,
  dumpServers,
} from '../../../../storage/references/dump.js';
import { loadReferences } from '../../../../storage/references/load.js';
import type { ByteOrder } from '../../../../storage/references/pair-parser.js';
import type { BuildPhase } from '../../../../storage/references/progress-reporter.js';
import { publishRanks } from '../../../../storage/references/rank-publication.js';
import { ReferencesReader } from '../../../../storage/references/reader.js';
import { Progress } from '../../output/progress.js';
import { runTool } from '../../output/run-tool.js';

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

type Content = (typeof CONTENTS)[number];

interface DumpOptions extends Partial<Readonly<Record<Content, boolean>>> {
  readonly data: string;
  readonly format: DumpFormat;
}

/** The action of `harvest links dump`. */
export async function printGraph({ data, format, ...chosen }: DumpOptions): Promise<number> {
  const [content = 'refs', ...more] = CONTENTS.filter((name) => chosen[name] === true);
  if (more.length > 0)
    throw new UsageError(`links dump: --${content} and --${more[0]} are mutually exclusive`);
  return await runTool('links dump', {}, async ({ output, signal }) => {
    await using reader = await ReferencesReader.openCurrent(data, { residentBytes: 0 });
    for (const piece of piecesOf(reader, content, format)) {
      signal.throwIfAborted();
      // The reader has closed the pipe.
      if (!(await output.write(piece))) return;
    }
  });
}

const CONTENTS = ['refs', 'hubs', 'documents', 'servers'] as const;

function piecesOf(
  reader: ReferencesReader,
  content: Content,
  format: DumpFormat,
): Iterable<string | Uint8Array> {
  if (content === 'documents') return dumpDocuments(reader);
  if (content === 'servers') return dumpServers(reader);
  return dumpLinks(reader, content, format);
}

interface PageRankCommandOptions {
  readonly data: string;
  readonly top: number;
  readonly damping: number;
  readonly tolerance: number;
  readonly maxRounds: number;
  readonly json: boolean;
}

/** The action of `harvest pagerank`. */
export async function pagerank({ data, top, json, ...method }: PageRankCommandOptions): Promise<number> {
  return await runTool('pagerank', { json }, async (tool) => {
    using progress = new Progress({ format: 'pagerank: {bar} {percentage}%  {what}' });
    const published = await publishRanks(data, {
      ...method,
      signal: tool.signal,
      onProgress: (phase, done, total) => progress.update(done, total, { what: PHASE_LABELS[phase] }),
      onRound: (round) => progress.update(round, method.maxRounds, { what: `round ${round}` }),
    });
    progress.clear();
    if (!published.converged)
      tool.onWarning?.(`after ${published.rounds} rounds the ranks still change by ${published.change}`);
    await using reader = await ReferencesReader.openCurrent(data, { residentBytes: 0 });
    const best = reader
      .highestRanks(top)
      .map(({ id, rank }) => ({ id, rank, url: reader.document(id)?.url ?? null }));
    if (json) {
      await tool.output.write(`${JSON.stringify({ ...published, top: best })}\n`);
      return;
    }
    const lines = best.map(({ id, rank, url }) => `${rank.toExponential(4)}\t${id}\t${url ?? '-'}\n`);
    await tool.output.write(lines.join(''));
    const { ranked, links, rounds, generation } = published;
    tool.onWarning?.(`${ranked} ranked, ${links} links, ${rounds} rounds, generation ${generation}`);
  });
}
