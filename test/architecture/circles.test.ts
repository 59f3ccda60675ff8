// DESIGN 2: no file imports itself by way of others; a circle of types alone is a circle too.
import t from 'tap';
import { importsOf, sourcesOf, TOP_FOLDERS } from './sources.js';

/** The strongly connected components of more than one node, by Tarjan's algorithm. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    const own = index.size;
    index.set(node, own);
    let low = own;
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, index.get(next) ?? low);
    }
    if (low === own) {
      const circle = stack.splice(stack.indexOf(node));
      if (circle.length > 1 || graph.get(node)?.includes(node)) circles.push(circle.sort());
    }
    return low;
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return circles;
}

t.test('circles are found', async (t) => {
  const graph = new Map([
    ['a', ['b', 'd']],
    ['b', ['c']],
    ['c', ['a']],
    ['d', ['e']],
    ['e', ['e']],
  ]);
  t.same(circlesOf(graph).sort(), [['a', 'b', 'c'], ['e']]);
});

t.test('DESIGN 2: no circle between files', async (t) => {
  const files = TOP_FOLDERS.flatMap(sourcesOf);
  t.same(circlesOf(new Map(files.map((file) => [file, importsOf(file)]))), []);
});
