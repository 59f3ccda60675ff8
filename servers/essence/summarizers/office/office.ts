import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { present, summarizeExtracted, unreadable } from '../extracted.js';
import { type XmlRules, XmlText } from './xml-text.js';
import { ZipMembers } from './zip-members.js';

const NO_TAGS: ReadonlySet<string> = new Set();
const NO_FIELDS: ReadonlyMap<string, string> = new Map();

/** Dublin Core and related properties, in `docProps/core.xml` of OOXML and `meta.xml` of OpenDocument. */
const METADATA: XmlRules = {
  lines: NO_TAGS,
  blanks: NO_TAGS,
  breaks: NO_TAGS,
  texts: NO_TAGS,
  references: NO_FIELDS,
  fields: new Map([
    ['dc:title', 'Title'],
    ['dc:creator', 'Author'],
    ['meta:initial-creator', 'Author'],
    ['dc:subject', 'Subject'],
    ['dc:description', 'Abstract'],
    ['cp:keywords', 'Keywords'],
    ['meta:keyword', 'Keywords'],
  ]),
};

const OPEN_DOCUMENT: XmlRules = {
  lines: new Set(['text:p', 'text:h', 'table:table-row', 'draw:page']),
  blanks: new Set(['text:tab', 'text:s', 'table:table-cell']),
  breaks: new Set(['text:line-break']),
  texts: new Set(['text:p', 'text:h']),
  references: new Map([['text:a', 'xlink:href']]),
  fields: new Map([['text:h', 'Headings']]),
};

const WORD: XmlRules = {
  lines: new Set(['w:p', 'w:tr']),
  blanks: new Set(['w:tab']),
  breaks: new Set(['w:br', 'w:cr']),
  texts: new Set(['w:t']),
  references: NO_FIELDS,
  fields: NO_FIELDS,
};

/** Shared strings, inline strings and numbers of a workbook. */
const SHEET: XmlRules = {
  lines: new Set(['si', 'row']),
  blanks: new Set(['c']),
  breaks: NO_TAGS,
  texts: new Set(['t']),
  references: NO_FIELDS,
  fields: NO_FIELDS,
};

const SLIDE: XmlRules = {
  lines: new Set(['a:p']),
  blanks: new Set(['a:tab']),
  breaks: new Set(['a:br']),
  texts: new Set(['a:t']),
  references: NO_FIELDS,
  fields: NO_FIELDS,
};

/** Members with text in reading order, and the rules for each. */
const TEXT_MEMBERS: readonly (readonly [members: RegExp, rules: XmlRules])[] = [
  [/^content\.xml$/, OPEN_DOCUMENT],
  [/^word\/(?:document|footnotes|endnotes|header\d*|footer\d*)\.xml$/, WORD],
  [/^xl\/sharedStrings\.xml$/, SHEET],
  [/^xl\/worksheets\/[^/]+\.xml$/, SHEET],
  [/^ppt\/(?:slides|notesSlides)\/[^/]+\.xml$/, SLIDE],
];

/** OpenDocument and OfficeOpenXML: title, author and other properties, headings, then as Text. */
export async function summarizeOffice(document: SourceDocument): Promise<Summary> {
  const limit = document.settings.maxObjectBytes;
  const metadata = new XmlText(METADATA, limit);
  const texts: string[] = [];
  const attributes: (readonly [string, string | undefined])[] = [];
  try {
    const zip = await ZipMembers.open(document.body);
    try {
      const read = async (name: string, into: XmlText): Promise<void> => {
        try {
          await zip.read(name, (chunk) => into.write(chunk));
        } catch (error) {
          document.warn(unreadable(name, error));
        }
        into.end();
      };
      for (const name of zip.names(/^(?:meta|docProps\/core)\.xml$/)) await read(name, metadata);
      for (const [field, values] of metadata.fields)
        attributes.push([field, [...new Set(values)].join('\n')]);
      const sheets = await sheetNames(zip, document);
      attributes.push(['Headings', sheets.join('\n')]);
      for (const [members, rules] of TEXT_MEMBERS) {
        for (const name of zip.names(members)) {
          const part = new XmlText(rules, limit);
          await read(name, part);
          texts.push(part.text);
          for (const [field, values] of part.fields) attributes.push([field, values.join('\n')]);
        }
      }
    } finally {
      zip.close();
    }
  } catch (error) {
    document.warn(unreadable('the office document', error));
  }
  return summarizeExtracted({ attributes: present(attributes), text: texts.join('\n') });
}

/** Names of a workbook's sheets. */
async function sheetNames(zip: ZipMembers, document: SourceDocument): Promise<string[]> {
  let xml = '';
  try {
    await zip.read('xl/workbook.xml', (chunk) => {
      if (xml.length < 1_000_000) xml += chunk;
    });
  } catch (error) {
    document.warn(unreadable('xl/workbook.xml', error));
  }
  const names = new XmlText({ ...METADATA, references: new Map([['sheet', 'name']]) }, xml.length + 1);
  names.write(xml);
  names.end();
  return names.fields.get('References') ?? [];
}
