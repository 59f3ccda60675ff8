import type { MarkupAttributes } from '../../html/markup-stream.js';
import { type OfficeContent, Paragraphs } from './office-content.js';
import { linksOf, relationshipsOf } from './open-packaging.js';
import type { XmlMembers } from './xml-members.js';

type Kind = 'heading' | 'title' | 'text';

/**
 * Not the text as shown: what a revision moved away, the copy of a box for old programs, readings above
 * characters, separators of notes.
 */
const SKIP: ReadonlySet<string> = new Set(['w:moveFrom', 'mc:Fallback', 'w:rt', 'w:del', 'w:separator']);

/**
 * DOCX: the paragraphs of the body, then the notes; headings by their styles; links of fields and
 * relationships. Without page headers.
 */
export async function readWordXml(xml: XmlMembers, part: string, content: OfficeContent): Promise<void> {
  const relationships = await relationshipsOf(xml, part);
  const partOf = (type: string, usual: string) =>
    relationships.find((found) => found.type === type)?.target ?? usual;
  const styles = await readStyles(xml, partOf('styles', 'word/styles.xml'));
  for (const name of [
    part,
    partOf('footnotes', 'word/footnotes.xml'),
    partOf('endnotes', 'word/endnotes.xml'),
  ]) {
    const links = linksOf(name === part ? relationships : await relationshipsOf(xml, name));
    await xml.read(name, new WordEvents(content, styles, links), { skip: SKIP, isFull: content.isFull });
    content.text('\n');
  }
}

/** Collects the text of one part. */
class WordEvents {
  readonly #content: OfficeContent;
  readonly #styles: ReadonlyMap<string, Kind>;
  readonly #links: ReadonlyMap<string, string>;
  readonly #paragraphs = new Paragraphs<Kind>();
  /** Instructions of the open fields, from the outermost. */
  readonly #fields: string[] = [];
  #within: 'text' | 'instruction' | undefined;

  constructor(content: OfficeContent, styles: ReadonlyMap<string, Kind>, links: ReadonlyMap<string, string>) {
    this.#content = content;
    this.#styles = styles;
    this.#links = links;
  }

  open(tag: string, attributes: MarkupAttributes): void {
    const value = attributes['w:val'] ?? '';
    if (tag === 'w:p') this.#paragraphs.begin('text');
    else if (tag === 'w:t' || tag === 'm:t') this.#within = 'text';
    else if (tag === 'w:instrText') this.#within = 'instruction';
    else if (tag === 'w:tab') this.#paragraphs.add('\t');
    else if (tag === 'w:br' || tag === 'w:cr') this.#paragraphs.add('\n');
    else if (tag === 'w:noBreakHyphen') this.#paragraphs.add('-');
    else if (tag === 'w:pStyle') this.#paragraphs.mark(this.#styles.get(value) ?? 'text');
    else if (tag === 'w:outlineLvl' && Number(value) < 9) this.#paragraphs.mark('heading');
    else if (tag === 'w:hyperlink') this.#content.reference(this.#links.get(attributes['r:id'] ?? ''));
    else if (tag === 'w:fldSimple') this.#content.reference(fieldTarget(attributes['w:instr'] ?? ''));
    else if (tag === 'w:fldChar') this.#field(attributes['w:fldCharType']);
  }

  text(text: string): void {
    if (this.#within === 'text') {
      if (this.#paragraphs.isOpen) this.#paragraphs.add(text);
      else this.#content.text(text);
    } else if (this.#within === 'instruction') {
      const field = this.#fields.at(-1);
      if (field !== undefined && field.length < 10_000) this.#fields[this.#fields.length - 1] = field + text;
    }
  }

  close(tag: string): void {
    if (tag === 'w:t' || tag === 'm:t' || tag === 'w:instrText') this.#within = undefined;
    else if (tag === 'w:tr') this.#content.text('\n');
    else if (tag === 'w:p') {
      const paragraph = this.#paragraphs.end();
      if (paragraph === undefined) return;
      if (paragraph.kind === 'heading') this.#content.heading(paragraph.text);
      else if (paragraph.kind === 'title') this.#content.shownTitle(paragraph.text);
      this.#content.text(`${paragraph.text}\n`);
    }
  }

  #field(type: string | undefined): void {
    if (type === 'begin' && this.#fields.length < 100) this.#fields.push('');
    else if (type === 'end') this.#content.reference(fieldTarget(this.#fields.pop() ?? ''));
  }
}

/**
 * The target of a field `HYPERLINK "target"`; one that begins with a switch, e.g. `\l`, has none outside of the
 * document.
 */
export function fieldTarget(instruction: string): string | undefined {
  const found = /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\s"\\]\S*))/i.exec(instruction);
  return found?.[1] ?? found?.[2];
}

interface Style {
  name: string;
  basedOn: string;
  level: number;
}

/** Maximum number of styles, and of styles that are based on one another. */
const MAX_STYLES = 5000;
const MAX_BASES = 20;

/**
 * Which styles are headings or the title: by outline level or by name, which is English in the file whatever
 * the program shows, or by the style that they are based on.
 */
async function readStyles(xml: XmlMembers, part: string): Promise<ReadonlyMap<string, Kind>> {
  const styles = new Map<string, Style>();
  let style: Style = { name: '', basedOn: '', level: 10 };
  await xml.read(part, {
    open: (tag, attributes) => {
      const value = attributes['w:val'] ?? '';
      if (tag === 'w:style') {
        style = { name: '', basedOn: '', level: 10 };
        if (styles.size < MAX_STYLES) styles.set(attributes['w:styleId'] ?? '', style);
      } else if (tag === 'w:name') style.name = value.toLowerCase();
      else if (tag === 'w:basedOn') style.basedOn = value;
      else if (tag === 'w:outlineLvl') style.level = Number(value);
    },
  });
  // Without the part, the usual identifiers.
  const kinds = new Map<string, Kind>([['Title', 'title']]);
  for (let level = 1; level <= 9; level++) kinds.set(`Heading${level}`, 'heading');
  for (const id of styles.keys()) {
    let kind: Kind = 'text';
    let base = styles.get(id);
    for (let i = 0; i < MAX_BASES && base !== undefined && kind === 'text'; i++) {
      // Level 10 (9 in the file) is body text, whatever the style is based on.
      if (base.level === 9) break;
      if (base.level < 9 || /^heading [1-9]$/.test(base.name)) kind = 'heading';
      else if (base.name === 'title') kind = 'title';
      base = styles.get(base.basedOn);
    }
    kinds.set(id, kind);
  }
  return kinds;
}
