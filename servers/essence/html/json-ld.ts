import type { AttributeLines } from '../sgml/lines.js';
import { type TagMapping, type ValueMapping, valueMappings } from '../sgml/table.js';
import { wordSet } from '../word-tables.js';
import { decodeReferences } from './character-references.js';

/** Characters of one script; a longer one is not read. */
const MAX_SCRIPT_CHARACTERS = 256 * 1024;
/** Scripts of one page. */
const MAX_SCRIPTS = 32;
/** Items of one page, and properties of one item. */
const MAX_ITEMS = 1000;
/** Values of one property. */
const MAX_VALUES = 200;
/** Characters of one value. */
const MAX_VALUE = 10_000;
/** Values that are visited in all: items refer to each other, so that a small script can be a large tree. */
const MAX_VISITS = 20_000;
/** Items inside items, and lists inside lists. */
const MAX_DEPTH = 6;

/** Types that describe the site or the way to the page, not the page. */
const FURNITURE = wordSet(
  'website breadcrumblist listitem itemlist searchaction readaction imageobject sitenavigationelement wpheader wpfooter ' +
    'wpsidebar entrypoint',
);
/** Types that are the subject of a page only if it has no other. */
const PARTIES = wordSet('person organization newsmediaorganization corporation brand');
/** The page as such: `WebPage`, `AboutPage`, `FAQPage`. */
const PAGE = /page$/;

/** Properties whose value stands for an item: its name. */
const NAMES = ['name', '@value', 'headline', 'title'];

type Item = Readonly<Record<string, unknown>>;

/** Whether a SCRIPT with this `type` contains JSON-LD. */
export function isJsonLd(type: string | undefined): boolean {
  return type !== undefined && /^\s*application\/ld\+json\s*(?:;|$)/i.test(type);
}

/**
 * The JSON-LD of a page: collects the scripts, then adds the properties of the page's main item by the table's
 * lines.
 */
export class JsonLdScripts {
  readonly #mapping: TagMapping;
  readonly #texts: string[] = [];
  #omitted = 0;

  constructor(mapping: TagMapping) {
    this.#mapping = mapping;
  }

  /** Adds the text of one script. */
  add(source: string, start: number, end: number): void {
    if (end - start > MAX_SCRIPT_CHARACTERS || this.#texts.length >= MAX_SCRIPTS) this.#omitted++;
    else this.#texts.push(source.slice(start, end));
  }

  /** Adds the attributes. Scripts that are not JSON are ignored. */
  addTo(lines: AttributeLines, warn: (message: string) => void): void {
    if (this.#omitted > 0)
      warn(
        `${this.#omitted} JSON-LD scripts beyond ${MAX_SCRIPT_CHARACTERS} characters or the first ${MAX_SCRIPTS} are not read`,
      );
    const items = new Items();
    for (const text of this.#texts) items.read(text);
    const added = new Set<string>();
    for (const item of items.main()) this.#addItem(item, items, lines, added);
  }

  #addItem(item: Item, items: Items, lines: AttributeLines, added: Set<string>): void {
    const properties = lowerCaseNames(item);
    const done = new Set<ValueMapping>();
    for (const type of typesOf(item)) {
      for (const mappings of valueMappings(this.#mapping, { type })) {
        for (const mapping of mappings) {
          if (done.has(mapping) || mapping.kind === 'parent' || mapping.kind === 'indirect') continue;
          done.add(mapping);
          const values = new Set<string>();
          items.texts(properties.get(mapping.attribute), 0, values);
          for (const value of values) {
            const line = `${mapping.kind} ${mapping.target} ${value}`;
            if (mapping.kind === 'name' && added.has(line)) continue;
            added.add(line);
            lines.addValue(mapping, value, {});
          }
        }
      }
    }
  }
}

/** The items of all scripts of a page. */
class Items {
  readonly #items: Item[] = [];
  /** Items by `@id`, which others refer to. */
  readonly #byId = new Map<string, Item>();
  #visits = 0;

  read(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return;
    }
    this.#collect(value, 0);
  }

  #collect(value: unknown, depth: number): void {
    if (depth > MAX_DEPTH || this.#items.length >= MAX_ITEMS) return;
    if (Array.isArray(value)) {
      for (const entry of value.slice(0, MAX_ITEMS)) this.#collect(entry, depth + 1);
    } else if (isItem(value)) {
      if ('@type' in value) this.#items.push(value);
      const id = value['@id'];
      if (typeof id === 'string' && !this.#byId.has(id)) this.#byId.set(id, value);
      this.#collect(value['@graph'], depth + 1);
      this.#collect(value.mainEntity, depth + 1);
    }
  }

  /** The item that the page is about, then the page itself as an item. */
  main(): Item[] {
    const ranked: (Item | undefined)[] = [];
    for (const item of this.#items) {
      const rank = rankOf(typesOf(item));
      if (rank !== undefined) ranked[rank] ??= item;
    }
    const [subject, page, party] = ranked;
    return [subject ?? party, page].filter((item) => item !== undefined);
  }

  /** Collects the texts of a value: an item stands for its name, a list for its entries. */
  texts(value: unknown, depth: number, to: Set<string>): void {
    if (depth > MAX_DEPTH || to.size >= MAX_VALUES || this.#visits++ >= MAX_VISITS) return;
    if (typeof value === 'string') {
      const text = value.slice(0, MAX_VALUE);
      // Many publishers escape the texts as if they were markup.
      const decoded = decodeReferences(text, 0, text.length, text.indexOf('&'), false)
        .replace(/\s+/g, ' ')
        .trim();
      if (decoded !== '') to.add(decoded);
    } else if (typeof value === 'number') to.add(String(value));
    else if (Array.isArray(value)) {
      for (const entry of value.slice(0, MAX_VALUES)) this.texts(entry, depth + 1, to);
    } else if (isItem(value)) this.#name(value, depth, to);
  }

  #name(item: Item, depth: number, to: Set<string>): void {
    const key = NAMES.find((name) => item[name] !== undefined);
    if (key !== undefined) {
      this.texts(item[key], depth + 1, to);
      return;
    }
    const parts = [item.givenName, item.familyName].filter((part) => typeof part === 'string');
    if (parts.length > 0) {
      this.texts(parts.join(' '), depth, to);
      return;
    }
    const id = item['@id'];
    const target = typeof id === 'string' ? this.#byId.get(id) : undefined;
    if (target !== undefined && target !== item) this.texts(target, depth + 1, to);
  }
}

function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The types of an item in lower case, without `schema:` or `https://schema.org/` before them. */
function typesOf(item: Item): string[] {
  const types: unknown[] = [item['@type']].flat();
  return types
    .filter((type) => typeof type === 'string')
    .slice(0, 20)
    .map((type) => type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf(':')) + 1).toLowerCase());
}

/** 0: what a page is about. 1: the page as such. 2: a person or an organization. Undefined: none of these. */
function rankOf(types: readonly string[]): number | undefined {
  if (types.length === 0 || types.some((type) => FURNITURE.has(type))) return undefined;
  if (types.some((type) => PARTIES.has(type))) return 2;
  return types.some((type) => PAGE.test(type)) ? 1 : 0;
}

function lowerCaseNames(item: Item): ReadonlyMap<string, unknown> {
  const properties = new Map<string, unknown>();
  let count = 0;
  for (const name of Object.keys(item)) {
    if (++count > MAX_ITEMS) break;
    const key = name.toLowerCase();
    if (!properties.has(key)) properties.set(key, item[name]);
  }
  return properties;
}
