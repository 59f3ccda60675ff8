import { RE2JS } from 're2js';
import { hostOf, type SurtPrefixSet, shownHops } from '../../../protocols/urls/index.js';
import { compileRe2 } from '../patterns.js';
import type { DecideSubject } from './decision.js';

/** Tests whether a rule applies to a URI. */
export type Predicate = (subject: DecideSubject) => boolean;

/** CRAWL-10.2.2, 3: more than `max` hops from the seed. */
export function hopsAbove(max: number, count: (hops: string) => number): Predicate {
  return ({ hops }) => count(hops) > max;
}

/**
 * CRAWL-10.2.3: there are hops after the last `L`, `M` or `S`, at most `maxTrans` of them other than `R`, and
 * at most `maxSpeculative` are `X`.
 */
export function isTransclusion(maxTrans: number, maxSpeculative: number): Predicate {
  return ({ hops }) => {
    const letters = /[^LMS]*$/.exec(shownHops(hops).letters)?.[0] ?? '';
    return (
      letters !== '' && countWithout(letters, 'R') <= maxTrans && countOf(letters, 'X') <= maxSpeculative
    );
  };
}

/**
 * CRAWL-10.1.2: transitive as in the classic scopes: 1 to `maxTrans` hops after the last `L`, at most one of
 * them `X`. A final `P` counts as one hop.
 */
export function isTransitive(maxTrans: number): Predicate {
  return ({ hops }) => {
    const { letters } = shownHops(hops);
    if (letters.endsWith('P')) return maxTrans >= 1;
    const trans = letters.slice(letters.lastIndexOf('L') + 1);
    return trans.length >= 1 && trans.length <= maxTrans && countOf(trans, 'X') <= 1;
  };
}

/**
 * CRAWL-10.1.3: in the focus of a classic scope: a host that is a seed's or below it, `www` and digits being cut
 * from both; a seed's host; or a path of a seed's host that begins as the seed's up to, not including, its last
 * slash.
 * @param seeds cleaned URIs
 */
export function isInFocus(on: 'domains' | 'hosts' | 'paths', seeds: readonly string[]): Predicate {
  if (on === 'domains') {
    const domains = new Set(seeds.map((seed) => withoutWww(hostOf(seed))));
    return ({ uri }) => domainsOf(withoutWww(hostOf(uri))).some((domain) => domains.has(domain));
  }
  const directories = new Map<string, string[]>();
  for (const seed of seeds) {
    const directory = on === 'hosts' ? '' : directoryOf(pathOf(seed));
    const known = directories.get(hostOf(seed));
    if (known === undefined) directories.set(hostOf(seed), [directory]);
    else known.push(directory);
  }
  // A URI without a host is in no focus.
  directories.delete('');
  return ({ uri }) => {
    const path = pathOf(uri);
    return directories.get(hostOf(uri))?.some((directory) => path.startsWith(directory)) === true;
  };
}

/** CRAWL-10.1.3: removes `www`, digits and a dot from the start of the host. */
function withoutWww(host: string): string {
  return host.toLowerCase().replace(/^www\d*\./, '');
}

/** Returns the host and all domains above it. */
function domainsOf(host: string): string[] {
  if (host === '') return [];
  const labels = host.split('.');
  return labels.map((_, from) => labels.slice(from).join('.'));
}

/** Returns the path up to, not including, its last slash (CRAWL-10.1.3). */
function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function countOf(letters: string, letter: string): number {
  return letters.split(letter).length - 1;
}

function countWithout(letters: string, letter: string): number {
  return letters.length - countOf(letters, letter);
}

/** CRAWL-10.2.2, 9: the last hop is a prerequisite. */
export function isPrerequisite({ hops }: DecideSubject): boolean {
  return hops.endsWith('P');
}

/**
 * CRAWL-10.2.2, 7: a path segment, or a group of them, is followed by `max` or more copies of itself. The time
 * is quadratic in the number of segments.
 */
