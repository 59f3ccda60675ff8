import { ProtocolError } from '../errors.js';
import { parseAdmin } from './admin.js';
import { parseFlags, type QueryFlags } from './flags.js';
import { describeToken, MAX_NUMBER, malformed, parseDecimal, TokenReader } from './lexer.js';
import type { AdminCommand, Query } from './messages.js';
import { parseQueryTokens, type QueryLimits } from './query-parser.js';

/** One message a Broker understands (BRK-2). */
export type BrokerMessage =
  | { readonly kind: 'user'; readonly flags: QueryFlags; readonly query: Query }
  | { readonly kind: 'bulk'; readonly flags: QueryFlags; readonly query: Query }
  | {
      readonly kind: 'admin';
      /** Empty when the message has no password: such a command is always refused (BRK-5.2). */
      readonly password: string;
      readonly command: AdminCommand;
    };

/**
 * Parses one message line, without its line end (BRK-2).
 * @throws ProtocolError whose `offset` is that of the offending byte in `line`
 */
export function parseMessage(line: Uint8Array, limits: QueryLimits = {}): BrokerMessage {
  const tokens = new TokenReader(line);
  const first = tokens.next();
  if (first.kind === 'keyword') {
    switch (first.name) {
      case 'user':
      case 'bulk': {
        const flags = parseFlags(tokens);
        return { kind: first.name, flags, query: parseQueryTokens(tokens, limits) };
      }
      case 'admin':
        return { kind: 'admin', ...parseAdmin(tokens, limits) };
    }
  }
  throw malformed(
    'BRK-2.1',
    first.offset,
    `a message begins with #USER, #BULK or #ADMIN, found ${describeToken(first)}`,
  );
}

/**
 * The interface that a message requests (BP-29), also if {@link parseMessage} refuses it: the last `#interface`
 * of its flags, as far as they can be read. The refusal goes to the peer in this interface.
 */
export function requestedInterface(line: Uint8Array): 1 | 2 {
  let requested: 1 | 2 = 1;
  try {
    const tokens = new TokenReader(line);
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      if (token.kind !== 'keyword') continue;
      if (token.name === 'end' || token.name === 'admin') break;
      if (token.name !== 'interface') continue;
      const value = tokens.peek();
      if ('text' in value) requested = parseDecimal(value.text, MAX_NUMBER) === 2 ? 2 : 1;
    }
  } catch (error) {
    // A quote that is never closed ends what can be read.
    if (!(error instanceof ProtocolError)) throw error;
  }
  return requested;
}

/**
 * Parses the part after `#END`; offsets are bytes of the text's UTF-8.
 * @throws ProtocolError
 */
export function parseQuery(text: string, limits: QueryLimits = {}): Query {
  return parseQueryTokens(new TokenReader(new TextEncoder().encode(text)), limits);
}
