import { latin, viewOf } from '../../bytes.js';
import type { SourceDocument, Summary } from '../../document.js';
import { guarded, summarizeExtracted } from '../extracted.js';
import { CompoundFile, propertiesOf } from './compound-file.js';
import { OfficeContent } from './office-content.js';

/** Values of TextHeaderAtom that are titles: Title, and CenterTitle of a first slide. */
const TITLES: ReadonlySet<number> = new Set([0, 6]);

/**
 * PowerPoint 97 to 2003: properties, titles of the slides as headings, then the slides in order with their
 * notes as Text.
 */
export function summarizePowerPoint(document: SourceDocument): Summary {
  const content = new OfficeContent(document);
  guarded(document, 'PowerPoint', undefined, () => {
    const file = new CompoundFile(document.body);
    for (const [name, value] of propertiesOf(file)) content.property(name, value);
    const stream = file.stream('PowerPoint Document');
    if (stream === undefined) throw new Error('there is no stream with the name PowerPoint Document');
    const records = new PresentationRecords(stream, file.stream('Current User'));
    for (const slide of records.slides()) {
      if (content.isFull()) return;
      addSlide(content, slide);
    }
  });
  return summarizeExtracted(content.result());
}

function addSlide(content: OfficeContent, texts: readonly SlideText[]): void {
  for (const { kind, text } of texts) {
    // Paragraphs end with a carriage return; a vertical tab breaks a line, also in titles.
    const lines = text.replace(/[\r\v]/g, '\n');
    if (TITLES.has(kind)) {
      content.heading(lines);
      content.shownTitle(lines);
    }
    content.text(`${lines}\n`);
  }
  content.text('\n');
}

/** Types of records ([MS-PPT] 2.13.24). */
const DOCUMENT = 0x03e8;
const SLIDE_PERSIST_ATOM = 0x03f3;
const SLIDE = 0x03ee;
const NOTES = 0x03f0;
const NOTES_ATOM = 0x03f1;
const OUTLINE_TEXT_REF_ATOM = 0x0f9e;
const TEXT_HEADER_ATOM = 0x0f9f;
const TEXT_CHARS_ATOM = 0x0fa0;
const TEXT_BYTES_ATOM = 0x0fa8;
const SLIDE_LIST_WITH_TEXT = 0x0ff0;
const USER_EDIT_ATOM = 0x0ff5;
const PERSIST_DIRECTORY_ATOM = 0x1772;

/** Maximum depth of records, number of edits that are followed, and of slides. */
const MAX_DEPTH = 40;
const MAX_EDITS = 1000;
const MAX_SLIDES = 10_000;

/** One text of a slide. */
interface SlideText {
  /** TextHeaderAtom: 0 title, 1 body, 2 notes, 6 centered title, others. */
  readonly kind: number;
  readonly text: string;
}

interface Record {
  readonly type: number;
  readonly instance: number;
  /** Whether it consists of records. */
  readonly isContainer: boolean;
  /** Offsets of its content in the stream. */
  readonly start: number;
  readonly end: number;
}

interface Listed {
  readonly persist: number;
  readonly id: number;
  readonly texts: SlideText[];
}

/**
 * Reads the slides of a presentation. A program that saves quickly appends changed objects; the directories of
 * the edits say which offset is valid for an object, so that replaced and deleted slides are not read.
 */
class PresentationRecords {
  readonly #view: DataView;
  readonly #offsets = new Map<number, number>();
  #documentId = -1;
  /**
   * Bytes of records and texts that may still be read: hostile files refer to the same ones again and again.
   */
  #budget: number;

  /**
   * @param stream `PowerPoint Document`
   * @param currentUser the stream of this name, which has the offset of the last edit
   */
  constructor(stream: Uint8Array, currentUser: Uint8Array | undefined) {
    this.#view = viewOf(stream);
    this.#budget = 4 * stream.length + 4096;
    if (currentUser !== undefined && currentUser.length >= 20)
      this.#readEdits(viewOf(currentUser).getUint32(16, true));
  }

