// The summarizers of text, source code and manual pages. A property feeds random bytes of every type to the pipeline.

import fc from 'fast-check';
import t from 'tap';
import { SoifDecoder } from '../../../protocols/soif/index.js';
import { compileEssence, readEssenceSources } from '../../../servers/essence/index.js';
import { summarizeDocument } from '../../../servers/essence/summarize.js';
import { SUMMARIZERS } from '../../../servers/essence/summarizers/index.js';
import { assertProperty } from '../../helpers/property.js';
import { attributesOf, contentOf, contextOf, IDENTITY, inputOf, summarize } from './helpers.js';

/** Returns the content attributes of a document with this name. */
const contentByName = async (name: string, body: string, options: Parameters<typeof summarize>[2] = {}) =>
  contentOf(await summarize(`ftp://a.test/${name}`, body, options));

t.test(
  'E-73 a text of more than 100 lines yields 100 lines and the first sentence of each later paragraph (vector 8)',
  async (t) => {
    const whole = Array.from({ length: 99 }, (_, i) => `line ${i + 1}`).join('\n');
    const later =
      'First of A. B. Smith et al. here! Not this.\nnor this\n\n\nSecond one\ngoes on. Dropped.\n';
    const got = await contentByName('a.txt', `${whole}\n\n${later}`);
    t.equal(got['Partial-Text'], `${whole}\n\nFirst of A. B. Smith et al. here!\nSecond one\ngoes on.\n`);
  },
);

t.test('E-73 a paragraph that is cut at line 100 adds no sentence', async (t) => {
  const lines = Array.from({ length: 102 }, (_, i) => `line ${i + 1}.`).join('\n');
  const got = await contentByName('a.txt', `${lines}\n\nNext. Gone.\n`);
  t.match(got['Partial-Text'], /line 100\.\nNext\.\n$/);
  t.notMatch(got['Partial-Text'], /line 101/);
});

t.test(
  'Text: keywords (E-109) and a description (E-141) are taken from Partial-Text if there is no other attribute',
  async (t) => {
    const got = await contentByName('a.txt', 'Harvest gathers. It also brokers!\n\nMore.\n', {
      keywords: true,
      description: true,
    });
    t.equal(got.Keywords, 'brokers\ngathers\nharvest\n');
    t.equal(got.Description, 'Harvest gathers. It also brokers!\n');
  },
);

t.test('README, FAQ and FullText yield the whole text, with the first line as title', async (t) => {
  t.same(await contentByName('README', '\n  The Title \r\n\r\nwords\r\n'), {
    Title: 'The Title\n',
    'Full-Text': '\n  The Title \n\nwords\n',
  });
  t.same(Object.keys(await contentByName('linux-faq', 'Q: What?')), ['Title', 'Full-Text']);
  t.same(
    Object.keys(await contentByName('notes.txt', 'x', { fullText: true })),
    ['Title', 'Full-Text'],
    'E-117',
  );
});

t.test('E-14 the summary of an unknown type contains only the name', async (t) => {
  const output = await summarize('ftp://a.test/thesis', '');
  t.equal(output.type, 'Unrecognized');
  t.same(contentOf(output), { Title: 'thesis\n' });
});

t.test('E-75 C yields procedures, includes and comments', async (t) => {
  const source = `/* Copyright: nobody
 * ------------------
 * second line */
#include <stdio.h>
# include "mine.h"
#define MAX(a, b) ((a) > (b) ? \\
  (a) : (b))
static const char *s = "not() { a /* comment */";
int prototype(int a);
extern "C" {
// a line comment
struct point { int x; };
static int *main(int argc, char **argv) { if (argc) { call(argv); } return 0; }
void knr(a, b) int a; char *b; { }
Point::~Point() {}
}
int last(void)
{ return '{'; }
`;
  t.same(await contentByName('main.c', source), {
    Description: 'Copyright: nobody\nsecond line\na line comment\n',
    References: 'stdio.h\nmine.h\n',
    Keywords: 'main\nknr\nPoint::~Point\nlast\n',
  });
  t.equal((await contentByName('main.h', 'int prototype(int a);\nint x = f(1);\n')).Keywords, 'prototype\n');
});

t.test('E-75 Perl with POD, shell, Makefile and other languages yield comments and procedures', async (t) => {
  t.same(
    await contentByName(
      'x.pl',
      '#!/usr/bin/perl\n# Says hello\n=head1 NAME\n\nB<hello> - it\n\n=cut\nsub greet { $x = "a#b"; }\n',
    ),
    {
      Description: 'NAME\nhello - it\nSays hello\n',
      Keywords: 'greet\n',
    },
  );
  t.same(
    await contentByName(
      'x.sh',
      '#!/bin/sh\n# Builds.\nrun () {\n  echo $# # twice\n}\nfunction stop {\n:\n}\n',
    ),
    {
      Description: 'Builds.\ntwice\n',
      Keywords: 'run\nstop\n',
    },
  );
  t.same(
    await contentByName(
      'Makefile',
      '# Make it\nCC = cc\nX := y\nall install: prog\n\tcc x\nprog: a.o\n.PHONY: all\n',
    ),
    {
      Description: 'Make it\n',
      Keywords: 'all\ninstall\nprog\n',
    },
  );
  t.same(await contentByName('x.py', '# Python\ndef work(a):\n  pass\n'), {
    Description: 'Python\n',
    Keywords: 'work\n',
  });
  t.same(await contentByName('x.el', ';; Lisp\n(defun go-on () nil)\n'), {
    Description: 'Lisp\n',
    Keywords: 'go-on\n',
  });
  t.same(await contentByName('x.go', '// Go\nfunc Main() {}\n'), { Description: 'Go\n', Keywords: 'Main\n' });
});

