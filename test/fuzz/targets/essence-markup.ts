// Essence: the languages of light markup, notebooks, and the vocabularies of XML.
import { textReader } from './essence.js';

const words = (text: string): readonly string[] => text.split(' ').map((word) => word.replaceAll('_', ' '));

export const essenceMarkdown = textReader('x.md', [
  ...words(
    '--- +++ title:_T tags:_[a,_b] -_name:_A ## # === ``` ~~~ >_ -_ 1._ **** ![a](b) [a](b_"c") [a][b] [b]:_c',
  ),
  ...words(
    '[ ] ( ) ]( ](< ` `` * ** __ ~~ <a_href="b"> </a> <h1> </h1> <!-- --> <script> </script> <b:c> &amp; & \\',
  ),
  ...['| a |', '|---|', '    code', '[^1]: ', 'http://a.test/b_c', 'text', '', '\t', '%  T', '{#id}'],
]);

export const essenceReStructuredText = textReader('x.rst', [
  ...'=====|-----|~~~~~|Title|:Author: A|.. a: b|.. _a: b|.. _`a`: b|.. image:: a|   :target: b'.split('|'),
  ...(
    '.. code-block:: c¦   text¦.. note:: n¦.. |a| replace:: b¦.. [1] note¦.. toctree::¦__ a¦text::¦' +
    '  code'
  ).split('¦'),
  ...'`a <b>`_¦`a`_¦a_¦``a``¦:r:`a`¦*a*¦**a**¦|a|¦[1]_¦\\¦`¦*¦<¦>¦+--+¦| a |¦'.split('¦'),
  ...['http://a.test/b', 'PEP: 1', '* a', '..', '.. '],
]);

export const essenceAsciiDoc = textReader('x.adoc', [
  ...'= Title|A B <c@d>; E|v1.0, 2020-01-01|:a: b|:author: A|{a}|{b}|:b: {a}{a}|== S|Two|---|~~~~'.split('|'),
  ...'----¦....¦====¦////¦++++¦--¦```¦|===¦|a |b¦// c¦.Title¦[source]¦* a¦. b¦'.split('¦'),
  ...(
    'link:a[b] xref:a#b[c] <<a,b>> image::a[] http://a.test/b[c] http://a.test [[a]] *b* _i_ `m` ' + '\\*'
  ).split(' '),
  ...['include::a[]', 'ifdef::a[]', 'link:', '[', ']', '<<', '>>', '#a#', '+a+', 'text'],
]);

export const essenceOrg = textReader('x.org', [
  ...(
    '#+TITLE: T¦#+AUTHOR: A¦#+FILETAGS: :a:b:¦#+TODO: X | Y¦* TODO [#A] a :b:¦** c¦:PROPERTIES:¦' + ':END:'
  ).split('¦'),
  ...(
    '#+BEGIN_SRC c¦#+END_SRC¦#+BEGIN_QUOTE¦#+END_QUOTE¦#+BEGIN_COMMENT¦#+END_COMMENT¦# c¦¦- [ ] a¦' + '| a |'
  ).split('¦'),
  ...'|---+ [[a][b]] [[file:a]] [[*a]] [[ ][ ]] *b* /i/ =v= ~c~ _u_ http://a.test/b [fn:1]'.split(' '),
  ...['<<a>>', 'SCHEDULED: <a>', ': code', 'text'],
]);

export const essenceJupyter = textReader('x.ipynb', [
  ...'{|}|[|]|,|:|"cells"|"cell_type"|"markdown"|"code"|"source"|"# a"|"worksheets"'.split('|'),
  ...['"input"', '"heading"', '"level"', '1', 'null', '"metadata"', '"authors"', '"name"', '"title"'],
  '{"cells":[{"cell_type":"markdown","source":["# a"]}]}',
]);

const elements = (names: string): readonly string[] =>
  names.split(' ').flatMap((name) => [`<${name}>`, `</${name}>`]);
const ANY_XML = '<?xml version="1.0"?>|text|&amp;|&a;|<!--|-->|<![CDATA[|]]>|</>|<|>|"|<a b="c">|<d/>'.split(
  '|',
);

export const essenceDocBook = textReader('x.docbook', [
  '<!DOCTYPE book [<!ENTITY a "b">]>',
  ...elements(
    'book bookinfo title author firstname surname personname affiliation abstract para keyword date indexterm',
  ),
  ...elements('section programlisting refmeta refentrytitle'),
  '<ulink url="x">',
  '<imagedata fileref="y"/>',
  ...ANY_XML,
]);
export const essenceJats = textReader('x.nxml', [
  ...elements(
    'article article-meta title-group article-title contrib-group contrib name surname given-names collab pub-date',
  ),
  ...elements('day month year abstract title p kwd sec ref-list ref label xref'),
  '<contrib contrib-type="editor">',
  '<ext-link xlink:href="x">',
  ...ANY_XML,
]);
export const essenceFb2 = textReader('x.fb2', [
  ...elements(
    'FictionBook description title-info author first-name last-name nickname book-title annotation date genre',
  ),
  ...elements('keywords lang body title section p v binary'),
  '<date value="1">',
  '<a l:href="x">',
  ...ANY_XML,
]);
export const essenceTei = textReader('x.tei', [
  ...elements(
    'TEI teiHeader fileDesc titleStmt title author persName forename surname publicationStmt date textClass',
  ),
  ...elements('keywords term text body div head p l lb sourceDesc'),
  '<date when="1">',
  '<ref target="x">',
  ...ANY_XML,
]);
