// Programs and marked-up texts that expand: PostScript, TeX, Texinfo, troff, DVI, SGML, HTML.
import type { Random } from '../random.js';
import { type Bomb, bombsOf, series } from './bomb.js';

/** PostScript programs; each is the rest of a file after `%!PS`. */
const POSTSCRIPT = [
  '{100000 dict begin} loop',
  '1000000000 string',
  '{1000000 string} loop',
  '{1000000 array} loop',
  '/a 3000000 array def 0 1 2999999 {a exch [ ] put} for',
  '/a 3000000 array def 0 1 2999999 {a exch 1 dict put} for',
  '/a 3000000 array def {0 1 2999999 {a exch (x) 0 0 getinterval put} for} loop',
  '1 1 90000 {} for {90000 1 roll} loop',
  '1 1 40000 {} for {40000 copy 40000 {pop} repeat} loop',
  'mark 1 1 90000 {} for {counttomark pop} loop',
  '/s 20000000 string def {s (x) search pop pop} loop',
  '/s 20000000 string def {s s eq pop} loop',
  '/s 20000000 string def {s cvn pop} loop',
  '/a 1000000 array def {a {pop} forall} loop',
  '/a 1 array def 0 {1 add dup 1000003 div a exch 0 put} loop',
  '{gsave} loop',
  '{showpage} loop',
  '{StandardEncoding} loop',
  '0 {1 add dup 10 string cvs cvn findfont pop} loop',
  '/d 5 dict def 0 {1 add dup dup d 3 1 roll put} loop',
  '/F findfont 10 scalefont setfont /s 1000000 string def {0 0 moveto s show} loop',
  '(a) cvx /a exch def a',
  '/a /a cvx def a',
  '/a 100000 array def 0 1 99999 {a exch ({a a a a a a a a a a a a a a a a a a a}) cvx exec put} for',
  '{} loop',
  '/x {x x} def x',
  '{[ 1 2 3] aload pop clear} loop',
  '{currentfile eexec} loop',
  '1000000000 1000000000 8 {(x)} image',
  '1e9 true 1000000000 colorimage',
  '{/F 10 selectfont} loop',
  '{{stop} stopped pop} loop',
  '{save} loop',
] as const;

function units(bytes: number): string {
  return String.fromCharCode((bytes >>> 24) & 255, (bytes >>> 16) & 255, (bytes >>> 8) & 255, bytes & 255);
}

const DVI = '\xf7\x02\x01\x83\x92\xc0\x1c\x3b\x00\x00\x00\x00\x03\xe8\x00';

