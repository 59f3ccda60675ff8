// Parses `X-Robots-Tag` headers and `<META NAME="ROBOTS">`.
import type { UnixSeconds } from '../time.js';
import { productName, productTokens } from './robots-txt.js';

/** The directives of `X-Robots-Tag` headers or META elements for one agent. */
export interface RobotsTag extends RobotsMeta {
  readonly noarchive: boolean;
  /** From this time on, the page counts as `noindex`. */
  readonly unavailableAfter: UnixSeconds | undefined;
}

/** Directives with a value after a colon; other words before a colon are agents' names. */
const DIRECTIVES_WITH_VALUE = new Set([
  'unavailable_after',
  'max-snippet',
  'max-image-preview',
  'max-video-preview',
]);

/**
 * Parses the `X-Robots-Tag` headers of a response: directives for all agents, or after `NAME:` for one agent.
 * Words are in any case, separated by commas. Unknown words are skipped; of contradictory ones the stricter one
 * applies.
 *
 * @param values the header fields in order, each as one value (a joined value works as well)
 * @param userAgent the User-Agent of the crawler, or product names
 */
export function parseXRobotsTag(values: Iterable<string>, userAgent: string): RobotsTag {
  const tokens = productTokens(userAgent);
  const words = new Set<string>();
  let unavailableAfter: UnixSeconds | undefined;
  for (const value of values) {
    let applies = true;
    for (const part of value.split(/,(?!\s*\d)/)) {
      let [name, rest] = cutAtColon(part);
      if (rest !== undefined && !DIRECTIVES_WITH_VALUE.has(name)) {
        // An agent's name applies to the directives after it, up to the next name.
        applies = name === '*' || name === 'robots' || tokens.includes(productName(name));
        [name, rest] = cutAtColon(rest);
      }
      if (!applies) continue;
      words.add(name);
      if (name === 'unavailable_after') unavailableAfter = earlierTime(unavailableAfter, rest ?? '');
    }
  }
  return { ...metaOf(words), noarchive: words.has('noarchive'), unavailableAfter };
}

/** Whether a META element of this name applies to the agent: `robots`, or one of its products. */
export function isRobotsMetaName(name: string, userAgent: string): boolean {
  const lower = name.trim().toLowerCase();
  return lower === 'robots' || productTokens(userAgent).includes(lower);
}

/** Splits at the first colon: the word before it in lower case, and the rest. */
function cutAtColon(text: string): [word: string, rest: string | undefined] {
  const colon = text.indexOf(':');
  if (colon < 0) return [text.trim().toLowerCase(), undefined];
  return [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1)];
}

function earlierTime(known: UnixSeconds | undefined, text: string): UnixSeconds | undefined {
  const milliseconds = Date.parse(text.trim());
  if (Number.isNaN(milliseconds)) return known;
  const time = Math.floor(milliseconds / 1000);
  return known === undefined ? time : Math.min(known, time);
}

/** The directives of a page for robots (G-62, G-63). */
export interface RobotsMeta {
  /** The page must not be summarized; its links may still be followed. */
  readonly noindex: boolean;
  /** The links of the page must not be followed. */
  readonly nofollow: boolean;
}

/**
 * Parses the CONTENT of `<META NAME="ROBOTS">`, or an `X-Robots-Tag` header without an agent. Words are
 * separated by commas or blanks, in any case; of contradictory words the stricter one applies.
 */
export function parseRobotsMeta(content: string): RobotsMeta {
  return metaOf(new Set(content.toLowerCase().split(/[\s,;]+/)));
}

function metaOf(words: ReadonlySet<string>): RobotsMeta {
  const none = words.has('none');
  return { noindex: none || words.has('noindex'), nofollow: none || words.has('nofollow') };
}
