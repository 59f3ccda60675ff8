// Essence: the languages of light markup, notebooks, and the vocabularies of XML.
import { textReader } from './essence.js';

const spaced = (text: string): readonly string[] => text.split(' ').map((word) => word.replaceAll('_', ' '));

export const essenceMarkdown = textReader('x.md', '| a |¦|---|¦    code¦[^1]: ¦text¦¦\t¦%  T¦{#id}', [
  ...spaced('--- +++ title:_T tags:_[a,_b] -_name:_A ## # === ``` ~~~ >_ -_ 1._ **** ![a](b) [a](b_"c")'),
  ...spaced('[a][b] [b]:_c [ ] ( ) ]( ](< ` `` * ** __ ~~ <a_href="b"> </a> <h1> </h1> <!-- --> <b:c>'),
  ...['<script>', '</script>', '&amp;', '&', '\\', 'http://a.test/b_c'],
]);

export const essenceRestructuredText = textReader(
  'x.rst',
  '=====¦-----¦~~~~~¦Title¦:Author: A¦.. a: b¦.. _a: b¦.. _`a`: b¦.. image:: a¦   :target: b¦' +
    '.. code-block:: c¦   text¦.. note:: n¦.. |a| replace:: b¦.. [1] note¦.. toctree::¦__ a¦text::¦' +
    '  code¦`a <b>`_¦`a`_¦a_¦``a``¦:r:`a`¦*a*¦**a**¦|a|¦[1]_¦\\¦`¦*¦<¦>¦+--+¦| a |¦¦' +
    'http://a.test/b¦PEP: 1¦* a¦..¦.. ',
);

export const essenceAsciidoc = textReader(
  'x.adoc',
  '= Title¦A B <c@d>; E¦v1.0, 2020-01-01¦:a: b¦:author: A¦{a}¦{b}¦:b: {a}{a}¦== S¦Two¦---¦~~~~¦' +
    '----¦....¦====¦////¦++++¦--¦```¦|===¦|a |b¦// c¦.Title¦[source]¦* a¦. b¦¦' +
    'link:a[b]¦xref:a#b[c]¦<<a,b>>¦image::a[]¦http://a.test/b[c]¦http://a.test¦[[a]]¦*b*¦_i_¦`m`¦\\*¦' +
    'include::a[]¦ifdef::a[]¦link:¦[¦]¦<<¦>>¦#a#¦+a+¦text',
);

export const essenceOrg = textReader(
  'x.org',
  '#+TITLE: T¦#+AUTHOR: A¦#+FILETAGS: :a:b:¦#+TODO: X | Y¦* TODO [#A] a :b:¦** c¦:PROPERTIES:¦:END:¦' +
    '#+BEGIN_SRC c¦#+END_SRC¦#+BEGIN_QUOTE¦#+END_QUOTE¦#+BEGIN_COMMENT¦#+END_COMMENT¦# c¦¦- [ ] a¦' +
    '| a |¦|---+¦[[a][b]]¦[[file:a]]¦[[*a]]¦[[ ][ ]]¦*b*¦/i/¦=v=¦~c~¦_u_¦http://a.test/b¦[fn:1]¦' +
    '<<a>>¦SCHEDULED: <a>¦: code¦text',
);

export const essenceJupyter = textReader(
  'x.ipynb',
  '{|}|[|]|,|:|"cells"|"cell_type"|"markdown"|"code"|"source"|"# a"|"worksheets"|"input"|"heading"|' +
    '"level"|1|null|"metadata"|"authors"|"name"|"title"|{"cells":[{"cell_type":"markdown","source":["# a"]}]}',
);

const ANY_XML = '<?xml version="1.0"?>|text|&amp;|&a;|<!--|-->|<![CDATA[|]]>|</>|<|>|"|<a b="c">|<d/>';
const xmlReader = (name: string, names: string, ...more: readonly string[]) =>
  textReader(name, ANY_XML, [...names.split(' ').flatMap((each) => [`<${each}>`, `</${each}>`]), ...more]);

export const essenceDocbook = xmlReader(
  'x.docbook',
  'book bookinfo title author firstname surname personname affiliation abstract para keyword date indexterm ' +
    'section programlisting refmeta refentrytitle',
  ...['<!DOCTYPE book [<!ENTITY a "b">]>', '<ulink url="x">', '<imagedata fileref="y"/>'],
);
export const essenceJats = xmlReader(
  'x.nxml',
  'article article-meta title-group article-title contrib-group contrib name surname given-names collab ' +
    'pub-date day month year abstract title p kwd sec ref-list ref label xref',
  ...['<contrib contrib-type="editor">', '<ext-link xlink:href="x">'],
);
export const essenceFb2 = xmlReader(
  'x.fb2',
  'FictionBook description title-info author first-name last-name nickname book-title annotation date genre ' +
    'keywords lang body title section p v binary',
  ...['<date value="1">', '<a l:href="x">'],
);
export const essenceTei = xmlReader(
  'x.tei',
  'TEI teiHeader fileDesc titleStmt title author persName forename surname publicationStmt date textClass ' +
    'keywords term text body div head p l lb sourceDesc',
  ...['<date when="1">', '<ref target="x">'],
);
