// How the elements of each XML vocabulary are read. Names are in lower case and without prefixes.

import { namesByWord, wordLists, wordSet } from '../../word-tables.js';

/** What is done with an element. */
export type ElementRule =
  /** The element and all within it is left out. */
  | { readonly kind: 'skip' }
  /** Its text is a value of the attribute, and no running text. */
  | { readonly kind: 'field'; readonly attribute: string }
  /** Its text is the name of a person, whose parts are in `NAME_PARTS`. */
  | { readonly kind: 'person' }
  /** A heading; of the document element, the title. */
  | { readonly kind: 'heading' }
  /** A paragraph, or another part that begins a line; with `verbatim`, line ends are kept. */
  | { readonly kind: 'block'; readonly verbatim?: boolean };

/** A rule with the path at which it applies: the names of the last elements, separated by `/`. */
interface PathRule {
  readonly path: readonly string[];
  readonly rule: ElementRule;
}

/** The rules of one vocabulary. */
export interface Vocabulary {
  /** By the last name of the path; the first rule that applies wins. */
  readonly rules: ReadonlyMap<string, readonly PathRule[]>;
  /** Attributes that are links, by element; without prefix. */
  readonly links: ReadonlyMap<string, readonly string[]>;
  /** Attributes that refer to pictures, by element. */
  readonly images: ReadonlyMap<string, readonly string[]>;
}

/**
 * Parts of the names of persons. All other elements within a person are left out if the person has such parts.
 */
export const GIVEN_NAMES: ReadonlySet<string> = wordSet(
  'firstname given-names first-name forename given othername middle-name',
);
export const FAMILY_NAMES: ReadonlySet<string> = wordSet('surname last-name family');
/** Names that are written in one piece. */
export const WHOLE_NAMES: ReadonlySet<string> = wordSet(
  'personname string-name collab orgname corpauthor nickname persname name',
);

/** What is done with an element, by the names of the rows below; other names are those of attributes. */
const RULES: Readonly<Record<string, ElementRule>> = {
  skip: { kind: 'skip' },
  block: { kind: 'block' },
  verbatim: { kind: 'block', verbatim: true },
  heading: { kind: 'heading' },
  person: { kind: 'person' },
};

/** Reads rows of paths. Longer paths precede shorter ones. */
function rulesOf(rows: Readonly<Record<string, string>>): ReadonlyMap<string, readonly PathRule[]> {
  const rules = new Map<string, PathRule[]>();
  for (const [written, name] of namesByWord(rows)) {
    const path = written.split('/');
    const known = rules.get(path.at(-1)!) ?? [];
    known.push({ path, rule: RULES[name] ?? { kind: 'field', attribute: name } });
    rules.set(
      path.at(-1)!,
      known.sort((a, b) => b.path.length - a.path.length),
    );
  }
  return rules;
}

const DOCBOOK: Vocabulary = {
  rules: rulesOf({
    Author: 'corpauthor',
    Date: 'pubdate date',
    Abstract: 'abstract refpurpose',
    Keywords: 'keyword subjectterm',
    person: 'author',
    heading: 'title refentrytitle',
    block:
      'subtitle citerefentry/refentrytitle para simpara formalpara term entry member bridgehead row ' +
      'refname segtitle seg caption attribution listitem blockquote note warning tip caution important ' +
      'example figure table glossterm question answer para/date',
    verbatim: 'programlisting screen literallayout synopsis cmdsynopsis',
    skip:
      'indexterm remark revhistory legalnotice copyright affiliation toc index biblioid volumenum isbn ' +
      'edition releaseinfo productname productnumber printhistory othercredit editor publisher address ' +
      'revision/date',
  }),
  links: wordLists({
    ulink: 'url',
    link: 'href xlink:href',
    olink: 'targetdoc',
    'xi:include': 'href',
    include: 'href',
  }),
  images: wordLists({ imagedata: 'fileref', graphic: 'fileref', inlinegraphic: 'fileref' }),
};

