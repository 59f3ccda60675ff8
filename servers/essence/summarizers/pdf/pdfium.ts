// PDFium, compiled to WebAssembly: the documents, pages, texts and links of PDF files.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';
import { StateError, StorageError } from '../../../../protocols/errors.js';
import { untilNul } from '../../bytes.js';

const WASM = fileURLToPath(import.meta.resolve('@embedpdf/pdfium/pdfium.wasm'));
/** The memory of an instance never shrinks: a larger one is not used for another document. */
const MAX_KEPT_BYTES = 96 * 2 ** 20;
/** The longest field of the information dictionary and URL of a link that is read, in bytes. */
const MAX_FIELD_BYTES = 64 * 1024;
/** The action of a link that opens a URL. */
const URI_ACTION = 3;

/** The name of a font whose characters are no text: it is left out. */
export const ARBITRARY_FONT = 'ArbitraryCodes';

/** What `FPDF_GetLastError` says. */
const ERRORS: ReadonlyMap<number, string> = new Map([
  [2, 'the file cannot be read'],
  [3, 'it is not a PDF file, or damaged'],
  [4, 'a password is required'],
  [5, 'its encryption is not supported'],
]);

let kept: Promise<WrappedPdfiumModule> | undefined;

async function load(): Promise<WrappedPdfiumModule> {
  const wasmBinary = await readFile(WASM);
  const pdfium = await init({ wasmBinary: new Uint8Array(wasmBinary).buffer });
  pdfium.FPDF_InitLibrary();
  return pdfium;
}

/** An open document. */
export class PdfDocument implements Disposable {
  readonly #pdfium: WrappedPdfiumModule;
  readonly #bytes: number;
  readonly #document: number;

  private constructor(pdfium: WrappedPdfiumModule, bytes: number, document: number) {
    this.#pdfium = pdfium;
    this.#bytes = bytes;
    this.#document = document;
  }

  /**
   * Opens a document in memory; one with an empty password, too. The instance of PDFium is kept for the next
   * one.
   *
   * @throws StorageError for a file that PDFium does not read; a RuntimeError of WebAssembly without memory
   */
  static async open(body: Uint8Array): Promise<PdfDocument> {
    kept ??= load();
    const pdfium = await kept;
    const { wasmExports } = pdfium.pdfium;
    const bytes = wasmExports.malloc(body.length);
    if (bytes === 0) throw new StorageError('no memory for the document');
    memoryOf(pdfium).set(body, bytes);
    const document = pdfium.FPDF_LoadMemDocument(bytes, body.length, '');
    if (document === 0) {
      wasmExports.free(bytes);
      const error = pdfium.FPDF_GetLastError();
      throw new StorageError(ERRORS.get(error) ?? `error ${error}`);
    }
    return new PdfDocument(pdfium, bytes, document);
  }

  get pages(): number {
    return this.#pdfium.FPDF_GetPageCount(this.#document);
  }

  /** A field of the information dictionary; empty if it is absent. */
  field(name: string): string {
    return this.#utf16((buffer, size) => this.#pdfium.FPDF_GetMetaText(this.#document, name, buffer, size));
  }

