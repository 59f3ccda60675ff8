import type { UnixSeconds } from '../time.js';
import type { RobotsMeta } from './robots-meta.js';
import { productName, productTokens } from './robots-txt.js';

/** What `X-Robots-Tag` headers or META elements say to one agent. */
export interface RobotsTag extends RobotsMeta {
  readonly noarchive: boolean;
  /** From then on the page is as if `noindex`. */
  readonly unavailableAfter: UnixSeconds | undefined;
}

/** Directives with a value after a colon; other words before a colon are agents' names. */
const VALUED = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

/**
 * Reads the `X-Robots-Tag` headers of an answer: directives for everybody, or after `NAME:` for one agent. Words in any
 * case, separated by commas; the unknown are skipped; of contradicting ones the stricter holds.
 *
 * @param values the header fields in their order, each as one value (a joined one works as well)
 * @param userAgent the User-Agent that we send, or product names
 */
export function parseXRobotsTag(values: Iterable<string>, userAgent: string): RobotsTag {
  const tokens = productTokens(userAgent);
  const words = new Set<string>();
  let unavailableAfter: UnixSeconds | undefined;
  for (const value of values) {
    let meant = true;
    for (const part of value.split(/,(?!\s*\d)/)) {
      let [name, rest] = cutAtColon(part);
      if (rest !== undefined && !VALUED.has(name)) {
        // An agent's name: it holds for what follows, up to the next one.
        meant = name === '*' || name === 'robots' || tokens.includes(productName(name));
        [name, rest] = cutAtColon(rest);
      }
      if (!meant) continue;
      words.add(name);
      if (name === 'unavailable_after') unavailableAfter = earlier(unavailableAfter, rest ?? '');
    }
  }
  const none = words.has('none');
  return {
    noindex: none || words.has('noindex'),
    nofollow: none || words.has('nofollow'),
    noarchive: words.has('noarchive'),
    unavailableAfter,
  };
}

/** Does a META element of this name speak to the agent? `robots`, or one of its products. */
export function isRobotsMetaName(name: string, userAgent: string): boolean {
  const lower = name.trim().toLowerCase();
  return lower === 'robots' || productTokens(userAgent).includes(lower);
}

/** The word before the first colon in lower case, and what is after it. */
function cutAtColon(text: string): [word: string, rest: string | undefined] {
  const colon = text.indexOf(':');
  if (colon < 0) return [text.trim().toLowerCase(), undefined];
  return [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1)];
}

function earlier(known: UnixSeconds | undefined, text: string): UnixSeconds | undefined {
  const milliseconds = Date.parse(text.trim());
  if (Number.isNaN(milliseconds)) return known;
  const time = Math.floor(milliseconds / 1000);
  return known === undefined ? time : Math.min(known, time);
}
