// Texinfo: recognition, and damaged or hostile sources.
import fc from 'fast-check';
import t from 'tap';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contextOf } from './helpers.js';

t.test('table 3.1 the name and the description of file(1) decide on Texinfo', (t) => {
  const { rules } = contextOf();
  for (const name of ['a.texi', 'a.texinfo', 'a.txi']) t.equal(rules.byName.match(name), 'Texinfo', name);
  t.equal(rules.byName.match('a.tex'), 'TeX');
  t.equal(rules.byContent.match('Texinfo source text'), 'Texinfo');
  t.end();
});

t.test('Texinfo is read in linear time and never throws', async (t) => {
  const hostile = (
    '@ref{¦@math{@ref{¦{¦@verb{|¦@menu\n¦@ifset A\n¦@ifclear A\n@end ifclear\n¦' +
    "@verbatim\n@end verbatim\n¦'¦\n ¦@c¦@'¦@value{¦@chapter x\n¦@ref{x}}"
  ).split('¦');
  for (const fragment of hostile) {
    const { summary } = await summaryOf('Texinfo', `@set A b\n${fragment.repeat(100_000)}`);
    t.ok(summary.text !== undefined, JSON.stringify(fragment));
  }
  const many = `@set A ${'v'.repeat(200)}\n${'@value{A}'.repeat(50_000)}`;
  t.ok(((await summaryOf('Texinfo', many)).summary.text?.length ?? 0) <= 1 << 20, 'there is a limit');
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...hostile, '}', 'x', '\n', '@end menu\n', '@end ifset\n', '@bye')),
      async (parts) => {
        const { all } = await summaryOf('Texinfo', parts.join(''));
        return Object.keys(all).every((name) => /^[A-Z][A-Za-z-]+$/.test(name));
      },
    ),
    { numRuns: 200 },
  );
});
