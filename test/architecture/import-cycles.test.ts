// DESIGN 2: there are no import cycles between files. Type-only imports count too.
import t from 'tap';
import { importsOf, sourcesOf, TOP_FOLDERS } from './sources.js';

/**
 * Finds the strongly connected components of more than one node, and nodes with an edge to themselves (Tarjan's
 * algorithm).
 */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): number => {
    const ownIndex = index.size;
    index.set(node, ownIndex);
    let lowLink = ownIndex;
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) lowLink = Math.min(lowLink, visit(next));
      else if (stack.includes(next)) lowLink = Math.min(lowLink, index.get(next) ?? lowLink);
    }
    if (lowLink === ownIndex) {
      const component = stack.splice(stack.indexOf(node));
      if (component.length > 1 || graph.get(node)?.includes(node)) cycles.push(component.sort());
    }
    return lowLink;
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return cycles;
}

t.test('findCycles finds cycles of several files and of one', async (t) => {
  const graph = new Map([
    ['a', ['b', 'd']],
    ['b', ['c']],
    ['c', ['a']],
    ['d', ['e']],
    ['e', ['e']],
  ]);
  t.same(findCycles(graph).sort(), [['a', 'b', 'c'], ['e']]);
});

t.test('DESIGN 2: no import cycles between files', async (t) => {
  const files = TOP_FOLDERS.flatMap(sourcesOf);
  t.same(findCycles(new Map(files.map((file) => [file, importsOf(file)]))), []);
});
