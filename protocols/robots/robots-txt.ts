// The rules of one robots.txt, and decisions about paths.
import { LRUCache } from 'lru-cache';
import { normalizePath, type PathPattern } from './pattern.js';

/** One `Allow` or `Disallow` line. */
export interface RobotsRule {
  readonly allow: boolean;
  readonly pattern: PathPattern;
  /** The line of the file, trimmed. */
  readonly text: string;
  /** 1-based. */
  readonly lineNumber: number;
}

/** The rules for some agents (the lines between two `User-agent` blocks). */
export interface RobotsGroup {
  /** CRAWL-13.1.6: product tokens of RFC 9309 in lower case; `*` means all agents. */
  readonly agents: readonly string[];
  /** CRAWL-13.1.4: the names in the file, in lower case. */
  readonly names: readonly string[];
  readonly rules: readonly RobotsRule[];
  /** Seconds. */
  readonly crawlDelay: number | undefined;
}

export interface RobotsDecision {
  readonly allowed: boolean;
  /** The line that decided and its number; absent when no line did. */
  readonly line?: string;
  readonly lineNumber?: number;
}

/** The rules of one robots.txt (CRAWL-13, RFC 9309). */
export class RobotsTxt {
  /** G-63: the rules when the file does not exist (4xx). */
  static readonly ALLOW_ALL = new RobotsTxt([], false);

  readonly #groups: readonly RobotsGroup[];
  /** CRAWL-13.1.6: the groups as the policy rfc9309 reads them. */
  readonly #standardGroups: readonly RobotsGroup[];
  /** Absent until it is used: a crawl holds many files. */
  #views: LRUCache<string, AgentView> | undefined;
  #names: readonly string[] | undefined;

  constructor(
    groups: readonly RobotsGroup[],
    /** Whether the file was longer than the limit, so that its end was not read. */
    readonly truncated: boolean,
    standardGroups = groups,
  ) {
    this.#groups = groups;
    this.#standardGroups = standardGroups;
  }

  /**
   * Whether an agent may fetch a path. The longest matching line decides, `Allow` on a tie; without a match it
   * is allowed (CRAWL-13.2.9). `/robots.txt` itself is always allowed.
   *
   * @param userAgent the User-Agent header, or product names separated by blanks
   * @param path path and query in escaped form
   */
  allowed(userAgent: string, path: string): RobotsDecision {
    return decide(this.#viewOf(userAgent), path);
  }

  /** The longest `Crawl-delay` of the groups for this agent, in seconds. It may only raise a delay (G-63). */
  crawlDelay(userAgent: string): number | undefined {
    return this.#viewOf(userAgent).crawlDelay;
  }

  /** CRAWL-13.2.10: the names in file order, each once, including `*`. */
  get names(): readonly string[] {
    this.#names ??= [...new Set(this.#groups.flatMap((group) => group.names))].filter((name) => name !== '');
    return this.#names;
  }

  /** The decision of all groups with one of the {@link names} together (CRAWL-13.1.7). */
  allowedByName(name: string, path: string): RobotsDecision {
    return decide(this.#viewOfName(name), path);
  }

  /** The `Crawl-delay` of the groups with one of the {@link names}, in seconds. */
  crawlDelayByName(name: string): number | undefined {
    return this.#viewOfName(name).crawlDelay;
  }

  #viewOf(userAgent: string): AgentView {
    return this.#cached(`agent ${userAgent}`, () =>
      chosenGroups(this.#standardGroups, productTokens(userAgent)),
    );
  }

  #viewOfName(name: string): AgentView {
    return this.#cached(`name ${name}`, () => this.#groups.filter((group) => group.names.includes(name)));
  }

  #cached(key: string, choose: () => readonly RobotsGroup[]): AgentView {
    let view = this.#views?.get(key);
    if (view === undefined) {
      view = viewOf(choose());
      this.#views ??= new LRUCache({ max: MAX_VIEWS });
      this.#views.set(key, view);
    }
    return view;
  }
}

/** CRAWL-13.2.8, 13.2.9; RFC 9309 2.2.2: robots.txt itself may always be fetched. */
function decide(view: AgentView, path: string): RobotsDecision {
  if (path === '/robots.txt') return { allowed: true };
  const normalized = normalizePath(path === '' ? '/' : path);
  const rule = view.rules.find((candidate) => candidate.pattern.matches(normalized));
  if (rule === undefined) return { allowed: true };
  return { allowed: rule.allow, line: rule.text, lineNumber: rule.lineNumber };
}

/** The merged groups of one agent: the rules in descending priority. */
interface AgentView {
  readonly rules: readonly RobotsRule[];
  readonly crawlDelay: number | undefined;
}

const MAX_VIEWS = 16;

/**
 * G-63, RFC 9309 2.2.1: all groups that name one of the agent's products apply together; without such a group,
 * those for `*`.
 */
function chosenGroups(groups: readonly RobotsGroup[], tokens: readonly string[]): readonly RobotsGroup[] {
  const names = new Set(tokens.map(standardName));
  names.delete('');
  const named = groups.filter((group) => group.agents.some((agent) => names.has(agent)));
  return named.length > 0 ? named : groups.filter((group) => group.agents.includes('*'));
}

function viewOf(chosen: readonly RobotsGroup[]): AgentView {
  const rules = chosen
    .flatMap((group) => group.rules)
    .sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow));
  const delays = chosen.map((group) => group.crawlDelay).filter((delay) => delay !== undefined);
  return { rules, crawlDelay: delays.length === 0 ? undefined : Math.max(...delays) };
}

/**
 * The products of a User-Agent: `Harvest/1.8 harvest-kit/0.1 (+http://...)` has `harvest` and `harvest-kit`. Of
 * a comment, as in `Mozilla/5.0 (compatible; MyBot/2.0)`, only names with a version are products.
 */
export function productTokens(userAgent: string): string[] {
  const text = userAgent.toLowerCase().slice(0, MAX_AGENT_LENGTH);
  const comments: string[] = [];
  const withoutComments = text.replace(/\([^()]*\)?/g, (comment) => {
    comments.push(comment);
    return ' ';
  });
  const products = withoutComments
    .split(/\s+/)
    .map(productName)
    .filter((token) => token !== '' && token !== '*');
  const named = comments.flatMap((comment) =>
    [...comment.matchAll(/(?<=[\s(;,])[a-z_][\w-]*(?=\/\d)/g)].map(([name]) => name),
  );
  return [...products, ...named];
}

/** Characters of a User-Agent in which products are searched. */
const MAX_AGENT_LENGTH = 4096;

/** The product name without its version. */
export function productName(word: string): string {
  const slash = word.indexOf('/');
  return slash < 0 ? word : word.slice(0, slash);
}

/** CRAWL-13.1.6: the product token at the beginning of a name; it has letters, `_` and `-` only. */
export function standardName(word: string): string {
  return /^[a-z_-]*/i.exec(word)![0];
}
