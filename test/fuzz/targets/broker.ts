// The Broker's protocol: messages and queries, replies, and the sessions of both sides.
import {
  BrokerClientSession,
  BrokerServerSession,
  encodeResult,
  formatMessage,
  formatQuery,
  locateQueryFault,
  parseMatchedLine,
  parseMessage,
  parseQuery,
  parseQuerySource,
  ResultDecoder,
  scanQuery,
} from '../../../protocols/broker/index.js';
import { KitError, ProtocolError } from '../../../protocols/errors.js';
import { brokerMessage, queryText } from '../generators/query.js';
import {
  allowed,
  assert,
  bytesOf,
  type FuzzTarget,
  latin1,
  randomOf,
  sameInPieces,
  shown,
  utf8,
  wordsIn,
} from '../target.js';

/** A message or query without the places of its terms. */
const tree = (value: unknown): string => shown(value).replaceAll(/"offset":\d+,?/g, '');

export const brokerMessages: FuzzTarget = {
  corpus: ['broker'],
  generate: brokerMessage,
  run: (input) => {
    const message = allowed(() => parseMessage(input));
    if (message === undefined) return;
    const text = allowed(() => formatMessage(message));
    if (text === undefined) return;
    const again = parseMessage(Buffer.from(text));
    assert(tree(again) === tree(message), 'a formatted message is parsed to the same');
  },
};

export const brokerQueries: FuzzTarget = {
  generate: (random) => bytesOf(queryText(random)),
  seeds: ['a AND b', 'Title : "x y" OR NOT (z)'],
  run: (input) => {
    const text = utf8(input);
    scanQuery(text);
    try {
      const { query, rangeOf } = parseQuerySource(text);
      assert(typeof rangeOf === 'function', 'a source has ranges');
      const written = allowed(() => formatQuery(query));
      if (written !== undefined) {
        assert(tree(parseQuery(written)) === tree(query), 'a formatted query is parsed to the same');
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const { start, end } = locateQueryFault(text, error);
      assert(
        start >= 0 && end >= start && end <= text.length,
        `a fault lies in the query: ${start} to ${end}`,
      );
    }
  },
};

const REPLY_LINES = wordsIn(
  '120 - u\n|122 - line\n|124 - 5\nabcde|125 - http://o/\n|126 - http://h/\n|127 - Title{3}\nabc\n|' +
    '130 - object end\n|101 - x\n|103 - y\n|111 - z\n|200 - HARVEST Broker 1.0\n',
);

export const brokerResults: FuzzTarget = {
  seeds: [REPLY_LINES.join('')],
  generate: (random) => bytesOf(random.list(10, () => random.pick(REPLY_LINES)).join('')),
  run: (input) => {
    const random = randomOf(input);
    const options = random.once(2) ? {} : { maxLineBytes: 20, maxValueBytes: 10 };
    sameInPieces(input, (pieces) => {
      const decoder = new ResultDecoder(options);
      const items: string[] = [];
      try {
        for (const piece of pieces) items.push(...decoder.push(piece).map(shown));
        items.push(...decoder.end().map(shown));
      } catch (error) {
        if (!(error instanceof KitError)) throw error;
        items.push(error.message);
      }
      return [items, decoder.truncated];
    });
    const decoder = new ResultDecoder();
    allowed(() => {
      for (const item of [...decoder.push(input), ...decoder.end()]) {
        allowed(() => encodeResult(item));
        if (item.kind === 'opaque') parseMatchedLine(item.text);
      }
    });
  },
};

export const brokerServer: FuzzTarget = {
  corpus: ['broker'],
  generate: (random) => Buffer.concat([brokerMessage(random), Buffer.from(random.pick(['\n', '\r\n', '']))]),
  run: (input) => {
    const options = randomOf(input).once(2) ? {} : { maxMessageBytes: 40 };
    sameInPieces(input, (pieces) => {
      const session = new BrokerServerSession(options);
      session.greeting();
      const events = pieces.flatMap((piece) => session.push(piece));
      events.push(...session.end(), ...session.timeout());
      assert(events.length <= 1, 'a session has at most one event');
      return events.map(shown);
    });
  },
};

export const brokerClient: FuzzTarget = {
  seeds: [`200 - HARVEST Broker 1.0\n${REPLY_LINES.join('')}`],
  generate: (random) =>
    bytesOf(`200 - HARVEST Broker 1.0\n${random.list(10, () => random.pick(REPLY_LINES)).join('')}`),
  run: (input) => {
    const options = randomOf(input).once(2) ? {} : { maxHitBytes: 60, maxLineBytes: 30 };
    sameInPieces(input, (pieces) => {
      const session = new BrokerClientSession(options);
      const events: string[] = [];
      try {
        session.request('#USER #END x');
        for (const piece of pieces) events.push(...session.push(piece).map(shown));
        for (let last = session.end(); last.length > 0; last = session.end()) events.push(...last.map(shown));
      } catch (error) {
        if (!(error instanceof KitError)) throw error;
        // The offset of some errors is that of the last byte that arrived.
        events.push(error instanceof ProtocolError ? `${error.rule} ${error.problem}` : error.message);
      }
      return [events, session.truncated];
    });
    latin1(input);
  },
};
