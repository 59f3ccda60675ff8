// Texinfo: recognition, the attributes of a manual, and damaged or hostile sources.

import fc from 'fast-check';
import t from 'tap';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contentOf, contextOf, summarize } from './helpers.js';

const MANUAL = `\\input texinfo   @c -*-texinfo-*-
@c %**start of header
@setfilename foo.info
@settitle The @command{foo} Manual, @value{VERSION} @c for now
@documentencoding UTF-8
@set VERSION 2.1
@syncodeindex fn cp
@c %**end of header
@iftex
@titlepage
@title Foo on Paper
@author Ann Example
@author Bj@"orn @'{E}t@'e
@page
@end titlepage
@end iftex
@dircategory Tools
@direntry
* foo: (foo).   In the directory.
@end direntry

@node Top, Usage, (dir), (dir)
@top Foo

This is \`\`the'' manual of @TeX{} and @samp{foo --bar}@footnote{A note.}.

@menu
* Usage::      In the menu.
@end menu

@node Usage
@chapter Using @code{foo}
@cindex hidden entry
@findex foo_hidden
Mail @email{a@@b.example, the author} or see @uref{https://foo.example/x, the page}
and @xref{Top, , the beginning}, page@tie{}3. Braces: @{@}.  @c not this
@math{E = mc^2}

@table @option
@item -v
Be @emph{@strong{very} verbose}.
@end table

@example
''quoted'' @{x@}
@end example
@verbatim
@code{as is} \`\`raw''
@end verbatim
@ignore
Not for readers.
@end ignore
@ifset SECRET
Only when set.
@ifset VERSION
Inner.
@end ifset
Still only when set.
@end ifset
@ifclear SECRET
Shown when clear.
@end ifclear
@macro twice{x}
\\x\\ \\x\\
@end macro
@deftypefun int foo_run (char *@var{name})
Runs it.
@end deftypefun

@unnumbered Index
@printindex cp
@bye
After the end.
`;

t.test(
  'table 3.1 the name decides on Texinfo; a TeX file that loads the Texinfo macros is read as Texinfo',
  async (t) => {
    const { rules } = contextOf();
    for (const name of ['a.texi', 'a.texinfo', 'a.txi']) t.equal(rules.byName.match(name), 'Texinfo', name);
    t.equal(rules.byName.match('a.tex'), 'TeX');
    t.equal(rules.byContent.match('Texinfo source text'), 'Texinfo', 'the description of file(1) decides');
    const head = '% a comment\n\\input texinfo.tex\n@settitle Small\n';
    t.equal(contentOf(await summarize('ftp://a.test/a.texi', head)).Title, 'Small\n');
    t.equal(contentOf(await summarize('ftp://a.test/a.tex', head)).Title, 'Small\n');
    const bare = head.slice(head.indexOf('\\'));
    t.equal(contentOf(await summarize('ftp://a.test/a', bare)).Title, 'Small\n', 'a name without a suffix');
    const plain = contentOf(
      await summarize('ftp://a.test/a.tex', '\\input texinformal\n\\title{Other}\nx @settitle y\n'),
    );
    t.equal(plain.Title, 'Other\n', 'a file that loads other macros is TeX');
  },
);

t.test(
  'Texinfo (6.2) yields title, authors, headings, addresses, and text without commands, menus and index entries',
  async (t) => {
    const { all, summary, warnings } = await summaryOf('Texinfo', MANUAL);
    t.same(warnings, []);
    t.equal(all.Title, 'The foo Manual, 2.1', 'the command line wins over the title page');
    t.equal(all.Author, 'Ann Example\nBjörn Été');
    t.equal(all.Headings, 'Using foo\nIndex');
    t.equal(all.References, 'https://foo.example/x');
    t.equal(
      all['Partial-Text'],
      [
        'This is “the” manual of TeX and foo --bar A note..',
        '',
        'Using foo',
        '',
        'Mail the author or see the page',
        'and the beginning, page 3. Braces: {}.',
        '',
        '-v',
        'Be very verbose.',
        '',
        "''quoted'' {x}",
        "@code{as is} ``raw''",
        'Shown when clear.',
        'int foo_run (char *name)',
        'Runs it.',
        '',
        'Index',
        '',
      ].join('\n'),
    );
    t.equal(summary.text, all['Partial-Text'], 'E-117 the text is the full text');
    t.match(
      summary.description,
      /^This is “the” manual/,
      'E-141 the description is a paragraph, not the heading',
    );
  },
);

t.test(
  'Texinfo: titles have a precedence, variables are inserted, and damage does not remove text',
  async (t) => {
    const titleOf = async (source: string) => (await summaryOf('Texinfo', source)).all.Title;
    t.equal(await titleOf('@title Paper\n@top Screen\n'), 'Paper');
    t.equal(await titleOf('@top Screen\r\nText\r\n'), 'Screen');
    t.equal(await titleOf('@settitle @set\n'), undefined, 'a command without an argument is ignored');
    const textOf = async (source: string) => (await summaryOf('Texinfo', source)).all['Partial-Text'];
    t.equal(
      await textOf('@ignore\nNever ended.\n'),
      'Never ended.\n',
      'an unterminated environment does not remove text',
    );
    t.equal(
      await textOf('@menu\n* A::\n@node B\nText.\n@menu\n* C::\n@end menu\n'),
      'Text.\n',
      'a menu ends with its node',
    );
    t.equal(await textOf('An @math{open brace\n\nnext } words\n'), 'An open brace\n\nnext  words\n');
    t.equal(await textOf('@verb{|a@b|} and @value{NONE}x @u{g}@dotless{i}\n'), 'a@b and x ği\n');
  },
);

t.test('Texinfo is read in linear time and never throws', async (t) => {
  const hostile = [
    '@ref{',
    '@math{@ref{',
    '{',
    '@verb{|',
    '@menu\n',
    '@ifset A\n',
    '@ifclear A\n@end ifclear\n',
    '@verbatim\n@end verbatim\n',
    "'",
    '\n ',
    '@c',
    "@'",
    '@value{',
    '@chapter x\n',
    '@ref{x}}',
  ];
  for (const fragment of hostile) {
    const { summary } = await summaryOf('Texinfo', `@set A b\n${fragment.repeat(100_000)}`);
    t.ok(summary.text !== undefined, JSON.stringify(fragment));
  }
  const many = `@set A ${'v'.repeat(200)}\n${'@value{A}'.repeat(50_000)}`;
  t.ok(
    ((await summaryOf('Texinfo', many)).summary.text?.length ?? 0) <= 1 << 20,
    'values are inserted up to a limit',
  );
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
