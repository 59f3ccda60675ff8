// Markdown, reStructuredText, AsciiDoc, Org, Jupyter: recognition, fields, headings, links, plain text, hostile sources.

import fc from 'fast-check';
import t from 'tap';
import { mayReadInThread } from '../../../servers/essence/trust.js';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contentOf, contextOf, summarize } from './helpers.js';

const typeOf = async (url: string, body: string, contentType?: string) =>
  (await summarize(url, body, {}, contentType === undefined ? {} : { contentType })).type;

t.test('E-6, E-15, E-16: types by name, declared type and content', async (t) => {
  const named: [name: string, type: string][] = [
    ['README.md', 'Markdown'],
    ['README', 'README'],
    ['README.txt', 'README'],
    ['README.rst', 'ReStructuredText'],
    ['a.markdown', 'Markdown'],
    ['a.MD', 'Markdown'],
    ['a.adoc', 'AsciiDoc'],
    ['a.asciidoc', 'AsciiDoc'],
    ['a.org', 'Org'],
    ['a.ipynb', 'Jupyter'],
    ['a.txt', 'Text'],
  ];
  for (const [name, type] of named) t.equal(await typeOf(`http://a.test/${name}`, 'words'), type, name);
  t.equal(await typeOf('http://a.test/x', 'words', 'text/markdown'), 'Markdown');
  t.equal(await typeOf('http://a.test/x', 'words', 'text/x-rst'), 'ReStructuredText');
  t.equal(await typeOf('http://a.test/x', '{\n "cells": []}'), 'Jupyter', 'by its first bytes');
  t.equal(await typeOf('http://a.test/x.md', 'a\0b'), 'Data', 'binary content');
  t.equal(
    await typeOf('http://a.test/x.md', '<!DOCTYPE html><p>', 'text/html'),
    'HTML',
    'a page about a file',
  );
  t.ok(mayReadInThread({ type: 'Markdown', isHtml: false }, 1000, contextOf()));
  t.notOk(mayReadInThread({ type: 'Jupyter', isHtml: false }, 1000, contextOf()), 'JSON takes more memory');
});

const MARKDOWN = `---
title: "A \\"quoted\\" Title"
authors:
  - name: Ann Example
    url: https://ann.example/
  - Bob Müller
date: 2024-05-01
description: >
  Two lines
  of text.
tags: [one, two]
---
<h1 align="center">
  <a href="https://site.example/"><img src="logo.png" alt="no text"></a>
  In *HTML*
</h1>

[![build](https://ci.example/badge.svg)](https://ci.example/)

Setext *one*
============

Prose with a [relative link](docs/intro.md "title"), a [reference][ref], a [shortcut], \`code [no](link)\`,
<https://auto.example/a_b>, https://bare.example/x_(y)_z. And **bold**, snake_case_name, 2 * 3 * 4, &amp; \\*literal\\*.

## ATX heading ##
### With id {#the-id}

- item [one](<a b.md>)
  * nested

1. numbered

> # Quoted heading
> quoted words

\`\`\`js
# not a heading
[not](a-link)
\`\`\`

    # indented code

| a | b |
|---|---|
| 1 | [cell](cell.md) |

<!-- a comment
# not this
-->
[ref]: https://ref.example/ 'Title'
[ShortCut]: <https://short.example/>
[^1]: A footnote.
`;

t.test('Markdown: front matter, headings of all kinds, links, text without marks', async (t) => {
  const got = contentOf(await summarize('http://a.test/dir/x.md', MARKDOWN, { description: true }));
  t.equal(got.Title, 'A "quoted" Title\n');
  t.equal(got.Author, 'Ann Example\nBob Müller\n');
  t.equal(got.Date, '2024-05-01\n');
  t.equal(got.Description, 'Two lines of text.\n');
  t.equal(got.Keywords, 'one\ntwo\n');
  t.equal(got.Headings, 'In HTML\nSetext one\nATX heading\nWith id\nQuoted heading\n');
  t.same(got['url-references']?.trim().split('\n'), [
    'https://site.example/',
    'https://ci.example/',
    'http://a.test/dir/docs/intro.md',
    'https://ref.example/',
    'https://short.example/',
    'https://auto.example/a_b',
    'https://bare.example/x_(y)_z',
    'http://a.test/dir/a%20b.md',
    'http://a.test/dir/cell.md',
  ]);
  const text = got['Partial-Text'] ?? '';
  t.match(
    text,
    'Prose with a relative link, a reference, a shortcut, code [no](link),\nhttps://auto.example/a_b, https://bare.example/x_(y)_z. And bold, snake_case_name, 2 * 3 * 4, & *literal*.',
  );
  t.match(text, '# not a heading\n[not](a-link)', 'programs are kept');
  t.match(text, '# indented code');
  t.match(text, 'A footnote.');
  t.notMatch(text, /not this|no text|=====|\|/);
});

