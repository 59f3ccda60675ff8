// The ABNF of the specifications is complete, and judges sentences as the codecs do: thousands that it derives, and
// mutants of them. Where a count governs a length, a grammar accepts more than the codec, and only one direction holds.
import { join } from 'node:path';
import t from 'tap';
import { frameMessage, parseMessage } from '../../../protocols/broker/index.js';
import { ProtocolError, UsageError } from '../../../protocols/errors.js';
import { parseCommand } from '../../../protocols/gatherd/index.js';
import { SoifDecoder } from '../../../protocols/soif/index.js';
import { parseSpecification, SPECIFICATIONS } from '../../../protocols/specification/index.js';
import { textOf } from '../../architecture/sources.js';
import { Random } from '../../helpers/random.js';
import { byTier, SEED } from '../../helpers/seed.js';
import { bytesOfVector, readVectors } from '../vectors/vector-file.js';
import { Grammar, mutate } from './grammar.js';

/** A rule of a grammar beside the codec that reads its sentences. */
interface Pair {
  readonly folder: string;
  readonly rule: string;
  /** Whether the codec accepts a sentence. */
  readonly accepts: (sentence: Uint8Array) => boolean;
  /** The vectors whose bytes are mutated, if counts make sentences of the grammar useless. */
  readonly seeds?: string;
  /** The document says what the codec refuses that the grammar derives. */
  readonly isWider?: true;
}

/** Returns whether a call ends without a ProtocolError. */
function succeeds(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch (error) {
    if (error instanceof ProtocolError) return false;
    throw error;
  }
}

const PAIRS: readonly Pair[] = [
  {
    folder: 'protocols/broker',
    rule: 'message',
    isWider: true,
    accepts: (sentence) => isOneMessage(sentence) && succeeds(() => parseMessage(sentence)),
  },
  {
    folder: 'protocols/gatherd',
    rule: 'client-line',
    accepts: (sentence) => isCommandLine(Buffer.from(sentence).toString('latin1')),
  },
  {
    folder: 'protocols/soif',
    rule: 'soif-stream',
    isWider: true,
    seeds: 'protocols/soif/vectors/soif-stream.json',
    accepts: (sentence) =>
      succeeds(() => {
        const decoder = new SoifDecoder({ mode: 'strict' });
        decoder.push(sentence);
        if (decoder.failed) decoder.push(new Uint8Array(0));
        decoder.end();
        if (decoder.failed) decoder.end();
      }),
  },
];

/** Whether a Broker reads the bytes as one message: an LF outside quotes ends it (BRK-1.8). */
function isOneMessage(sentence: Uint8Array): boolean {
  try {
    frameMessage(sentence);
    return true;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

/** Whether gatherd reads a line as a command, or ignores it because it is blank. */
function isCommandLine(text: string): boolean {
  if (!text.endsWith('\n') || text.indexOf('\n') !== text.length - 1) return false;
  const line = text.slice(0, text.endsWith('\r\n') ? -2 : -1);
  const command = parseCommand(line);
  return command === undefined || !/^(?:unknown|bad-|http)/.test(command.kind);
}

const grammars = new Map(
  SPECIFICATIONS.map(({ folder }) => {
    const { grammar } = parseSpecification(textOf(join(folder, 'specification.md')));
    return [folder, grammar] as const;
  }).filter(([, grammar]) => grammar.length > 0),
);

for (const [folder, blocks] of grammars)
  t.test(`${folder}: every rule of the grammar is defined`, async (t) => {
    t.doesNotThrow(() => new Grammar(blocks));
  });

for (const { folder, rule, accepts, seeds, isWider } of PAIRS)
  t.test(`${folder}: ${rule} and the codec judge alike`, async (t) => {
    const grammar = new Grammar(grammars.get(folder) ?? []);
    const random = new Random(SEED);
    const valid =
      seeds === undefined ? [] : readVectors(seeds).vectors.filter(({ verdict }) => verdict === 'valid');
    for (const vector of valid) t.ok(grammar.derives(rule, bytesOfVector(vector)), vector.name);
    const counts = { accepted: 0, rejected: 0, alike: 0, all: 0 };
    const differences: string[] = [];
    for (let i = 0; i < byTier(500, 4000); i++) {
      const seed = valid[random.below(valid.length)];
      const derived = seed === undefined ? grammar.sentence(rule, random) : bytesOfVector(seed);
      for (const sentence of [derived, mutate(derived, random)]) {
        const isAccepted = accepts(sentence);
        counts[isAccepted ? 'accepted' : 'rejected']++;
        const isDerived = grammar.derives(rule, sentence);
        counts.all++;
        if (isAccepted === isDerived) counts.alike++;
        else if (isAccepted || isWider !== true)
          differences.push(
            `${isDerived ? 'only the grammar' : 'only the codec'}: ${JSON.stringify(Buffer.from(sentence).toString('latin1'))}`,
          );
      }
    }
    t.same(differences.sort((a, b) => a.length - b.length).slice(0, 5), []);
    t.ok(counts.alike > 0.9 * counts.all, `${counts.alike} of ${counts.all} judged alike`);
    t.ok(
      counts.accepted > 100 && counts.rejected > 100,
      `${counts.accepted} accepted, ${counts.rejected} rejected`,
    );
  });
