// The tables of states in the specifications are those on which the code runs.
import t from 'tap';
import { SPECIFICATIONS } from '../../protocols/specification/index.js';
import { to } from '../../protocols/state-machine.js';
import { sourcesOf, textOf } from './sources.js';
import { blocksOf, renderTable, tablesOf, WRITTEN_BY_HAND, withTables } from './state-tables.js';

for (const { folder } of SPECIFICATIONS) {
  const document = `${folder}/specification.md`;
  t.test(`${document} shows the states of the code (after a change: npm run states)`, async (t) => {
    const text = textOf(document);
    const blocks = blocksOf(text);
    t.equal([...text.matchAll(/<!-- states:/g)].length, blocks.length, 'every block has an end');
    t.same(
      blocks.filter((name) => WRITTEN_BY_HAND[name] === undefined).sort(),
      tablesOf(document).sort(),
      'every block has a table of the code or a reason',
    );
    t.equal(text, withTables(document, text));
  });
}

t.test('every transition of a queue (CRAWL-5.4) is named by a test of frontiers, and no other', async (t) => {
  const block = /<!-- states:queue -->(.*?)<!-- \/states -->/s.exec(
    textOf('servers/crawler/specification.md'),
  );
  const rows = [...(block?.[1] ?? '').matchAll(/^\| (T\d+) \|/gm)].map(([, name]) => name);
  const tests = sourcesOf('servers/crawler/frontier/conformance').map(textOf).join('\n');
  const code = tests.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  const named = new Set([...code.matchAll(/\bT\d+\b/g)].map(([name]) => name));
  t.same([...named].sort(), [...rows].sort());
});

t.test('a table as Markdown: rows that differ in their state only are one row', async (t) => {
  const table = {
    a: {
      one: to('b', '`1`', 'effect'),
      two: to('b', '`2`', 'effect'),
      skip: to('a', 'a blank'),
      end: to('c', 'the end'),
    },
    b: { three: to('b', 'three', 'x'), skip: to('b', 'a blank'), end: to('c', 'the end') },
    c: {},
  };
  t.same(renderTable(table).split('\n'), [
    '| state | input | output | next state |',
    '| --- | --- | --- | --- |',
    '| a | `1`, `2` | effect | b |',
    '| b | three | x | b |',
    '| any | a blank | | the same |',
    '| any | the end | | c |',
    '',
  ]);
});
