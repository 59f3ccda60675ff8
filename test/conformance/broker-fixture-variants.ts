// Brokers with the fixture that differ from the kit's own in what the rules leave free: they pass every case.
import { objectMutant } from './broker-fixture-builders.js';
import { type BrokerChange, objectsOf } from './broker-link.js';
import { allowed, type Variant } from './mutant.js';

type BrokerVariant = Variant<BrokerChange>;

/** A Broker whose engine does not support queries that match. */
const lacking = (name: string, pattern: RegExp, skips: readonly string[]): BrokerVariant => ({
  name: `${name} are not supported`,
  rule: 'BRK-2.19',
  change: {
    reply: (reply, message) =>
      pattern.test(message) ? '111 - ERROR: the engine does not support this\n' : reply,
  },
  skips,
});

/** An object that is not of the fixture. */
const OTHER =
  '120 - http://other.example/\n125 - http://b.example/OBJ99\n126 - http://b.example/\n130 - object end\n';

const ATTRIBUTES = ['fixture/value*', 'fixture/times', 'fixture/since', 'fixture/less-than-times'];

export const BROKER_FIXTURE_VARIANTS: readonly BrokerVariant[] = [
  ...allowed<BrokerChange>('BRK-4', {
    'objects come in another order, with the fixture': {
      reply: (reply) => objectsOf(reply).toReversed().join(''),
    },
    'a version line is before each object': {
      reply: (reply) =>
        objectsOf(reply)
          .map((group) => `200 - HARVEST Broker 1.0\n${group}`)
          .join(''),
    },
    'a notice precedes each result': {
      reply: (reply, message) =>
        /insenstive|insensitive #END fxEbony/.test(message) ? reply : `101 - welcome\n${reply}`,
    },
    'an error that does not end the results comes first': {
      reply: (reply) => `103 - ERROR: one index is old\n${reply}`,
    },
    'other objects have the word, too': {
      reply: (reply, message) => (/#END (?:fixture|gatherer|not )/.test(message) ? OTHER + reply : reply),
    },
  }),
  {
    name: '#opaque shows matched lines',
    rule: 'BRK-3.2',
    change: {
      message: (text) =>
        text.includes('#opaque') ? text.replace(/#opaque ?/, '') : text.replace(/^#USER/, '#USER #opaque'),
    },
  },
  {
    name: '#attribute is not known, with the fixture',
    rule: 'BRK-4.6',
    change: { message: (text) => text.replace(/#attribute/g, '#zzyzx') },
    skips: [...ATTRIBUTES, 'fixture/*attribute*', 'fixture/missing'],
  },
  {
    name: 'maxfiles is not known',
    rule: 'BRK-8.11',
    change: { message: (text) => text.replace(/#index maxfiles/, '#zzyzx') },
    skips: ['fixture/maxfiles'],
  },
  {
    name: 'Update-Times ahead of the clock are replaced',
    rule: 'GATHERD-13.10',
    change: {
      item: ({ code, text }) =>
        code === '127' ? text.replace(/^(127 - Update-Time) \d+\n\d+\n$/, '$1 10\n1767225600\n') : text,
    },
    skips: ['fixture/times', 'fixture/since', 'fixture/less-than-times'],
  },
  {
    name: 'a value of no bytes is sent',
    rule: 'SOIF-3.2',
    change: objectMutant(
      '',
      '',
      (objects, message) =>
        objects.map((object) =>
          message.includes('#attribute Keywords') &&
          object.startsWith('120 - http://fixture.example/values/empty\n')
            ? object.replace('130 - ', '127 - Keywords 0\n\n130 - ')
            : object,
        ),
      [],
    ).change,
  },
  lacking('spelling errors', /#index error [1-9]/, ['fixture/error*']),
  lacking('tags', / ?: ?|"\w+=/, [
    'fixture/tag*',
    'fixture/exact-url',
    'fixture/error-flags',
    'fixture/matched-lines',
    'fixture/url*',

    'fixture/parts',
    'fixture/bytes',
  ]),
  lacking('select operators', / (?:exact|regexp|less-than|greater-than) /, [
    'fixture/exact*',
    'fixture/regexp',
    'fixture/less-than*',
  ]),
  lacking('phrases', /#END.*"[^"]* [^"]*"/, ['fixture/*']),
  lacking('negations', /#END.*\b(?:not|except) /, [
    'fixture/*not*',
    'fixture/except*',
    'fixture/side-by-side',
    'fixture/tag-group-not',
    'fixture/quoted-operator',
    'fixture/matched-lines',
  ]),
  lacking('pattern characters', /#END.*(?:[.#^$|*]|\[)/, [
    'fixture/patterns',
    'fixture/literal',
    'fixture/*',
  ]),
];
