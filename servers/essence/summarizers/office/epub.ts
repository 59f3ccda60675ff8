import type { SourceDocument, Summary } from '../../document.js';
import { localName, type MarkupAttributes } from '../../html/markup-stream.js';
import { packageLinks } from '../../outlinks/package-links.js';
import { wordPairs, wordSet } from '../../word-tables.js';
import { oneLine, summarizeExtracted, unreadable } from '../extracted.js';
import { OfficeContent } from './office-content.js';
import { memberName } from './open-packaging.js';
import { XmlMembers } from './xml-members.js';
import { ZipMembers } from './zip-members.js';

/** Not running text of a chapter. */
const SKIP: ReadonlySet<string> = wordSet('title script style template svg rt rp');
const HEADINGS: ReadonlySet<string> = wordSet('h1 h2 h3 h4 h5 h6');
/** Elements whose begin and end are the ends of lines. */
const BLOCKS: ReadonlySet<string> = wordSet(
  'address article aside blockquote body caption dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p ' +
    'pre section table tr ul',
);

/**
 * EPUB: one document: the properties of the package, then the chapters in reading order, without cover,
 * navigation and pictures.
 */
export async function summarizeEpub(document: SourceDocument): Promise<Summary> {
  const content = new OfficeContent(document);
  let linkedUrls: readonly string[] = [];
  try {
    const zip = await ZipMembers.open(document.body);
    try {
      await readBook(new XmlMembers(zip, document), document, content);
    } finally {
      zip.close();
    }
    linkedUrls = await packageLinks(document);
  } catch (error) {
    document.warn(unreadable('the EPUB document', error));
  }
  const summary = summarizeExtracted(content.result());
  return linkedUrls.length === 0 ? summary : { ...summary, linkedUrls };
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
    await xml.read(chapter, events, { dialect: 'xhtml', skip: SKIP, isFull: content.isFull });
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

  open(tag: string, attributes: MarkupAttributes): void {
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

/** Maximum number of files that a package document lists, and of chapters. */
const MAX_ITEMS = 20_000;
/** Maximum length of a property, in characters. */
const MAX_VALUE = 10_000;

/** Attributes by the elements of Dublin Core in a package document. */
const METADATA: ReadonlyMap<string, string> = wordPairs(`
  title Title creator Author description Abstract subject Keywords language Language date Date
  publisher Publisher
`);

/** Of these the first value counts: others are subtitles, later events and the like. */
const SINGLE: ReadonlySet<string> = new Set(['Title', 'Date']);

/** The name of the package document, by `META-INF/container.xml`. */
async function packageDocument(xml: XmlMembers): Promise<string | undefined> {
  let name: string | undefined;
  await xml.read('META-INF/container.xml', {
    open: (tag, attributes) => {
      if (localName(tag) === 'rootfile') name ??= memberName(attributes['full-path'] ?? '', '');
    },
  });
  return name !== undefined && xml.zip.has(name) ? name : xml.zip.names(/\.opf$/i)[0];
}

/** The members that are encrypted, by `META-INF/encryption.xml`: often fonts only. */
async function encryptedMembers(xml: XmlMembers): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  await xml.read('META-INF/encryption.xml', {
    open: (tag, attributes) => {
      if (localName(tag) === 'CipherReference' && names.size < MAX_ITEMS)
        names.add(memberName(decoded(attributes.URI ?? ''), ''));
    },
  });
  return names;
}

/** Collects the properties and the reading order of a package document (EPUB 3.3, 5; also EPUB 2). */
class BookPackage {
  readonly #content: OfficeContent;
  readonly #name: string;
  readonly #items = new Map<string, MarkupAttributes>();
  readonly #spine: string[] = [];
  readonly #covers = new Set<string>();
  readonly #stated = new Set<string>();
  #field: string | undefined;
  #value = '';

  /** @param name of the package document in the archive: files are named relative to it */
  constructor(content: OfficeContent, name: string) {
    this.#content = content;
    this.#name = name;
  }

  open(tag: string, attributes: MarkupAttributes): void {
    const element = localName(tag);
    const field = tag.startsWith('dc:') ? METADATA.get(element) : undefined;
    if (field !== undefined) [this.#field, this.#value] = [field, ''];
    else if (element === 'item' && this.#items.size < MAX_ITEMS)
      this.#items.set(attributes.id ?? '', attributes);
    else if (element === 'itemref' && this.#spine.length < MAX_ITEMS)
      this.#spine.push(attributes.idref ?? '');
    else if (element === 'reference' && /^cover$/i.test(attributes.type ?? ''))
      this.#covers.add(this.#member(attributes.href ?? ''));
  }

  text(text: string): void {
    if (this.#field !== undefined && this.#value.length < MAX_VALUE) this.#value += text;
  }

  close(tag: string): void {
    const field = this.#field;
    if (field === undefined || !METADATA.has(localName(tag))) return;
    this.#field = undefined;
    // Descriptions are often written as markup.
    const value = oneLine(field === 'Abstract' ? this.#value.replace(/<[^<>]{0,500}>/g, ' ') : this.#value);
    if (value === '' || (SINGLE.has(field) && this.#stated.has(field))) return;
    this.#stated.add(field);
    this.#content.property(field, value);
  }

  /** Names of the chapters in reading order, each once, without cover and table of contents. */
  chapters(): readonly string[] {
    const chapters = new Set<string>();
    for (const id of this.#spine) {
      const item = this.#items.get(id);
      if (item?.href === undefined) continue;
      const type = item['media-type'] ?? '';
      if (type !== '' && !/^(?:application\/xhtml\+xml|text\/(?:html|x-oeb1-document))$/i.test(type))
        continue;
      const name = this.#member(item.href);
      const isCover = this.#covers.has(name) || /^cover(?:[-_.]?(?:page|xhtml|html))?$/i.test(id);
      if (isCover || /\bnav\b/.test(item.properties ?? '')) continue;
      chapters.add(name);
    }
    return [...chapters];
  }

  #member(reference: string): string {
    return memberName(decoded(reference), this.#name);
  }
}

/** References are URLs; names of members are not. */
function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}
