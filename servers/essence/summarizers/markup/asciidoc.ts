import type { SourceDocument, Summary } from '../../document.js';
import { namesByWord } from '../../word-tables.js';
import { readFrontMatter } from './front-matter.js';
import { bareUrl, type MarkupField, type Outline, summarizeOutline, withoutEmphasis } from './outline.js';

const FIELDS: ReadonlyMap<string, MarkupField> = namesByWord({
  Title: 'title doctitle',
  Author: 'author authors',
  Date: 'date docdate revdate',
  Description: 'description',
  Keywords: 'keywords',
});

/** Characters of a line of revision, date and remark. */
const MAX_REVISION = 500;
/** Maximum number of attributes that a document defines, and maximum length of each in characters. */
const MAX_ATTRIBUTES = 1000;
const MAX_ATTRIBUTE = 200;
/** Maximum length of all values that replace references, in characters. */
const MAX_EXPANDED = 256 * 1024;

/** Characters below titles of two lines, by level. */
const UNDERLINES = '=-~^+';

const INLINE = new RegExp(
  [
    '(?<macro>link|xref|mailto|image|footnote|kbd|btn|menu|icon|pass|stem|latexmath|asciimath|indexterm2?|anchor|video|audio)::?(?<target>[^\\s\\[\\]]{0,500})\\[(?<text>[^\\]]{0,1000})\\]',
    '(?<url>(?:https?|ftp|irc)://[^\\s\\[\\]<>"]+)(?:\\[(?<label>[^\\]]{0,1000})\\])?',
    '<<(?<section>[^<>,]{1,300})(?:,(?<title>[^<>]{1,500}))?>>',
    '\\[\\[[^\\]]{0,300}\\]\\]|\\(\\(\\([^()]{0,300}\\)\\)\\)',
    '\\[[#.][^\\[\\]]{0,100}\\](?=[*_`#])',
    '\\\\(?=[*_`#+^~<{\\[:hl])',
  ].join('|'),
  'g',
);

/**
 * AsciiDoc: title, author and revision lines, attributes, section titles, links; the Text rule on the plain
 * text.
 */
export function summarizeAsciiDoc(document: SourceDocument): Summary {
  return summarizeOutline(document, 'AsciiDoc', (source, outline) =>
    new AsciiDocReader(readFrontMatter(source, outline).split('\n'), outline).read(),
  );
}

class AsciiDocReader {
  readonly #lines: readonly string[];
  readonly #outline: Outline;
  readonly #attributes = new Map<string, string>();
  #paragraph: string[] = [];
  /** The line that ends the block that is being read as it is, or skipped. */
  #delimiter: string | undefined;
  #verbatim: string[] = [];
  #inTable = false;
  #expanded = 0;
  /** Of the paragraph that follows a line `[source]` or similar. */
  #isListing = false;

  constructor(lines: readonly string[], outline: Outline) {
    this.#lines = lines;
    this.#outline = outline;
  }

