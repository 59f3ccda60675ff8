import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { oneLine, summarizeExtracted, unreadable } from '../extracted.js';
import { BookPackage, encryptedMembers, packageDocument } from './epub-package.js';
import { OfficeContent } from './office-content.js';
import { type XmlAttributes, XmlMembers } from './xml-events.js';
import { ZipMembers } from './zip-members.js';

/** Not running text of a chapter. */
const SKIP: ReadonlySet<string> = new Set('title script style template svg rt rp'.split(' '));
const HEADINGS: ReadonlySet<string> = new Set('h1 h2 h3 h4 h5 h6'.split(' '));
/** Elements whose begin and end are the ends of lines. */
const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body caption dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p ' +
    'pre section table tr ul'
  ).split(' '),
);

/**
 * EPUB: one document: the properties of the package, then the chapters in reading order, without cover,
 * navigation and pictures.
 */
export async function summarizeEpub(document: SourceDocument): Promise<Summary> {
  const content = new OfficeContent(document);
  try {
    const zip = await ZipMembers.open(document.body);
    try {
      await readBook(new XmlMembers(zip, document), document, content);
    } finally {
      zip.close();
    }
  } catch (error) {
    document.warn(unreadable('the EPUB document', error));
  }
  return summarizeExtracted(content.result());
}

async function readBook(xml: XmlMembers, document: SourceDocument, content: OfficeContent): Promise<void> {
  const name = await packageDocument(xml);
  if (name === undefined) {
    document.warn('the EPUB document has no package document: nothing of it is read');
    return;
  }
  const book = new BookPackage(content, name);
  await xml.read(name, book);
  const encrypted = await encryptedMembers(xml);
  const chapters = book.chapters();
  const closed = chapters.filter((chapter) => encrypted.has(chapter)).length;
  if (closed > 0) document.warn(`${closed} of ${chapters.length} chapters are encrypted: they are not read`);
  for (const chapter of chapters) {
    if (content.isFull()) break;
    if (encrypted.has(chapter)) continue;
    const events = new ChapterEvents(content);
    await xml.read(chapter, events, SKIP, content.isFull, true);
    events.end();
  }
}

/** Collects the text of one chapter, which is a page in XHTML. */
class ChapterEvents {
  readonly #content: OfficeContent;
  #line: string[] = [];
  #length = 0;
  #heading = '';
  #preformatted = 0;

  constructor(content: OfficeContent) {
    this.#content = content;
  }

  open(tag: string, attributes: XmlAttributes): void {
    if (BLOCKS.has(tag)) this.#endLine();
    if (HEADINGS.has(tag)) this.#heading = tag;
    else if (tag === 'pre') this.#preformatted++;
    else if (tag === 'br') {
      if (this.#heading !== '') this.#line.push(' ');
      else this.#endLine();
    } else if (tag === 'td' || tag === 'th') this.#line.push('\t');
    // Other links lead to chapters of the same book.
    else if (tag === 'a' && /^(?:https?|ftp|mailto):/i.test(attributes.href?.trim() ?? ''))
      this.#content.reference(attributes.href);
  }

  text(text: string): void {
    this.#line.push(text);
    this.#length += text.length;
    if (this.#length > 1024 * 1024) this.#endLine();
  }

  close(tag: string): void {
    if (tag === this.#heading) {
      this.#content.heading(this.#line.join(''));
      this.#heading = '';
    }
    if (BLOCKS.has(tag)) this.#endLine();
    if (tag === 'pre') this.#preformatted--;
    if (tag === 'p' || tag === 'pre' || HEADINGS.has(tag)) this.#content.text('\n');
  }

  end(): void {
    this.#endLine();
    this.#content.text('\n');
  }

  #endLine(): void {
    const text = this.#line.join('');
    const line = this.#preformatted > 0 ? text : oneLine(text);
    if (line.trim() !== '') this.#content.text(`${line}\n`);
    this.#line = [];
    this.#length = 0;
  }
}
