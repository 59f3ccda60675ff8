import type { Expression } from '../../../protocols/broker/index.js';
import { PeerError } from '../../../protocols/errors.js';
import type { IndexerCapabilities, SearchOptions } from '../contract.js';
import { parseTerm } from '../term-pattern.js';

/** Returns an error with a text of BRK-4.18. */
function unsupported(name: string, what: string): PeerError {
  return new PeerError(`ERROR: ${name} does not support ${what}`, 111);
}

/**
 * BRK-2.19: refuses a query that the engine does not support, before any program starts.
 *
 * @throws PeerError (111) if the engine does not support the query
 */
export function requireCapabilities(
  expression: Expression,
  options: Pick<SearchOptions, 'ignoreCase' | 'errors'>,
  name: string,
  can: IndexerCapabilities,
): void {
  if (options.errors > can.errors)
    throw unsupported(name, can.errors === 0 ? 'spelling errors' : `more than ${can.errors} spelling errors`);
  // An explicit stack: the nesting of a query may exceed the call stack.
  const open: Expression[] = [expression];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    switch (node.kind) {
      case 'not':
        if (!can.not) throw unsupported(name, 'NOT');
        open.push(node.operand);
        break;
      case 'and':
      case 'or':
      case 'except':
        if (node.kind === 'except' && !can.not) throw unsupported(name, 'EXCEPT');
        open.push(node.left, node.right);
        break;
      case 'term':
        requireWord(node.text, name, can);
        break;
      case 'select':
        if (!can.attributes) throw unsupported(name, 'queries within an attribute');
        if (node.operator === 'regexp' && !can.regexp) throw unsupported(name, 'regular expressions');
        if ((node.operator === 'less-than' || node.operator === 'greater-than') && !can.comparison)
          throw unsupported(name, node.operator);
        if (node.operator === 'contains') requireWord(node.value, name, can);
    }
  }
}

function requireWord(text: string, name: string, can: IndexerCapabilities): void {
  if (!can.regexp && parseTerm(text).kind === 'pattern') throw unsupported(name, 'pattern characters');
  if (!can.phrases && /\s/.test(text.trim())) throw unsupported(name, 'phrases');
}