  read(): void {
    const lines = this.#lines;
    for (let index = 0; index < lines.length && !this.#outline.isFull; index++) {
      const line = lines[index]!.trimEnd();
      if (this.#delimiter !== undefined) this.#block(line);
      else if (line === '') this.#flush();
      else index += this.#line(line, index);
    }
    this.#flush();
    this.#flushVerbatim();
  }

  /** A line of a block that is kept as it is, or skipped. */
  #block(line: string): void {
    if (line !== this.#delimiter) {
      // Comments and text for other formats are skipped.
      if (!/^[/+]/.test(this.#delimiter!)) this.#verbatim.push(line);
      return;
    }
    this.#delimiter = undefined;
    this.#flushVerbatim();
  }

  /** Returns the number of further lines that it has read. */
  #line(line: string, index: number): number {
    if (line.startsWith('//') && !/^\/{4,}$/.test(line)) return 0;
    if (/^(?:-{4,}|\.{4,}|\/{4,}|\+{4,}|`{3,})$/.test(line) || /^```\w/.test(line)) {
      // A line below a title of two lines is read with the title.
      this.#flush();
      this.#delimiter = line.startsWith('`') ? '```' : line;
      return 0;
    }
    if (/^(?:={4,}|\*{4,}|_{4,}|--)$/.test(line)) {
      this.#flush();
      return 0;
    }
    if (/^[|,:!]={3,}$/.test(line)) {
      this.#flush();
      this.#inTable = !this.#inTable;
      return 0;
    }
    const attribute = /^:!?(\w[\w-]{0,60})!?:(?:\s+(.*))?$/.exec(line);
    if (attribute !== null && this.#paragraph.length === 0) {
      this.#attribute(attribute[1]!.toLowerCase(), attribute[2] ?? '');
      return 0;
    }
    const heading = /^(={1,6}|#{1,6})\s+(\S.*)$/.exec(line);
    if (heading !== null && this.#paragraph.length === 0) {
      this.#heading(heading[2]!, heading[1]!.length);
      return heading[1]!.length === 1 ? this.#header(index + 1) : 0;
    }
    const level =
      this.#paragraph.length === 0 ? this.#underlined(line, this.#lines[index + 1]?.trimEnd() ?? '') : 0;
    if (level > 0) {
      this.#heading(line, level);
      return 1 + (level === 1 ? this.#header(index + 2) : 0);
    }
    if (/^\[.*\]$/.test(line) && !line.startsWith('[[[')) {
      this.#isListing = /^\[(?:source|listing|literal)\b/.test(line);
      return 0;
    }
    if (/^(?:include|ifdef|ifndef|ifeval|endif|toc)::/.test(line)) return 0;
    const item = /^\s*(?:[*.-]{1,5}|\d{1,4}\.|<\d{1,3}>)\s+(?:\[[ x*]\]\s+)?/.exec(line);
    if (item !== null) this.#flush();
    // A block title, as `.Example`.
    const text = item === null && /^\.[^\s.]/.test(line) ? line.slice(1) : line.slice(item?.[0].length ?? 0);
    this.#paragraph.push(this.#inTable ? cellsOf(text) : text === '+' ? '' : text);
    return 0;
  }

  /** The level of a title with a line of about its length below; 0 if it is not a title. */
  #underlined(line: string, next: string): number {
    const level = next.length < 2 ? 0 : UNDERLINES.indexOf(next[0]!) + 1;
    const isLine = level > 0 && Math.abs(next.length - line.length) <= 3 && /\p{L}/u.test(line);
    return isLine && !/^[\s.*|[:]/.test(line) && next === next[0]!.repeat(next.length) ? level : 0;
  }

  /** The lines of authors and revision directly below the title. Returns their number. */
  #header(from: number): number {
    let index = from;
    while (/^\/\/(?!\/\/)/.test(this.#lines[index] ?? '')) index++;
    const authors = this.#lines[index] ?? '';
    if (!/^\p{L}[^:=]{0,500}$/u.test(authors) || !/^[^.]*(?:<[^<>]*>|$)/.test(authors)) return index - from;
    for (const author of authors.split(';'))
      this.#outline.field('Author', author.replace(/<[^<>]*>/, '').replaceAll('_', ' '));
    index++;
    const revision = this.#lines[index] ?? '';
    if (!/^(?:v?\d|.{0,40}\b\d{4}\b)/.test(revision)) return index - from;
    const date = /(?:^|,\s*)([^,:]*\d{4}[^,:]*)/.exec(revision.slice(0, MAX_REVISION));
    if (date !== null) this.#outline.field('Date', date[1]!);
    return index + 1 - from;
  }

  #attribute(name: string, written: string): void {
    const value = this.#withAttributes(written.slice(0, MAX_ATTRIBUTE * 5));
    const field = FIELDS.get(name);
    if (field !== undefined) {
      const separator = field === 'Keywords' ? /,/ : field === 'Author' ? /;/ : undefined;
      for (const one of separator === undefined ? [value] : value.split(separator))
        this.#outline.field(field, one);
    }
    if (value.length <= MAX_ATTRIBUTE && this.#attributes.size < MAX_ATTRIBUTES)
      this.#attributes.set(name, value);
  }

  #heading(written: string, level: number): void {
    const text = this.#inline(written.replace(/\s(?:={1,6}|#{1,6})$/, ''));
    this.#outline.heading(text, level);
    this.#outline.text(text);
  }

  #flush(): void {
    if (this.#paragraph.length === 0) return;
    const text = this.#paragraph.join('\n');
    this.#paragraph = [];
    if (this.#isListing || /^[ \t]/.test(text)) this.#outline.text(text);
    else if (this.#inTable) this.#outline.text(this.#inline(text));
    else this.#outline.paragraph(this.#inline(text));
    this.#isListing = false;
  }

  #flushVerbatim(): void {
    this.#outline.text(this.#verbatim.join('\n'));
    this.#verbatim = [];
    this.#isListing = false;
  }

  /** Values are not searched for further references, and their total length is limited. */
  #withAttributes(source: string): string {
    return source.replace(/\{(\w[\w-]{0,60})\}/g, (reference, name: string) => {
      const value = this.#attributes.get(name.toLowerCase());
      if (value === undefined || this.#expanded > MAX_EXPANDED) return reference;
      this.#expanded += value.length;
      return value;
    });
  }

  #inline(source: string): string {
    const text = this.#withAttributes(source).replace(INLINE, (...found) => this.#replacement(found.at(-1)));
    return withoutEmphasis(text, /\*\*?|__?|``?|##?|\+{1,3}/g);
  }

  #replacement(groups: Readonly<Record<string, string | undefined>>): string {
    const { macro, url, section } = groups;
    if (macro !== undefined) return this.#macro(macro, groups.target ?? '', groups.text ?? '');
    if (url !== undefined) {
      if (groups.label === undefined) {
        this.#outline.link(bareUrl(url));
        return url;
      }
      this.#outline.link(url);
      return labelOf(groups.label) || url;
    }
    if (section === undefined) return '';
    const file = /^[^#]+\.(?:adoc|asciidoc|html?)(?=#|$)/.exec(section)?.[0];
    if (file !== undefined) this.#outline.link(file);
    return groups.title ?? section;
  }

  #macro(macro: string, target: string, text: string): string {
    if (macro === 'image') {
      this.#outline.image(target);
      return '';
    }
    if (macro === 'link') this.#outline.link(target.replace(/^\+\+|\+\+$/g, ''));
    else if (macro === 'xref' && /[./]/.test(target)) {
      const file = target.replace(/#.*$/s, '');
      this.#outline.link(/\.\w{1,8}$/.test(file) ? file : `${file}.adoc`);
    } else if (
      macro === 'icon' ||
      macro === 'anchor' ||
      macro === 'indexterm' ||
      macro === 'video' ||
      macro === 'audio'
    ) {
      return '';
    }
    return labelOf(text) || target;
  }
}

/** The text of a link without its attributes, as in `label,window=_blank` and `label^`. */
function labelOf(written: string): string {
  const comma = written.search(/,\s*[\w-]+=/);
  return (comma < 0 ? written : written.slice(0, comma)).replace(/\^$/, '').replace(/^"(.*)"$/, '$1');
}

/** The text of a row of a table: `|` and what may precede it are marks of cells. */
function cellsOf(row: string): string {
  return row.replace(/(?:^|\s)(?:\d{0,3}(?:\.\d{1,3})?[+*])?[<^>.]{0,4}[adehlmsv]?\|/g, ' ').trim();
}
