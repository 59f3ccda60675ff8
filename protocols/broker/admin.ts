import { describe, MAX_NUMBER, malformed, parseDecimal, type TokenReader } from './lexer.js';
import { type AdminCommand, PLAIN_ADMIN_KEYWORDS, type PlainAdminKeyword } from './messages.js';
import { parseQueryTokens, type QueryLimits } from './query-parser.js';
import { quoteId, quoteString } from './quoting.js';

/**
 * Parses `#password ID COMMAND` (BRK-5.1). A message without a password is parsed with an empty one, so that
 * the server refuses it like a wrong one and says so (BRK-5.2).
 * @throws ProtocolError for an unknown command or a wrong parameter
 */
export function parseAdmin(
  tokens: TokenReader,
  limits: QueryLimits,
): { readonly password: string; readonly command: AdminCommand } {
  let password = '';
  const first = tokens.peek();
  if (first.kind === 'keyword' && first.name === 'password') {
    tokens.next();
    const value = tokens.peek();
    if (value.kind === 'word' || value.kind === 'string') {
      tokens.next();
      password = value.text;
    }
  }
  return { password, command: parseCommand(tokens, limits) };
}

function parseCommand(tokens: TokenReader, limits: QueryLimits): AdminCommand {
  const token = tokens.next();
  if (token.kind !== 'keyword') {
    throw malformed('BRK-5.1', token.at, `an administrative command expected, found ${describe(token)}`);
  }
  const keyword = `#${token.name}`;
  switch (token.name) {
    case 'rem-object-query':
      return { kind: 'rem-object-query', query: parseQueryTokens(tokens, limits) };
    case 'add-object':
      return { kind: 'add-object', files: takeList(tokens, keyword).map((word) => word.text) };
    case 'rem-object-oid':
      return { kind: 'rem-object-oid', oids: takeList(tokens, keyword).map(parseOid) };
    case 'rem-object-path':
      return finish(tokens, { kind: 'rem-object-path', path: takeParameter(tokens, keyword) });
    case 'add-log':
    case 'rem-log':
      return finish(tokens, { kind: token.name, event: takeParameter(tokens, keyword) });
    case 'open-log':
      if (tokens.peek().kind === 'end') return { kind: 'open-log' };
      return finish(tokens, { kind: 'open-log', file: takeParameter(tokens, keyword) });
    case 'set': {
      const name = takeParameter(tokens, keyword);
      return finish(tokens, { kind: 'set', name, value: takeParameter(tokens, keyword) });
    }
    default:
      if (isPlainKeyword(token.name)) return finish(tokens, { kind: token.name });
      throw malformed('BRK-5.1', token.at, `unknown administrative command ${describe(token)}`);
  }
}

function isPlainKeyword(name: string): name is PlainAdminKeyword {
  return (PLAIN_ADMIN_KEYWORDS as readonly string[]).includes(name);
}

function finish(tokens: TokenReader, command: AdminCommand): AdminCommand {
  tokens.finish('BRK-5.1');
  return command;
}

function takeParameter(tokens: TokenReader, keyword: string): string {
  return tokens.id(`a parameter of ${keyword}`, 'BRK-5.1').text;
}

/** BRK-5.5: a list is one ID with blanks inside; several IDs are taken as well. */
function takeList(tokens: TokenReader, keyword: string): { text: string; at: number }[] {
  const words: { text: string; at: number }[] = [];
  let at: number;
  do {
    const id = tokens.id(`a parameter of ${keyword}`, 'BRK-5.5');
    at = id.at;
    for (const text of id.text.split(/\s+/)) if (text !== '') words.push({ text, at });
  } while (tokens.peek().kind !== 'end');
  if (words.length === 0) throw malformed('BRK-5.5', at, `the list of ${keyword} is empty`);
  return words;
}

function parseOid(word: { text: string; at: number }): number {
  const oid = parseDecimal(word.text, MAX_NUMBER);
  if (oid === undefined || oid === 0) throw malformed('BRK-5.5', word.at, `"${word.text}" is not an OID`);
  return oid;
}

/** `#keyword parameters` of a command; `formatQuery` is handed in, because a query is its parameter once. */
export function formatAdminCommand(
  command: AdminCommand,
  formatQuery: (query: Extract<AdminCommand, { kind: 'rem-object-query' }>['query']) => string,
): string {
  switch (command.kind) {
    case 'add-object':
      return `#add-object ${quoteString(command.files.join(' '))}`;
    case 'rem-object-oid':
      return `#rem-object-oid ${quoteString(command.oids.join(' '))}`;
    case 'rem-object-path':
      return `#rem-object-path ${quoteId(command.path)}`;
    case 'rem-object-query':
      return `#rem-object-query ${formatQuery(command.query)}`;
    case 'add-log':
    case 'rem-log':
      return `#${command.kind} ${quoteId(command.event)}`;
    case 'open-log':
      return command.file === undefined ? '#open-log' : `#open-log ${quoteId(command.file)}`;
    case 'set':
      return `#set ${quoteId(command.name)} ${quoteId(command.value)}`;
    default:
      return `#${command.kind}`;
  }
}
