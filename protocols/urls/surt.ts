// SURTs and sets of SURT prefixes (CRAWL-15).
import { firstIndex } from '../binary-search.js';
import { cleanUri } from './clean-uri.js';

export interface SurtOptions {
  /** CRAWL-15.1: keep capitals; default false. */
  readonly preserveCase?: boolean;
}

const DOTTED_QUAD = /^(?:\d{1,3}\.){3}\d{1,3}$/;

/**
 * The SURT of a URI (CRAWL-15.1): `http://www.example.org:81/a` is `http://(org,example,www,:81)/a`, so the
 * URIs of a domain have a common prefix. A URI without an authority (`dns:`) is returned unchanged.
 */
export function surt(uri: string, options: SurtOptions = {}): string {
  const scheme = /^\w+:\/\//.exec(uri)?.[0];
  if (scheme === undefined || /[ \t\n\v\f\r]/.test(uri)) return uri;
  const rest = uri.slice(scheme.length);
  if (rest === '') return uri;
  // The user information ends with the first `@` and has no slash; a host must follow it.
  const user = /^([-\w.!~*'()%;:&=+$,]+)@./.exec(rest)?.[1];
  const server = user === undefined ? rest : rest.slice(user.length + 1);
  const slash = server.indexOf('/', 1);
  const authority = slash < 0 ? server : server.slice(0, slash);
  const path = slash < 0 ? '' : server.slice(slash);
  const port = /(?<=.):\d+$/.exec(authority)?.[0] ?? '';
  const host = authority.slice(0, authority.length - port.length);
  const form = `${scheme}(${reverseLabels(host)}${port}${user === undefined ? '' : `@${user}`})${path}`;
  return options.preserveCase === true ? form : form.toLowerCase();
}

function reverseLabels(host: string): string {
  if (DOTTED_QUAD.test(host)) return host;
  const labels = host.split('.');
  // A dot at the end stays with its label.
  if (labels.at(-1) === '' && labels.length > 1) labels.splice(-2, 2, `${labels.at(-2)}.`);
  return labels
    .reverse()
    .map((label) => `${label},`)
    .join('');
}

/**
 * The SURT prefix that a seed or a line of a list implies (CRAWL-15.2): `example.com` is `http://(com,example,`
 * and covers all subdomains; `http://example.com/a/b` is `http://(com,example,)/a/`.
 */
export function impliedSurtPrefix(text: string): string {
  const named = withScheme(text.trim());
  const slashed = named.endsWith('/');
  const url = asHttp(named);
  const clean = cleanUri(url) ?? url;
  const form = surt(!slashed && clean.endsWith('/') ? clean.slice(0, -1) : clean);
  const cut = form.replace(/^(.*\/\/.*\/)[^/]*/s, '$1');
  if (cut.endsWith('/')) return cut;
  // Without a path the bracket is removed, so that subdomains match.
  const bracket = cut.lastIndexOf(')');
  return bracket < 0 ? cut : cut.slice(0, bracket) + cut.slice(bracket + 1);
}

/** CRAWL-15.2: the default scheme is `http`; a dot before the first colon belongs to a host. */
function withScheme(text: string): string {
  const colon = text.indexOf(':');
  const dot = text.indexOf('.');
  return colon < 0 || (dot >= 0 && dot < colon) ? `http://${text}` : text;
}

function asHttp(uri: string): string {
  return uri.startsWith('https://') ? `http${uri.slice(5)}` : uri;
}

/** CRAWL-15.3: the form of a URI for look-ups in a prefix set: its SURT, with `https` as `http`. */
export function surtCandidate(uri: string): string {
  return surt(asHttp(uri));
}

/**
 * CRAWL-15.3: restricts a prefix to exactly one host: `http://(com,example,` becomes `http://(com,example,)`.
 */
export function surtPrefixOfHost(prefix: string): string {
  const bracket = prefix.indexOf(')');
  if (bracket >= 0) return prefix.slice(0, bracket + 1);
  return `${prefix}${prefix.endsWith(',') ? '' : ','})`;
}

/**
 * CRAWL-15.3: extends a prefix to the whole domain, without `www`: `http://(com,example,www,)/a/` becomes
 * `http://(com,example,`.
 */
export function surtPrefixOfDomain(prefix: string): string {
  const bracket = prefix.indexOf(')');
  const open = bracket < 0 ? prefix : prefix.slice(0, bracket);
  return open.endsWith('www,') ? open.slice(0, -'www,'.length) : open;
}

/**
 * A set of SURT prefixes (CRAWL-15.3): sorted, without entries that another one covers. A look-up is one binary
 * search.
 */
export class SurtPrefixSet {
  readonly #prefixes: string[] = [];

  /** @param prefixes formal SURT prefixes, with the parenthesis */
  constructor(prefixes: Iterable<string> = []) {
    for (const prefix of prefixes) this.add(prefix);
  }

  /**
   * CRAWL-15.2, 10.1.5: makes a set from the lines of a list: formal prefixes (with a `(`), or URIs or hosts
   * that imply one.
   */
  static fromLines(lines: Iterable<string>): SurtPrefixSet {
    const set = new SurtPrefixSet();
    for (const line of lines) {
      const text = line.trim();
      if (text === '' || text.startsWith('#')) continue;
      set.add(text.indexOf('(') > 0 ? text.toLowerCase() : impliedSurtPrefix(text));
    }
    return set;
  }

  get size(): number {
    return this.#prefixes.length;
  }

  /** In code unit order. */
  get prefixes(): readonly string[] {
    return this.#prefixes;
  }

  /** @returns false when the set already has a prefix of it, which makes it redundant */
  add(prefix: string): boolean {
    const index = this.#insertionIndex(prefix);
    if (index > 0 && prefix.startsWith(this.#prefixes[index - 1]!)) return false;
    let covered = 0;
    while (this.#prefixes[index + covered]?.startsWith(prefix) === true) covered++;
    this.#prefixes.splice(index, covered, prefix);
    return true;
  }

  /** The prefix that covers a URI; `undefined` when no prefix does. */
  find(uri: string): string | undefined {
    return this.findSurt(surtCandidate(uri));
  }

  /** The prefix that covers a SURT. */
  findSurt(text: string): string | undefined {
    const candidate = this.#prefixes[this.#insertionIndex(text) - 1];
    return candidate !== undefined && text.startsWith(candidate) ? candidate : undefined;
  }

  has(uri: string): boolean {
    return this.find(uri) !== undefined;
  }

  /** CRAWL-15.3: every prefix restricted to its host. */
  restrictToHosts(): SurtPrefixSet {
    return new SurtPrefixSet(this.#prefixes.map(surtPrefixOfHost));
  }

  /** CRAWL-15.3: every prefix extended to its domain. */
  extendToDomains(): SurtPrefixSet {
    return new SurtPrefixSet(this.#prefixes.map(surtPrefixOfDomain));
  }

  /** The number of entries that sort before `text` or are equal to it. */
  #insertionIndex(text: string): number {
    return firstIndex(0, this.#prefixes.length, (i) => this.#prefixes[i]! > text);
  }
}
