// Cases about the replies that a client of the Broker must understand (BRK section 4).
import { GREETING, type ReplyCheck, type SentText, urlOf } from '../broker-bench.js';
import { check, checkNone, must, NotApplicable, type Procedure, should } from '../case.js';
import { printable } from '../printable.js';
import {
  attribute,
  type Behavior,
  type ClientCase,
  type ClientContext,
  description,
  END,
  full,
  fullTexts,
  head,
  type Kind,
  matchedLine,
  type Requested,
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
  must('version/repeated', 'BRK-1.5', 'S')
    .title('ignores 200 lines wherever they are')
    .does(reads, (requested) => {
      const version = GREETING;
      const object = `${head('otter')}${version}${description(requested, 'otterdesc')}${version}${attribute(requested, 'otterattr')}${version}${matchedLine('otterline')}${version}${END}`;
      return version.repeat(3) + object + version + full('heron', requested) + version;
    }),
  must('version/other-text', 'BRK-1.4', 'RC')
    .title('accepts any text in the first line')
    .does(reads, TWO, TWO_TEXTS, { greeting: '200 - Broker of a stranger, version 1.4pl2, ready\n' }),
  must('codes/unknown', 'BRK-4.17', 'inferred: RC')
    .title('skips unknown codes')
    .does(
      reads,
      (requested) =>
        `145 - what\n${head('otter')}999 - is\n${description(requested, 'otterdesc')}${attribute(requested, 'otterattr')}138 - this\n${matchedLine('otterline')}${END}101 - notice\n${full('heron', requested)}`,
    ),
  must('lines/unparsable', 'BRK-4.17', 'inferred: RC')
    .title('skips lines that it cannot parse')
    .does(
      reads,
      (requested) =>
        `what\n\n${head('otter')}12 - is\n${description(requested, 'otterdesc')}${attribute(requested, 'otterattr')} \n${matchedLine('otterline')}${END}-\n${full('heron', requested)}`,
    ),
  should('lines/crlf', 'BRK-1.9', 'project choice')
    .title('reads lines that end in CR LF')
    .does(reads, (requested) => TWO(requested).replaceAll('\n', '\r\n')),
  should('lines/no-cr', 'BRK-1.9', 'project choice')
    .title('a CR is not part of a URL')
    .run(async (context) => {
      const { output } = await context.bench.observe(
        { reply: (requested) => TWO(requested).replaceAll('\n', '\r\n') },
        context,
      );
      const url = urlOf('otter');
      const [kept] = [`${url}\r`, `${url}\\r`, `${url}%0D`].filter((text) => output.includes(text));
      checkNone(kept, 'the URL has a CR', url, printable);
    }),
  should('lines/last-without-lf', 'BRK-4.12', 'project choice')
    .title('accepts a last line without its LF')
    .does(reads, (requested) => TWO(requested).slice(0, -1)),
  must('delivery/bytes', 'BRK-4.4', 'RC')
    .title('reads a reply that arrives one byte per segment')
    .does(reads, TWO, TWO_TEXTS, { delivery: 'bytes' }),
  must('delivery/slow', 'BRK-4.4', 'RC')
    .title('reads a reply that arrives in pieces with pauses')
    .does(reads, TWO, TWO_TEXTS, { delivery: 'slow' }),
  must('order/home-page', 'BRK-4.11 BRK-4.3', 'S; RC')
    .title('accepts 126 and 125 anywhere')
    .does(reads, (requested) => {
      const page = '126 - http://broker.example.org/\n';
      const summary = '125 - http://broker.example.org/objects/OBJ1\n';
      return `${page}120 - ${urlOf('otter')}\n${description(requested, 'otterdesc')}${page}${attribute(requested, 'otterattr')}${matchedLine('otterline')}${summary}${END}${page}${full('heron', requested)}${page}`;
    }),
  must('order/any', 'BRK-4.3', 'inferred: RC')
    .title('accepts the items of an object in any order')
    .does(
      reads,
      (requested) =>
        `120 - ${urlOf('otter')}\n${matchedLine('otterline')}${attribute(requested, 'otterattr')}126 - http://b.example.org/\n${description(requested, 'otterdesc')}${END}${full('heron', requested)}`,
    ),
  must('order/bare', 'BRK-4.3', 'RC')
    .title('accepts an object that is only 120 and 130')
    .does(reads, (requested) => `120 - ${urlOf('stork')}\n${END}${full('otter', requested)}`, [
      { kind: 'url', text: urlOf('stork') },
      ...fullTexts('otter'),
    ]),
  ...countedCases('desc', 'description', description, 'BRK-4.4', 'S; RC'),
  ...countedCases('attribute', 'attribute', attribute, 'BRK-4.6 BRK-4.4', 'RC'),
  must('line/other-form', 'BRK-4.7 BRK-4.9', 'S; M1.4')
    .title('shows matched lines and scores of any form')
    .does(
      reads,
      () =>
        `${head('otter')}122 - ottersay\n122 - Score: 9, Rank: otterrank\n122 - Matched line: title# title{9}:\tottertab\n${END}`,
      [
        { kind: 'url', text: urlOf('otter') },
        ...['ottersay', 'otterrank', 'ottertab'].map((text) => ({ kind: 'line' as const, text })),
      ],
      {},
      'line',
    ),
  must('error/103', 'BRK-4.13', 'S')
    .title('continues after 103')
    .does(
      reads,
      (requested) =>
        `103 - ERROR: something small\n${full('otter', requested)}103 - ERROR: something smaller\n${full('heron', requested)}`,
    ),
  must('error/103-shown', 'BRK-4.13 BRK-4.14', 'S; RC')
    .title('shows the text of a 103')
    .does(showsMessage, (requested) => `103 - ERROR: pelican\n${full('otter', requested)}`),
  must('error/111-shown', 'BRK-4.13 BRK-4.14', 'S; RC')
    .title('shows the text of a 111')
    .does(showsMessage, () => '111 - ERROR: pelican\n'),
  should('error/101-shown', 'BRK-4.1', 'S')
    .title('shows the text of a 101')
    .does(showsMessage, (requested) => `${full('otter', requested)}101 - pelican\n`),
  must('error/111-after-objects', 'BRK-4.13', 'S')
    .title('shows the objects before a 111')
    .does(keepsObjects, (requested) => `${TWO(requested)}111 - ERROR: pelican\n`),
  should('error/111-status', 'BRK-4.13', 'project choice')
    .title('reports a failure after a 111')
    .does(fails, { reply: () => '111 - ERROR: pelican\n' }),
  must('nothing/matched', 'BRK-4.12', 'inferred: S, RC')
    .title('a reply without objects is not a connection failure: the client ends and shows no object')
    .run(async (context) => {
      const { status, output } = await context.bench.observe(
        { reply: () => '101 - No objects matched your query.\n' },
        context,
      );
      check(
        status !== undefined && !output.includes('http://'),
        'the client shows an object or was ended by a signal',
        { expected: 'no object', received: `exit status ${status ?? 'none'}: ${printable(output)}` },
      );
    }),
  should('cut/in-object', 'BRK-4.12 BRK-4.3', 'project choice')
    .title('reports a failure when the reply ends within an object')
    .does(fails, { reply: (requested) => full('otter', requested) + head('heron') }),
  should('cut/in-bytes', 'BRK-4.12 BRK-4.4', 'project choice')
    .title('reports a failure when the reply ends within counted bytes')
    .does(fails, { reply: (requested) => `${full('otter', requested)}${head('heron')}124 - 500\nand then` }),
  should('cut/reset', 'BRK-4.12', 'project choice')
    .title('reports a failure when the connection breaks')
    .does(fails, { reply: () => head('heron'), reset: true }),
  should('cut/nothing', 'BRK-1.3', 'project choice')
    .title('reports a failure when the Broker closes without a greeting')
    .does(fails, { closesAtOnce: true, reply: () => '' }),
  should('refused/gatherer', 'BRK-1.4', 'project choice')
    .title('reports a failure when the peer is a Gatherer')
    .does(fails, {
      greeting: '000 - HELLO 1.8 gatherer.example.org\n',
      reply: () => '900 - Unknown command\n',
    }),
  must('cut/keeps-objects', 'BRK-4.3', 'RC')
    .title('shows the objects that were complete when the reply broke off')
    .does(keepsObjects, (requested) => TWO(requested) + head('stork')),
];

