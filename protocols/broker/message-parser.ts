import { parseAdmin } from './admin.js';
import { parseFlags } from './flag-parser.js';
import { describeToken, malformed, TokenReader } from './lexer.js';
import type { BrokerMessage, Query } from './messages.js';
import { parseQueryTokens, type QueryLimits } from './query-parser.js';

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
 * Parses the part after `#END`; offsets are bytes of the text's UTF-8.
 * @throws ProtocolError
 */
export function parseQuery(text: string, limits: QueryLimits = {}): Query {
  return parseQueryTokens(new TokenReader(new TextEncoder().encode(text)), limits);
}
