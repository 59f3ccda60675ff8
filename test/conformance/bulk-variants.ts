// Brokers whose bulk transfers differ from the kit's own in what the rules leave free.
import type { BrokerChange } from './broker-link.js';
import { inReply } from './bulk-replies.js';
import { allowed, type Variant } from './mutant.js';

type BulkVariant = Variant<BrokerChange>;

const data = (name: string, rule: string, edit: (object: string) => string): BulkVariant => ({
  name,
  rule,
  change: { reply: (reply) => inReply(reply, (objects) => objects.map(edit)) },
});

export const BULK_VARIANTS: readonly BulkVariant[] = [
  ...allowed<BrokerChange>('BT-9', {
    'the greeting has another text': { greeting: () => '200 - a broker of 1995\n' },
  }),
  ...allowed<BrokerChange>('BT-10', {
    '000 has another text': { reply: (reply) => reply.replace(/^000 - .*/, '000 - 400 - ERROR: none') },
    '400 has another text': { reply: (reply) => reply.replace(/^400 - .*/, '400 - ERROR') },
  }),
  ...allowed<BrokerChange>('BRK-1.5', {
    'a version line is repeated': { reply: (reply) => reply.replace(/^(?=[04]00 - )/, '200 - Broker\n') },
  }),
  data('attributes come in another order', 'BT-16', (object) =>
    object.replace(/(?<=\n)(Gatherer-\w+\{.*\n)(Gatherer-\w+\{.*\n)/, '$2$1'),
  ),
  data('names of attributes are in lower case', 'BT-16', (object) =>
    object.replace(/(?<=\n)(?:Gatherer-\w+|Update-Time)(?=\{)/g, (name) => name.toLowerCase()),
  ),
  data('the template type is another', 'BT-16', (object) => object.replace('@FILE', '@DOCUMENT')),
  data('objects have more attributes', 'BT-21', (object) => object.replace('\n', '\nComment{2}:\thi\n')),
  {
    name: '#interface 2 is not known',
    rule: 'BP-29',
    change: {
      reply: (reply, message) => (/#interface/.test(message) ? '400 - ERROR: unknown flag\n' : reply),
    },
    skips: ['proposed/*'],
  },
  {
    name: 'a compressed Body is not known',
    rule: 'BP-16',
    change: { message: (text) => text.replace(' #compress', '') },
    skips: ['proposed/compressed'],
  },
  ...allowed<BrokerChange>('BP-11', {
    'a minor version of 7': { reply: (reply) => reply.replace(/^(200 - \0\0\0\x01\0\0\0)\0/, '$1\x07') },
  }),
  ...allowed<BrokerChange>('BP-12', {
    'a Header of more fields': {
      reply: (reply, message) =>
        /#interface 2/.test(message)
          ? reply.replace(/^(200 - [\s\S]{8}.*\n)/, '$1141 - gatherer.example.org 8500 3\n101 - welcome\n')
          : reply,
    },
  }),
];