t.test('G-60: the crawl follows the links of a text with markup, also relative ones', async (t) => {
  const body = '[a](b.md) [c](#part) [d](mailto:a@b.test) [e](file:///etc/passwd) ![p](p.png) [f](/g)';
  const output = await summarize('http://a.test/d/x.md', body);
  t.same(output.links, [
    { url: 'http://a.test/d/b.md', hop: 'L' },
    { url: 'http://a.test/g', hop: 'L' },
  ]);
  const all = await summarize('http://a.test/d/x.md', body, {}, { outlinks: { via: '' } });
  t.same(
    all.links.map(({ url }) => url),
    ['http://a.test/d/b.md', 'http://a.test/g', 'http://a.test/d/p.png'],
    'CRAWL-11.2: pictures, too, where all references are wanted',
  );
  const many = await summarize('http://a.test/x.md', '[a](b1) [a](b2) [a](b3)', { maxLinks: 2 });
  t.equal(many.links.length, 2, 'G-173');
});

t.test('--link-text: the texts of the links of Markdown', async (t) => {
  const body =
    'See [the *big* page](b.md#x), [ref][r], ![p](p.png), [own](#part), [x](mailto:a@b) <http://c.test/>\n\n[r]: /c';
  const texts = async (text: string) =>
    contentOf(await summarize('http://a.test/d/x.md', text, { linkText: true }))['Link-Text'];
  t.equal(await texts(body), 'http://a.test/d/b.md the big page\nhttp://a.test/c ref\n');
  // Links in links: the text of each is joined.
  t.match(await texts(`${'[a '.repeat(20_000)}${'](b)'.repeat(20_000)}`), /^http:\/\/a\.test\/d\/b /);
});

t.test('Markdown: other kinds of fields; a title without fields', async (t) => {
  const fields = async (body: string) => {
    const { all } = await summaryOf('Markdown', body);
    return [all.Title, all.Author, all.Date, all.Keywords];
  };
  t.same(
    await fields('+++\ntitle = "T"\ndate = 2020-01-01\ntags = ["a", "b"]\n[author]\nname = "x"\n+++\n'),
    ['T', undefined, '2020-01-01', 'a\nb'],
  );
  t.same(await fields('% T\n% A; B\n% May 2020\n\ntext'), ['T', 'A\nB', 'May 2020', undefined]);
  t.same(
    await fields('## Second\n# First\n'),
    ['First', undefined, undefined, undefined],
    'the first of level 1',
  );
  t.same(await fields('## Only\n'), ['Only', undefined, undefined, undefined]);
  t.same(await fields('---\ntext between rules\n---\n# T'), ['T', undefined, undefined, undefined]);
  const { summary } = await summaryOf('Markdown', '# T\n\n[![b](c)](d) [![e](f)](g)\n\nThe *first* words.\n');
  t.equal(summary.description, 'The first words.', 'E-141: a line of pictures describes nothing');
});

t.test('Markdown: addresses and code as labels of links', async (t) => {
  const source =
    '[https://a.example/x](https://a.example/x) [`code`] and [*b*][]\n\n[`code`]: c.md\n[*b*]: d.md\n';
  const { all } = await summaryOf('Markdown', source);
  t.same(all['url-references']?.split('\n'), [
    'https://a.example/x',
    'ftp://a.test/c.md',
    'ftp://a.test/d.md',
  ]);
  t.equal(all['Partial-Text'], 'https://a.example/x code and b');
});