  /**
   * Yields the texts of each slide and of its notes, in the order of the presentation. @throws Error if there
   * is no document
   */
  *slides(): Generator<readonly SlideText[]> {
    const document = this.#recordAt(this.#offsets.get(this.#documentId)) ?? this.#first(DOCUMENT);
    if (document === undefined || document.type !== DOCUMENT) throw new Error('it has no document record');
    const lists = [...this.#children(document)].filter(({ type }) => type === SLIDE_LIST_WITH_TEXT);
    // Instance 0 lists slides, 1 masters, 2 notes.
    const slides = lists.filter(({ instance }) => instance === 0).flatMap((list) => this.#listed(list));
    const notes = lists.filter(({ instance }) => instance === 2).flatMap((list) => this.#listed(list));
    const notesOf = new Map<number, SlideText[]>();
    for (const { persist } of notes) {
      const record = this.#recordAt(this.#offsets.get(persist));
      if (record?.type !== NOTES) continue;
      const atom = [...this.#children(record)].find(({ type }) => type === NOTES_ATOM);
      if (atom !== undefined && atom.end - atom.start >= 4)
        notesOf.set(this.#u32(atom.start), this.#textsIn(record, []));
    }
    const seen = new Set<number>();
    for (const { persist, id, texts } of slides) {
      const record = seen.has(persist) ? undefined : this.#recordAt(this.#offsets.get(persist));
      seen.add(persist);
      const shown = record?.type === SLIDE ? this.#textsIn(record, texts) : texts;
      yield [...shown, ...(notesOf.get(id) ?? [])];
    }
  }

  /** The slides of a list, with the texts of their outline. */
  #listed(list: Record): Listed[] {
    const slides: Listed[] = [];
    let kind = 4;
    for (const record of this.#children(list)) {
      if (record.type === SLIDE_PERSIST_ATOM && record.end - record.start >= 16) {
        if (slides.length >= MAX_SLIDES) break;
        slides.push({ persist: this.#u32(record.start), id: this.#u32(record.start + 12), texts: [] });
      } else if (record.type === TEXT_HEADER_ATOM && record.end - record.start >= 4) {
        kind = this.#u32(record.start);
        // A header without text keeps its place: slides refer to the texts by number.
        slides.at(-1)?.texts.push({ kind, text: '' });
      } else {
        const text = this.#textOf(record);
        const texts = slides.at(-1)?.texts;
        if (text !== undefined && texts !== undefined && texts.length > 0)
          texts[texts.length - 1] = { kind, text };
      }
    }
    return slides;
  }

  /** The texts of a slide in the order of its boxes; those of the outline that no box shows come first. */
  #textsIn(slide: Record, outline: readonly SlideText[]): SlideText[] {
    const texts: SlideText[] = [];
    const shown = new Set<number>();
    let kind = 4;
    const visit = (parent: Record, depth: number) => {
      for (const record of this.#children(parent)) {
        const size = record.end - record.start;
        if (record.isContainer || record.type === 0xf00d) {
          if (depth < MAX_DEPTH) visit(record, depth + 1);
        } else if (record.type === TEXT_HEADER_ATOM && size >= 4) kind = this.#u32(record.start);
        else if (record.type === OUTLINE_TEXT_REF_ATOM && size >= 4) {
          const index = this.#u32(record.start);
          const text = outline[index];
          if (text !== undefined && !shown.has(index)) texts.push(text);
          shown.add(index);
        } else {
          const text = this.#textOf(record);
          if (text !== undefined) texts.push({ kind, text });
        }
      }
    };
    visit(slide, 0);
    // Programs that write a text twice, in the outline and in its box.
    const boxes = new Set(texts.map(({ text }) => text));
    const others = outline.filter(({ text }, index) => !shown.has(index) && !boxes.has(text));
    return [...others, ...texts].filter(({ text }) => text !== '' && text !== '*');
  }

  #textOf({ type, start, end }: Record): string | undefined {
    if (type !== TEXT_CHARS_ATOM && type !== TEXT_BYTES_ATOM) return undefined;
    this.#spend(end - start);
    const bytes = new Uint8Array(this.#view.buffer, this.#view.byteOffset + start, end - start);
    // TextBytesAtom has the low bytes of UTF-16.
    if (type === TEXT_BYTES_ATOM) return latin(bytes);
    return new TextDecoder('utf-16le').decode(bytes);
  }

  /** Follows the edits from the last to the first; the offset of the last one counts. */
  #readEdits(last: number): void {
    const seen = new Set<number>();
    for (let offset = last; seen.size < MAX_EDITS && !seen.has(offset); ) {
      seen.add(offset);
      const edit = this.#recordAt(offset);
      if (edit?.type !== USER_EDIT_ATOM || edit.end - edit.start < 20) return;
      if (this.#documentId < 0) this.#documentId = this.#u32(edit.start + 16);
      const directory = this.#recordAt(this.#u32(edit.start + 12));
      if (directory?.type === PERSIST_DIRECTORY_ATOM && !seen.has(directory.start)) {
        seen.add(directory.start);
        this.#readDirectory(directory);
      }
      offset = this.#u32(edit.start + 8);
      if (offset === 0) return;
    }
  }

  #readDirectory({ start, end }: Record): void {
    for (let at = start; at + 4 <= end; ) {
      const head = this.#u32(at);
      const count = head >>> 20;
      at += 4;
      for (let i = 0; i < count && at + 4 <= end; i++, at += 4) {
        const id = (head & 0xfffff) + i;
        if (!this.#offsets.has(id)) this.#offsets.set(id, this.#u32(at));
      }
    }
  }

  #first(type: number): Record | undefined {
    const whole = { type: 0, instance: 0, isContainer: true, start: 0, end: this.#view.byteLength };
    for (const record of this.#children(whole)) if (record.type === type) return record;
    return undefined;
  }

  *#children({ start, end }: Record): Generator<Record> {
    for (let offset = start; offset + 8 <= end; ) {
      const record = this.#recordAt(offset);
      if (record === undefined) return;
      yield record.end > end ? { ...record, end } : record;
      offset = record.end;
    }
  }

  /** The record at an offset; its content ends with the stream at the latest. */
  #recordAt(offset: number | undefined): Record | undefined {
    if (offset === undefined || offset + 8 > this.#view.byteLength) return undefined;
    this.#spend(8);
    const head = this.#view.getUint16(offset, true);
    const start = offset + 8;
    return {
      type: this.#view.getUint16(offset + 2, true),
      instance: head >>> 4,
      isContainer: (head & 15) === 15,
      start,
      end: Math.min(this.#view.byteLength, start + this.#u32(offset + 4)),
    };
  }

  /** @throws Error when records were read too often */
  #spend(bytes: number): void {
    this.#budget -= bytes;
    if (this.#budget < 0) throw new Error('its records refer to the same contents too often (E-45)');
  }

  #u32(offset: number): number {
    return this.#view.getUint32(offset, true);
  }
}
