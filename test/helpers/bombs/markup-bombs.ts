// Pages, markup and programs that include themselves and files of this machine, or have elements without end.
import { type Bombs, series } from './bomb.js';

const MIB = 1024 * 1024;
/** A file that exists on every Unix; its content must never be in a summary. */
export const SECRET = '/etc/passwd';

/** A document type with entities that are a file of this machine. */
export const EXTERNAL = `<!DOCTYPE x [<!ENTITY s SYSTEM "file://${SECRET}"><!ENTITY % p SYSTEM "file://${SECRET}"> %p;]>`;

/** All bombs of pages and markup. */
export function markupReferences(): Bombs {
  const many = (text: string, count: number): string => text.repeat(count);
  return {
    'ext.xml: a file as an entity': `<?xml version="1.0"?>${EXTERNAL}<x>&s;</x>`,
    'ext.sgml: a file as an entity': `${EXTERNAL.replace('x [', `x SYSTEM "${SECRET}" [`)}<x>&s;</x>`,
    'names.sgml: two hundred thousand entities': [
      '<!DOCTYPE x [',
      series(200_000, (i) => `<!ENTITY e${i} "&e${i + 1};">`),
      ']><x>&e0;</x>',
    ],
    'default.sgml: attributes with defaults': [
      '<!DOCTYPE x [<!ATTLIST x ',
      series(50_000, (i) => `a${i} CDATA "v"`, ' '),
      '>]>',
      many('<x>', 20_000),
    ],
    'mixed.html: different elements a million deep': many('<div><p><i><ul><li><a href=x><form>', 150_000),
    'close.html: end tags without elements': `${many('<div>', 50_000)}${many('</p></b></table>', 200_000)}`,
    'links.html: a million links': many('<a href=a>', 1_000_000),
    'same.html: links of megabytes of dots': `<a href="${many('../', 2_000_000)}">x</a>`,
    'srcset.html: a million images': `<img srcset="${many('a.png 1x, ', 1_000_000)}">`,
    'refresh.html: many refreshes': many('<meta http-equiv=refresh content="0;url=x"><base href=y>', 100_000),
    'script.html: scripts without end': many('<script><!--<script>', 300_000),
    'entity.html: a character reference of megabytes': `&#${'9'.repeat(4 * MIB)};&${'a'.repeat(4 * MIB)};`,
    'quote.html: quotes that do not end': many(`<a b='<a b="`, 300_000),
    'less.html: nothing but less-than signs': many('<', 4 * MIB),
    'bang.html: declarations without end': many('<!DOCTYPE html [<!', 300_000),
    'title.html: a title of eight megabytes': `<title>${'x '.repeat(4 * MIB)}`,
    'xmp.html: frames in frames': many('<frameset><frame src=a><noframes><xmp>', 100_000),
    'deep.svg: groups a million deep': `<svg xmlns="http://www.w3.org/2000/svg">${many('<g>', 1_000_000)}`,
    'use.svg: shapes that use each other': [
      '<svg>',
      series(1000, (i) => `<g id="a${i}"><use href="#a${i + 1}"/><use href="#a${i + 1}"/></g>`),
      '</svg>',
    ],
    'self.ms: files that include themselves': [
      '.TL\nx\n',
      many(`.so self.ms\n.so ${SECRET}\n.mso ${SECRET}\n.pso cat ${SECRET}\n.sy cat ${SECRET}\n`, 5000),
    ],
    'self.1: files that include themselves': [
      '.TH A 1\n.SH NAME\na \\- b\n',
      many(`.so man1/self.1\n.so ${SECRET}\n`, 20_000),
    ],
    'self.tex: files that include themselves': [
      '\\documentclass{a}\\begin{document}',
      many(`\\input{self}\\input{${SECRET}}\\include{self}\\openin5=${SECRET} `, 20_000),
    ],
    'self.texi: files that include themselves': [
      '\\input texinfo\n@settitle x\n',
      many(`@include self.texi\n@include ${SECRET}\n@verbatiminclude ${SECRET}\n`, 20_000),
    ],
    'file.ps: files of the machine': `%!PS\n{(${SECRET}) (r) file 1000 string readline pop show} loop`,
    'run.ps: programs of the machine': [
      `%!PS\n(${SECRET}) run (%pipe%cat ${SECRET}) (r) file 99 string readstring pop show`,
    ],
    'string.ps: strings in strings': `%!PS\n${many('(', 2_000_000)}`,
    'hex.ps: a string of hexadecimal digits': `%!PS\n<${many('ab', 4 * MIB)}`,
    'numbers.ps: a number of megabytes': `%!PS\n${many('9', 4 * MIB)} 16#${many('f', MIB)} pop`,
    'name.ps: a name of megabytes': `%!PS\n/${many('n', 4 * MIB)} 1 def`,
  };
}
