// Cases about the replies that a client of the Broker must understand (BRK section 4).
import { checkReportsFailure, GREETING, type SentText } from '../broker-bench.js';
import { check, NotApplicable } from '../case.js';
import { printable } from '../printable.js';
import type { Behavior, ClientCase } from './bench.js';
import {
  attribute,
  description,
  END,
  full,
  fullTexts,
  head,
  type Kind,
  matchedLine,
  type Requested,
  urlOf,
} from './replies.js';

const TWO = (requested: Requested) => full('otter', requested) + full('heron', requested);
const TWO_TEXTS = fullTexts('otter', 'heron');
const LARGE = `first${' large'.repeat(50_000)} last`;
/** Values that a client that reads lines instead of counting bytes mistakes for the rest of a reply. */
const TRAPS: readonly (readonly [id: string, bytes: string])[] = [
  ['object-end', '130 - object end\n'],
  ['match', '120 - http://trap.example.org/\n'],
  ['fatal', '111 - ERROR: trap\n'],
  ['count', '124 - 9999\n'],
];

/** The replies that a client must understand: section 4. */
export const replyCases: readonly ClientCase[] = [
  readsCase(
    'version/repeated',
    'ignores 200 lines wherever they are',
    ['BRK-1.5'],
    'S',
    'MUST',
    (requested) => {
      const version = GREETING;
      const object = `${head('otter')}${version}${description(requested, 'otterdesc')}${version}${attribute(requested, 'otterattr')}${version}${matchedLine('otterline')}${version}${END}`;
      return version.repeat(3) + object + version + full('heron', requested) + version;
    },
  ),
  readsCase(
    'version/other-text',
    'accepts any text in the first line',
    ['BRK-1.4'],
    'RC',
    'MUST',
    TWO,
    TWO_TEXTS,
    {
      greeting: '200 - Broker of a stranger, version 1.4pl2, ready\n',
    },
  ),
  readsCase(
    'codes/unknown',
    'skips unknown codes',
    ['BRK-4.17'],
    'inferred: RC',
    'MUST',
    (requested) =>
      `145 - what\n${head('otter')}999 - is\n${description(requested, 'otterdesc')}${attribute(requested, 'otterattr')}138 - this\n${matchedLine('otterline')}${END}101 - notice\n${full('heron', requested)}`,
  ),
  readsCase(
    'lines/unparsable',
    'skips lines that it cannot parse',
    ['BRK-4.17'],
    'inferred: RC',
    'MUST',
    (requested) =>
      `what\n\n${head('otter')}12 - is\n${description(requested, 'otterdesc')}${attribute(requested, 'otterattr')} \n${matchedLine('otterline')}${END}-\n${full('heron', requested)}`,
  ),
  readsCase(
    'lines/crlf',
    'reads lines that end in CR LF',
    ['BRK-1.9'],
    'project choice',
    'SHOULD',
    (requested) => TWO(requested).replaceAll('\n', '\r\n'),
  ),
  {
    id: 'lines/no-cr',
    title: 'a CR is not part of a URL',
    rules: ['BRK-1.9'],
    source: 'project choice',
    level: 'SHOULD',
    async run(context) {
      const { output } = await context.bench.observe(
        { reply: (requested) => TWO(requested).replaceAll('\n', '\r\n') },
        context,
      );
      const url = urlOf('otter');
      const [kept] = [`${url}\r`, `${url}\\r`, `${url}%0D`].filter((text) => output.includes(text));
      check(kept === undefined, 'the URL has a CR', { expected: url, received: printable(kept ?? '') });
    },
  },
  readsCase(
    'lines/last-without-lf',
    'accepts a last line without its LF',
    ['BRK-4.12'],
    'project choice',
    'SHOULD',
    (requested) => TWO(requested).slice(0, -1),
  ),
  readsCase(
    'delivery/bytes',
    'reads a reply that arrives one byte per segment',
    ['BRK-4.4'],
    'RC',
    'MUST',
    TWO,
    TWO_TEXTS,
    { delivery: 'bytes' },
  ),
  readsCase(
    'delivery/slow',
    'reads a reply that arrives in pieces with pauses',
    ['BRK-4.4'],
    'RC',
    'MUST',
    TWO,
    TWO_TEXTS,
    { delivery: 'slow' },
  ),
  readsCase(
    'order/home-page',
    'accepts 126 and 125 anywhere',
    ['BRK-4.11', 'BRK-4.3'],
    'S; RC',
    'MUST',
    (requested) => {
      const page = '126 - http://broker.example.org/\n';
      const summary = '125 - http://broker.example.org/objects/OBJ1\n';
      return `${page}120 - ${urlOf('otter')}\n${description(requested, 'otterdesc')}${page}${attribute(requested, 'otterattr')}${matchedLine('otterline')}${summary}${END}${page}${full('heron', requested)}${page}`;
    },
  ),
  readsCase(
    'order/any',
    'accepts the items of an object in any order',
    ['BRK-4.3'],
    'inferred: RC',
    'MUST',
    (requested) =>
      `120 - ${urlOf('otter')}\n${matchedLine('otterline')}${attribute(requested, 'otterattr')}126 - http://b.example.org/\n${description(requested, 'otterdesc')}${END}${full('heron', requested)}`,
  ),
  readsCase(
    'order/bare',
    'accepts an object that is only 120 and 130',
    ['BRK-4.3'],
    'RC',
    'MUST',
    (requested) => `120 - ${urlOf('stork')}\n${END}${full('otter', requested)}`,
    [{ kind: 'url', text: urlOf('stork') }, ...fullTexts('otter')],
  ),
  ...countedCases('desc', 'description', description, ['BRK-4.4'], 'S; RC'),
  ...countedCases('attribute', 'attribute', attribute, ['BRK-4.6', 'BRK-4.4'], 'RC'),
  readsCase(
    'line/other-form',
    'shows matched lines and scores of any form',
    ['BRK-4.7', 'BRK-4.9'],
    'S; M1.4',
    'MUST',
    () =>
      `${head('otter')}122 - ottersay\n122 - Score: 9, Rank: otterrank\n122 - Matched line: title# title{9}:\tottertab\n${END}`,
    [
      { kind: 'url', text: urlOf('otter') },
      ...['ottersay', 'otterrank', 'ottertab'].map((text) => ({ kind: 'line' as const, text })),
    ],
    {},
    'line',
  ),
  readsCase(
    'error/103',
    'continues after 103',
    ['BRK-4.13'],
    'S',
    'MUST',
    (requested) =>
      `103 - ERROR: something small\n${full('otter', requested)}103 - ERROR: something smaller\n${full('heron', requested)}`,
  ),
  showsMessageCase(
    'error/103-shown',
    'shows the text of a 103',
    'MUST',
    (requested) => `103 - ERROR: pelican\n${full('otter', requested)}`,
    ['BRK-4.13', 'BRK-4.14'],
    'S; RC',
  ),
  showsMessageCase(
    'error/111-shown',
    'shows the text of a 111',
    'MUST',
    () => '111 - ERROR: pelican\n',
    ['BRK-4.13', 'BRK-4.14'],
    'S; RC',
  ),
  showsMessageCase(
    'error/101-shown',
    'shows the text of a 101',
    'SHOULD',
    (requested) => `${full('otter', requested)}101 - pelican\n`,
    ['BRK-4.1'],
    'S',
  ),
  {
    id: 'error/111-after-objects',
    title: 'shows the objects before a 111',
    rules: ['BRK-4.13'],
    source: 'S',
    level: 'MUST',
    async run(context) {
      const observation = await context.bench.observe(
        { reply: (requested) => `${TWO(requested)}111 - ERROR: pelican\n` },
        context,
      );
      await context.bench.checkShowsAll(observation, TWO_TEXTS, context);
    },
  },
  failureCase('error/111-status', 'reports a failure after a 111', ['BRK-4.13'], {
    reply: () => '111 - ERROR: pelican\n',
  }),
  {
    id: 'nothing/matched',
    title: 'a reply without objects is not a connection failure: the client ends and shows no object',
    rules: ['BRK-4.12'],
    source: 'inferred: S, RC',
    level: 'MUST',
    async run(context) {
      const { status, output } = await context.bench.observe(
        { reply: () => '101 - No objects matched your query.\n' },
        context,
      );
      check(
        status !== undefined && !output.includes('http://'),
        'the client shows an object or was ended by a signal',
        {
          expected: 'no object',
          received: `exit status ${status ?? 'none'}: ${printable(output)}`,
        },
      );
    },
  },
  failureCase(
    'cut/in-object',
    'reports a failure when the reply ends within an object',
    ['BRK-4.12', 'BRK-4.3'],
    {
      reply: (requested) => full('otter', requested) + head('heron'),
    },
  ),
  failureCase(
    'cut/in-bytes',
    'reports a failure when the reply ends within counted bytes',
    ['BRK-4.12', 'BRK-4.4'],
    {
      reply: (requested) => `${full('otter', requested)}${head('heron')}124 - 500\nand then`,
    },
  ),
  failureCase('cut/reset', 'reports a failure when the connection breaks', ['BRK-4.12'], {
    reply: () => head('heron'),
    reset: true,
  }),
  failureCase('cut/nothing', 'reports a failure when the Broker closes without a reply', ['BRK-1.3'], {
    greeting: '',
    reply: () => '',
  }),
  failureCase('refused/gatherer', 'reports a failure when the peer is a Gatherer', ['BRK-1.4'], {
    greeting: '000 - HELLO 1.8 gatherer.example.org\n',
    reply: () => '900 - Unknown command\n',
  }),
  {
    id: 'cut/keeps-objects',
    title: 'shows the objects that were complete when the reply broke off',
    rules: ['BRK-4.3'],
    source: 'RC',
    level: 'MUST',
    async run(context) {
      const observation = await context.bench.observe(
        { reply: (requested) => TWO(requested) + head('stork') },
        context,
      );
      await context.bench.checkShowsAll(observation, TWO_TEXTS, context);
    },
  },
];

