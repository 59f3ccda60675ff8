// The grammars of configuration files beside their parsers.
import {
  parseBrokerConf,
  parseCollectionConf,
  parseEnumeratedNode,
  parseFilter,
  parseGatherdConf,
  parseGathererConf,
  parseRefererConf,
} from '../../../protocols/config/index.js';
import { UsageError } from '../../../protocols/errors.js';
import {
  parseQuickRules,
  parseTypeList,
  parseTypeRules,
} from '../../../servers/essence/recognition/type-rules.js';
import { parsePostRules } from '../../../servers/essence/rules/parse.js';
import { parseExtractionTable } from '../../../servers/essence/sgml/table.js';
import { type Pair, ruleOf } from './pair.js';

/** As {@link ruleOf}, with a name for each of the messages of a configuration file. */
const named =
  (read: (text: string) => unknown, names: Readonly<Record<string, RegExp>> = {}) =>
  (sentence: Uint8Array): string | undefined => {
    const message = ruleOf(() => read(Buffer.from(sentence).toString()));
    const found = Object.keys(names).find((name) => names[name]?.test(message ?? ''));
    return message === undefined ? undefined : (found ?? message);
  };

const EXPRESSION = { 'E-9': /the expression|E-9/ };

export const CONFIGURATION_PAIRS: readonly Pair[] = [
  {
    folder: 'protocols/sstp',
    rule: 'conf-file',
    refusal: named((text) => {
      const { warnings } = parseRefererConf(text, 'referer.cf', { progname: 'refererd' });
      const [first] = warnings.filter(({ problem }) => problem.startsWith('skipped'));
      if (first !== undefined) throw first;
    }),
  },
  {
    folder: 'protocols/config',
    rule: 'filter-file',
    beyond: ['G-43'],
    refusal: named((text) => parseFilter(text, 'filter'), { 'G-43': /the expression/ }),
  },
  {
    folder: 'protocols/config',
    rule: 'gatherer-conf',
    beyond: ['G-53', 'G-55', 'given twice', 'too large'],
    isCompared: (sentence) => /\n$/.test(sentence) && !/\\\s*\n/.test(sentence),
    refusal: named(
      (text) => {
        const { warnings } = parseGathererConf(`Gatherer-Name: x\n${text}`, 'gatherer.cf');
        const [first] = warnings.filter(({ problem }) => problem !== 'unknown variable');
        if (first !== undefined) throw first;
      },
      {
        'G-53': /is not a keyword|only modifiers|a program must follow|needs a/,
        'G-55': /is not a URL/,
        'given twice': /is given twice/,
        'too large': /must be/,
      },
    ),
  },
  {
    folder: 'protocols/config',
    rule: 'enumerated-node',
    seeds: () =>
      [
        'http://a.example/ 250 /dev/null 1 /dev/null HTTP|FTP 1 2 /bin/false\n',
        ' ftp://a.example/x\t007 f 20 g news 0.5 0 again \n',
      ].map((line) => Buffer.from(line)),
    beyond: ['G-55', 'too large'],
    refusal: named(
      (text) => {
        if (!/^[^\n]*\n$/.test(text)) throw new UsageError('not one line');
        parseEnumeratedNode(text.slice(0, -1), { file: 'program', line: 1 });
      },
      { 'G-55': /is not a URL/, 'too large': /must be a whole number|must be .* to/ },
    ),
  },
  {
    folder: 'protocols/broker',
    rule: 'broker-conf',
    refusal: named((text) => parseBrokerConf(text, '/b/admin/broker.conf')),
  },
  {
    folder: 'protocols/broker',
    rule: 'collection-conf',
    beyond: ['port', 'BRK-7.6'],
    refusal: named(
      (text) => {
        const { warnings } = parseCollectionConf(text, 'Collection.conf');
        const [first] = warnings.filter(({ problem }) => problem.startsWith('skipped'));
        if (first !== undefined) throw first;
      },
      { port: /from 1 to 65535/, 'BRK-7.6': /--FLAGS|--QUERY/ },
    ),
  },
  {
    folder: 'protocols/gatherd',
    rule: 'gatherd-cf',
    refusal: named((text) => {
      const [first] = parseGatherdConf(text, 'gatherd.cf').warnings.filter(
        ({ problem }) => !problem.includes('no peer matches'),
      );
      if (first !== undefined) throw first;
    }),
  },
  {
    folder: 'servers/essence',
    rule: 'type-rules',
    beyond: ['E-9'],
    refusal: named((text) => parseTypeRules(text, 'byname.cf'), EXPRESSION),
  },
  {
    folder: 'servers/essence',
    rule: 'stoplist-cf',
    refusal: named((text) => parseTypeList(text, 'stoplist.cf')),
  },
  {
    folder: 'servers/essence',
    rule: 'quick-sum-cf',
    beyond: ['E-9'],
    refusal: named((text) => parseQuickRules(text, 'quick-sum.cf'), EXPRESSION),
  },
  {
    folder: 'servers/essence',
    rule: 'extraction-table',
    refusal: named((text) => parseExtractionTable(text, 'HTML.sum')),
  },
  {
    folder: 'servers/essence',
    rule: 'rules-file',
    beyond: ['E-9', 'E-128'],
    refusal: named((text) => parsePostRules(text, 'rules'), {
      'E-9': /: the expression/,
      'E-128': /a program is expected/,
    }),
  },
];
