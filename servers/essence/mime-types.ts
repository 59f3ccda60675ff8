/** E-15: the types of meaningful MIME types. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['text/html', 'HTML'],
  ['application/xhtml+xml', 'HTML'],
  ['text/xml', 'SGML'],
  ['application/xml', 'SGML'],
  ['text/sgml', 'SGML'],
  ['application/rss+xml', 'SGML'],
  ['application/atom+xml', 'SGML'],
  ['text/markdown', 'Markdown'],
  ['text/x-markdown', 'Markdown'],
  ['text/x-rst', 'ReStructuredText'],
  ['text/prs.fallenstein.rst', 'ReStructuredText'],
  ['text/asciidoc', 'AsciiDoc'],
  ['text/x-asciidoc', 'AsciiDoc'],
  ['text/org', 'Org'],
  ['text/x-org', 'Org'],
  ['application/x-ipynb+json', 'Jupyter'],
  ['application/docbook+xml', 'DocBook'],
  ['application/jats+xml', 'JATS'],
  ['application/x-fictionbook+xml', 'FB2'],
  ['application/x-fictionbook', 'FB2'],
  ['application/tei+xml', 'TEI'],
  ['application/pdf', 'Pdf'],
  ['application/postscript', 'PostScript'],
  ['application/rtf', 'RTF'],
  ['text/rtf', 'RTF'],
  ['application/x-tex', 'TeX'],
  ['text/x-tex', 'TeX'],
  ['application/x-latex', 'LaTeX'],
  ['application/x-dvi', 'Dvi'],
  ['application/msword', 'Word'],
  ['application/vnd.ms-excel', 'Excel'],
  ['application/x-troff', 'Troff'],
  ['text/troff', 'Troff'],
  ['application/x-troff-man', 'ManPage'],
  ['text/x-c', 'C'],
  ['text/x-csrc', 'C'],
  ['text/x-c++src', 'C'],
  ['text/x-chdr', 'CHeader'],
  ['text/x-perl', 'Perl'],
  ['application/x-perl', 'Perl'],
  ['application/x-sh', 'ShellScript'],
  ['application/x-shellscript', 'ShellScript'],
  ['text/x-makefile', 'Makefile'],
  ['text/x-diff', 'Patch'],
  ['text/css', 'OtherCode'],
  ['text/javascript', 'OtherCode'],
  ['application/javascript', 'OtherCode'],
  ['application/x-javascript', 'OtherCode'],
  ['text/x-python', 'OtherCode'],
  ['application/json', 'Data'],
  ['application/x-tar', 'Tar'],
  ['application/zip', 'PCCompressed'],
  ['application/gzip', 'GNUCompressed'],
  ['application/x-gzip', 'GNUCompressed'],
  ['application/x-compress', 'Compressed'],
  ['application/x-bzip2', 'Bzip2Compressed'],
  ['application/x-xz', 'Bzip2Compressed'],
  ['application/zstd', 'Bzip2Compressed'],
  ['message/rfc822', 'Mail'],
  ['message/news', 'News'],
]);

/** MIME families of one type. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ['image', 'Image'],
  ['audio', 'Audio'],
  ['video', 'Video'],
  ['font', 'Font'],
]);

/**
 * Returns the type of a MIME type without parameters; undefined if unknown. `text/plain` and `application/octet-stream` are not in the
 * table, because servers send them for unknown content (E-15).
 */
export function typeByMime(mime: string): string | undefined {
  const name = mime.trim().toLowerCase();
  return TYPES.get(name) ?? FAMILIES.get(name.slice(0, Math.max(0, name.indexOf('/'))));
}
