// The links of an office document or book in a zip archive, part by part: OfficeOpenXML, OpenDocument, EPUB.
import type { SourceDocument } from '../document.js';
import { type MarkupEvents, MarkupStream } from '../html/markup-stream.js';
import { fieldTarget } from '../summarizers/office/word-xml.js';
import { MAX_DEPTH } from '../summarizers/office/xml-members.js';
import { ZipMembers } from '../summarizers/office/zip-members.js';

/** Deepest nesting of fields. */
const MAX_FIELDS = 100;
/** Characters of the instruction of a field. */
const MAX_INSTRUCTION = 10_000;

/** Parts with links, by a member that shows what the archive is. */
const FORMATS: readonly (readonly [member: string, parts: RegExp])[] = [
  ['[Content_Types].xml', /(?:^|\/)_rels\/[^/]*\.rels$|^word\/[^/]+\.xml$/],
  ['content.xml', /(?:^|\/)content\.xml$/],
  ['META-INF/container.xml', /\.x?html?$/i],
];

/**
 * Returns the targets of the links of a document that is summarized, wherever its summary ends; none if they are not
 * requested.
 * @throws Error if it is no zip archive
 */
export async function packageLinks({
  outlinks,
  body,
  settings,
  isOutOfTime,
}: Pick<SourceDocument, 'outlinks' | 'body' | 'settings' | 'isOutOfTime'>): Promise<readonly string[]> {
  const links = new Set<string>();
  if (outlinks === undefined || isOutOfTime()) return [];
  const zip = await ZipMembers.open(body);
  try {
    const add = (reference: string): void => {
      if (links.size <= settings.maxLinks) links.add(reference);
    };
    await readPackageLinks(zip, add, isOutOfTime);
  } finally {
    zip.close();
  }
  return [...links];
}

/**
 * Calls back with the targets of an archive's links, which are in order of its parts. Does nothing if it is no
 * document.
 * @returns whether all parts could be read; false if one is damaged, encrypted, or exceeds a limit
 */
export async function readPackageLinks(
  zip: ZipMembers,
  add: (reference: string) => void,
  isOutOfTime: () => boolean = () => false,
): Promise<boolean> {
  const parts = FORMATS.find(([member]) => zip.has(member))?.[1];
  if (parts === undefined) return true;
  let isComplete = zip.isComplete;
  for (const name of zip.names(parts)) {
    if (isOutOfTime()) return false;
    const isPage = !/\.(?:xml|rels)$/.test(name);
    const stream = new MarkupStream(
      name.startsWith('word/') && !name.endsWith('.rels') ? fieldsOf(add) : linksOf(add),
      {
        dialect: isPage ? 'xhtml' : 'xml',
        maxDepth: MAX_DEPTH,
        isFull: isOutOfTime,
      },
    );
    try {
      await zip.read(name, (text) => stream.write(text));
    } catch {
      isComplete = false;
    }
    stream.end();
  }
  return isComplete;
}

/** Relationships to URLs, links of OpenDocument, and those of a book's pages that lead out of it. */
function linksOf(add: (reference: string) => void): MarkupEvents {
  return {
    open: (tag, attributes) => {
      if (/^(?:\w+:)?Relationship$/.test(tag)) {
        const { Type: type = '', Target: target = '', TargetMode: mode } = attributes;
        if (mode === 'External' && /\/hyperlink$/i.test(type)) add(target);
      } else if (tag === 'text:a' || tag === 'draw:a') add(attributes['xlink:href'] ?? '');
      else if (tag === 'a' && /^\s*(?:https?|ftp):/i.test(attributes.href ?? '')) add(attributes.href!);
    },
  };
}

/** The fields of a text: `HYPERLINK "target"`, in one attribute, or in pieces between its marks. */
function fieldsOf(add: (reference: string) => void): MarkupEvents {
  const fields: string[] = [];
  let isInstruction = false;
  const end = (instruction: string | undefined): void => {
    const target = fieldTarget(instruction ?? '');
    if (target !== undefined) add(target);
  };
  return {
    open: (tag, attributes) => {
      if (tag === 'w:fldSimple') end(attributes['w:instr']);
      else if (tag === 'w:instrText') isInstruction = true;
      else if (tag === 'w:fldChar') {
        const type = attributes['w:fldCharType'];
        if (type === 'begin' && fields.length < MAX_FIELDS) fields.push('');
        else if (type === 'end') end(fields.pop());
      }
    },
    text: (text) => {
      const last = fields.length - 1;
      if (isInstruction && last >= 0 && fields[last]!.length < MAX_INSTRUCTION) fields[last] += text;
    },
    close: (tag) => {
      if (tag === 'w:instrText') isInstruction = false;
    },
  };
}