export function isPathological(max: number): Predicate {
  return ({ uri }) => {
    const numbers = new Map<string, number>();
    const segments = uri
      .split('/')
      .slice(1, -1)
      .map((segment) => {
        const number = numbers.get(segment) ?? numbers.size;
        numbers.set(segment, number);
        return number;
      });
    for (let group = 1; group * (max + 1) <= segments.length; group++) {
      let equal = 0;
      for (let i = group; i < segments.length; i++) {
        equal = segments[i] === segments[i - group] ? equal + 1 : 0;
        if (equal >= group * max) return true;
      }
    }
    return false;
  };
}

/** CRAWL-10.2.2, 8: more than `max` slashes in the path. */
export function pathSlashesAbove(max: number): Predicate {
  return ({ uri }) => pathOf(uri).split('/').length - 1 > max;
}

/** CRAWL-10.2.2, 10: the scheme is not in the list. */
export function schemeNotIn(schemes: readonly string[]): Predicate {
  const known = new Set(schemes.map((scheme) => scheme.toLowerCase()));
  return ({ uri }) => !known.has(uri.slice(0, Math.max(0, uri.indexOf(':'))));
}

/** CRAWL-15.3: under one of the prefixes. */
export function isUnder(prefixes: SurtPrefixSet): Predicate {
  return ({ uri }) => prefixes.has(uri);
}

/** CRAWL-10.2.4 scope-plus-one: found on a page that is under one of the prefixes. */
export function viaIsUnder(prefixes: SurtPrefixSet): Predicate {
  return ({ via }) => via !== undefined && prefixes.has(via);
}

/** CRAWL-10.2.4: a redirect of the root of a server, as from `example.org/` to `www.example.org/`. */
export function isRedirectFromRoot({ hops, via }: DecideSubject): boolean {
  return hops.endsWith('R') && via !== undefined && /^[a-z]+:\/\/[^/?]*\/?$/i.test(via);
}

/** A pattern that must match the whole text, as in the original, in linear time. */
export class WholePattern {
  readonly #compiled: RE2JS;

  /** @throws UsageError when it is not a regular expression */
  constructor(source: string) {
    this.#compiled = compileRe2(source, RE2JS.DOTALL);
  }

  matches(text: string): boolean {
    return this.#compiled.matches(text);
  }
}

/** The fields of a subject that patterns can test. */
export type TextField =
  | 'uri'
  | 'via'
  | 'hops'
  | 'classKey'
  | 'contentType'
  | 'status'
  | 'response'
  | 'sourceTag';

/**
 * CRAWL-10.2.4: a field matches any (`OR`) or all (`AND`) of the patterns. An absent field does not match.
 */
export function textMatches(
  field: TextField,
  patterns: readonly WholePattern[],
  logic: 'OR' | 'AND' = 'OR',
): Predicate {
  return (subject) => {
    const value = subject[field];
    if (value === undefined || patterns.length === 0) return false;
    const text = String(value);
    return logic === 'OR'
      ? patterns.some((pattern) => pattern.matches(text))
      : patterns.every((pattern) => pattern.matches(text));
  };
}

/** Returns the path of a URI, without its query. */
function pathOf(uri: string): string {
  return /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?]*)?([^?]*)/i.exec(uri)?.[1] ?? '';
}

/** CRAWL-10.2.4: suffixes of file names by preset: those of the original and newer ones. */
const FILE_PRESETS = {
  images: 'bmp gif jpg jpeg png tif tiff webp svg avif ico',
  audio: 'mid mp2 mp3 mp4 wav ogg flac m4a aac',
  video: 'avi mov mpeg ram rm smil wmv mpg webm m4v mkv ogv',
  documents: 'doc pdf ppt swf docx pptx xls xlsx odt ods odp rtf ps',
} as const;

export type FilePreset = keyof typeof FILE_PRESETS | 'all';

/** CRAWL-10.1.4, 10.2.4: the URI ends with a suffix of the preset, ignoring case. */
export function hasFileSuffix(preset: FilePreset): Predicate {
  const lists = preset === 'all' ? Object.values(FILE_PRESETS) : [FILE_PRESETS[preset]];
  const suffixes = new Set(lists.flatMap((list) => list.split(' ')));
  return ({ uri }) => {
    const dot = uri.lastIndexOf('.');
    return dot >= 0 && suffixes.has(uri.slice(dot + 1).toLowerCase());
  };
}
