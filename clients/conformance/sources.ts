// The sources that cases name, by their short keys, and what a verdict rests on.
import { BASES, type Basis } from '../../protocols/specification/index.js';

/** Sources by key: what they are, and the name by which the specifications call them. */
const SOURCES: Readonly<Record<string, readonly [basis: Basis, name: string]>> = {
  S: ['seed', 'broker notes'],
  seed: ['seed', 'refererd manual'],
  'seed manual': ['seed', 'gatherer manual'],
  'broker NOTES': ['seed', 'broker notes'],
  'gatherd NOTES': ['manual', 'gatherd notes'],
  'M1.2': ['manual', 'manual 1.2'],
  'M1.4': ['manual', 'manual 1.4'],
  'M1.8': ['manual', 'manual 1.8'],
  'manual 1.': ['manual', 'manual 1.'],
  'Attributes.html': ['manual', 'Attributes.html'],
  QH: ['manual', 'query help'],
  AH: ['manual', 'admin help'],
  'a deployed help page': ['manual', 'query help'],
  FAQ: ['manual', 'FAQ'],
  RC: ['client', 'WHOIS++ gateway, centroid extractor'],
  DB: ['client', 'Colorado Broker'],
  G: ['client', 'Glimpse 4'],
  URL: ['client', 'query URLs'],
  beckett: ['client', 'sample client'],
  roads: ['client', 'ROADS client'],
  'template.c': ['client', 'template.c'],
  'template.h': ['client', 'template.h'],
  'cksoif.c': ['client', 'cksoif.c'],
  'config.h': ['client', 'config.h'],
  'soif.pl': ['client', 'soif.pl'],
  pngmeta: ['client', 'pngmeta'],
  'Metadata::SOIF': ['client', 'Metadata::SOIF'],
  SINN03: ['client', 'SINN03'],
  isearch: ['client', 'isearch'],
  'Harvest-NG': ['manual', 'Harvest-NG'],
  'RFC 1952': ['manual', 'RFC 1952'],
  inferred: ['inferred', 'inferred'],
  'project choice': ['choice', 'project choice'],
  'an extension of harvest-kit': ['choice', 'an extension of harvest-kit'],
};

const KEYS = Object.keys(SOURCES).sort((a, b) => b.length - a.length);

/** A part of a case's source: `RC (centroid)`. */
interface SourcePart {
  readonly basis: Basis;
  readonly text: string;
}

/** Reads the source of a case, parts separated by semicolons. @throws TypeError for an unknown key */
function partsOf(source: string): SourcePart[] {
  return source.split(';').map((part) => {
    const text = part.trim();
    if (text.endsWith('project choice')) return { basis: 'choice', text };
    const key = KEYS.find(
      (one) => text.startsWith(one) && !/^\w/.test(one.endsWith('.') ? '' : text.slice(one.length)),
    );
    const found = key === undefined ? undefined : SOURCES[key];
    if (key === undefined || found === undefined)
      throw new TypeError(`no source of a case is called "${text}"`);
    return { basis: found[0], text: found[1] + text.slice(key.length) };
  });
}

/**
 * Returns what the verdict of a case rests on: a choice or a conclusion if a part of it is one, else the strongest
 * of its sources.
 * @throws TypeError for an unknown source
 */
export function basisOfSource(source: string): Basis {
  const found = new Set(partsOf(source).map(({ basis }) => basis));
  if (found.has('choice')) return 'choice';
  if (found.has('inferred')) return 'inferred';
  return BASES.find((basis) => found.has(basis)) ?? 'choice';
}

/** Returns the source of a case with the names of the specifications instead of keys. @throws TypeError */
export function nameSource(source: string): string {
  return partsOf(source)
    .map(({ text }) => text)
    .join('; ');
}