/**
 * Sends a good reply, of which the client must not lose any text.
 * @param needs the case is skipped unless the client shows this kind of text
 */
function reads(
  reply: Behavior['reply'],
  shownTexts: readonly SentText<Kind>[] = TWO_TEXTS,
  behavior: Omit<Behavior, 'reply'> = {},
  needs?: Kind,
): Procedure<ClientContext> {
  return async (context) => {
    const kinds = await context.bench.shownKinds(context);
    if (needs !== undefined && !kinds.has(needs)) {
      throw new NotApplicable(`the client shows no ${needs} of the ordinary reply`);
    }
    const expected = { behavior: { ...behavior, reply }, shownTexts, outcome: 'success' } as const;
    await context.bench.checkReply(expected, context);
  };
}

/** Sends any reply, and checks only what is given here. */
function replies(expected: ReplyCheck<Behavior, Kind>): Procedure<ClientContext> {
  return (context) => context.bench.checkReply(expected, context);
}

/** Sends a reply with a message, which the client must show. */
function showsMessage(reply: Behavior['reply']): Procedure<ClientContext> {
  return replies({ behavior: { reply }, shownMessage: 'pelican' });
}

/** Sends a reply with the complete objects of {@link TWO}, which the client must show, before a defect. */
function keepsObjects(reply: Behavior['reply']): Procedure<ClientContext> {
  return replies({ behavior: { reply }, shownTexts: TWO_TEXTS });
}