/**
 * Builds a case about a good reply, of which the client must not lose any text.
 * @param needs the case is skipped unless the client shows this kind of text
 */
function readsCase(
  id: string,
  title: string,
  rules: readonly string[],
  source: string,
  level: 'MUST' | 'SHOULD',
  reply: (requested: Requested) => string,
  texts: readonly SentText<Kind>[] = TWO_TEXTS,
  behavior: Omit<Behavior, 'reply'> = {},
  needs?: Kind,
): ClientCase {
  return {
    id,
    title,
    rules,
    source,
    level,
    async run(context) {
      const kinds = await context.bench.shownKinds(context);
      if (needs !== undefined && !kinds.has(needs)) {
        throw new NotApplicable(`the client shows no ${needs} of the ordinary reply`);
      }
      const observation = await context.bench.observe({ ...behavior, reply }, context);
      await context.bench.checkShowsAll(observation, texts, context);
      await context.bench.checkSucceeds(observation, context);
    },
  };
}

/** Returns the kind with its article. */
function a(kind: 'description' | 'attribute'): string {
  return kind === 'attribute' ? `an ${kind}` : `a ${kind}`;
}

/** Builds the cases about the forms of counted bytes, for `124` and `127`. */
function countedCases(
  area: string,
  kind: 'description' | 'attribute',
  item: (requested: Requested, value: string, terminator?: string) => string,
  rules: readonly string[],
  source: string,
): readonly ClientCase[] {
  const countedCase = (
    id: string,
    title: string,
    value: string,
    terminator: string,
    texts: readonly string[],
    level: 'MUST' | 'SHOULD' = 'MUST',
  ) =>
    readsCase(
      `${area}/${id}`,
      title,
      rules,
      level === 'SHOULD' ? 'project choice' : source,
      level,
      (requested) =>
        `${head('otter')}${item(requested, value, terminator)}${matchedLine('otterline')}${END}${full('heron', requested)}`,
      [
        { kind: 'url', text: urlOf('otter') },
        { kind: 'line', text: 'otterline' },
        ...texts.map((text) => ({ kind, text })),
        ...fullTexts('heron'),
      ],
      {},
      kind,
    );
  return [
    countedCase('lf', `reads ${a(kind)} with the LF after its bytes`, 'swallow', '\n', ['swallow']),
    countedCase(
      'no-lf',
      `reads ${a(kind)} without an LF after its bytes`,
      'swallow',
      '',
      ['swallow'],
      'SHOULD',
    ),
    countedCase(
      'crlf',
      `reads ${a(kind)} with CR LF after its bytes`,
      'swallow',
      '\r\n',
      ['swallow'],
      'SHOULD',
    ),
    countedCase('ends-in-lf', `reads ${a(kind)} whose last byte is an LF`, 'swallow\n', '\n', ['swallow']),
    countedCase('empty', `reads an empty ${kind}`, '', '\n', []),
    countedCase('lines', `reads ${a(kind)} of several lines`, 'swallow\n\nkingfisher\n', '\n', [
      'swallow',
      'kingfisher',
    ]),
    countedCase('binary', `reads ${a(kind)} with any bytes`, 'swallow\x00\x80\xff\r\n kingfisher', '\n', [
      'swallow',
      'kingfisher',
    ]),
    countedCase('large', `reads ${a(kind)} of 300 000 bytes`, LARGE, '\n', ['first', ' last']),
    ...TRAPS.map(([id, bytes]) =>
      countedCase(
        `holds-${id}`,
        `counts the bytes of ${a(kind)} that has a line ${bytes.slice(0, -1)}`,
        `swallow\n${bytes}kingfisher`,
        '\n',
        ['swallow', 'kingfisher'],
      ),
    ),
  ];
}

/** Builds a case in which the client must write the text of a message to standard output or standard error. */
function showsMessageCase(
  id: string,
  title: string,
  level: 'MUST' | 'SHOULD',
  reply: (requested: Requested) => string,
  rules: readonly string[],
  source: string,
): ClientCase {
  return {
    id,
    title,
    rules,
    source,
    level,
    async run(context) {
      const observation = await context.bench.observe({ reply }, context);
      const all = observation.output + observation.diagnostics;
      check(all.includes('pelican'), 'the message is not shown', {
        expected: 'pelican',
        received: printable(all),
      });
    },
  };
}

function failureCase(id: string, title: string, rules: readonly string[], behavior: Behavior): ClientCase {
  return {
    id,
    title,
    rules,
    source: 'project choice',
    level: 'SHOULD',
    run: async (context) => checkReportsFailure(await context.bench.observe(behavior, context)),
  };
}
