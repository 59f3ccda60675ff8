// The administrative commands of a Broker (BRK-5): parsing, formatting, and the table for forms and help texts.
import { UsageError } from '../errors.js';
import { excerpt } from '../visible-text.js';
import { ADMIN_COMMANDS, type AdminCommand, isPlainKeyword } from './admin-commands.js';
import {
  completed,
  describeToken,
  MAX_NUMBER,
  malformed,
  parseDecimal,
  type Steps,
  TokenReader,
} from './lexer.js';
import { exactId, type QueryLimits, querySteps, quoteString } from './query-parser.js';

/**
 * Parses `#password ID COMMAND` (BRK-5.1) in steps. A message without a password gets an empty one, which the server
 * refuses like a wrong one (BRK-5.2).
 * @throws ProtocolError for an unknown command or a wrong parameter
 */
export function* adminSteps(
  tokens: TokenReader,
  limits: QueryLimits,
): Steps<{ readonly password: string; readonly command: AdminCommand }> {
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
  return { password, command: yield* commandSteps(tokens, limits) };
}

function* commandSteps(tokens: TokenReader, limits: QueryLimits): Steps<AdminCommand> {
  const token = tokens.next();
  if (token.kind !== 'keyword') {
    throw malformed(
      'BRK-5.1',
      token.offset,
      `an administrative command expected, found ${describeToken(token)}`,
    );
  }
  const keyword = `#${token.name}`;
  switch (token.name) {
    case 'rem-object-query':
      return { kind: 'rem-object-query', query: yield* querySteps(tokens, limits) };
    case 'add-object':
      return { kind: 'add-object', files: takeList(tokens, keyword).map((word) => word.text) };
    case 'rem-object-oid':
      return { kind: 'rem-object-oid', oids: takeList(tokens, keyword).map(parseOid) };
    case 'rem-object-path':
      return completeCommand(tokens, { kind: 'rem-object-path', path: takeParameter(tokens, keyword) });
    case 'add-log':
    case 'rem-log':
      return completeCommand(tokens, { kind: token.name, event: takeParameter(tokens, keyword) });
    case 'open-log':
      if (tokens.peek().kind === 'end') return { kind: 'open-log' };
      return completeCommand(tokens, { kind: 'open-log', file: takeParameter(tokens, keyword) });
    case 'set': {
      const name = takeParameter(tokens, keyword);
      return completeCommand(tokens, { kind: 'set', name, value: takeParameter(tokens, keyword) });
    }
    default:
      if (isPlainKeyword(token.name)) return completeCommand(tokens, { kind: token.name });
      throw malformed('BRK-5.1', token.offset, `unknown administrative command ${describeToken(token)}`);
  }
}

function completeCommand(tokens: TokenReader, command: AdminCommand): AdminCommand {
  tokens.expectEnd('BRK-5.1');
  return command;
}

function takeParameter(tokens: TokenReader, keyword: string): string {
  return tokens.takeId(`a parameter of ${keyword}`, 'BRK-5.1').text;
}

/** BRK-5.5: a list is one ID with blanks inside; several IDs are accepted too. */
function takeList(tokens: TokenReader, keyword: string): { text: string; offset: number }[] {
  const words: { text: string; offset: number }[] = [];
  let offset: number;
  do {
    const id = tokens.takeId(`a parameter of ${keyword}`, 'BRK-5.5');
    offset = id.offset;
    for (const text of id.text.split(/\s+/)) if (text !== '') words.push({ text, offset });
  } while (tokens.peek().kind !== 'end');
  if (words.length === 0) throw malformed('BRK-5.5', offset, `the list of ${keyword} is empty`);
  return words;
}

function parseOid(word: { text: string; offset: number }): number {
  const oid = parseDecimal(word.text, MAX_NUMBER);
  if (oid === undefined || oid === 0)
    throw malformed('BRK-5.5', word.offset, `"${excerpt(word.text)}" is not an OID`);
  return oid;
}

/**
 * Formats a command as `#keyword parameters`. `formatQuery` is a parameter because one command takes a query.
 */
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
      return `#rem-object-path ${exactId('the name', command.path)}`;
    case 'rem-object-query':
      return `#rem-object-query ${formatQuery(command.query)}`;
    case 'add-log':
    case 'rem-log':
      return `#${command.kind} ${exactId('the type of events', command.event)}`;
    case 'open-log':
      return command.file === undefined
        ? '#open-log'
        : `#open-log ${exactId('the name of the log', command.file)}`;
    case 'set':
      return `#set ${exactId('the variable', command.name)} ${exactId('the value', command.value)}`;
    default:
      return `#${command.kind}`;
  }
}

/**
 * Builds a command from a keyword and parameters that a user typed. A list may be several parameters or one
 * text with blanks; the parameters of `#rem-object-query` are the text of the query.
 *
 * @param keyword with or without `#`, in any case
 * @throws UsageError for an unknown keyword, or parameters that do not fit; ProtocolError for a malformed query
 */
export function buildAdminCommand(keyword: string, parameters: readonly string[]): AdminCommand {
  const name = keyword.replace(/^#/, '').toLowerCase();
  const known = ADMIN_COMMANDS.find(({ kind }) => kind === name);
  if (known === undefined) throw new UsageError(`unknown administrative command #${name}`);
  const given = parameters.filter((parameter) => parameter.trim() !== '' || name === 'set');
  if (known.parameter === undefined && given.length > 0) throw new UsageError(`#${name} takes no parameter`);
  const isQuery = name === 'rem-object-query';
  // A list is one ID with blanks inside (BRK-5.5); the blanks of a value belong to the value.
  const joined = (from: number): string => given.slice(from).join(' ');
  let ids = given;
  if (name === 'set') ids = given.length < 2 ? given : [given[0] ?? '', joined(1)];
  else if (name === 'add-object' || name === 'rem-object-oid') ids = given.length === 0 ? [] : [joined(0)];
  const text = isQuery ? joined(0) : ids.map(quoteString).join(' ');
  const tokens = new TokenReader(new TextEncoder().encode(`#${name} ${text}`));
  return completed(commandSteps(tokens, {}));
}
