import type { MarkupAttributes } from '../../html/markup-stream.js';
import type { OfficeContent } from './office-content.js';
import { relationshipsOf } from './open-packaging.js';
import type { XmlMembers } from './xml-members.js';

/** Maximum characters of all shared strings, and their maximum number. */
const MAX_SHARED_CHARACTERS = 32 * 1024 * 1024;
const MAX_SHARED_STRINGS = 2_000_000;
/** Maximum number of sheets. */
const MAX_SHEETS = 2000;
/** Maximum characters of one cell or formula; the format allows 32767. */
const MAX_CELL = 100_000;

/** Readings of Asian characters, and the copy of drawings for old programs. */
const SKIP: ReadonlySet<string> = new Set(['rPh', 'mc:Fallback']);

/**
 * XLSX: names of the sheets as headings; the cells row by row: strings, numbers as stored (dates are numbers of
 * days), formulas with `=` after their results; comments of cells; links.
 */
export async function readSheetXml(xml: XmlMembers, part: string, content: OfficeContent): Promise<void> {
  const relationships = await relationshipsOf(xml, part);
  const targets = new Map(relationships.map(({ id, target }) => [id, target]));
  const sheets: (string | undefined)[] = [];
  await xml.read(part, {
    open: (tag, attributes) => {
      if (!/^(?:\w+:)?sheet$/.test(tag) || sheets.length >= MAX_SHEETS) return;
      content.heading(attributes.name ?? '');
      sheets.push(targets.get(attributes['r:id'] ?? ''));
    },
  });
  const stringsPart = relationships.find(({ type }) => type === 'sharedStrings')?.target;
  const strings = await readSharedStrings(xml, stringsPart ?? 'xl/sharedStrings.xml', content);
  // A sheet is read once, however often the workbook names it.
  for (const sheet of new Set(sheets)) {
    if (sheet === undefined || content.isFull()) continue;
    const parts = await relationshipsOf(xml, sheet);
    await xml.read(sheet, new SheetEvents(content, strings), { skip: SKIP, isFull: content.isFull });
    for (const { type, target, isExternal } of parts) {
      if (isExternal && type === 'hyperlink') content.reference(target);
      else if (type === 'comments') await readComments(xml, target, content);
    }
    content.text('\n');
  }
}

async function readSharedStrings(
  xml: XmlMembers,
  part: string,
  content: OfficeContent,
): Promise<readonly string[]> {
  const strings: string[] = [];
  let runs: string[] = [];
  let length = 0;
  let isText = false;
  const isFull = () => length >= MAX_SHARED_CHARACTERS || strings.length >= MAX_SHARED_STRINGS;
  await xml.read(
    part,
    {
      open: (tag) => {
        isText = tag === 't';
        if (tag === 'si') runs = [];
      },
      text: (text) => {
        if (!isText) return;
        runs.push(text);
        length += text.length;
      },
      close: (tag) => {
        isText = false;
        if (tag === 'si') strings.push(runs.join(''));
      },
    },
    { skip: SKIP, isFull: () => isFull() || content.isFull() },
  );
  return strings;
}

/** Collects the cells of one sheet. */
class SheetEvents {
  readonly #content: OfficeContent;
  readonly #strings: readonly string[];
  #row: string[] = [];
  #type = '';
  #element = '';
  #values: Record<'v' | 'f' | 't', string> = { v: '', f: '', t: '' };

  constructor(content: OfficeContent, strings: readonly string[]) {
    this.#content = content;
    this.#strings = strings;
  }

  open(tag: string, attributes: MarkupAttributes): void {
    this.#element = tag;
    if (tag === 'row') this.#row = [];
    else if (tag === 'c') {
      this.#type = attributes.t ?? 'n';
      this.#values = { v: '', f: '', t: '' };
    }
  }

  text(text: string): void {
    const element = this.#element;
    if (element !== 'v' && element !== 'f' && element !== 't') return;
    if (this.#values[element].length < MAX_CELL) this.#values[element] += text;
  }

  close(tag: string): void {
    this.#element = '';
    if (tag === 'c') {
      const { f: formula } = this.#values;
      const cell = [this.#value(), formula === '' ? '' : `=${formula}`]
        .filter((part) => part !== '')
        .join(' ');
      if (cell !== '') this.#row.push(cell);
      if (this.#row.length >= 1000) this.#endRow();
    } else if (tag === 'row') this.#endRow();
  }

  #endRow(): void {
    if (this.#row.length > 0) this.#content.text(`${this.#row.join('\t')}\n`);
    this.#row = [];
  }

  /** The value as shown, without formats. ECMA-376 part 1, 18.18.11 lists the types. */
  #value(): string {
    const { v, t } = this.#values;
    if (this.#type === 's') return (/^\s*\d+\s*$/.test(v) ? this.#strings[Number(v)] : undefined) ?? '';
    if (this.#type === 'inlineStr') return t;
    if (this.#type === 'b') return v === '' ? '' : v === '1' ? 'TRUE' : 'FALSE';
    if (this.#type === 'e') return '';
    if (this.#type !== 'n' || v === '') return v;
    // Files have 17 digits, of which a program shows 15: 0.1 is stored as 0.10000000000000001.
    const number = Number(v);
    return Number.isFinite(number) ? String(Number(number.toPrecision(15))) : '';
  }
}

async function readComments(xml: XmlMembers, part: string, content: OfficeContent): Promise<void> {
  let isText = false;
  await xml.read(
    part,
    {
      open: (tag) => {
        isText = tag === 't';
      },
      text: (text) => {
        if (isText) content.text(text);
      },
      close: (tag) => {
        isText = false;
        if (tag === 'comment') content.text('\n');
      },
    },
    { skip: SKIP, isFull: content.isFull },
  );
}
