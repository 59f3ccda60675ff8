import { parseRobotsMeta } from '../../../../protocols/robots/index.js';
import { UrlResolver } from '../../../../protocols/urls/index.js';
import type { EssenceLink } from '../context.js';

/** G-60: what can be enumerated. The rest (javascript:, mailto:, data:, ...) is not a place to go. */
const ENUMERABLE = /^(?:https?|ftp|gopher|file|news|nntp):/;

/** Relations of LINK that lead to a page. */
const LINK_RELATIONS = new Set(['next', 'prev', 'alternate']);

type TagAttributes = Readonly<Record<string, string>>;

/** Collects a page's links for enumeration (G-60) and resolves its references (E-99), each distinct one once. */
export class LinkCollector {
  readonly #links = new Map<string, 'L' | 'E'>();
  readonly #resolved = new Map<string, string | undefined>();
  readonly #mayNameFiles: boolean;
  readonly #maxLinks: number;
  #resolver: UrlResolver;
  #based = false;
  noindex = false;
  nofollow = false;
  /** Links left out because the page has too many (G-173). */
  dropped = 0;

  constructor(url: string, maxLinks: number) {
    this.#resolver = new UrlResolver(url);
    this.#maxLinks = maxLinks;
    // A page from the network must not send the Gatherer to the files of the machine it runs on.
    this.#mayNameFiles = url.startsWith('file:');
  }

  /** Every link found, in order of appearance; none when the page says nofollow (G-63). */
  get links(): readonly EssenceLink[] {
    return this.nofollow ? [] : Array.from(this.#links, ([url, hop]) => ({ url, hop }));
  }

  /** Looks at a tag for links and instructions to robots. */
  open(tag: string, attributes: TagAttributes): void {
    switch (tag) {
      case 'a':
      case 'area':
        this.#add(attributes.href, 'L');
        break;
      case 'frame':
      case 'iframe':
        this.#add(attributes.src, 'E');
        break;
      case 'link':
        if (
          attributes.rel
            ?.toLowerCase()
            .split(/\s+/)
            .some((relation) => LINK_RELATIONS.has(relation)) === true
        ) {
          this.#add(attributes.href, 'L');
        }
        break;
      case 'base':
        this.#base(attributes.href);
        break;
      case 'meta':
        this.#meta(attributes);
        break;
    }
  }

  /** Absolute canonical form; undefined for what is no URL of ours and for a bare fragment, which names this very page. */
  resolve(reference: string): string | undefined {
    if (reference.charCodeAt(0) === 0x23) return undefined;
    let url = this.#resolved.get(reference);
    if (url === undefined && !this.#resolved.has(reference)) {
      const trimmed = reference.trim();
      url = trimmed === '' || trimmed.startsWith('#') ? undefined : this.#resolver.resolve(trimmed);
      this.#resolved.set(reference, url);
    }
    return url;
  }

  #add(reference: string | undefined, hop: 'L' | 'E'): void {
    if (reference === undefined) return;
    const url = this.resolve(reference);
    if (url === undefined || this.#links.has(url) || !ENUMERABLE.test(url)) return;
    if (url.startsWith('file:') && !this.#mayNameFiles) return;
    if (this.#links.size >= this.#maxLinks) this.dropped++;
    else this.#links.set(url, hop);
  }

  /** The first BASE counts. */
  #base(reference: string | undefined): void {
    if (this.#based || reference === undefined) return;
    const url = this.#resolver.resolve(reference.trim());
    if (url === undefined || !ENUMERABLE.test(url)) return;
    this.#based = true;
    this.#resolver = new UrlResolver(url);
    this.#resolved.clear();
  }

  #meta(attributes: TagAttributes): void {
    const { content } = attributes;
    if (content === undefined) return;
    if (attributes.name?.trim().toLowerCase() === 'robots') {
      const robots = parseRobotsMeta(content);
      this.noindex ||= robots.noindex;
      this.nofollow ||= robots.nofollow;
    } else if (attributes['http-equiv']?.trim().toLowerCase() === 'refresh') {
      const found = /^[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.+)$/is.exec(content.slice(0, 4096));
      const target = found?.[1] ? found[2]!.split(found[1])[0] : found?.[2];
      this.#add(target, 'L');
    }
  }
}
