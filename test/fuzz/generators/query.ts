// Broker messages and queries: every construct of the grammar, nested.
import type { Random } from '../../helpers/random.js';
import { bytesOf, wordsIn } from '../target.js';

const WORDS = wordsIn('harvest|a|AND|or|NOT|web-site|"two words"|"a\\"b"|"|x*|.*|1|é');
const NAMES = ['Title', 'Author', 'URL', 'keywords', 'type', 'body', '-'];

export function queryText(random: Random, depth = 0): string {
  if (depth > 4 || random.once(3)) return random.pick(WORDS);
  switch (random.below(6)) {
    case 0:
      return `(${queryText(random, depth + 1)})`;
    case 1:
      return `${queryText(random, depth + 1)} ${random.pick(['AND', 'OR', 'and', 'or', ''])} ${queryText(random, depth + 1)}`;
    case 2:
      return `NOT ${queryText(random, depth + 1)}`;
    case 3:
      return `${random.pick(NAMES)} : ${queryText(random, depth + 1)}`;
    case 4:
      return `${random.pick(NAMES)}:${random.pick(WORDS)}`;
    default:
      return `${queryText(random, depth + 1)}${random.pick([' ', '', ')', '(', ':'])}`;
  }
}

const FLAGS = wordsIn(
  '#index maxresult 10|#index case insensitive|#index error 1|#index matchword|#index matchline|' +
    '#opaque|#desc|#attribute title|#since 86400|#lifetime 10|#interface 2|#digest 0a|#compress|' +
    '#timeout 5|#|#x y',
);
const ADMIN = wordsIn(
  'collect|close-log|open-log|start-clean|compress-registry|delete-object-oid 1|rem-object-query a|' +
    'restart-server|shutdown-server|set x y|open-log /x',
);

export function brokerMessage(random: Random): Uint8Array {
  const flags = random.list(4, () => random.pick(FLAGS)).join(' ');
  switch (random.below(8)) {
    case 0:
      return bytesOf(`#ADMIN #Password ${random.pick(['x', '"x y"', ''])} #${random.pick(ADMIN)}`);
    case 1:
      return bytesOf(`#BULK ${flags} #END ${random.once(2) ? '#ALLB' : queryText(random)}`);
    case 2:
      return bytesOf(`${random.pick(['#STATUS', '#NOP', '#INFO', '#USER', ''])} ${flags}`);
    default:
      return bytesOf(`#USER ${flags} #END ${queryText(random)}`);
  }
}
