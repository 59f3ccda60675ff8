// The verdicts of the vectors beside the grammars: valid ones are sentences, and others are not, but for what a grammar
// cannot express.
import { join } from 'node:path';
import t from 'tap';
import { parseSpecification } from '../../../protocols/specification/index.js';
import { textOf } from '../../architecture/sources.js';
import { bytesOfVector, readVectors } from '../vectors/vector-file.js';
import { Grammar } from './grammar.js';

interface Row {
  readonly folder: string;
  readonly kind: string;
  readonly rule: string;
  /** Rules that the grammar does not express; the document says so, or the rule is about what a reply means. */
  readonly beyond: readonly string[];
}

const ROWS: readonly Row[] = [
  { folder: 'protocols/soif', kind: 'soif-stream', rule: 'soif-stream', beyond: ['SOIF-4.4'] },
  // A refusal is a reply, but no update.
  { folder: 'protocols/gatherd', kind: 'clear-update', rule: 'update-reply', beyond: ['GATHERD-3.9'] },
  {
    folder: 'protocols/broker',
    kind: 'broker-message',
    rule: 'message',
    beyond: ['BRK-2.3', 'BRK-2.8', 'BRK-2.23', 'BRK-3.6', 'BRK-5.5'],
  },
  { folder: 'protocols/broker', kind: 'fixture-query', rule: 'message', beyond: ['BRK-2.3', 'BRK-2.23'] },
  { folder: 'protocols/bulk', kind: 'bulk-shipped', rule: 'bulk-reply', beyond: ['BT-9', 'BT-10'] },
  {
    folder: 'protocols/bulk',
    kind: 'bulk-interface-2',
    rule: 'interface-2-reply',
    beyond: ['BP-11', 'BP-16', 'BP-19', 'BP-21', 'BP-22', 'BP-23', 'BP-28', 'SOIF-4.3', 'SOIF-8.9'],
  },
  {
    folder: 'protocols/registry',
    kind: 'registry-file',
    rule: 'registry',
    beyond: ['REG-6', 'REG-9', 'REG-11', 'REG-15', 'REG-21', 'REG-29'],
  },
  { folder: 'protocols/config', kind: 'filter-file', rule: 'filter-file', beyond: ['G-43'] },
  { folder: 'protocols/sstp', kind: 'sstp-request', rule: 'message', beyond: ['S-33', 'S-37', 'S-46'] },
];

for (const { folder, kind, rule, beyond } of ROWS)
  t.test(`${kind}: ${rule} derives what is valid`, async (t) => {
    const { grammar: blocks } = parseSpecification(textOf(join(folder, 'specification.md')));
    const grammar = new Grammar(blocks);
    let others = 0;
    for (const vector of readVectors(`${folder}/vectors/${kind}.json`).vectors) {
      const isDerived = grammar.derives(rule, bytesOfVector(vector));
      if (vector.verdict === 'valid') t.ok(isDerived, vector.name);
      else if (!isDerived) others++;
      else t.ok(beyond.includes(vector.rule ?? ''), `${vector.name}: breaks ${vector.rule}`);
    }
    t.ok(others > 0, `${others} others are no sentences`);
  });
