/**
 * The types that Essence reads itself, with a summarizer, an unnester or a converter. A list of names, because the readers are many modules
 * and import the rules that need it; a test compares both.
 */
export const READABLE_TYPES: ReadonlySet<string> = new Set(
  `
ARJ Archive AsciiDoc Audio Awk Bibliographic Binary Bzip2Compressed Bzip2CompressedTar C CHeader Compressed
CompressedTar CpioArchive DebianPackage DocBook Dvi Excel FAQ FB2 FYI Font Framemaker FullText GNUCompressed
GNUCompressedTar HTML IAFA Image Internet-Draft JATS Jupyter LHa LSM LaTeX MacCompressed Mail Makefile ManPage
Markdown Netfind News Object OfficeOpenXML OpenDocument Org OtherCode PCCompressed PCIndex Patch Pdf Perl
PostScript RCS README RFC RTF ReStructuredText ReferBibliographic SCCS ShellArchive ShellScript SymbolicLink TEI
Tar Tcl TeX Texinfo Text Troff Unrecognized Uuencoded Video WaisSource Word WordPerfect Zoo
`
    .trim()
    .split(/\s+/),
);
