import { latin } from '../../bytes.js';
import type { SourceDocument, Summary } from '../../document.js';
import { readMarkup } from '../../html/markup-stream.js';
import { packageLinks } from '../../outlinks/package-links.js';
import { summarizeExtracted, unreadable } from '../extracted.js';
import { OfficeContent } from './office-content.js';
import { OPEN_DOCUMENT_SKIP, OpenDocumentEvents, readOpenDocument } from './open-document.js';
import { mainPart, packageProperties } from './open-packaging.js';
import { readSheetXml } from './sheet-xml.js';
import { readSlideXml } from './slide-xml.js';
import { readWordXml } from './word-xml.js';
import { MAX_DEPTH, XmlMembers } from './xml-members.js';
import { ZipMembers } from './zip-members.js';

/** OpenDocument, also as one XML file, and OfficeOpenXML: properties, headings, references, then as Text. */
export async function summarizeOffice(document: SourceDocument): Promise<Summary> {
  const content = new OfficeContent(document);
  let linkedUrls: readonly string[] = [];
  try {
    if (isFlat(document.body)) {
      readFlat(document, content);
      if (document.outlinks !== undefined) linkedUrls = content.references;
    } else {
      await readPackage(document, content);
      linkedUrls = await packageLinks(document);
    }
  } catch (error) {
    document.warn(unreadable('the office document', error));
  }
  const summary = summarizeExtracted(content.result());
  return linkedUrls.length === 0 ? summary : { ...summary, linkedUrls };
}

async function readPackage(document: SourceDocument, content: OfficeContent): Promise<void> {
  const zip = await ZipMembers.open(document.body);
  try {
    const xml = new XmlMembers(zip, document);
    if (zip.has('content.xml')) {
      await readOpenDocument(xml, content);
      return;
    }
    await packageProperties(xml, content);
    const part = await mainPart(xml);
    if (part === undefined)
      document.warn('the office document has no main part: only its properties are read');
    // The folder of the main part says which program wrote it.
    else if (part.startsWith('xl/')) await readSheetXml(xml, part, content);
    else if (part.startsWith('ppt/')) await readSlideXml(xml, part, content);
    else await readWordXml(xml, part, content);
  } finally {
    zip.close();
  }
}

/** Whether the bytes are an XML document: OpenDocument in one file. */
function isFlat(body: Uint8Array): boolean {
  return /^(?:\xef\xbb\xbf)?\s*<\?xml|^(?:\xff\xfe|\xfe\xff)/.test(latin(body, 0, 64));
}

function readFlat(document: SourceDocument, content: OfficeContent): void {
  const { isFull } = content;
  readMarkup(document.text, new OpenDocumentEvents(content), {
    skip: OPEN_DOCUMENT_SKIP,
    isFull,
    maxDepth: MAX_DEPTH,
  });
}
