import type { SourceDocument, Summary } from '../../document.js';
import { namesByWord } from '../../word-tables.js';
import { bareUrl, type MarkupField, type Outline, summarizeOutline, withoutEmphasis } from './outline.js';

const FIELDS: ReadonlyMap<string, MarkupField> = namesByWord({
  Title: 'title',
  Author: 'author',
  Date: 'date',
  Description: 'description',
  Keywords: 'keywords filetags',
});

const INLINE =
  /\[\[([^[\]]{1,1000})\](?:\[([^[\]]{1,1000})\])?\]|((?:https?|ftp):\/\/[^\s<>"[\]]+)|\[fn:[^\][]{0,500}\]|\\\\$|<<<?[^<>\n]{1,200}>>>?/gm;

/**
 * Org: keywords at the start, headings without their states and tags, links; the Text rule on the plain text.
 */
export function summarizeOrg(document: SourceDocument): Summary {
  return summarizeOutline(document, 'Org', (source, outline) => {
    const reader = new OrgReader(outline);
    for (const line of source.split('\n')) reader.line(line);
    reader.end();
  });
}

class OrgReader {
  readonly #outline: Outline;
  #paragraph: string[] = [];
  #verbatim: string[] = [];
  /** The line that ends a drawer or block, in lower case. */
  #until: string | undefined;
  #isSkipped = false;
  /** States of headings; a document may define its own. */
  readonly #states = new Set(['TODO', 'DONE', 'NEXT', 'WAITING', 'CANCELLED', 'CANCELED', 'STARTED']);

  constructor(outline: Outline) {
    this.#outline = outline;
  }

  line(raw: string): void {
    const line = raw.trim();
    if (this.#until !== undefined) {
      if (line.toLowerCase() === this.#until) this.#endBlock();
      // A heading ends a drawer that has no end.
      else if (this.#until === ':end:' && /^\*+ /.test(raw)) {
        this.#endBlock();
        this.line(raw);
      } else if (!this.#isSkipped) this.#verbatim.push(raw);
      return;
    }
    const heading = /^(\*+)\s+(.*)$/.exec(raw);
    if (heading !== null) this.#heading(heading[2]!, heading[1]!.length);
    else if (line === '') this.#flush();
    else if (line.startsWith('#+')) this.#keyword(line);
    else if (/^#(?:\s|$)/.test(line)) this.#flush();
    else if (/^:[\w-]{1,80}:$/.test(line)) {
      this.#flush();
      this.#until = ':end:';
      this.#isSkipped = true;
    } else if (/^(?:CLOSED|DEADLINE|SCHEDULED|CLOCK):/.test(line)) return;
    else this.#text(line);
  }

  end(): void {
    this.#flush();
    this.#endBlock();
  }

  #text(line: string): void {
    if (/^\|[-+|]+$/.test(line) || /^-{5,}$/.test(line)) return;
    const item = /^(?:[-+*]|\d{1,4}[.)])\s+(?:\[[ xX-]\]\s+)?/.exec(line);
    if (item !== null) this.#flush();
    const text = line.slice(item?.[0].length ?? 0);
    this.#paragraph.push(text.startsWith('|') ? text.replaceAll('|', ' ').trim() : text.replace(/^: /, ''));
  }

  #keyword(line: string): void {
    const block = /^#\+begin_(\w{1,40})/i.exec(line);
    if (block !== null) {
      const name = block[1]!.toLowerCase();
      this.#flush();
      // Quotes, verses and centered text are prose.
      if (/^(?:quote|verse|center|abstract|note|tip|warning)$/.test(name)) return;
      this.#until = `#+end_${name}`;
      this.#isSkipped = name === 'comment' || name === 'export';
      return;
    }
    const keyword = /^#\+([\w-]{1,40}):(?:\s+(.*))?$/.exec(line);
    const name = keyword?.[1]?.toLowerCase() ?? '';
    const value = keyword?.[2] ?? '';
    const field = FIELDS.get(name);
    if (field !== undefined) {
      const values = field === 'Keywords' ? value.split(name === 'filetags' ? /[:\s]+/ : /[,;]/) : [value];
      for (const one of values) this.#outline.field(field, this.#inline(one));
    } else if (name === 'caption') this.#outline.text(this.#inline(value));
    else if (name === 'todo' || name === 'seq_todo') {
      for (const state of value.slice(0, 1000).split(/[\s|]+/)) this.#states.add(state.replace(/\(.*$/s, ''));
    }
  }

  #heading(written: string, level: number): void {
    this.#flush();
    let text = written.trimEnd();
    const state = /^\S+/.exec(text)?.[0] ?? '';
    if (this.#states.has(state)) text = text.slice(state.length).trimStart();
    text = text.replace(/^\[#\w\]\s*/, '').replace(/^COMMENT\s+/, '');
    // Tags are a word of the form `:a:b:` at the end.
    const blank = text.lastIndexOf(' ');
    if (/^:[\p{L}\p{N}_@#%:]+:$/u.test(text.slice(blank + 1))) text = text.slice(0, Math.max(0, blank));
    const plain = this.#inline(text);
    this.#outline.heading(plain, level);
    this.#outline.text(plain);
  }

  #endBlock(): void {
    this.#until = undefined;
    this.#outline.text(this.#verbatim.join('\n'));
    this.#verbatim = [];
  }

  #flush(): void {
    if (this.#paragraph.length === 0) return;
    const text = this.#paragraph.join('\n');
    this.#paragraph = [];
    this.#outline.paragraph(this.#inline(text));
  }

  #inline(source: string): string {
    const text = source.replace(INLINE, (match: string, target?: string, label?: string, url?: string) => {
      if (url !== undefined) {
        this.#outline.link(bareUrl(url));
        return url;
      }
      if (target === undefined) return match.startsWith('<<') ? match.replace(/[<>]/g, '') : '';
      return this.#link(target, label);
    });
    return withoutEmphasis(text, /[*/_=~+]/g);
  }

  /** Headings, targets and identifiers of the document are no addresses. */
  #link(target: string, label: string | undefined): string {
    const file = target.replace(/^file:/, '').replace(/::.*$/s, '');
    const isFile = target.startsWith('file:') || /^\.{0,2}\//.test(target);
    if (/\.(?:png|jpe?g|gif|svg|webp)$/i.test(file)) {
      this.#outline.image(file);
      return label ?? '';
    }
    if (isFile) this.#outline.link(file);
    else if (/^(?:https?|ftp|gopher|news|nntp|mailto):/.test(target)) this.#outline.link(target);
    return label ?? target.replace(/^[*#]/, '');
  }
}
