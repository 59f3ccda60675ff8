// Types by URL, name, MIME type and content; allow lists and stop lists; the files that define types.
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { ConfigError } from '../../../protocols/errors.js';
import {
  createEssenceContext,
  fileNameOf,
  isRejected,
  mayContainLinks,
  parseTypeList,
  parseTypeRules,
  typeByUrl,
} from '../../../servers/essence/index.js';
import { assertProperty } from '../../helpers/property.js';
import { contentOf, contextOf, IDENTITY, summarize } from './helpers.js';
import { tar } from './unnest-fixtures.js';

const { rules } = contextOf();

t.test('E-6 byurl.cf precedes byname.cf, E-8 the first line wins, E-10 names are unescaped', async (t) => {
  const expected: [url: string, type: string | undefined][] = [
    ['http://a.test/', 'HTML'],
    ['http://a.test/dir/', 'HTML'],
    ['http://a.test/index.html', 'HTML'],
    ['http://a.test/INDEX.HTM', 'HTML'],
    ['http://a.test/page.shtml', 'HTML'],
    ['http://a.test/find.html?q=1', 'HTTP-Query'],
    ['http://a.test/cgi-bin/find', 'HTTP-Query'],
    ['http://a.test/page', undefined],
    ['http://a.test', undefined],
    ['ftp://a.test/pub/', 'Directory'],
    ['gopher://a.test/1/menu', 'Directory'],
    ['news:comp.infosystems', 'News'],
    ['ftp://a.test/x.tar.gz', 'GNUCompressedTar'],
    ['ftp://a.test/x.gz', 'GNUCompressed'],
    ['ftp://a.test/ECRC-93-10.ps.Z', 'Compressed'],
    ['ftp://a.test/x.ZIP', 'PCCompressed'],
    ['ftp://a.test/x.sh', 'ShellScript'],
    ['ftp://a.test/x.sh01', 'ShellArchive'],
    ['ftp://a.test/README', 'README'],
    ['ftp://a.test/README.first', 'README'],
    ['ftp://a.test/README.html', 'HTML'],
    ['ftp://a.test/linux-faq', 'FAQ'],
    ['ftp://a.test/faq.txt', 'FAQ'],
    ['ftp://a.test/faq.html', 'HTML'],
    ['ftp://a.test/rfc1738.txt', 'RFC'],
    ['ftp://a.test/draft-x-00.txt', 'Internet-Draft'],
    ['ftp://a.test/Makefile', 'Makefile'],
    ['ftp://a.test/Makefile.in', 'Makefile'],
    ['ftp://a.test/main.c', 'C'],
    ['ftp://a.test/main.C', 'C'],
    ['ftp://a.test/main.hpp', 'CHeader'],
    ['ftp://a.test/ls.1', 'ManPage'],
    ['ftp://a.test/a%2Epl', 'Perl'],
    ['ftp://a.test/a.referbib', 'ReferBibliographic'],
    ['ftp://a.test/libx.so.1.2', 'Archive'],
    ['ftp://a.test/x.c,v', 'RCS'],
    ['ftp://a.test/s.main.c', 'C'],
    ['ftp://a.test/s.main', 'SCCS'],
    ['ftp://a.test/notes~', 'Backup'],
    ['ftp://a.test/.profile', 'DotFile'],
    ['ftp://a.test/photo.JPEG', 'Image'],
    ['ftp://a.test/notes.txt', 'Text'],
    ['ftp://a.test/notes.TXT', 'Text'],
    ['ftp://a.test/patch', undefined],
    ['ftp://a.test/fix.patch12', 'Patch'],
    ['ftp://a.test/font.300pk', 'Font'],
  ];
  for (const [url, type] of expected) t.equal(typeByUrl(url, rules), type, url);
  t.equal(fileNameOf('http://a.test/a/b%20c.txt?x=/y'), 'b c.txt');
  t.equal(fileNameOf('http://a.test/%ff.txt'), '\xff.txt', 'a name that is not UTF-8');
});

t.test('E-19 pictures, sound and queries are rejected before they are fetched (E-28)', async (t) => {
  for (const name of ['x.gif', 'x.mp3', 'x.o', 'x.conf']) {
    t.ok(isRejected(typeByUrl(`http://a.test/${name}`, rules)!, rules), name);
  }
  t.notOk(isRejected('HTML', rules));
  t.ok(mayContainLinks(typeByUrl('http://a.test/x?y', rules)), 'a query may still contain links (G-49)');
  t.notOk(mayContainLinks('Image'));
});

