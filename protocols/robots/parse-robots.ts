// Parses robots.txt (CRAWL-13.1, RFC 9309).
import { PathPattern } from './pattern.js';
import { productName, type RobotsGroup, type RobotsRule, RobotsTxt } from './robots-txt.js';

/** CRAWL-13.1.7: characters of a robots.txt that are read; RFC 9309 requires at least 500 KiB. */
export const MAX_ROBOTS_LENGTH = 512_000;

export interface RobotsOptions {
  /** UTF-16 units; default {@link MAX_ROBOTS_LENGTH}. A longer text is cut after the last whole line. */
  readonly maxLength?: number;
}

/** The largest plausible `Crawl-delay`, seconds: a day. */
const MAX_CRAWL_DELAY = 86_400;

/**
 * Parses a robots.txt (CRAWL-13.1, RFC 9309). Every text is valid: unknown lines are skipped.
 * Lines end with LF, CR or CR LF; a byte-order mark and blanks before the colon are accepted (CRAWL-13.7).
 */
export function parseRobots(text: string, options: RobotsOptions = {}): RobotsTxt {
  const { body, truncated } = truncate(text.replace(/^\ufeff/, ''), options.maxLength ?? MAX_ROBOTS_LENGTH);
  const reader = new GroupReader();
  let lineNumber = 0;
  for (const line of body.split(/\r\n|\r|\n/)) {
    lineNumber += 1;
    reader.readLine(line, lineNumber);
  }
  return new RobotsTxt(reader.groups, truncated);
}

function truncate(text: string, maxLength: number): { body: string; truncated: boolean } {
  if (text.length <= maxLength) return { body: text, truncated: false };
  const end = Math.max(text.lastIndexOf('\n', maxLength), text.lastIndexOf('\r', maxLength));
  return { body: text.slice(0, Math.max(0, end)), truncated: true };
}

interface OpenGroup extends RobotsGroup {
  readonly agents: string[];
  readonly names: string[];
  readonly rules: RobotsRule[];
  crawlDelay: number | undefined;
}

class GroupReader {
  readonly groups: OpenGroup[] = [];
  /** CRAWL-13.1.3: consecutive User-agent lines are one group until the first rule. */
  #collectingAgents = false;

  readLine(line: string, lineNumber: number): void {
    const field = splitField(line);
    if (field === undefined) return;
    const { name, value } = field;
    if (name === 'user-agent') {
      this.#addAgent(value);
      return;
    }
    const group = this.groups.at(-1);
    // CRAWL-13.1.4: rules before the first agent are ignored.
    if (group === undefined) return;
    if (name === 'allow' || name === 'disallow') {
      this.#collectingAgents = false;
      // CRAWL-13.1.5: `Disallow:` without a path forbids nothing.
      if (value === '') return;
      group.rules.push({
        allow: name === 'allow',
        pattern: PathPattern.parse(value),
        text: line.trim(),
        lineNumber,
      });
    } else if (name === 'crawl-delay') {
      // CRAWL-13.1.6, CRAWL-21: a line without a number is ignored and does not close the list of agents.
      const seconds = Number(/^[\d.]+/.exec(value)?.[0] ?? Number.NaN);
      if (Number.isNaN(seconds)) return;
      this.#collectingAgents = false;
      if (seconds <= MAX_CRAWL_DELAY) group.crawlDelay = Math.max(seconds, group.crawlDelay ?? 0);
    }
    // CRAWL-13.1.2: any other line (Sitemap, Host ...) is ignored and does not close the list of agents.
  }

  #addAgent(value: string): void {
    let group = this.groups.at(-1);
    if (group === undefined || !this.#collectingAgents) {
      group = { agents: [], names: [], rules: [], crawlDelay: undefined };
      this.groups.push(group);
      this.#collectingAgents = true;
    }
    const name = value.toLowerCase();
    const [word = ''] = name.split(/\s/, 1);
    // A line without a name begins a group too, so that its rules do not belong to the previous group.
    group.agents.push(word === '*' ? '*' : productName(word));
    group.names.push(word === '*' ? '*' : name);
  }
}

/** CRAWL-13.1.1: removes comments and HTML tags; the rest is `name : value`. */
function splitField(line: string): { name: string; value: string } | undefined {
  const hash = line.indexOf('#');
  const withoutComment = hash < 0 ? line : line.slice(0, hash);
  const text = withoutComment.includes('<') ? withoutComment.replace(/<[^<>]*>/g, '') : withoutComment;
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { name: text.slice(0, colon).trim().toLowerCase(), value: text.slice(colon + 1).trim() };
}
