// The ABNF of the specifications is complete, and judges sentences as the codecs do: thousands that it derives, and
// mutants of them.
import { join } from 'node:path';
import t from 'tap';
import { parseSpecification, SPECIFICATIONS } from '../../../protocols/specification/index.js';
import { textOf } from '../../architecture/sources.js';
import { Random } from '../../helpers/random.js';
import { byTier, SEED } from '../../helpers/seed.js';
import { CONFIGURATION_PAIRS } from './configuration-pairs.js';
import { Grammar, mutate } from './grammar.js';
import { PROTOCOL_PAIRS } from './protocol-pairs.js';
import { WRITERS } from './writers.js';

const grammars = new Map(
  SPECIFICATIONS.map(({ folder }) => {
    const { grammar } = parseSpecification(textOf(join(folder, 'specification.md')));
    return [folder, grammar] as const;
  }).filter(([, grammar]) => grammar.length > 0),
);

/** Long sentences show nothing that short ones do not, and cost much more. */
const MAX_SENTENCE = 300;

function shortSentence(grammar: Grammar, rule: string, random: Random): Uint8Array {
  for (;;) {
    const sentence = grammar.sentence(rule, random);
    if (sentence.length <= MAX_SENTENCE) return sentence;
  }
}

for (const [folder, blocks] of grammars)
  t.test(`${folder}: every rule of the grammar is defined`, async (t) => {
    t.doesNotThrow(() => new Grammar(blocks));
  });

for (const { folder, rule, refusal, seeds, beyond = [], isLoose = false, isCompared } of [
  ...PROTOCOL_PAIRS,
  ...CONFIGURATION_PAIRS,
])
  t.test(`${folder}: ${rule} and the codec judge alike`, async (t) => {
    const grammar = new Grammar(grammars.get(folder) ?? []);
    const random = new Random(SEED);
    const known = seeds?.() ?? [];
    for (const [index, seed] of known.entries()) t.ok(grammar.derives(rule, seed), `seed ${index}`);
    const counts = { accepted: 0, rejected: 0, beyond: 0, all: 0 };
    const differences: string[] = [];
    for (let i = 0; i < byTier(500, 4000); i++) {
      const derived = known[random.below(known.length)] ?? shortSentence(grammar, rule, random);
      for (const sentence of [derived, mutate(derived, random)]) {
        if (isCompared?.(Buffer.from(sentence).toString('latin1')) === false) continue;
        const reason = refusal(sentence);
        const isDerived = grammar.derives(rule, sentence);
        counts.all++;
        counts[reason === undefined ? 'accepted' : 'rejected']++;
        if ((reason === undefined) === isDerived) continue;
        if (isDerived && (beyond === 'any' || beyond.includes(reason ?? ''))) counts.beyond++;
        else if (isDerived || !isLoose)
          differences.push(
            `${isDerived ? `only the grammar (${reason})` : 'only the codec'}: ${JSON.stringify(Buffer.from(sentence).toString('latin1'))}`,
          );
      }
    }
    t.same(differences.sort((a, b) => a.length - b.length).slice(0, 5), []);
    t.ok(counts.beyond < 0.25 * counts.all, `${counts.beyond} of ${counts.all} beyond the grammar`);
    const some = 0.03 * counts.all;
    t.ok(
      counts.accepted > some && (isLoose || counts.rejected > some),
      `${counts.accepted} accepted, ${counts.rejected} rejected`,
    );
  });

for (const { folder, rule, write } of WRITERS)
  t.test(`${folder}: the grammar derives every ${rule} that is written`, async (t) => {
    const grammar = new Grammar(grammars.get(folder) ?? []);
    const random = new Random(SEED);
    const strange: string[] = [];
    for (let i = 0; i < byTier(200, 1000); i++) {
      const sentence = write(random);
      if (!grammar.derives(rule, sentence))
        strange.push(JSON.stringify(Buffer.from(sentence).toString('latin1')));
    }
    t.same(strange.sort((a, b) => a.length - b.length).slice(0, 5), []);
  });
