import type { SourceDocument, Summary } from '../../document.js';
import { guarded } from '../extracted.js';
import { withLineFeeds } from '../text.js';
import { readFrontMatter } from './front-matter.js';
import { MarkdownInline, normalizedLabel } from './markdown-inline.js';
import { Outline, summarizeOutline } from './outline.js';

/** Maximum number of link definitions, and of block quotes and list marks on one line. */
const MAX_DEFINITIONS = 20_000;
const MAX_CONTAINERS = 20;

/**
 * Markdown: fields before the text, else the first heading as title; headings, links, and the Text rule on the
 * plain text.
 */
export function summarizeMarkdown(document: SourceDocument): Summary {
  return summarizeOutline(document, 'Markdown', (source, outline) =>
    readMarkdown(readFrontMatter(source, outline), outline),
  );
}

/**
 * Reads a text of CommonMark with the tables and links of GitHub, whose lines end with `\n`. Takes linear time.
 */
function readMarkdown(source: string, outline: Outline): void {
  const reader = new BlockReader();
  for (const line of source.split('\n')) reader.line(line);
  reader.end();
  const inline = new MarkdownInline(outline, reader.definitions);
  for (const { kind, text, level } of reader.blocks) {
    if (outline.isFull) return;
    if (kind === 'code') outline.text(text);
    else {
      const read = inline.read(text);
      if (kind === 'heading') outline.heading(read.text, level);
      if (kind === 'paragraph' && read.isProse) outline.paragraph(read.text);
      else outline.text(read.text);
    }
  }
}

interface Block {
  readonly kind: 'heading' | 'paragraph' | 'code';
  readonly text: string;
  readonly level: number;
}

/** Divides a text into blocks, line by line; collects the definitions of links. */
class BlockReader {
  readonly blocks: Block[] = [];
  readonly definitions = new Map<string, string>();
  #paragraph: string[] = [];
  #code: string[] = [];
  #fence: string | undefined;
  /** The end of a comment, script or style sheet that is skipped. */
  #skippedUntil: string | undefined;
  #inList = false;