t.test('E-74 manual pages in -man and -mdoc yield their sections', async (t) => {
  const man = `.\\" comment
.TH LS 1 "May 1995"
.SH NAME
ls \\- list \\fBdirectory\\fR contents
.SH SYNOPSIS
.B ls
[\\fIoption\\fR]
.SH "SEE ALSO"
.BR chmod (1),
sort(1)
.SH AUTHORS
A. Author
`;
  t.same(await contentByName('ls.1', man), {
    Title: 'LS\n',
    Section: '1\n',
    Description: 'ls - list directory contents\n',
    Synopsis: 'ls\n[option]\n',
    References: 'chmod(1),\nsort(1)\n',
    Author: 'A. Author\n',
    Headings: 'NAME\nSYNOPSIS\nSEE ALSO\nAUTHORS\n',
  });
  t.same(
    await contentByName(
      'cat.1',
      '.Dd May 1\n.Dt CAT 1\n.Sh NAME\n.Nm cat\n.Nd concatenate\n.Sh SEE ALSO\n.Xr head 1\n',
    ),
    {
      Title: 'CAT\n',
      Section: '1\n',
      Description: 'cat\n- concatenate\n',
      References: 'head(1)\n',
      Headings: 'NAME\nSEE ALSO\n',
    },
  );
  t.same(
    Object.keys(await contentByName('release.2', 'No macros here.')),
    ['Partial-Text'],
    'a name is not sufficient without macros',
  );
});

t.test('E-64, E-65 quick-sum.cf yields matching lines or their first group (vector 9)', async (t) => {
  const text =
    'ReferBibliographic Author ^%A[ \t]+(.*)$\nReferBibliographic Title ^%T[ \t]+.*$\nText Seen ^See: (.*)\n';
  const sources = { ...(await readEssenceSources({})), 'quick-sum.cf': { file: 'quick-sum.cf', text } };
  const context = compileEssence({ ...IDENTITY, keywords: false, description: false }, sources);
  const refer = '%A A. S. Tanenbaum\n%A Second\n%T Computer Networks\n%D 1988\n';
  t.same(contentOf(await summarizeDocument(inputOf('ftp://a.test/x.referbib', refer), context)), {
    Title: '%T Computer Networks\n',
    Author: 'A. S. Tanenbaum\nSecond\n',
  });
  const both = contentOf(await summarizeDocument(inputOf('ftp://a.test/x.txt', 'See: there\n'), context));
  t.same(both, { Seen: 'there\n', 'Partial-Text': 'See: there\n' }, 'E-67: appended to the program');
});

t.test('any bytes of any type are summarized or rejected, and every object is strict SOIF', async (t) => {
  const context = contextOf({ keywords: true, description: true, maxObjectBytes: 3000 });
  const names = [
    'x.html',
    'x.txt',
    'README',
    'faq',
    'x.c',
    'x.h',
    'x.pl',
    'x.sh',
    'x.awk',
    'x.py',
    'x.el',
    'Makefile',
    'x.1',
    'x',
    'x/',
  ];
  t.ok(SUMMARIZERS.size > 15);
  const fragment = fc.constantFrom(
    '<',
    '>',
    '<a href="',
    '<meta name=',
    ' content=',
    '<title>',
    '</',
    '<ul>',
    '&#',
    '&amp',
    '"',
    "'",
    '/*',
    '*/',
    '//',
    '#',
    '{',
    '}',
    '(',
    ')',
    ';',
    '=',
    '\\',
    '.TH a 1\n',
    '.SH ',
    '=head1',
    '\n=cut\n',
    '\n\n',
    '. ',
    'word ',
    '\0',
    'ä',
    '😀',
    '@FILE { x\n',
    'a{3}:\t',
    'robots',
    '<base href=//',
    'http://[',
    '%',
    '\u{d800}',
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(fragment, { maxLength: 80 }).map((fragments) => new TextEncoder().encode(fragments.join(''))),
  );
  const mime = fc.option(fc.constantFrom('text/html', 'text/plain', 'x', 'image/png'), { nil: undefined });
  await assertProperty(
    fc.asyncProperty(fc.constantFrom(...names), body, mime, async (name, bytes, contentType) => {
      const input = inputOf(`http://a.test/${name}`, bytes, contentType === undefined ? {} : { contentType });
      const output = await summarizeDocument(input, context);
      if (output.soif === undefined) return output.rejected;
      const decoder = new SoifDecoder({ mode: 'strict' });
      const items = [...decoder.push(output.soif), ...decoder.end()];
      return (
        items.length === 1 &&
        items[0]!.kind === 'object' &&
        Object.keys(attributesOf(output.soif)).length >= 10
      );
    }),
    { numRuns: 1500 },
  );
});
