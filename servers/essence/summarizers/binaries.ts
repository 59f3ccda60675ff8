import { bufferOf, latin, viewOf } from '../bytes.js';
import type { SourceDocument, Summary } from '../document.js';
import { guarded, present, summarizeExtracted, summarizeFields } from './extracted.js';

/** Maximum number of symbol names of one file. */
const MAX_SYMBOLS = 20_000;
/** Maximum number of members of one archive. */
const MAX_MEMBERS = 10_000;
/** Maximum number of strings that are kept from one program. */
const MAX_STRINGS = 5000;

/** Object: the global symbols that it defines (6.2). */
export function summarizeObject(document: SourceDocument): Summary {
  const symbols = new Set<string>();
  guarded(document, 'the object file', undefined, () => readElf(document.body, symbols));
  return summarizeFields({ attributes: present([['Keywords', symbols]]), text: '' });
}

/** Archive: names of the members, and the symbols that they define. The type includes shared objects (3.1). */
export function summarizeArchive(document: SourceDocument): Summary {
  const symbols = new Set<string>();
  const members: string[] = [];
  const bytes = bufferOf(document.body);
  guarded(document, 'the archive', undefined, () => {
    if (bytes.subarray(0, 8).toString('latin1') !== '!<arch>\n') return readElf(document.body, symbols);
    let longNames = '';
    for (let offset = 8; offset + 60 <= bytes.length && members.length < MAX_MEMBERS; ) {
      const name = bytes
        .subarray(offset, offset + 16)
        .toString('latin1')
        .trimEnd();
      const size = Number(bytes.subarray(offset + 48, offset + 58).toString('latin1'));
      if (!(size >= 0)) throw new Error('a member has no size');
      const body = bytes.subarray(offset + 60, offset + 60 + size);
      offset += 60 + size + (size % 2);
      if (name === '//') longNames = body.toString('latin1');
      else if (name !== '/' && name !== '/SYM64/' && !name.startsWith('__.SYMDEF')) {
        const long = /^\/(\d+)$/.exec(name);
        const full =
          long === null ? name : longNames.slice(Number(long[1]), longNames.indexOf('\n', Number(long[1])));
        members.push(full.replace(/\/$/, ''));
        guarded(document, full, undefined, () => readElf(body, symbols));
      }
    }
  });
  return summarizeFields({
    attributes: present([
      ['Contents', members],
      ['Keywords', symbols],
    ]),
    text: '',
  });
}

/** Adds the names of defined global and weak symbols of an ELF file. @throws RangeError if it is truncated */
function readElf(bytes: Uint8Array, symbols: Set<string>): void {
  const view = viewOf(bytes);
  if (bytes.length < 52 || view.getUint32(0) !== 0x7f454c46) return;
  const wide = view.getUint8(4) === 2;
  const little = view.getUint8(5) === 1;
  const word = (offset: number) =>
    wide ? Number(view.getBigUint64(offset, little)) : view.getUint32(offset, little);
  const sections = word(wide ? 40 : 32);
  const entry = view.getUint16(wide ? 58 : 46, little);
  const count = view.getUint16(wide ? 60 : 48, little);
  for (let i = 0; i < count; i++) {
    const offset = sections + i * entry;
    const type = view.getUint32(offset + 4, little);
    // SHT_SYMTAB or SHT_DYNSYM. The field `sh_link` is the index of the section with the names.
    if (type !== 2 && type !== 11) continue;
    const start = word(offset + (wide ? 24 : 16));
    const size = word(offset + (wide ? 32 : 20));
    const names = sections + view.getUint32(offset + (wide ? 40 : 24), little) * entry;
    const strings = word(names + (wide ? 24 : 16));
    const step = wide ? 24 : 16;
    for (let symbol = start; symbol + step <= start + size && symbols.size < MAX_SYMBOLS; symbol += step) {
      const info = view.getUint8(symbol + (wide ? 4 : 12));
      const section = view.getUint16(symbol + (wide ? 6 : 14), little);
      const binding = info >> 4;
      // Section 0 means undefined; symbol types 3 and 4 are sections and files.
      if (section === 0 || (binding !== 1 && binding !== 2) || (info & 15) > 2) continue;
      const from = strings + view.getUint32(symbol, little);
      const end = bytes.indexOf(0, from);
      const name = latin(bytes, from, Math.min(end < 0 ? from : end, from + 500));
      if (name !== '') symbols.add(name);
    }
  }
}

/** Binary: strings of at least four printable characters with a vowel (6.2). */
export function summarizeBinary(document: SourceDocument): Summary {
  const strings: string[] = [];
  const { body } = document;
  for (let offset = 0; offset < body.length && strings.length < MAX_STRINGS; offset++) {
    const start = offset;
    while (offset < body.length && ((body[offset]! >= 0x20 && body[offset]! < 0x7f) || body[offset] === 9))
      offset++;
    if (offset - start < 4) continue;
    const text = latin(body, start, Math.min(offset, start + 1000)).trim();
    if (isMeaningful(text)) strings.push(text);
  }
  return summarizeExtracted({ attributes: [], text: strings.join('\n') });
}

/** Whether a string looks like words: it has a vowel and is mostly letters. */
function isMeaningful(text: string): boolean {
  const letters = text.replace(/[^A-Za-z ]/g, '').length;
  return text.length >= 4 && /[aeiouy]/i.test(text) && letters * 2 > text.length;
}
