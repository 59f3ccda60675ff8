/** What a page says to robots about itself (G-62, G-63). */
export interface RobotsMeta {
  /** The page is not to be summarized; its links may still be followed. */
  readonly noindex: boolean;
  /** The page's links are not to be followed. */
  readonly nofollow: boolean;
}

/**
 * Reads the CONTENT of `<META NAME="ROBOTS">`, or an `X-Robots-Tag` header without an agent.
 * Words are separated by commas or blanks, in any case; of contradicting words the stricter holds.
 */
export function parseRobotsMeta(content: string): RobotsMeta {
  const words = new Set(content.toLowerCase().split(/[\s,;]+/));
  const none = words.has('none');
  return { noindex: none || words.has('noindex'), nofollow: none || words.has('nofollow') };
}
