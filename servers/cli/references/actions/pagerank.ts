import { publishRanks } from '../../../../storage/references/rank-publication.js';
import { ReferencesReader } from '../../../../storage/references/reader.js';
import { runTool } from '../../db/run-tool.js';
import { Progress } from '../../output/progress.js';
import { PHASE_LABELS } from './links-load.js';

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
