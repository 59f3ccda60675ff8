import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { guarded } from '../extracted.js';
import { readMarkdown } from './markdown.js';
import { Outline } from './outline.js';

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
  const source = sourceOf(cell.source ?? cell.input).replace(/\r\n?/g, '\n');
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