t.test('ReStructuredText: title, bibliographic fields, sections, targets, directives', async (t) => {
  const source = `=============
The **Title**
=============
:Author: Ann Example
:Date: 2020-02-03
:Version: 1

.. comment that
   is long

A paragraph with \`a link <https://link.example/a>\`_, \`a target\`_, Python_, \`\`literal *x*\`\`,
:func:\`role\`, *emphasis*, |subst| and https://bare.example/. Example::

    # verbatim *code*

Section
-------
.. _Python: https://python.example/
.. _a target: other.rst
.. image:: picture.png
   :target: https://target.example/
.. code-block:: python
   :linenos:

   import this

.. note:: Mind *this*.

   And that.

.. toctree::
   :maxdepth: 2

   hidden/entry

Deeper
~~~~~~

* item
`;
  const { all, summary } = await summaryOf('ReStructuredText', source);
  t.equal(all.Title, 'The Title');
  t.equal(all.Author, 'Ann Example');
  t.equal(all.Date, '2020-02-03');
  t.equal(all.Headings, 'The Title\nSection\nDeeper');
  t.same(all['url-references']?.split('\n'), [
    'https://link.example/a',
    'https://bare.example/',
    'https://python.example/',
    'ftp://a.test/other.rst',
    'https://target.example/',
  ]);
  const text = all['Partial-Text'] ?? '';
  t.match(
    text,
    'A paragraph with a link, a target, Python, literal *x*,\nrole, emphasis,  and https://bare.example/. Example:',
  );
  t.match(text, '# verbatim *code*');
  t.match(text, 'import this');
  t.match(text, 'Mind this.');
  t.match(text, 'And that.');
  t.notMatch(text, /hidden|comment|linenos|picture|----/);
  t.match(summary.description, /^A paragraph/);
  const pep = await summaryOf(
    'ReStructuredText',
    'PEP: 8\nTitle: Style\nAuthor: A <a@b>,\n        B <b@c>\nCreated: 05-Jul-2001\n\nText\n',
  );
  t.same([pep.all.Title, pep.all.Author, pep.all.Date], ['Style', 'A <a@b>\nB <b@c>', '05-Jul-2001']);
});

t.test('AsciiDoc: header, attributes, sections, blocks, links', async (t) => {
  const source = `= The *Title*
Ann Example <ann@a.test>; Bob B. Brown
v1.2, 2021-03-04: remark
:keywords: a, b
:description: What it is
:home: https://home.example

First paragraph with link:guide.adoc[a guide], {home}[home], https://bare.example/x.
See <<section-id,there>> and xref:other.adoc#part[that], C++ and *bold* _it_ \`code\`.

== Section
// comment
.Listing
[source,js]
----
== not a heading
----
////
== hidden
////
|===
|a |link:cell.html[c]
|===
* item
image::picture.png[alt]
include::hidden.adoc[]

Two lines
---------
last
`;
  const { all, summary } = await summaryOf('AsciiDoc', source);
  t.equal(all.Title, 'The Title');
  t.equal(all.Author, 'Ann Example\nBob B. Brown');
  t.match(all.Date, '2021-03-04');
  t.equal(all.Keywords, 'a\nb');
  t.equal(all.Description, 'What it is');
  t.equal(all.Headings, 'The Title\nSection\nTwo lines');
  t.same(all['url-references']?.split('\n'), [
    'ftp://a.test/guide.adoc',
    'https://home.example/',
    'https://bare.example/x',
    'ftp://a.test/other.adoc',
    'ftp://a.test/cell.html',
  ]);
  const text = all['Partial-Text'] ?? '';
  t.match(text, 'See there and that, C++ and bold it code.');
  t.match(text, '== not a heading');
  t.notMatch(text, /hidden|comment|picture|\|/);
  t.match(summary.description, /^First paragraph/);
});

t.test('Org: keywords, headings without states and tags, drawers, blocks, links', async (t) => {
  const source = `#+TITLE: The /Title/
#+AUTHOR: Ann Example
#+DATE: <2022-01-02 Sun>
#+FILETAGS: :one:two:
# comment

Text with [[https://link.example/][a label]], [[file:notes.org::*Part][notes]], [[*Heading]], =verbatim= and *bold*.
* TODO [#A] Heading :tag:other:
  SCHEDULED: <2022-01-03 Mon>
:PROPERTIES:
:ID: hidden
:END:
** Deeper
#+BEGIN_SRC sh
* not a heading
#+END_SRC
#+BEGIN_COMMENT
hidden
#+END_COMMENT
| a | b |
|---+---|
- [X] item
`;
  const { all } = await summaryOf('Org', source);
  t.equal(all.Title, 'The Title');
  t.equal(all.Author, 'Ann Example');
  t.equal(all.Keywords, 'one\ntwo');
  t.equal(all.Headings, 'Heading\nDeeper');
  t.same(all['url-references']?.split('\n'), ['https://link.example/', 'ftp://a.test/notes.org']);
  const text = all['Partial-Text'] ?? '';
  t.match(text, 'Text with a label, notes, Heading, verbatim and bold.');
  t.match(text, '* not a heading');
  t.notMatch(text, /hidden|SCHEDULED|comment|\|/);
});