t.test('E-23 the allow list precedes the stop list; E-24 an empty stop list rejects nothing', async (t) => {
  const limited = { ...rules, allowlist: new Set(['HTML', 'Image']) };
  t.notOk(isRejected('HTML', limited));
  t.ok(isRejected('Text', limited), 'not in the allow list');
  t.ok(isRejected('Image', limited), 'in both lists');
  t.notOk(isRejected('Image', { ...rules, stoplist: parseTypeList('# nothing\n', 'stoplist.cf') }));
});

t.test('E-7 rules with comments, and the tables that the manual prints (vector 12)', async (t) => {
  const byUrl = parseTypeRules(
    '# home pages\n\nHomeHTML\t^http:.*/$\nHomeHTML  ^http:.*/[hH]ome\\.html$\n',
    'byurl.cf',
  );
  t.equal(byUrl.match('http://host/'), 'HomeHTML');
  t.equal(byUrl.match('http://host/Home.html'), 'HomeHTML');
  t.equal(byUrl.match('http://host/other.html'), undefined);
  const byName = parseTypeRules(
    'Abstract ^.*\\.abs$\nReferBibliographic ^.*\\.referbib$\nUnknown .*\n',
    'byname.cf',
  );
  t.equal(byName.match('x.abs'), 'Abstract');
  t.equal(byName.match('x.referbib'), 'ReferBibliographic');
  t.equal(byName.match('x.abs.old'), 'Unknown', 'the last line matches everything else');
  t.equal(parseTypeRules('Tex \\.tex$', 'byname.cf').match('a.tex'), 'TeX', 'E-13');
});

t.test('E-7 errors name file and line', async (t) => {
  for (const text of [
    'Text\n',
    'Text (\n',
    'Text [[:nonsense:]]\n',
    'Text *x\n',
    'Text x{3,1}\n',
    'Text [b-a]\n',
    'Text ^\\d$\n',
  ]) {
    t.throws(() => parseTypeRules(`# a comment\n${text}`, 'byname.cf'), ConfigError, text);
  }
  t.throws(() => parseTypeRules('\nText (', 'lib/byname.cf'), {
    name: 'ConfigError',
    message: /^lib\/byname\.cf:2: Text: /,
  });
});

t.test('a suffix table returns the same types as its expressions, tried in order', async () => {
  const lines = ['A ^.*\\.(a|b)$', 'B \\.b\\.c$', 'C ^b\\.c$', 'D ^.*\\.[cC]x?$', 'E ^a', 'F c$'];
  const together = parseTypeRules(lines.join('\n'), 'f');
  const separate = lines.map((line) => [line[0], parseTypeRules(line, 'f')] as const);
  const name = fc
    .array(fc.constantFrom('.', 'a', 'b', 'c', 'C', 'x'), { maxLength: 8 })
    .map((parts) => parts.join(''));
  assertProperty(
    fc.property(name, (subject) => {
      const first = separate.find(([, rules]) => rules.match(subject) !== undefined)?.[0];
      return together.match(subject) === first;
    }),
    { numRuns: 500 },
  );
});

t.test('E-15 the MIME type is used after the name and before the content', async (t) => {
  const typeOf = async (url: string, body: string | Uint8Array, contentType?: string) =>
    (await summarize(url, body, {}, { contentType })).type;
  t.equal(await typeOf('http://a.test/page', 'words', 'text/html'), 'HTML');
  t.equal(await typeOf('http://a.test/page', 'words', 'application/pdf'), 'Pdf');
  t.equal(await typeOf('http://a.test/page', 'words', 'image/x-strange'), 'Image');
  t.equal(await typeOf('http://a.test/page.txt', 'words', 'application/pdf'), 'Text', 'the name comes first');
  t.equal(await typeOf('http://a.test/page', '<html><body>', 'text/plain'), 'HTML', 'text/plain says little');
  t.equal(
    await typeOf('http://a.test/faq', '<!DOCTYPE html><p>', 'text/html'),
    'HTML',
    'the server and the bytes agree on HTML',
  );
  t.equal(await typeOf('http://a.test/faq', 'plain words', 'text/html'), 'FAQ');
});

