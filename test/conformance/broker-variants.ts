// Brokers that differ from the kit's own in what the rules leave free: they pass every case.
import { type BrokerChange, objectsOf } from './broker-link.js';
import { allowed, type Variant } from './mutant.js';

type BrokerVariant = Variant<BrokerChange>;

const inReply = (
  name: string,
  rule: string,
  edit: (reply: string, message: string) => string,
  skips?: readonly string[],
): BrokerVariant => ({
  name,
  rule,
  change: { reply: edit },
  skips,
});

export const BROKER_VARIANTS: readonly BrokerVariant[] = [
  ...allowed<BrokerChange>('BRK-1.4', {
    'the greeting has another text': { greeting: () => '200 - this is a BROKER of 1994, 111 - ERROR\n' },
    'the greeting ends in a blank': { greeting: () => '200 - Broker \n' },
  }),
  inReply('a version line is repeated', 'BRK-1.5', (reply) =>
    reply.replaceAll('120 - ', '200 - HARVEST Broker 1.0\n120 - '),
  ),
  inReply('a version line ends the reply', 'BRK-1.5', (reply) => `${reply}200 - HARVEST Broker 1.0\n`),
  inReply(
    'a notice precedes the results',
    'BRK-4.1',
    (reply, message) => (/^#user/i.test(message) ? `101 - welcome\n${reply}` : reply),
    ['flags/*'],
  ),
  inReply('notices have another text', 'BRK-4.18', (reply) =>
    reply.replace(/^101 - No objects.*$/gm, '101 - 111 - nothing'),
  ),
  inReply('refusals have another text', 'BRK-4.18', (reply, message) =>
    /^#admin/i.test(message) ? reply : reply.replace(/^111 - .*$/gm, '111 - syntax ERROR'),
  ),
  inReply('refusals of commands have another text', 'BRK-5.2', (reply, message) =>
    /^#admin/i.test(message) ? reply.replace(/^111 - .*$/gm, '111 - ERROR') : reply,
  ),
  inReply('a notice precedes a refusal', 'BRK-4.13', (reply) =>
    reply.replace(/^111 - /gm, '101 - hm\n111 - '),
  ),
  inReply('an error that does not end the results precedes them', 'BRK-4.13', (reply, message) =>
    /^#user/i.test(message) ? `103 - ERROR: one index is missing\n${reply}` : reply,
  ),
  inReply('objects come in another order', 'BRK-4.12', (reply) => objectsOf(reply).toReversed().join('')),
  inReply('the home page is another', 'BRK-4.11', (reply) =>
    reply.replace(/^126 - .*$/gm, '126 - https://other.example.org'),
  ),
  inReply('summaries are elsewhere', 'BRK-4.10', (reply) =>
    reply.replace(/^125 - .*(\/OBJ\d+)$/gm, '125 - https://other.example.org/brokers/x/objects$1'),
  ),
  inReply('matched lines are not sent', 'BRK-4.7', (reply) => reply.replace(/^122 - .*\n/gm, ''), [
    'flags/opaque',
    'reply/matched-line',
  ]),
  {
    name: '#opaque shows matched lines, without the fixture',
    rule: 'BRK-3.2',
    change: {
      message: (text) =>
        /#opaque/i.test(text) ? text.replace(/#opaque ?/i, '') : text.replace(/^#user/i, '#USER #opaque'),
    },
    skips: ['reply/matched-line'],
  },
  {
    name: 'spelling errors are not supported',
    rule: 'BRK-2.19',
    change: {
      reply: (reply, message) =>
        /#index error [1-9]/.test(message) ? '111 - ERROR: no spelling errors\n' : reply,
    },
    skips: ['flags/errors'],
  },
  {
    name: 'select operators are not supported',
    rule: 'BRK-2.19',
    change: {
      reply: (reply, message) =>
        / (?:exact|regexp|less-than|greater-than) /.test(message) ? '111 - ERROR: not supported\n' : reply,
    },
    skips: ['query/exact', 'query/regexp', 'query/less-than'],
  },
  {
    name: 'except is not supported',
    rule: 'BRK-2.19',
    change: {
      reply: (reply, message) => (/ except /.test(message) ? '111 - ERROR: not supported\n' : reply),
    },
    skips: ['query/except', 'query/except-groups-right'],
  },
  {
    name: '#attribute is not known',
    rule: 'BRK-4.6',
    change: { message: (text) => text.replace(/#attribute/g, '#zzyzx') },
    skips: ['attribute/*', 'flags/attribute-limit', 'reply/desc-sent'],
  },
  ...allowed<BrokerChange>('BRK-5.4', {
    'the answer to a command is longer': {
      reply: (reply, message) =>
        /open sesame/.test(message) ? reply.replace(/^101 - /gm, '101 - more\n101 - ') : reply,
    },
  }),
];
