const words = (text: string): readonly string[] => text.split(' ');

/** Commands whose arguments are not text, with the number of their brace groups. */
export const WITHOUT_TEXT: ReadonlyMap<string, number> = new Map([
  ...words(
    'label ref pageref eqref autoref cref Cref vref nameref cite citep citet nocite documentclass documentstyle usepackage ' +
      'RequirePackage bibliographystyle bibliography include input includeonly includegraphics epsfig psfig hspace vspace ' +
      'pagestyle thispagestyle pagenumbering newcounter stepcounter refstepcounter newlength newsavebox usebox color ' +
      'begin end hypersetup geometry captionsetup usetikzlibrary pgfplotsset tikzset graphicspath selectlanguage ' +
      'hyphenation index glossary bibitem newif LoadClass PassOptionsToClass definecolorset ProvidesPackage ProvidesClass ' +
      'NeedsTeXFormat hypertarget phantomsection lstset cline cmidrule theoremstyle setmainfont setsansfont setmonofont ' +
      'fontencoding fontfamily fontseries fontshape DeclareOption typeout message special write openout enlargethispage ' +
      'alph Alph roman Roman arabic value listfiles marginparwidth allowdisplaybreaks linespread',
  ).map((name) => [name, 1] as const),
  ...words(
    'setlength addtolength setcounter addtocounter fontsize newcommand renewcommand providecommand DeclareMathOperator ' +
      'newtheorem settowidth addcontentsline rule raisebox href hyperlink numberwithin definecolor newcolumntype ' +
      'resizebox scalebox DeclareRobustCommand declaretheorem pagecolor addtocontents newfont textcolor@',
  ).map((name) => [name, 2] as const),
  ...words('newenvironment renewenvironment multirow DeclareFontFamily').map((name) => [name, 3] as const),
  ['href', 1],
  ['hyperlink', 1],
  ['raisebox', 1],
  ['resizebox', 2],
  ['scalebox', 1],
  ['textcolor', 1],
  ['colorbox', 1],
  ['multicolumn', 2],
  ['multirow', 2],
  ['parbox', 1],
  ['definecolor', 3],
  ['addcontentsline', 3],
]);

/**
 * Commands in titles and lists of authors whose arguments are notes, marks and addresses: not part of a title
 * or name.
 */
export const NOTES: ReadonlySet<string> = new Set(
  words(
    'thanks footnote footnotemark footnotetext thanksref titlenote titlefootnote tnoteref tnotetext fnref fnmark corref cortext ' +
      'authornote authornotemark inst institute institution email ead address affil affiliation authormark orcid orcidID ' +
      'orcidlink IEEEauthorblockA IEEEauthorrefmark IEEEmembership IEEEcompsocitemizethanks altaffiliation altaffilmark ' +
      'altaffiltext homepage mail urladdr',
  ),
);

/** Environments whose content is a formula or a picture. */
export const FORMULAS: ReadonlySet<string> = new Set(
  words(
    'equation equation* align align* alignat alignat* eqnarray eqnarray* gather gather* multline multline* displaymath math ' +
      'flalign flalign* picture tikzpicture pspicture comment filecontents filecontents* pmatrix bmatrix array',
  ),
);

/** Environments with verbatim content. */
export const VERBATIM: ReadonlySet<string> = new Set(
  words('verbatim verbatim* Verbatim lstlisting alltt minted BVerbatim LVerbatim'),
);

/** Environments with layout arguments, and the number of these. */
export const ENVIRONMENT_ARGUMENTS: ReadonlyMap<string, number> = new Map([
  ...words(
    'tabular array longtable minipage supertabular thebibliography multicols list adjustwidth spacing',
  ).map((name) => [name, 1] as const),
  ...words('tabular* tabularx tabulary').map((name) => [name, 2] as const),
]);

/** Headings (LaTeX's and AMS's). */
export const HEADINGS: ReadonlySet<string> = new Set(
  words('part chapter section subsection subsubsection paragraph'),
);

/** Commands that are characters. */
export const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ...Object.entries({
    ss: 'ß',
    ae: 'æ',
    AE: 'Æ',
    oe: 'œ',
    OE: 'Œ',
    o: 'ø',
    O: 'Ø',
    aa: 'å',
    AA: 'Å',
    l: 'ł',
    L: 'Ł',
    i: 'ı',
    j: 'ȷ',
    S: '§',
    P: '¶',
    copyright: '©',
    pounds: '£',
    dots: '...',
    ldots: '...',
    textellipsis: '...',
    TeX: 'TeX',
    LaTeX: 'LaTeX',
    LaTeXe: 'LaTeX2e',
    BibTeX: 'BibTeX',
    MF: 'METAFONT',
    MP: 'MetaPost',
    textbackslash: '\\',
    backslash: '\\',
    textasciitilde: '~',
    textasciicircum: '^',
    textbar: '|',
    textless: '<',
    textgreater: '>',
    textquotedblleft: '“',
    textquotedblright: '”',
    textbullet: '•',
    euro: '€',
    texteuro: '€',
    slash: '/',
    quad: ' ',
    qquad: ' ',
    space: ' ',
    par: '\n\n',
    newline: '\n',
    linebreak: '\n',
    cr: '\n',
    item: '\n',
    today: '',
  }),
]);

/** Accent commands, as combining characters. */
export const ACCENTS: ReadonlyMap<string, string> = new Map([
  ['`', '\u0300'],
  ["'", '\u0301'],
  ['^', '\u0302'],
  ['~', '\u0303'],
  ['=', '\u0304'],
  ['u', '\u0306'],
  ['.', '\u0307'],
  ['"', '\u0308'],
  ['r', '\u030a'],
  ['H', '\u030b'],
  ['v', '\u030c'],
  ['c', '\u0327'],
  ['k', '\u0328'],
  ['d', '\u0323'],
  ['b', '\u0331'],
]);

// The files that a TeX source includes.

/** Maximum number of files that one source includes. */
const MAX_INCLUSIONS = 500;
/** Maximum length of a name. */
const MAX_NAME = 200;

/**
 * Files of the distributions that sources of plain TeX and old LaTeX read; they are not beside the document.
 */
const DISTRIBUTED =
  /^(?:plain|amstex|amssym|amsppt|epsf|epsfig|texinfo|eplain|opmac|harvmac|lanlmac|psfig|pstricks|xy|tikz|pgf\w*|miniltx|graphicx|color|ifpdf|manmac|webmac|cwebmac|btxmac|null|inputenc|fontenc|glyphtounicode)(?:\.\w+)?$/;

/**
 * Collects the names of the files that a source reads by `\input`, `\include` and similar commands: those in
 * the directory of the source and below it. Other names are left out: absolute ones, those with `..`, and those
 * that macros compute.
 */
export class Inclusions {
  readonly #names = new Set<string>();

  /** Names with their suffix, relative to the source. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  /** Adds a name as it is written; returns it with its suffix, or undefined if it is left out. */
  add(written: string): string | undefined {
    const name = written
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replace(/^(?:\.\/)+/, '');
    if (name === '' || name.length > MAX_NAME || !/^[\w.+@=,~ -]+(?:\/[\w.+@=,~ -]+)*$/.test(name))
      return undefined;
    if (name.split('/').some((part) => /^\.+$/.test(part)) || DISTRIBUTED.test(name)) return undefined;
    const file = /\.[A-Za-z_]\w{0,9}$/.test(name) ? name : `${name}.tex`;
    if (this.#names.size < MAX_INCLUSIONS) this.#names.add(file);
    return file;
  }
}