/** The client must report a failure. */
function fails(behavior: Behavior): Procedure<ClientContext> {
  return replies({ behavior, outcome: 'failure' });
}

/** Returns the cases about the forms of counted bytes, for `124` and `127`. */
function countedCases(
  area: string,
  kind: 'description' | 'attribute',
  item: (requested: Requested, value: string, terminator?: string) => string,
  rules: string,
  source: string,
): readonly ClientCase[] {
  const one = kind === 'attribute' ? `an ${kind}` : `a ${kind}`;
  const counted = (value: string, texts: readonly string[], terminator = '\n') =>
    reads(
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
    must(`${area}/lf`, rules, source)
      .title(`reads ${one} with the LF after its bytes`)
      .does(counted, 'swallow', ['swallow']),
    should(`${area}/no-lf`, rules, 'project choice')
      .title(`reads ${one} without an LF after its bytes`)
      .does(counted, 'swallow', ['swallow'], ''),
    should(`${area}/crlf`, rules, 'project choice')
      .title(`reads ${one} with CR LF after its bytes`)
      .does(counted, 'swallow', ['swallow'], '\r\n'),
    must(`${area}/ends-in-lf`, rules, source)
      .title(`reads ${one} whose last byte is an LF`)
      .does(counted, 'swallow\n', ['swallow']),
    must(`${area}/empty`, rules, source).title(`reads an empty ${kind}`).does(counted, '', []),
    must(`${area}/lines`, rules, source)
      .title(`reads ${one} of several lines`)
      .does(counted, 'swallow\n\nkingfisher\n', ['swallow', 'kingfisher']),
    must(`${area}/binary`, rules, source)
      .title(`reads ${one} with any bytes`)
      .does(counted, 'swallow\x00\x80\xff\r\n kingfisher', ['swallow', 'kingfisher']),
    must(`${area}/large`, rules, source)
      .title(`reads ${one} of 300 000 bytes`)
      .does(counted, LARGE, ['first', ' last']),
    ...TRAPS.map(([id, bytes]) =>
      must(`${area}/holds-${id}`, rules, source)
        .title(`counts the bytes of ${one} that has a line ${bytes.slice(0, -1)}`)
        .does(counted, `swallow\n${bytes}kingfisher`, ['swallow', 'kingfisher']),
    ),
  ];
}
