// Parses robots.txt (CRAWL-13.1, RFC 9309).
import { octetsOf, textOfLine, trimLine } from './octets.js';
import { PathPattern } from './pattern.js';
import { type RobotsGroup, type RobotsRule, RobotsTxt, standardName } from './robots-txt.js';

/** CRAWL-13.1.7: octets of a robots.txt that are read; RFC 9309 requires at least 500 KiB. */
export const MAX_ROBOTS_LENGTH = 512_000;

export interface RobotsOptions {
  /** Octets; default {@link MAX_ROBOTS_LENGTH}. A longer file is cut after the last whole line. */
  readonly maxLength?: number;
}

/** The largest plausible `Crawl-delay`, seconds: a day. */
const MAX_CRAWL_DELAY = 86_400;

/**
 * Parses a robots.txt (CRAWL-13.1, RFC 9309). Every file is valid: unknown lines are skipped.
 * Lines end with LF, CR or CR LF; a byte-order mark and blanks before the colon are accepted (CRAWL-13.7).
 * @param file the octets, in whatever encoding: paths are compared by octets (RFC 9309 2.2.2); a text is UTF-8
 */
export function parseRobots(file: Uint8Array | string, options: RobotsOptions = {}): RobotsTxt {
  const { body, truncated } = truncate(octetsOf(file), options.maxLength ?? MAX_ROBOTS_LENGTH);
  const lines = body.split(/\r\n|\r|\n/);
  const strict = readGroups(lines, false);
  // Nearly every file reads the same both ways, and a crawl holds many files.
  const standard = strict.differsFromStandard ? readGroups(lines, true).groups : strict.groups;
  return new RobotsTxt(strict.groups, truncated, standard);
}

function readGroups(lines: readonly string[], standard: boolean): GroupReader {
  const reader = new GroupReader(standard);
  for (const [index, line] of lines.entries()) reader.readLine(line, index + 1);
  return reader;
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

/** Reads the groups of a file as Heritrix does, or as the policy rfc9309 does (CRAWL-13.1.6). */
class GroupReader {
  readonly groups: OpenGroup[] = [];
  readonly #standard: boolean;
  /** CRAWL-13.1.3: consecutive User-agent lines are one group until the first rule. */
  #collectingAgents = false;
  /** Whether a reader of the other kind may find other groups. */
  differsFromStandard = false;

  constructor(standard: boolean) {
    this.#standard = standard;
  }

  readLine(line: string, lineNumber: number): void {
    const field = this.#splitField(line);
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
        text: textOfLine(line),
        lineNumber,
      });
    } else if (name === 'crawl-delay') {
      // CRAWL-13.1.6, CRAWL-21: a line without a number is ignored and does not close the list of agents.
      const seconds = Number(/^[\d.]+/.exec(value)?.[0] ?? Number.NaN);
      if (Number.isNaN(seconds)) return;
      // RFC 9309 2.2.4: records other than rules do not end a list of agents.
      if (!this.#standard && this.#collectingAgents) {
        this.#collectingAgents = false;
        this.differsFromStandard = true;
      }
      if (seconds <= MAX_CRAWL_DELAY) group.crawlDelay = Math.max(seconds, group.crawlDelay ?? 0);
    }
    // CRAWL-13.1.2: any other line (Sitemap, Host ...) is ignored and does not close the list of agents.
  }

  #addAgent(value: string): void {
    let group = this.#collectingAgents ? this.groups.at(-1) : undefined;
    if (group === undefined || group.crawlDelay !== undefined) {
      // A delay that does not end a list of agents is for those before it; the rules after the list are for all.
      group = { agents: [], names: [], rules: group?.rules ?? [], crawlDelay: undefined };
      this.groups.push(group);
      this.#collectingAgents = true;
    }
    const name = textOfLine(value).toLowerCase();
    const [word = ''] = name.split(/\s/, 1);
    // A line without a name begins a group too, so that its rules do not belong to the previous group.
    group.agents.push(word === '*' ? '*' : standardName(word));
    group.names.push(word === '*' ? '*' : name);
  }

  /** CRAWL-13.1.1: removes HTML tags; RFC 9309 has none, so that within a path a tag is a part of it. */
  #withoutTags(line: string): string {
    if (!line.includes('<')) return line;
    const tags = /<[^<>]*>/g;
    const outer = /^(?:[\t ]*<[^<>]*>)+|(?:<[^<>]*>[\t ]*)+$/g;
    const without = line.replace(outer, '');
    if (/<[^<>]*>/.test(without)) this.differsFromStandard = true;
    return this.#standard ? without : line.replace(tags, '');
  }

  /** CRAWL-13.1.1: removes comments and HTML tags; the rest is `name : value`. */
  #splitField(line: string): Field | undefined {
    const hash = line.indexOf('#');
    const withoutComment = hash < 0 ? line : line.slice(0, hash);
    const text = this.#withoutTags(withoutComment);
    const colon = text.indexOf(':');
    const field = colon < 0 ? fieldWithoutColon(text) : fieldOf(text.slice(0, colon), text.slice(colon + 1));
    if (field === undefined) return undefined;
    const usual = USUAL_SPELLING.get(field.name);
    if (colon >= 0 && usual === undefined) return field;
    // CRAWL-13.1.6: only the policy rfc9309 reads such a line.
    this.differsFromStandard = true;
    return this.#standard ? { ...field, name: usual ?? field.name } : undefined;
  }
}

interface Field {
  /** In lower case, ASCII. */
  readonly name: string;
  readonly value: string;
}

function fieldOf(name: string, value: string): Field {
  return { name: trimLine(name).toLowerCase(), value: trimLine(value) };
}

/** A directive whose colon is missing: two words. */
function fieldWithoutColon(text: string): Field | undefined {
  const [name = '', value = '', ...more] = trimLine(text).split(/[\t\v\f ]+/);
  const field = fieldOf(name, value);
  const isDirective = DIRECTIVES.has(field.name) || USUAL_SPELLING.has(field.name);
  return isDirective && value !== '' && more.length === 0 ? field : undefined;
}

const DIRECTIVES: ReadonlySet<string> = new Set(['user-agent', 'allow', 'disallow']);

/** CRAWL-13.1.6: the names that are written wrongly most often, by the wrong spelling. */
const USUAL_SPELLING: ReadonlyMap<string, string> = new Map([
  ['useragent', 'user-agent'],
  ['user agent', 'user-agent'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
]);