t.test('E-16 the content determines the type if nothing else does', async (t) => {
  const expected: [body: string, type: string][] = [
    ['%PDF-1.4', 'Pdf'],
    ['%!PS-Adobe', 'PostScript'],
    ['\x1f\x8b\x08', 'GNUCompressed'],
    ['PK\x03\x04', 'PCCompressed'],
    ['GIF89a', 'Image'],
    ['\x89PNG\r\n\x1a\n', 'Image'],
    ['\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02', 'Binary'],
    ['a\0b', 'Data'],
    ['#!/usr/bin/perl -w\n', 'Perl'],
    ['#!/bin/sh\n', 'ShellScript'],
    ['#! /usr/bin/env bash\n', 'ShellScript'],
    ['#!/usr/bin/env python3\n', 'Python'],
    ['#!/usr/bin/lua\n', 'OtherCode'],
    ['\n <!doctype HTML>', 'HTML'],
    ['<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x"><html>', 'HTML'],
    ['<?xml version="1.0"?><rss/>', 'SGML'],
    ['.\\" a comment\n.TH LS 1\n', 'ManPage'],
    ['.Dd May 1\n', 'ManPage'],
    ['{\\rtf1', 'RTF'],
    ['\\documentclass{article}', 'LaTeX'],
    ['diff -u a b\n', 'Patch'],
    ['just words', 'Text'],
    ['', 'Unrecognized'],
  ];
  for (const [body, type] of expected) {
    t.equal(
      (await summarize('http://a.test/x', Buffer.from(body, 'latin1'))).type,
      type,
      JSON.stringify(body),
    );
  }
  t.equal((await summarize('ftp://a.test/x.tex', '\\documentstyle{book}')).type, 'LaTeX', '3.1: TeX by name');
  t.equal((await summarize('ftp://a.test/x.txt', 'a\0\0b')).type, 'Data', 'bytes that are not text');
});

t.test('E-16, E-17 mail and news are recognized by their header fields, whatever comes first', async (t) => {
  const typeOf = async (body: string, name = 'x'): Promise<string> =>
    (await summarize(`ftp://a.test/${name}`, body)).type;
  const plain = 'From: Ann <ann@a.test>\nTo: bob@b.test\nSubject: Hello\n\nDear Bob\n';
  const mails = [
    plain,
    plain.replaceAll('\n', '\r\n'),
    `X-Mozilla-Status: 0001\n${plain}`,
    `MIME-Version: 1.0\nContent-Type: text/plain;\n\tcharset=utf-8\n${plain}`,
    'Date: Mon, 1 Jan 1996 00:00:00 GMT\nFrom: ann@a.test\n\nx\n',
    'Message-Id: <1@a.test>\nDelivered-To: bob\nFrom: ann@a.test\n\nx\n',
    'From ann@a.test Mon Jan  1 00:00:00 1996\nSubject: x\n\ny\n',
    `Received: from a.test\n\tby b.test\nNewsgroups: comp.test\n${plain}`,
  ];
  for (const body of mails) {
    for (const name of ['x', '17', 'mail.mail', 'in.mbox', 'x.eml'])
      t.equal(await typeOf(body, name), 'Mail', JSON.stringify([name, body.slice(0, 60)]));
  }
  for (const body of [
    `Path: news.a.test!not-for-mail\n${plain}`,
    `Path: not-for-mail\nNewsgroups: comp.test\n${plain}`,
    'From: ann@a.test\nNewsgroups: comp.test\nSubject: x\n\ny\n',
    'Xref: a.test comp.test:1\nSubject: x\nNewsgroups: comp.test\nFrom: ann@a.test\n\ny\n',
  ])
    t.equal(await typeOf(body), 'News', JSON.stringify(body.slice(0, 60)));
  for (const body of [
    'From: the beginning of a story\n\nSubject: none\n',
    'Note: a text\nSubject: x\n',
    'A line\nFrom: ann@a.test\nSubject: x\n',
    'from: a\nto: b\nsubject: keys of a configuration\n',
    'Newsgroups: are discussed here\n',
    `${'a: b\n'.repeat(2000)}`,
  ])
    t.equal(await typeOf(body), 'Text', JSON.stringify(body.slice(0, 60)));
  const summary = contentOf(await summarize('ftp://a.test/mail.mail', plain));
  t.match(summary, { Author: /Ann <ann@a[.]test>/, Title: /Hello/, To: /bob@b[.]test/ });
});

