// What the client of a Broker takes, for callers without a compiler.
import { ADMIN_COMMANDS, type AdminCommand } from '../../protocols/broker/index.js';
import { type Check, checkArgument, listOf, oneOf, optional, text, whole } from '../connection/arguments.js';

const OPERATORS = oneOf('contains', 'exact', 'regexp', 'less-than', 'greater-than');
const KINDS = oneOf('all', 'term', 'select', 'not', 'and', 'or', 'except');
const BUILT = 'a string, a tree, or a query of q';

/** @throws UsageError for what is no query */
export function checkQuery(query: unknown): void {
  if (typeof query === 'string') return;
  const tree: unknown = isObject(query) && 'query' in query ? query.query : query;
  checkArgument('the query', tree, (value) => (isObject(value) ? undefined : `the query must be ${BUILT}`));
  const nodes: unknown[] = [tree];
  // Not recursive: a query may be a long chain.
  for (let node = nodes.pop(); node !== undefined || nodes.length > 0; node = nodes.pop()) {
    nodes.push(...checkNode(node));
  }
}

/** Returns the nodes below. */
function checkNode(node: unknown): readonly unknown[] {
  const { kind, ...rest } = (isObject(node) ? node : {}) as Readonly<Record<string, unknown>>;
  checkArgument('the kind of a node of the query', kind, KINDS);
  const below = (...names: readonly string[]) =>
    names.map((name) => {
      checkArgument(`${name} of a node "${kind}"`, rest[name], (value, of) =>
        isObject(value) ? undefined : `${of} must be a node of a query`,
      );
      return rest[name];
    });
  if (kind === 'term') checkArgument('text of a term', rest.text, text);
  if (kind === 'select') {
    checkArgument('attribute of a condition', rest.attribute, text);
    checkArgument('operator of a condition', rest.operator, OPERATORS);
    checkArgument('value of a condition', rest.value, text);
  }
  if (kind === 'not') return below('operand');
  return kind === 'and' || kind === 'or' || kind === 'except' ? below('left', 'right') : [];
}

/** The parameters of the commands that have some. */
const PARAMETERS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  'add-object': { files: listOf(text) },
  'rem-object-oid': { oids: listOf(whole(0)) },
  'rem-object-path': { path: text },
  'add-log': { event: text },
  'rem-log': { event: text },
  'open-log': { file: optional(text) },
  set: { name: text, value: text },
};

/** @throws UsageError for what is no administrative command */
export function checkCommand(command: AdminCommand): void {
  const given: unknown = command;
  checkArgument('the command', given, (value, name) =>
    isObject(value) ? undefined : `${name} must be an object`,
  );
  const values = given as Readonly<Record<string, unknown>>;
  checkArgument('kind of the command', values.kind, oneOf(...ADMIN_COMMANDS.map(({ kind }) => kind)));
  for (const [name, check] of Object.entries(PARAMETERS[command.kind] ?? {})) {
    checkArgument(`${name} of the command ${command.kind}`, values[name], check);
  }
  if (command.kind === 'rem-object-query') checkQuery(values.query);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