  line(raw: string): void {
    if (this.#fence !== undefined) {
      this.#fenced(raw);
      return;
    }
    if (this.#skippedUntil !== undefined) {
      if (raw.toLowerCase().includes(this.#skippedUntil)) this.#skippedUntil = undefined;
      return;
    }
    if (raw.trim() === '') {
      this.#flushParagraph();
      if (this.#code.length > 0) this.#code.push('');
      return;
    }
    const indented = /^(?: {4}|\t)/.test(raw);
    if (indented && this.#paragraph.length === 0 && !this.#inList) {
      this.#code.push(raw.replace(/^(?: {4}|\t)/, ''));
      return;
    }
    this.#flushCode();
    if (!indented && this.#paragraph.length === 0) this.#inList &&= /^\s/.test(raw);
    this.#block(this.#withoutContainers(raw));
  }

  end(): void {
    this.#flushParagraph();
    this.#flushCode();
  }

  #fenced(raw: string): void {
    const fence = this.#fence!;
    const line = raw.trim().replace(/^(?:>[ \t]?)+/, '');
    const isEnd = line.length >= fence.length && line === fence[0]!.repeat(line.length);
    if (!isEnd) {
      this.#code.push(raw);
      return;
    }
    this.#fence = undefined;
    this.#flushCode();
  }

  /** Removes the marks of block quotes and list items. An item begins a paragraph. */
  #withoutContainers(raw: string): string {
    let line = raw.trimStart();
    for (let i = 0; i < MAX_CONTAINERS; i++) {
      if (line.startsWith('>')) line = line.slice(1).trimStart();
      else {
        const item = isThematicBreak(line) ? null : /^(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$)/.exec(line);
        // A number other than 1 within a paragraph is a part of it.
        if (item === null || (this.#paragraph.length > 0 && item[0].trim() === line.trim())) break;
        this.#flushParagraph();
        this.#inList = true;
        line = line.slice(item[0].length).replace(/^\[[ xX]\][ \t]+/, '');
      }
    }
    return line;
  }

  #block(line: string): void {
    const fence = /^(`{3,}(?=[^`]*$)|~{3,})/.exec(line);
    if (fence !== null) {
      this.#flushParagraph();
      this.#fence = fence[1]!;
      return;
    }
    const heading = /^(#{1,6})(?:[ \t]|$)/.exec(line);
    if (heading !== null) {
      this.#flushParagraph();
      this.blocks.push({
        kind: 'heading',
        text: headingText(line.slice(heading[1]!.length)),
        level: heading[1]!.length,
      });
      return;
    }
    if (this.#paragraph.length > 0 && /^(?:=+|-+)[ \t]*$/.test(line)) {
      const text = headingText(this.#paragraph.join(' '));
      this.#paragraph = [];
      this.blocks.push({ kind: 'heading', text, level: line.startsWith('=') ? 1 : 2 });
      return;
    }
    if (isThematicBreak(line)) {
      this.#flushParagraph();
      return;
    }
    const skipped = /^<(?:(!--)|(script|style)\b)/i.exec(line);
    if (skipped !== null) {
      const end = skipped[1] === undefined ? `</${skipped[2]!.toLowerCase()}` : '-->';
      if (!line.toLowerCase().includes(end)) {
        this.#flushParagraph();
        this.#skippedUntil = end;
        return;
      }
    }
    if (this.#paragraph.length === 0 && this.#definition(line)) return;
    if (line.startsWith('|') || isTableRule(line)) {
      if (!isTableRule(line)) this.#paragraph.push(line.replace(/\\?\|/g, ' ').trim());
    } else this.#paragraph.push(line);
  }

  /** A definition `[label]: destination`; of a footnote, the text is kept. */
  #definition(line: string): boolean {
    const found = /^\[([^[\]]{1,999})\]:[ \t]*(?:<([^<>]*)>|(\S+))/.exec(line);
    if (found === null || found[1]!.startsWith('^')) return false;
    const label = normalizedLabel(found[1]!);
    if (!this.definitions.has(label) && this.definitions.size < MAX_DEFINITIONS) {
      this.definitions.set(label, (found[2] ?? found[3])!);
    }
    return true;
  }

  #flushParagraph(): void {
    if (this.#paragraph.length === 0) return;
    this.blocks.push({ kind: 'paragraph', text: this.#paragraph.join('\n'), level: 0 });
    this.#paragraph = [];
  }

  #flushCode(): void {
    if (this.#code.length > 0) this.blocks.push({ kind: 'code', text: this.#code.join('\n'), level: 0 });
    this.#code = [];
  }
}

/** Without the closing `#` and without an identifier `{#name}`. */
function headingText(written: string): string {
  let text = written.trim();
  const attributes = text.endsWith('}') ? text.lastIndexOf('{') : -1;
  if (attributes >= 0 && /[#.]/.test(text[attributes + 1] ?? '')) text = text.slice(0, attributes).trimEnd();
  let end = text.length;
  while (end > 0 && text[end - 1] === '#') end--;
  return end === 0 || text[end - 1] === ' ' || text[end - 1] === '\t' ? text.slice(0, end).trim() : text;
}

function isThematicBreak(line: string): boolean {
  const mark = line[0];
  if (mark !== '-' && mark !== '*' && mark !== '_') return false;
  let count = 0;
  for (const character of line) {
    if (character === mark) count++;
    else if (character !== ' ' && character !== '\t') return false;
  }
  return count >= 3;
}

/** The line between the head and the rows of a table. */
function isTableRule(line: string): boolean {
  return line.includes('|') && line.includes('-') && /^[\s|:-]+$/.test(line);
}

/**
 * Bytes of a notebook that are read; most of a longer one are results, and its objects take a multiple of them
 * in memory.
 */
const MAX_NOTEBOOK_BYTES = 24 * 1024 * 1024;
/** Maximum length of the text of one cell, in characters. */
const MAX_CELL = 512 * 1024;

/**
 * Jupyter notebooks of formats 3 and 4: texts of the cells as Markdown, programs as they are; results are left
 * out.
 */
export function summarizeJupyter(document: SourceDocument): Summary {
  const outline = new Outline(document.settings.maxObjectBytes);
  if (document.body.length > MAX_NOTEBOOK_BYTES) {
    document.warn(`a notebook of more than ${MAX_NOTEBOOK_BYTES} bytes is not read (E-45)`);
  } else {
    guarded(document, 'the notebook', undefined, () => readNotebook(JSON.parse(document.text), outline));
  }
  return outline.summary(document);
}

function readNotebook(notebook: unknown, outline: Outline): void {
  if (!isObject(notebook)) return;
  const { metadata } = notebook;
  if (isObject(metadata)) {
    if (typeof metadata.title === 'string') outline.field('Title', metadata.title);
    for (const author of arrayOf(metadata.authors)) {
      const name = isObject(author) ? author.name : author;
      if (typeof name === 'string') outline.field('Author', name);
    }
  }
  const sheet = arrayOf(notebook.worksheets)[0];
  const cells = arrayOf(notebook.cells ?? (isObject(sheet) ? sheet.cells : undefined));
  for (const cell of cells) {
    if (outline.isFull) return;
    if (isObject(cell)) readCell(cell, outline);
  }
}

function readCell(cell: Readonly<Record<string, unknown>>, outline: Outline): void {
  const source = withLineFeeds(sourceOf(cell.source ?? cell.input));
  if (cell.cell_type === 'markdown') readMarkdown(source, outline);
  else if (cell.cell_type === 'heading') {
    // Format 3 has cells for headings.
    outline.heading(source, typeof cell.level === 'number' ? cell.level : 1);
    outline.text(source);
  } else if (cell.cell_type === 'code' || cell.cell_type === 'raw') outline.text(source);
}

/** A text is one string or its lines. */
function sourceOf(source: unknown): string {
  if (typeof source === 'string') return source.slice(0, MAX_CELL);
  let text = '';
  for (const line of arrayOf(source)) {
    if (typeof line === 'string') text += line;
    if (text.length > MAX_CELL) return text.slice(0, MAX_CELL);
  }
  return text;
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