  /** Opens a page, from 0. Undefined if it is damaged. */
  page(index: number): PdfPage | undefined {
    const page = this.#pdfium.FPDF_LoadPage(this.#document, index);
    return page === 0 ? undefined : new PdfPage(this.#pdfium, this.#document, page);
  }

  [Symbol.dispose](): void {
    this.#pdfium.FPDF_CloseDocument(this.#document);
    this.#pdfium.pdfium.wasmExports.free(this.#bytes);
    if (memoryOf(this.#pdfium).length > MAX_KEPT_BYTES) discardInstance();
  }

  /** Calls a function that writes UTF-16 and returns the number of bytes with the final NUL. */
  #utf16(read: (buffer: number, size: number) => number): string {
    const size = Math.min(read(0, 0), MAX_FIELD_BYTES);
    if (size <= 2) return '';
    return untilNul(readBuffer(this.#pdfium, size, (buffer) => read(buffer, size)).toString('utf16le'));
  }
}

/** An instance that ran out of memory or was interrupted by an error is not used again. */
export function discardInstance(): void {
  kept = undefined;
}

/** A page of an open document. */
export class PdfPage implements Disposable {
  readonly #pdfium: WrappedPdfiumModule;
  readonly #document: number;
  readonly #page: number;
  readonly #text: number;

  constructor(pdfium: WrappedPdfiumModule, document: number, page: number) {
    this.#pdfium = pdfium;
    this.#document = document;
    this.#page = page;
    this.#text = pdfium.FPDFText_LoadPage(page);
  }

  /** The text in reading order, with line ends as CR LF and U+0002 for a hyphen at the end of a line. */
  text(): string {
    const count = this.#text === 0 ? 0 : this.#pdfium.FPDFText_CountChars(this.#text);
    if (count <= 0) return '';
    const size = 2 * (count + 1);
    return readBuffer(this.#pdfium, size, (buffer) =>
      this.#pdfium.FPDFText_GetText(this.#text, 0, count, buffer),
    )
      .toString('utf16le')
      .replace(/\0+$/, '');
  }

  /** The characters with the fonts that show them; 0 for those that PDFium adds. */
  *characters(): Generator<{ readonly code: number; readonly font: number }> {
    const count = this.#text === 0 ? 0 : this.#pdfium.FPDFText_CountChars(this.#text);
    for (let i = 0; i < count; i++) {
      const object = this.#pdfium.FPDFText_GetTextObject(this.#text, i);
      const font = object === 0 ? 0 : this.#pdfium.FPDFTextObj_GetFont(object);
      yield { code: this.#pdfium.FPDFText_GetUnicode(this.#text, i), font };
    }
  }

  /** Whether a font of {@link characters} has this name. */
  isNamed(font: number, name: string): boolean {
    if (font === 0) return false;
    const size = name.length + 1;
    return (
      this.#pdfium.FPDFFont_GetBaseFontName(font, 0, 0) === size &&
      readBuffer(this.#pdfium, size, (buffer) =>
        this.#pdfium.FPDFFont_GetBaseFontName(font, buffer, size),
      ).toString('latin1', 0, name.length) === name
    );
  }

  /** The URLs of the links, as they stand in the file. */
  *links(): Generator<string> {
    const { wasmExports } = this.#pdfium.pdfium;
    const cells = wasmExports.malloc(8);
    const view = () => new DataView(memoryOf(this.#pdfium).buffer);
    try {
      view().setInt32(cells, 0, true);
      while (this.#pdfium.FPDFLink_Enumerate(this.#page, cells, cells + 4)) {
        const action = this.#pdfium.FPDFLink_GetAction(view().getInt32(cells + 4, true));
        if (action === 0 || this.#pdfium.FPDFAction_GetType(action) !== URI_ACTION) continue;
        const size = Math.min(
          this.#pdfium.FPDFAction_GetURIPath(this.#document, action, 0, 0),
          MAX_FIELD_BYTES,
        );
        if (size <= 1) continue;
        const path = readBuffer(this.#pdfium, size, (buffer) =>
          this.#pdfium.FPDFAction_GetURIPath(this.#document, action, buffer, size),
        );
        yield untilNul(path.toString('latin1'));
      }
    } finally {
      wasmExports.free(cells);
    }
  }

  [Symbol.dispose](): void {
    if (this.#text !== 0) this.#pdfium.FPDFText_ClosePage(this.#text);
    this.#pdfium.FPDF_ClosePage(this.#page);
  }
}

/** The memory of an instance as it is now: a call may make it grow, which replaces the views of it. */
function memoryOf({ pdfium }: WrappedPdfiumModule): Uint8Array {
  const memory: unknown = Reflect.get(pdfium, 'HEAPU8');
  if (memory instanceof Uint8Array) return memory;
  throw new StateError('PDFium has no memory');
}

/** Returns the bytes that a function writes into a buffer. */
function readBuffer(pdfium: WrappedPdfiumModule, size: number, write: (buffer: number) => unknown): Buffer {
  const { wasmExports } = pdfium.pdfium;
  const buffer = wasmExports.malloc(size);
  if (buffer === 0) throw new StorageError('no memory for a text');
  try {
    write(buffer);
    return Buffer.from(memoryOf(pdfium).slice(buffer, buffer + size));
  } finally {
    wasmExports.free(buffer);
  }
}
