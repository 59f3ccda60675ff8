import { namesByWord } from '../../word-tables.js';
import type { OfficeContent } from './office-content.js';
import type { XmlMembers } from './xml-members.js';

/** Maximum number of relationships of one part. */
const MAX_RELATIONSHIPS = 20_000;

/** A relationship of a part: to another part, or to a URL. */
export interface Relationship {
  readonly id: string;
  /** Last segment of the type's URI, e.g. `slide`. */
  readonly type: string;
  /** Name of a member, or a URL if external. */
  readonly target: string;
  readonly isExternal: boolean;
}

/** Reads the relationships of a part (ECMA-376 part 2, 6.5); '' is the package. */
export async function relationshipsOf(xml: XmlMembers, part: string): Promise<readonly Relationship[]> {
  const slash = part.lastIndexOf('/') + 1;
  const found: Relationship[] = [];
  await xml.read(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`, {
    open: (tag, { Id: id, Type: type, Target: target, TargetMode: mode }) => {
      if (!/^(?:\w+:)?Relationship$/.test(tag) || id === undefined || target === undefined) return;
      if (found.length >= MAX_RELATIONSHIPS) return;
      const isExternal = mode === 'External';
      found.push({
        id,
        type: type?.slice(type.lastIndexOf('/') + 1) ?? '',
        target: isExternal ? target : memberName(target, part),
        isExternal,
      });
    },
  });
  return found;
}

/** The URLs that a part links to, by the relationships' names. */
export function linksOf(relationships: readonly Relationship[]): ReadonlyMap<string, string> {
  return new Map(relationships.filter(({ isExternal }) => isExternal).map(({ id, target }) => [id, target]));
}

/** Resolves a reference within an archive against the member that has it; '' if it leads outside. */
export function memberName(reference: string, from: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(reference)) return '';
  const path = reference.replace(/[?#].*$/s, '');
  const segments = path.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return segments.join('/');
}

/** The main part of a package, by its relationship. */
export async function mainPart(xml: XmlMembers): Promise<string | undefined> {
  const stated = (await relationshipsOf(xml, '')).find(({ type }) => type === 'officeDocument')?.target;
  const usual = ['word/document.xml', 'xl/workbook.xml', 'ppt/presentation.xml'];
  return [stated ?? '', ...usual].find((name) => xml.zip.has(name));
}

/** Attributes by the elements of `docProps/core.xml`. */
const CORE: ReadonlyMap<string, string> = namesByWord({
  Title: 'dc:title',
  Author: 'dc:creator',
  Subject: 'dc:subject',
  Abstract: 'dc:description',
  Keywords: 'cp:keywords cp:category',
  Language: 'dc:language',
  Date: 'dcterms:created',
});

/** Attributes by the names of properties that users add, in lower case. */
const CUSTOM: ReadonlyMap<string, string> = namesByWord({
  Keywords: 'keywords keyword tags',
  Language: 'language',
  Abstract: 'abstract',
});

/**
 * Reads the properties of a package: those of Dublin Core, and the keywords, language and abstract among those
 * that users add.
 */
export async function packageProperties(xml: XmlMembers, content: OfficeContent): Promise<void> {
  for (const [member, elements] of [
    ['docProps/core.xml', CORE],
    ['docProps/custom.xml', CUSTOM],
  ] as const) {
    let field: string | undefined;
    let value = '';
    await xml.read(member, {
      open: (tag, attributes) => {
        const key = tag === 'property' ? attributes.name?.toLowerCase() : tag;
        const found = elements.get(key ?? '');
        if (found !== undefined) [field, value] = [found, ''];
      },
      text: (text) => {
        if (field !== undefined && value.length < 10_000) value += text;
      },
      close: (tag) => {
        if (field === undefined || (tag !== 'property' && !elements.has(tag))) return;
        content.property(field, value);
        field = undefined;
      },
    });
  }
}