t.test('table 3.1: LaTeX is recognized by its commands anywhere before the body', async (t) => {
  const license = '% A line of a license that nobody reads.\n'.repeat(400);
  const files = '\\begin{filecontents}{a.bib}\n@book{a, title={b}}\n\\end{filecontents}\n';
  const typeOf = async (name: string, body: string) => (await summarize(`http://a.test/${name}`, body)).type;
  for (const source of [
    `${license}\\documentclass{article}\n\\begin{document}`,
    `${license.replaceAll('\n', '\r\n')}\r\n\r\n  \\documentstyle[11pt]{book}\r\n`,
    `\\ProvidesFile{x}\n\\RequirePackage{fix-cm} \\documentclass\n  [a4paper]{article}`,
    `${files}\\documentclass{article}`,
    `\\ifx\\a\\b\\documentclass{article}\\else\\documentclass{book}\\fi`,
    `${license}\\input{preamble}\n\\begin{document}\nText`,
    `${license}\\chapter{One}\n\\begin{itemize}\n\\item a\n\\end{itemize}`,
  ]) {
    const label = JSON.stringify(source.replace(license, '...')).slice(0, 80);
    t.equal(await typeOf('p.tex', source), 'LaTeX', label);
    t.equal(await typeOf('p', source), 'LaTeX', `${label} by its content`);
  }
  for (const source of [
    `${license}\\magnification 1200\nPlain text\n% \\documentclass{article}\n\\bye`,
    `\\def\\documentclass{x}\n\\let \\documentstyle[\n\\bye`,
    '\\input texinfo\n@example\n\\documentclass{article}\n@end example',
    'Write the line\n\\documentclassy{article}\n',
  ])
    t.not(await typeOf('p.tex', source), 'LaTeX', JSON.stringify(source.replace(license, '...')));
  t.equal(await typeOf('p', 'Write\n\\documentclass{article}\n'), 'Text', 'a text that quotes it');
  const inArchive = await summarize(
    'http://a.test/a.tar',
    tar([['p.tex', Buffer.from(`${license}\\documentclass{book}`)]]),
  );
  t.equal(contentOf(inArchive)['Embed<1>-Type'], 'LaTeX');
});

t.test('G-21 a customized file replaces the shipped one, and the other files are kept', async (t) => {
  const libDirectory = t.testdir({ 'byname.cf': 'Notes \\.txt$\n', 'stoplist.cf': '' });
  const context = await createEssenceContext({ ...IDENTITY, libDirectory });
  t.equal(typeByUrl('ftp://a.test/x.txt', context.rules), 'Notes');
  t.equal(typeByUrl('ftp://a.test/x.html', context.rules), undefined);
  t.equal(typeByUrl('ftp://a.test/x/', context.rules), 'Directory');
  t.notOk(isRejected('Image', context.rules));
  await t.rejects(createEssenceContext({ ...IDENTITY, stoplist: 'none.cf' }), { code: 'ERR_CONFIG' });
});

t.test(
  'E-29 a line * of a rule file stands for the rules of all types that the file does not name',
  async (t) => {
    const libDirectory = t.testdir({
      'byname.cf': 'Script \\.py$\nGo \\.golang$\n*\n',
      'bycontent.cf': 'Text text\n',
    });
    const { rules } = await createEssenceContext({ ...IDENTITY, libDirectory });
    const typeOf = (name: string) => typeByUrl(`ftp://a.test/${name}`, rules);
    t.same(['a.py', 'a.pyi', 'a.go', 'a.golang', 'a.rs', 'a.html'].map(typeOf), [
      'Script',
      'Python',
      undefined,
      'Go',
      'Rust',
      undefined,
    ]);
    t.same(rules.byName.find('a.rs'), { type: 'Rust', file: join(libDirectory, 'byname.cf'), line: 3 });
    t.equal(
      rules.byContent.match('Jupyter notebook text'),
      'Text',
      'a file without the line has its own rules',
    );
  },
);
