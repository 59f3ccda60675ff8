// Which attributes of a page contain references, and of what kind (CRAWL-11.2, ExtractorHTML).

// The kinds of references of a document.

/** CRAWL-2.2: `L` link, `E` embedded, `R` redirect by the page itself, `X` speculative: probably a URL. */
export type OutlinkHop = 'L' | 'E' | 'R' | 'X';

/** Receives the references of a document, as written. */
export type ReferenceSink = (reference: string, hop: OutlinkHop) => void;

/**
 * How the value of an attribute is read: one URL, URLs between blanks and commas, candidates of an image,
 * style, or script.
 */
type AttributeKind = 'url' | 'urls' | 'srcset' | 'style' | 'script' | 'markup';

/** Meaning of an attribute. */
export interface AttributeMeaning {
  readonly kind: AttributeKind;
  readonly hop: OutlinkHop;
}

const embedded: AttributeMeaning = { kind: 'url', hop: 'E' };
const linked: AttributeMeaning = { kind: 'url', hop: 'L' };

/** Attributes that mean the same in every element. */
const ANYWHERE: Readonly<Record<string, AttributeMeaning>> = {
  src: embedded,
  lowsrc: embedded,
  dynsrc: embedded,
  background: embedded,
  poster: embedded,
  srcset: { kind: 'srcset', hop: 'E' },
  imagesrcset: { kind: 'srcset', hop: 'E' },
  style: { kind: 'style', hop: 'E' },
  srcdoc: { kind: 'markup', hop: 'E' },
  href: linked,
  'xlink:href': embedded,
  cite: linked,
  longdesc: linked,
  formaction: linked,
  archive: { kind: 'urls', hop: 'E' },
  // Images that a script loads when they come into view.
  'data-src': embedded,
  'data-lazy': embedded,
  'data-lazy-src': embedded,
  'data-original': embedded,
  'data-bg': embedded,
  'data-background': embedded,
  'data-background-image': embedded,
  'data-image': embedded,
  'data-poster': embedded,
  'data-thumb': embedded,
  'data-srcset': { kind: 'srcset', hop: 'E' },
  'data-lazy-srcset': { kind: 'srcset', hop: 'E' },
  'data-original-set': { kind: 'srcset', hop: 'E' },
};

/** Attributes whose meaning depends on the element. */
const BY_ELEMENT: Readonly<Record<string, Readonly<Record<string, AttributeMeaning>>>> = {
  // Of feeds.
  enclosure: { url: embedded },
  object: { data: embedded, classid: embedded, codebase: linked, usemap: linked },
  applet: { code: embedded, object: embedded },
  html: { manifest: embedded },
  menuitem: { icon: embedded },
  head: { profile: linked },
  a: { 'xlink:href': linked },
  // Elements of SVG that show another document.
  image: { href: embedded },
  use: { href: embedded },
  feimage: { href: embedded },
  pattern: { href: embedded },
  script: { href: embedded },
  lineargradient: { href: embedded },
  radialgradient: { href: embedded },
  textpath: { href: embedded },
  mpath: { href: embedded },
  cursor: { href: embedded },
};

const EVENT_HANDLER: AttributeMeaning = { kind: 'script', hop: 'X' };

/**
 * Returns what an attribute means; undefined if it contains no reference, or one only by chance. Names are in
 * lower case.
 */
export function meaningOf(element: string, attribute: string): AttributeMeaning | undefined {
  const own = Object.hasOwn(BY_ELEMENT, element) ? BY_ELEMENT[element] : undefined;
  if (own !== undefined && Object.hasOwn(own, attribute)) return own[attribute];
  if (Object.hasOwn(ANYWHERE, attribute)) return ANYWHERE[attribute];
  return attribute.startsWith('on') ? EVENT_HANDLER : undefined;
}

/** Relations of LINK whose target is a part of the page. */
const PART_OF_PAGE =
  /^(?:stylesheet|icon|shortcut|apple-touch-icon(?:-precomposed)?|apple-touch-startup-image|mask-icon|fluid-icon|image_src|manifest|preload|modulepreload|prefetch|import)$/i;
/** Relations that name a server only. */
const NO_DOCUMENT = /^(?:dns-prefetch|preconnect)$/i;

/** Returns the hop of the target of a LINK, or of a Link header (RFC 8288); undefined if it is no document. */
export function hopOfRelation(relations: string): OutlinkHop | undefined {
  const names = relations.trim().split(/\s+/);
  if (names.some((name) => PART_OF_PAGE.test(name))) return 'E';
  return names.some((name) => NO_DOCUMENT.test(name)) ? undefined : 'L';
}

/** Names of META elements whose content is an image, a sound or a film of the page. */
const META_MEDIA =
  /(?:image|video|audio|thumbnail|player|tile|logo|icon|square\d+x\d+logo|wide\d+x\d+logo)(?::(?:url|src|secure_url|stream))?$/i;

/**
 * Whether the content of a META element, by its name, property or itemprop, is a document that the page shows.
 */
export function isMediaName(name: string): boolean {
  return META_MEDIA.test(name);
}

/** Names of PARAM whose value is the document that the object shows. */
export const MEDIA_PARAMETER = /^(?:movie|src|filename|url|data|flashvars|source|image)$/i;

// The attribute `srcset`: a list of images with widths or densities (HTML, "parse a srcset attribute").

/**
 * Calls back with the URL of each candidate. A comma within a URL belongs to it, one at its end separates
 * candidates.
 */
export function scanSrcset(text: string, add: (reference: string) => void): void {
  const url = /[\s,]*([^\s]+)/y;
  // Descriptors, with commas in parentheses, up to the next candidate; a parenthesis that stays open encloses
  // the rest.
  const descriptors = /(?:\([^)]*(?:\)|$)|[^,(])*/y;
  for (let at = 0; at < text.length; ) {
    url.lastIndex = at;
    const found = url.exec(text)?.[1];
    if (found === undefined) return;
    at = url.lastIndex;
    const bare = found.replace(/,+$/, '');
    if (bare !== '') add(bare);
    if (bare.length < found.length) continue;
    descriptors.lastIndex = at;
    descriptors.exec(text);
    at = descriptors.lastIndex + 1;
  }
}

/** Returns the target of a META refresh, or of a Refresh header: `5; url=next.html`. */
export function refreshTarget(content: string): string | undefined {
  const found = /^[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.+)$/is.exec(content.slice(0, 4096));
  const target = found?.[1] ? found[2]?.split(found[1])[0] : found?.[2];
  return target?.trim() === '' ? undefined : target?.trim();
}
