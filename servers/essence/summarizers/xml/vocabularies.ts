// How the elements of each XML vocabulary are read. Names are in lower case and without prefixes.

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
export const GIVEN_NAMES: ReadonlySet<string> = new Set(
  'firstname given-names first-name forename given othername middle-name'.split(' '),
);
export const FAMILY_NAMES: ReadonlySet<string> = new Set('surname last-name family'.split(' '));
/** Names that are written in one piece. */
export const WHOLE_NAMES: ReadonlySet<string> = new Set(
  'personname string-name collab orgname corpauthor nickname persname name'.split(' '),
);

type Lines = Readonly<Record<string, ElementRule>>;

const skip: ElementRule = { kind: 'skip' };
const block: ElementRule = { kind: 'block' };
const verbatim: ElementRule = { kind: 'block', verbatim: true };
const heading: ElementRule = { kind: 'heading' };
const person: ElementRule = { kind: 'person' };
const field = (attribute: string): ElementRule => ({ kind: 'field', attribute });

function each(names: string, rule: ElementRule): Lines {
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]));
}

function attributes(lines: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.entries(lines).map(([name, list]) => [name, list.split(' ')]));
}

/** Longer paths precede shorter ones. */
function rulesOf(lines: Lines): ReadonlyMap<string, readonly PathRule[]> {
  const rules = new Map<string, PathRule[]>();
  for (const [written, rule] of Object.entries(lines)) {
    const path = written.split('/');
    const name = path.at(-1)!;
    rules.set(
      name,
      [...(rules.get(name) ?? []), { path, rule }].sort((a, b) => b.path.length - a.path.length),
    );
  }
  return rules;
}

const DOCBOOK: Vocabulary = {
  rules: rulesOf({
    ...each('title refentrytitle', heading),
    ...each('subtitle', block),
    'citerefentry/refentrytitle': { kind: 'block' },
    ...each('author', person),
    corpauthor: field('Author'),
    ...each('pubdate date', field('Date')),
    abstract: field('Abstract'),
    refpurpose: field('Abstract'),
    ...each('keyword subjectterm', field('Keywords')),
    ...each(
      'indexterm remark revhistory legalnotice copyright affiliation toc index biblioid volumenum isbn',
      skip,
    ),
    ...each(
      'edition releaseinfo productname productnumber printhistory othercredit editor publisher address',
      skip,
    ),
    ...each(
      'para simpara formalpara term entry member bridgehead row refname segtitle seg caption attribution',
      block,
    ),
    ...each(
      'listitem blockquote note warning tip caution important example figure table glossterm question answer',
      block,
    ),
    ...each('programlisting screen literallayout synopsis cmdsynopsis', verbatim),
    'para/date': block,
    'revision/date': skip,
  }),
  links: attributes({
    ulink: 'url',
    link: 'href xlink:href',
    olink: 'targetdoc',
    'xi:include': 'href',
    include: 'href',
  }),
  images: attributes({ imagedata: 'fileref', graphic: 'fileref', inlinegraphic: 'fileref' }),
};

const JATS: Vocabulary = {
  rules: rulesOf({
    'article-meta/title-group/article-title': field('Title'),
    'book-meta/book-title-group/book-title': field('Title'),
    'title-group/subtitle': block,
    'contrib-group/contrib': person,
    'article-meta/pub-date': field('Date'),
    'book-meta/pub-date': field('Date'),
    'article-meta/abstract': field('Abstract'),
    'book-meta/abstract': field('Abstract'),
    'abstract/title': skip,
    'abstract/sec/title': block,
    kwd: field('Keywords'),
    'journal-title-group/journal-title': field('Journal'),
    'journal-meta/journal-title': field('Journal'),
    'ref-list/title': heading,
    'ref-list/ref': field('References'),
    'ref/label': skip,
    title: heading,
    ...each(
      'journal-id issn publisher article-id article-categories aff author-notes volume issue fpage lpage',
      skip,
    ),
    ...each(
      'elocation-id history permissions funding-group counts custom-meta-group trans-abstract kwd-group/title',
      skip,
    ),
    ...each('tex-math object-id related-article supplementary-material pub-history', skip),
    'list-item/label': block,
    ...each(
      'p list-item td th tr caption label disp-quote verse-line term def preformat disp-formula',
      block,
    ),
  }),
  links: attributes({ 'ext-link': 'xlink:href href', uri: 'xlink:href href', 'self-uri': 'xlink:href href' }),
  images: attributes({ graphic: 'xlink:href href', 'inline-graphic': 'xlink:href href' }),
};

const FB2: Vocabulary = {
  rules: rulesOf({
    'title-info/book-title': field('Title'),
    'title-info/author': person,
    'title-info/date': field('Date'),
    'title-info/annotation': field('Abstract'),
    'title-info/keywords': field('Keywords'),
    'title-info/genre': field('Keywords'),
    'title-info/lang': field('Language'),
    ...each(
      'binary document-info publish-info src-title-info custom-info stylesheet coverpage src-lang translator',
      skip,
    ),
    title: heading,
    ...each('p v subtitle text-author epigraph cite poem stanza td th tr', block),
  }),
  links: attributes({ a: 'l:href xlink:href href' }),
  images: attributes({}),
};

const TEI: Vocabulary = {
  rules: rulesOf({
    'filedesc/titlestmt/title': field('Title'),
    'titlestmt/author': person,
    'filedesc/publicationstmt/date': field('Date'),
    'profiledesc/abstract': field('Abstract'),
    'textclass/keywords': field('Keywords'),
    'keywords/term': field('Keywords'),
    'keywords/list/item': field('Keywords'),
    ...each(
      'filedesc/editionstmt filedesc/extent filedesc/publicationstmt/p sourcedesc encodingdesc revisiondesc',
      skip,
    ),
    ...each(
      'respstmt funder sponsor principal publisher distributor pubplace availability idno notesstmt seriesstmt',
      skip,
    ),
    ...each('langusage catref classcode fw', skip),
    'div/head': heading,
    ...each('div1/head div2/head div3/head div4/head div5/head body/head front/head', heading),
    ...each(
      'head p ab l lg item cell row lb sp speaker stage note quote titlepart byline docauthor closer opener label',
      block,
    ),
    ...each('eg', verbatim),
  }),
  links: attributes({ ref: 'target', ptr: 'target', xref: 'url doc', xptr: 'url doc' }),
  images: attributes({ graphic: 'url' }),
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
