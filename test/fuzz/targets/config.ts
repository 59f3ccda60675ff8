// Configuration files and patterns.
import {
  mergeBrokerQueryConfig,
  parseBrokerQueryCf,
  parseBrokersCf,
} from '../../../protocols/config/broker-query-cf.js';
import {
  decideAccess,
  filePaths,
  parseAddress,
  parseAddressRange,
  parseBrokerConf,
  parseCollectionConf,
  parseEnumeratedNode,
  parseEssenceOptions,
  parseFilter,
  parseGatherdConf,
  parseGathererConf,
  parseRefererConf,
  parseSecrets,
} from '../../../protocols/config/index.js';
import { ValueError } from '../../../protocols/config/values.js';
import {
  compilePattern,
  finiteLanguage,
  formatEre,
  listSpellings,
  parseEre,
} from '../../../protocols/patterns/index.js';
import type { Random } from '../../helpers/random.js';
import { allowed, assert, bytesOf, type FuzzTarget, latin1 } from '../target.js';

/** A target that parses text. */
function parser(seeds: readonly string[], parse: (text: string) => unknown): FuzzTarget {
  return {
    corpus: ['config'],
    seeds,
    generate: (random) => shuffledLines(random, seeds),
    run: (input) => {
      allowed(
        () => parse(latin1(input)),
        (error) => error instanceof ValueError,
      );
    },
  };
}

function shuffledLines(random: Random, texts: readonly string[]): Uint8Array {
  const lines = texts.flatMap((text) => text.split('\n'));
  return bytesOf(random.list(12, () => random.pick(lines)).join('\n'));
}

export const gathererConf = parser(
  [
    'Gatherer-Name: x\nGatherer-Port: 8500\nTop-Directory: /x\nHTTP-Basic-Auth: r u p\nFTP-Auth: h u p\nLocal-Mapping: http://h/ /d/\nAccess-Delay: 2\nRefresh-Rate: 1w\n<RootNodes>\nhttp://h/ URL=5,f Host=2 Search=Breadth Depth=3 Access=HTTP|FTP Delay=3 Enumeration=p\n</RootNodes>\n<LeafNodes>\nhttp://h/a\n</LeafNodes>\n',
  ],
  (text) => {
    const { config } = parseGathererConf(text, 'g/x.cf', { HOME: '/h' });
    filePaths(config, 'x');
  },
);
export const secrets = parser(['HTTP-Basic-Auth: realm user pw\nFTP-Auth: h u p\n'], (text) => {
  parseSecrets(text, 's', {});
  parseEssenceOptions(text);
  parseEnumeratedNode(text, { file: 'f', line: 1 });
});
export const gatherdConf = parser(['Allow: all\nDeny: 10.0.0.0/8 *.example\nAllow: a.b.c\n'], (text) => {
  const access = parseGatherdConf(text, 'gatherd.cf');
  access.decide('a.example', '10.1.2.3');
  access.decide(undefined, '::1');
  for (const word of text.split(/\s+/, 20)) {
    parseAddress(word);
    parseAddressRange(word);
  }
  decideAccess([{ allow: true, names: text.split(' ', 20) }], 'h', '1.2.3.4');
});
export const brokerConf = parser(
  [
    'Broker-Name: x\nport 8501\nCollection-Interval: 3600\nMaxResult: 200\nGlimpse-Server on\nURLCleanRate 5\n',
  ],
  (text) => parseBrokerConf(text, 'broker.conf'),
);
export const collectionConf = parser(
  ['localhost 8500 1 2\nh 8501 4 --QUERY a AND b --FLAGS #since 5\n# x\nh 1 99\n'],
  (text) => parseCollectionConf(text, 'Collection.conf'),
);
export const brokerQueryCf = parser(
  ['<Printing>\n<H1>$x</H1> %d %s\n</Printing>\nBeginPrint: <$URL|F>\nObject: %-5d\n'],
  (text) => {
    const { config } = parseBrokerQueryCf(text, 'BrokerQuery.cf');
    mergeBrokerQueryConfig(config, config);
    parseBrokersCf(text, 'Brokers.cf');
  },
);
export const refererConf = parser(
  ['port = 23\nrootdir = /x\nprogname = refererd\nmaxclients = 5\n'],
  (text) => parseRefererConf(text, 'referer.cf', { progname: 'refererd' }),
);
export const filters = parser(
  ['Allow ^http://a.*\nDeny \\.gif$\nAllow .*\nDeny [a-z]{2,5}(x|y)+\n'],
  (text) => parseFilter(text, 'x.filter').allows('http://a/b.gif', 'x'),
);

export const patterns: FuzzTarget = {
  seeds: ['^a.*b$', '(x|y)+[^a-z]{2,5}?', '[[:alpha:]]\\.', '\\(a\\)', '\\<w\\>', '[]a-]'],
  generate: (random) =>
    bytesOf(
      random
        .list(10, () =>
          random.pick('a ( ) [ ] [^ * + ? {2,3} { | . ^ $ \\ [:alpha:] a-z \\< \xe9'.split(' ')),
        )
        .join(''),
    ),
  run: (input) => {
    const source = latin1(input);
    allowed(() => {
      const node = parseEre(source);
      formatEre(node);
      listSpellings(node);
      finiteLanguage(node, 50);
      const pattern = compilePattern(source, { ignoreCase: input.length % 2 === 0 });
      const subject = `${source} aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab http://h.example/x`;
      const found = pattern.test(subject);
      const part = pattern.extract(subject);
      assert(found || part === undefined || part === '', 'nothing is extracted where nothing matches');
    });
  },
};
