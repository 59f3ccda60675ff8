import { namesByWord, wordPairs, wordSet, words } from '../../word-tables.js';

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
      'alph Alph roman Roman arabic value listfiles marginparwidth allowdisplaybreaks linespread href hyperlink raisebox scalebox textcolor colorbox parbox',
  ).map((name) => [name, 1] as const),
  ...words(
    'setlength addtolength setcounter addtocounter fontsize newcommand renewcommand providecommand DeclareMathOperator ' +
      'newtheorem settowidth rule numberwithin newcolumntype ' +
      'resizebox DeclareRobustCommand declaretheorem pagecolor addtocontents newfont textcolor@ multicolumn multirow',
  ).map((name) => [name, 2] as const),
  ...words('newenvironment renewenvironment DeclareFontFamily definecolor addcontentsline').map(
    (name) => [name, 3] as const,
  ),
]);

/**
 * Commands in titles and lists of authors whose arguments are notes, marks and addresses: not part of a title
 * or name.
 */
export const NOTES: ReadonlySet<string> = wordSet(
  'thanks footnote footnotemark footnotetext thanksref titlenote titlefootnote tnoteref tnotetext fnref fnmark corref cortext ' +
    'authornote authornotemark inst institute institution email ead address affil affiliation authormark orcid orcidID ' +
    'orcidlink IEEEauthorblockA IEEEauthorrefmark IEEEmembership IEEEcompsocitemizethanks altaffiliation altaffilmark ' +
    'altaffiltext homepage mail urladdr',
);

/** Environments whose content is a formula or a picture. */
export const FORMULAS: ReadonlySet<string> = wordSet(
  'equation equation* align align* alignat alignat* eqnarray eqnarray* gather gather* multline multline* displaymath math ' +
    'flalign flalign* picture tikzpicture pspicture comment filecontents filecontents* pmatrix bmatrix array',
);

/** Environments with verbatim content. */
export const VERBATIM: ReadonlySet<string> = wordSet(
  'verbatim verbatim* Verbatim lstlisting alltt minted BVerbatim LVerbatim',
);

/** Environments with layout arguments, and the number of these. */
export const ENVIRONMENT_ARGUMENTS: ReadonlyMap<string, number> = new Map([
  ...words(
    'tabular array longtable minipage supertabular thebibliography multicols list adjustwidth spacing',
  ).map((name) => [name, 1] as const),
  ...words('tabular* tabularx tabulary').map((name) => [name, 2] as const),
]);

/** Headings (LaTeX's and AMS's). */
export const HEADINGS: ReadonlySet<string> = wordSet(
  'part chapter section subsection subsubsection paragraph',
);

/** Commands that are characters. */
export const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ...wordPairs(`
    ss ß ae æ AE Æ oe œ OE Œ o ø O Ø aa å AA Å l ł L Ł i ı j ȷ S § P ¶ copyright © pounds £ dots ...
    ldots ... textellipsis ... TeX TeX LaTeX LaTeX LaTeXe LaTeX2e BibTeX BibTeX MF METAFONT MP MetaPost
    textbackslash \\ backslash \\ textasciitilde ~ textasciicircum ^ textbar | textless < textgreater >
    textquotedblleft “ textquotedblright ” textbullet • euro € texteuro € slash /
  `),
  ...namesByWord({ ' ': 'quad qquad space', '\n': 'newline linebreak cr item', '\n\n': 'par', '': 'today' }),
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
