import { parseRobotsMeta } from '../../../protocols/robots/index.js';
import { canonicalUrl, isEnumerable, UrlResolver } from '../../../protocols/urls/index.js';
import type { EssenceLink } from '../model.js';
import { refreshTarget } from '../outlinks/attributes.js';
import type { TagAttributes } from './reader.js';

/** Relations of LINK whose target is a page. */
const LINK_RELATIONS = new Set(['next', 'prev', 'alternate']);

/** The first component of a relative reference. */
const PLAIN_NAME = /^\w[\w.-]*(?:[/?]|$)/;
/** Maximum number of parent directories of the page that have their own resolver. */
const MAX_PARENT_LEVELS = 16;
/** Maximum length of a reference that the resolver of a parent directory resolves. */
const MAX_SHORT_REFERENCE = 1000;
/** A scheme, as in `mailto:a`. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
/** Maximum number of malformed links of one page that are reported. */
const MAX_MALFORMED = 100;

/**
 * Collects a page's links for enumeration (G-60) and resolves its references (E-99), each distinct one once.
 */
export class LinkCollector {
  readonly #ignoreRobots: boolean;
  readonly #links = new Map<string, 'L' | 'E'>();
  readonly #resolved = new Map<string, string | undefined>();
  readonly #canLinkToFiles: boolean;
  readonly #malformed = new Set<string>();
  readonly #maxLinks: number;
  /** The page's own URL in canonical form. */
  readonly own: string | undefined;
  #resolver: UrlResolver;
  /** Resolvers of the parent directories, by level. */
  readonly #parentResolvers: (UrlResolver | undefined)[] = [];
  #hasBase = false;
  noindex = false;
  nofollow = false;
  /** Number of links beyond the limit of one page (G-173). */
  dropped = 0;

  constructor(url: string, maxLinks: number, ignoreRobots = false) {
    this.#ignoreRobots = ignoreRobots;
    this.#resolver = new UrlResolver(url);
    this.#maxLinks = maxLinks;
    this.own = canonicalUrl(url);
    // A page from the network must not lead the Gatherer to local files.
    this.#canLinkToFiles = url.startsWith('file:');
  }

  /** All links in order of appearance; none if the page has nofollow (G-63). */
  get links(): readonly EssenceLink[] {
    return this.nofollow ? [] : Array.from(this.#links, ([url, hop]) => ({ url, hop }));
  }

  /** Links that are not URLs, as written. */
  get malformed(): readonly string[] {
    return [...this.#malformed];
  }

  /** Collects links and instructions to robots from a tag. */
  open(tag: string, attributes: TagAttributes): void {
    if (tag === 'a' || tag === 'area') this.#add(attributes.href, 'L');
    else if (tag === 'frame' || tag === 'iframe') this.#add(attributes.src, 'E');
    else if (tag === 'link') {
      const relations = attributes.rel?.toLowerCase().split(/\s+/) ?? [];
      if (relations.some((relation) => LINK_RELATIONS.has(relation))) this.#add(attributes.href, 'L');
    } else if (tag === 'base') this.#base(attributes.href);
    else if (tag === 'meta') this.#meta(attributes);
  }

  /**
   * Returns the absolute canonical form; undefined for other schemes and for a part of the page itself, written
   * as a bare fragment or with the page's URL before it.
   */
  resolve(reference: string): string | undefined {
    // The fragment is dropped: many references differ in it only.
    const hash = reference.indexOf('#');
    const document = hash < 0 ? reference : reference.slice(0, hash);
    if (document === '') return undefined;
    let url = this.#resolved.get(document);
    if (url === undefined && !this.#resolved.has(document)) {
      const trimmed = document.trim();
      url = trimmed === '' ? undefined : this.#resolveAny(trimmed);
      this.#resolved.set(document, url);
    }
    return hash >= 0 && url === this.own ? undefined : url;
  }

  /** Resolves `../a/b.html` as `a/b.html` of the parent directory, for which the resolver has a fast path. */
  #resolveAny(reference: string): string | undefined {
    let levels = 0;
    while (levels < MAX_PARENT_LEVELS && reference.startsWith('../', levels * 3)) levels++;
    const name = levels === 0 ? '' : reference.slice(levels * 3);
    // A name that looks like a scheme is resolved differently there, and a long reference may exceed the limit
    // only as written.
    if (!PLAIN_NAME.test(name) || name.length > MAX_SHORT_REFERENCE) return this.#resolver.resolve(reference);
    let parent = this.#parentResolvers[levels];
    if (parent === undefined) {
      const directory = this.#resolver.resolve('../'.repeat(levels));
      if (directory === undefined) return this.#resolver.resolve(reference);
      parent = new UrlResolver(directory);
      this.#parentResolvers[levels] = parent;
    }
    return parent.resolve(name);
  }

  #add(reference: string | undefined, hop: 'L' | 'E'): void {
    if (reference === undefined) return;
    const url = this.resolve(reference);
    if (url === undefined) {
      this.#noteMalformed(reference);
      return;
    }
    if (this.#links.has(url) || !isEnumerable(url)) return;
    if (url.startsWith('file:') && !this.#canLinkToFiles) return;
    if (this.#links.size >= this.#maxLinks) this.dropped++;
    else this.#links.set(url, hop);
  }

  /**
   * An empty reference, one of another scheme and a part of the page have no URL either, but are not malformed.
   */
  #noteMalformed(reference: string): void {
    if (this.#resolved.get(reference.replace(/#.*$/s, '')) !== undefined) return;
    const link = reference.replace(/#.*$/s, '').trim();
    if (link === '' || this.#malformed.size >= MAX_MALFORMED) return;
    if (SCHEME.test(link) && !isEnumerable(link.toLowerCase())) return;
    this.#malformed.add(link);
  }

  /** Uses the first BASE with a URL. */
  #base(reference: string | undefined): void {
    if (this.#hasBase || reference === undefined) return;
    const url = this.#resolver.resolve(reference.trim());
    if (url === undefined || !isEnumerable(url)) return;
    this.#hasBase = true;
    this.#resolver = new UrlResolver(url);
    this.#resolved.clear();
    this.#parentResolvers.length = 0;
  }

  #meta(attributes: TagAttributes): void {
    const { content } = attributes;
    if (content === undefined) return;
    if (attributes.name?.trim().toLowerCase() === 'robots') {
      if (this.#ignoreRobots) return;
      const robots = parseRobotsMeta(content);
      this.noindex ||= robots.noindex;
      this.nofollow ||= robots.nofollow;
    } else if (attributes['http-equiv']?.trim().toLowerCase() === 'refresh') {
      this.#add(refreshTarget(content), 'L');
    }
  }
}
