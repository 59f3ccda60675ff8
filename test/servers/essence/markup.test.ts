// Markdown, reStructuredText, AsciiDoc, Org, Jupyter: recognition, and hostile sources.
import fc from 'fast-check';
import t from 'tap';
import { mayReadInThread } from '../../../servers/essence/recognition/trust.js';
import { assertProperty } from '../../helpers/property.js';
import { summaryOf } from './fixtures/summary-of.js';
import { contentOf, contextOf, summarize } from './helpers.js';

const typeOf = async (url: string, body: string, contentType?: string) =>
  (await summarize(url, body, {}, { contentType })).type;

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
  t.equal(await typeOf('http://a.test/x.md', '<!DOCTYPE html><p>', 'text/html'), 'HTML', 'a web page');
  t.ok(mayReadInThread({ type: 'Markdown', isHtml: false }, 1000, contextOf()));
  t.notOk(mayReadInThread({ type: 'Jupyter', isHtml: false }, 1000, contextOf()), 'JSON takes more memory');
});

t.test('--link-text: the texts of links in links are joined', async (t) => {
  const nested = `${'[a '.repeat(20_000)}${'](b)'.repeat(20_000)}`;
  const content = contentOf(await summarize('http://a.test/d/x.md', nested, { linkText: true }));
  t.match(content['Link-Text'], /^http:\/\/a\.test\/d\/b /);
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
const OPENERS = (
  '[¦![¦](¦](<¦](a "¦`¦` `` ¦*¦_a ¦**a¦~¦<a ¦<!--¦<h1>¦&¦\\¦> ¦- ¦| ¦http://¦`a <¦:r:`¦|a¦{a¦link:¦' +
  'xref:a[¦<<a,¦[[a¦[[a][¦[fn:¦*bold _¦=¦ ¦#¦.. ¦.. _a¦:a:¦//'
).split('¦');

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
        fc.constantFrom(...OPENERS, ...'---\n¦title: x\n¦\n\n¦====\n¦----\n¦|===\n¦word ¦)¦]¦>'.split('¦')),
        fc.string(),
      ),
      { maxLength: 60 },
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
