// The mutants of a SOIF stream: the same stream with one defect each.
import { type CaseResult, runSuite } from '../../clients/conformance/index.js';
import { checkStream } from '../../clients/conformance/soif/check-stream.js';
import { prepareStreamReport } from '../../clients/conformance/soif/suite.js';
import type { MutatedSuite } from './mutant.js';
import { SOIF_MUTANTS, SOIF_STREAM, SOIF_VARIANTS, type StreamChange } from './soif-mutants.js';

/** Bytes of a piece of the stream: small, so that pieces end everywhere. */
const PIECE = 11;

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

export const SOIF: MutatedSuite<StreamChange> = {
  suite: 'soif',
  slow: /^$/,
  first: [],
  // Every case only looks up what was found in one reading.
  whole: true,
  mutants: SOIF_MUTANTS,
  variants: SOIF_VARIANTS,
  async start() {
    return async (change = (stream) => stream, { only, timeoutMs }) => {
      const stream = change(SOIF_STREAM);
      const report = await checkStream(pieces(Buffer.from(stream, 'latin1')), 'gatherd-stream');
      const results: CaseResult[] = [];
      for await (const result of runSuite(prepareStreamReport('stream', report), { only, timeoutMs }))
        results.push(result);
      return { results, changed: stream !== SOIF_STREAM };
    };
  },
};
