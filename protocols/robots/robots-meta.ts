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
  const words = new Set(content.toLowerCase().split(/[\s,;]+/));
  const none = words.has('none');
  return { noindex: none || words.has('noindex'), nofollow: none || words.has('nofollow') };
}