const JATS: Vocabulary = {
  rules: rulesOf({
    Title: 'article-meta/title-group/article-title book-meta/book-title-group/book-title',
    Date: 'article-meta/pub-date book-meta/pub-date',
    Abstract: 'article-meta/abstract book-meta/abstract',
    Keywords: 'kwd',
    Journal: 'journal-title-group/journal-title journal-meta/journal-title',
    References: 'ref-list/ref',
    person: 'contrib-group/contrib',
    heading: 'ref-list/title title',
    block:
      'title-group/subtitle abstract/sec/title list-item/label p list-item td th tr caption label ' +
      'disp-quote verse-line term def preformat disp-formula',
    skip:
      'abstract/title ref/label journal-id issn publisher article-id article-categories aff ' +
      'author-notes volume issue fpage lpage elocation-id history permissions funding-group counts ' +
      'custom-meta-group trans-abstract kwd-group/title tex-math object-id related-article ' +
      'supplementary-material pub-history',
  }),
  links: wordLists({ 'ext-link': 'xlink:href href', uri: 'xlink:href href', 'self-uri': 'xlink:href href' }),
  images: wordLists({ graphic: 'xlink:href href', 'inline-graphic': 'xlink:href href' }),
};

const FB2: Vocabulary = {
  rules: rulesOf({
    Title: 'title-info/book-title',
    Date: 'title-info/date',
    Abstract: 'title-info/annotation',
    Keywords: 'title-info/keywords title-info/genre',
    Language: 'title-info/lang',
    person: 'title-info/author',
    heading: 'title',
    block: 'p v subtitle text-author epigraph cite poem stanza td th tr',
    skip:
      'binary document-info publish-info src-title-info custom-info stylesheet coverpage src-lang ' +
      'translator',
  }),
  links: wordLists({ a: 'l:href xlink:href href' }),
  images: wordLists({}),
};

const TEI: Vocabulary = {
  rules: rulesOf({
    Title: 'filedesc/titlestmt/title',
    Date: 'filedesc/publicationstmt/date',
    Abstract: 'profiledesc/abstract',
    Keywords: 'textclass/keywords keywords/term keywords/list/item',
    person: 'titlestmt/author',
    heading: 'div/head div1/head div2/head div3/head div4/head div5/head body/head front/head',
    block:
      'head p ab l lg item cell row lb sp speaker stage note quote titlepart byline docauthor closer ' +
      'opener label',
    verbatim: 'eg',
    skip:
      'filedesc/editionstmt filedesc/extent filedesc/publicationstmt/p sourcedesc encodingdesc ' +
      'revisiondesc respstmt funder sponsor principal publisher distributor pubplace availability idno ' +
      'notesstmt seriesstmt langusage catref classcode fw',
  }),
  links: wordLists({ ref: 'target', ptr: 'target', xref: 'url doc', xptr: 'url doc' }),
  images: wordLists({ graphic: 'url' }),
};

/** By essence type. */
export const VOCABULARIES: ReadonlyMap<string, Vocabulary> = new Map([
  ['DocBook', DOCBOOK],
  ['JATS', JATS],
  ['FB2', FB2],
  ['TEI', TEI],
]);

/** DocBook: elements with fields of the element around them. */
export const INFO_ELEMENTS: ReadonlySet<string> = new Set(
  'info bookinfo articleinfo setinfo partinfo chapterinfo sectioninfo sect1info refentryinfo referenceinfo artheader refmeta'.split(
    ' ',
  ),
);

/** Returns the rule of the innermost of the open elements. */
export function ruleAt(vocabulary: Vocabulary, open: readonly string[]): ElementRule | undefined {
  const candidates = vocabulary.rules.get(open.at(-1) ?? '');
  return candidates?.find(({ path }) => matchesEnd(path, open))?.rule;
}

function matchesEnd(path: readonly string[], open: readonly string[]): boolean {
  if (path.length > open.length) return false;
  const start = open.length - path.length;
  return path.every((name, index) => name === open[start + index]);
}