t.test('Jupyter: texts and programs of the cells, without results', async (t) => {
  const notebook = {
    metadata: { title: 'Stated', authors: [{ name: 'Ann' }] },
    cells: [
      { cell_type: 'markdown', source: ['# Heading\n', 'Words and a [link](b.ipynb).'] },
      { cell_type: 'code', source: 'import numpy', outputs: [{ text: ['hidden'] }] },
      'not a cell',
    ],
    nbformat: 4,
  };
  const { all } = await summaryOf('Jupyter', JSON.stringify(notebook));
  t.same(all, {
    Title: 'Stated',
    Author: 'Ann',
    Headings: 'Heading',
    'url-references': 'ftp://a.test/b.ipynb',
    'Partial-Text': 'Heading\n\nWords and a link.\n\nimport numpy',
  });
  const old = {
    worksheets: [
      {
        cells: [
          { cell_type: 'heading', level: 1, source: 'T' },
          { cell_type: 'code', input: 'x' },
        ],
      },
    ],
  };
  t.same((await summaryOf('Jupyter', JSON.stringify(old))).all, {
    Title: 'T',
    Headings: 'T',
    'Partial-Text': 'T\n\nx',
  });
  const damaged = await summaryOf('Jupyter', '{"cells": [');
  t.match(damaged.warnings, [/notebook could not be read/]);
});

t.test('E-58: a README with markup makes an archive of sources a distribution', async (t) => {
  const { summarizeDistribution, isSourceDistribution } = await import(
    '../../../servers/essence/unnest/source-distribution.js'
  );
  const readme = {
    name: 'x/README.md',
    type: 'Markdown',
    summary: { attributes: [['Title', 'T'] as const] },
  };
  const code = { name: 'x/a.c', type: 'C', summary: { attributes: [['Description', 'D'] as const] } };
  t.ok(isSourceDistribution('Tar', [readme, code]));
  t.same(summarizeDistribution([readme, code]).attributes, [
    ['Title', 'T'],
    ['Description', 'D'],
    ['Contents', 'x/README.md\nx/a.c'],
  ]);
  t.notOk(isSourceDistribution('Tar', [{ ...readme, name: 'x/other.md' }, code]));
});

/** Everything that opens and is not closed, repeated; and long lines. */
const OPENERS = [
  '[',
  '![',
  '](',
  '](<',
  '](a "',
  '`',
  '` `` ',
  '*',
  '_a ',
  '**a',
  '~',
  '<a ',
  '<!--',
  '<h1>',
  '&',
  '\\',
  '> ',
  '- ',
  '| ',
  'http://',
  '`a <',
  ':r:`',
  '|a',
  '{a',
  'link:',
  'xref:a[',
  '<<a,',
  '[[a',
  '[[a][',
  '[fn:',
  '*bold _',
  '=',
  ' ',
  '#',
  '.. ',
  '.. _a',
  ':a:',
  '//',
];

t.test('E-45: sources in which everything is left open are read to their end', async (t) => {
  for (const type of ['Markdown', 'ReStructuredText', 'AsciiDoc', 'Org']) {
    for (const opener of OPENERS) {
      for (const separator of ['', '\n']) {
        const body = `${opener}${separator}`.repeat(Math.floor(2 ** 15 / (opener.length + separator.length)));
        const { summary } = await summaryOf(type, body);
        t.ok(summary.attributes.length >= 1, `${type} ${JSON.stringify(opener + separator)}`);
      }
    }
  }
  const deep = await summaryOf('Jupyter', `${'['.repeat(1_000_000)}`);
  t.equal(deep.warnings.length, 1);
});

t.test('property: no source makes a reader throw, and no attribute has an unexpected name', async () => {
  const source = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          ...OPENERS,
          '---\n',
          'title: x\n',
          '\n\n',
          '====\n',
          '----\n',
          '|===\n',
          'word ',
          ')',
          ']',
          '>',
        ),
        fc.string(),
      ),
      {
        maxLength: 60,
      },
    )
    .map((parts) => parts.join(''));
  await assertProperty(
    fc.asyncProperty(
      fc.constantFrom('Markdown', 'ReStructuredText', 'AsciiDoc', 'Org', 'Jupyter'),
      source,
      async (type, body) => {
        const { summary } = await summaryOf(type, body);
        return summary.attributes.every(([name]) => /^[A-Za-z-]+$/.test(name));
      },
    ),
    { numRuns: 1000 },
  );
});