/** All bombs of programs and texts. */
export function textBombs(random: Random): Bomb[] {
  const many = (text: string, count = 200_000): string => text.repeat(count + random.below(1000));
  const sgml = (internal: string, content: string): string => `<!DOCTYPE x [${internal}]>\n<x>${content}</x>`;
  const lol = series(12, (i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`);
  return bombsOf({
    ...Object.fromEntries(POSTSCRIPT.map((program, i) => [`${i}.ps: ${program}`, `%!PS\n${program}`])),
    'p.ps: procedures a million deep': `%!PS\n${many('{', 1_000_000)}`,
    'q.ps: a procedure of two million strings': `%!PS\n{${many('()', 2_000_000)}}`,
    'x.tex: a macro that calls itself': '\\def\\a{\\a\\a}\\a \\documentclass{x}\\begin{document}\\a',
    'y.tex: macros that double': [
      series(40, (i) => `\\def\\a${String.fromCharCode(97 + (i % 26))}${i}{\\b\\b}`),
      '\\aa0',
    ],
    'z.ltx: new commands that double': [
      series(
        26,
        (i) =>
          `\\newcommand{\\x${String.fromCharCode(97 + i)}}{\\x${String.fromCharCode(98 + i)}\\x${String.fromCharCode(98 + i)}}`,
        '\n',
      ),
      '\\documentclass{a}\\title{\\xa}\\xa',
    ],
    'g.tex: groups without end': many('{', 1_000_000),
    'o.ltx: options without end': `\\documentclass${many('[', 500_000)}`,
    'm.tex: mathematics without end': many('$\\frac{', 200_000),
    'x.texi: a macro that calls itself': [
      '\\input texinfo\n@macro a\n@a{}@a{}\n@end macro\n@a{}\n',
      many('@a{}\n', 1000),
    ],
    'y.texi: commands in commands': `\\input texinfo\n${many('@code{', 300_000)}`,
    'z.texi: values of values': `\\input texinfo\n@set a @value{a}@value{a}\n${many('@value{a}', 50_000)}`,
    'i.texi: conditions without end': `\\input texinfo\n${many('@ifset a\n', 200_000)}`,
    'x.ms: a macro that calls itself': `.TL\nx\n.de A\n.A\n.A\n..\n.A\n${many('.A\n', 1000)}`,
    's.ms: strings of strings': `.ds a \\*a\\*a\n.TL\n\\*a\n${many('\\*a', 100_000)}`,
    'x.1: requests without arguments': `.TH A 1\n${many('.SH\n', 200_000)}`,
    'w.1: a while loop': '.TH A 1\n.while 1 .br\n.nr a 0 1\n.while 1 \\{\\\n.ds b \\*b\\*b\n.\\}\n',
    'x.dvi: steps to the right without end':
      DVI + many('\x8b\x00\x00\x00\x01\x00\x00\x00\x00'.padEnd(45, '\0'), 20_000),
    'p.dvi: pushes without pops': `${DVI}\x8b${'\0'.repeat(44)}${many('\x8d', 2_000_000)}`,
    's.dvi: specials of 4 GB': `${DVI}\x8b${'\0'.repeat(44)}\xf2${units(0xffffffff)}`,
    'f.dvi: a hundred thousand fonts': [
      DVI,
      series(100_000, (i) => `\xf6${units(i)}${units(0)}${units(1)}${units(1)}\x00\x01a`),
    ],
    'x.sgml: entities of entities': sgml(`<!ENTITY a0 "lol">${lol}`, '&a12;'),
    'y.xml: entities of entities': `<?xml version="1.0"?>${sgml(`<!ENTITY a0 "lol">${lol}`, '&a12;')}`,
    'q.xml: one long entity many times': [
      '<?xml version="1.0"?>',
      sgml(`<!ENTITY a "${'x'.repeat(100_000)}">`, many('&a;', 100_000)),
    ],
    'c.xml: an entity that contains itself': `<?xml version="1.0"?>${sgml('<!ENTITY a "&a;&a;">', '&a;')}`,
    'd.xml: elements a million deep': `<?xml version="1.0"?>${many('<a>', 1_000_000)}`,
    'a.xml: many attributes': ['<?xml version="1.0"?><a ', series(200_000, (i) => `a${i}="x"`, ' '), '>'],
    'p.sgml: marked sections without end': `<!DOCTYPE x>${many('<![INCLUDE[', 200_000)}`,
    'e.sgml: parameter entities': `<!DOCTYPE x [<!ENTITY % a "%a;%a;"> %a; ${many('%a;', 10_000)}]>`,
    'x.html: elements a million deep': many('<b>', 1_000_000),
    't.html: tables in tables': many('<table><tr><td>', 100_000),
    'a.html: a tag with a million attributes': `<a ${series(200_000, (i) => `a${i}=x`, ' ')} href=y>z</a>`,
    'v.html: an attribute of megabytes': `<a href="${'x'.repeat(8_000_000)}">y</a>`,
    'c.html: comments without end': many('<!--', 500_000),
    'r.html: character references': many('&#x1F600;&amp;&notanentity;', 200_000),
    'l.html: a million links': series(200_000, (i) => `<a href=${i}.html>x</a>`),
    'b.html: a base and long relative links': [
      '<base href="http://a.test/',
      'a/'.repeat(1000),
      '">',
      many('<a href=../x>', 100_000),
    ],
    'x.rfc822: a text without a line end': 'x'.repeat(4_000_000),
    'x.bib: braces without end': `@a{${many('{', 500_000)}`,
    's.bib: strings of strings': [
      '@string{a = "x"}\n',
      series(40, (i) => `@string{a${i + 1} = a${i || ''} # a${i || ''}}`, '\n'),
      '\n@book{x, title = a40}',
    ],
    'x.diff: a hundred thousand files': many('--- a\n+++ b\n@@ -1,999999999 +1,999999999 @@\n', 100_000),
    'x,v: a million revisions': [
      'head 1.1;\naccess;\nsymbols;\nlocks;\n',
      many('1.1\ndate 2001.01.01.00.00.00; author a; state Exp;\nbranches;\nnext 1.1;\n\n', 50_000),
      'desc\n@@\n',
    ],
    'x.mif: statements in statements': `<MIFFile 5.00>\n${many('<Para ', 300_000)}`,
    'x.lsm: a hundred thousand entries': many('Begin4\nTitle: x\nPrimary-site: a b\n 1 c\nEnd\n', 30_000),
    'x.c: comments and braces': many('/*{*/{', 200_000),
    'x.txt: carriage returns': many('\r', 2_000_000),
    'u.txt: UTF-16 without end': ['\xff\xfe', new Uint8Array(3_000_001).fill(0xd8)],
  });
}
