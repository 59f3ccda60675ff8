import { UsageError } from '../errors.js';
import { type RobotsDecision, RobotsTxt } from './robots-txt.js';

/**
 * CRAWL-13.4: the five ways to honor a robots.txt, those of the 3.x line (CRAWL-13.6), and RFC 9309
 * (CRAWL-13.9).
 * - `classic`: the first group, in file order, whose name is part of the User-Agent; else `*`
 * - `ignore`: everything is allowed
 * - `custom`: the operator's text in place of the site's
 * - `most-favored`: allowed if any agent that the file names is
 * - `most-favored-set`: allowed if any agent of the operator's set is
 * - `robots-txt-only`: as `classic`; directives of pages (META) have no effect
 * - `first-named`: the first of the User-Agent and the operator's set that the file names; else `*`
 * - `rfc9309`: all groups that name one of the products of the User-Agent; else `*`
 */
export const ROBOTS_POLICIES = [
  'classic',
  'ignore',
  'custom',
  'most-favored',
  'most-favored-set',
  'robots-txt-only',
  'first-named',
  'rfc9309',
] as const;

export type RobotsPolicyName = (typeof ROBOTS_POLICIES)[number];

export interface RobotsPolicyOptions {
  readonly policy: RobotsPolicyName;
  /** The User-Agent header of the crawler. */
  readonly userAgent: string;
  /**
   * G-63: further names by which a file may address the crawler, e.g. `harvest`; product names, separated by
   * blanks. Default none.
   */
  readonly alsoKnownAs?: string;
  /** `custom`: the rules used instead of the site's file. */
  readonly customRobots?: RobotsTxt | undefined;
  /** `most-favored-set`, `first-named`: the agents of the set. */
  readonly userAgents?: readonly string[];
  /**
   * CRAWL-13.5: with the two most-favored policies and `first-named`, fetch as the agent that is allowed.
   * Default false.
   */
  readonly masquerade?: boolean;
}

/** The decision of a policy about one path. */
export interface PolicyDecision extends RobotsDecision {
  /** The name in the file whose group decided; absent when no group did. */
  readonly group?: string;
  /** The User-Agent to fetch with: the crawler's, or the allowed agent's (CRAWL-13.5). */
  readonly fetchAs: string;
}

/** Decides about paths by one of {@link ROBOTS_POLICIES}. Stateless; may be used for any number of files. */
export class RobotsPolicy {
  readonly #options: RobotsPolicyOptions;
  /** The text in which the names of a file are searched. */
  readonly #ownNames: string;

  /** @throws UsageError for `custom` without a text and `most-favored-set` without a set */
  constructor(options: RobotsPolicyOptions) {
    if (options.policy === 'custom' && options.customRobots === undefined)
      throw new UsageError('the robots policy custom needs a robots text');
    if (options.policy === 'most-favored-set' && (options.userAgents ?? []).length === 0)
      throw new UsageError('the robots policy most-favored-set needs user agents');
    this.#options = options;
    const { userAgent, alsoKnownAs = '' } = options;
    this.#ownNames = alsoKnownAs === '' ? userAgent : `${userAgent} ${alsoKnownAs}`;
  }

  /**
   * @param robots the site's file
   * @param path path and query in escaped form (CRAWL-13.2.8)
   */
  decide(robots: RobotsTxt, path: string): PolicyDecision {
    const { policy, userAgent, customRobots = RobotsTxt.ALLOW_ALL, userAgents = [] } = this.#options;
    switch (policy) {
      case 'ignore':
        return { allowed: true, fetchAs: userAgent };
      case 'rfc9309':
        return { ...robots.allowed(this.#ownNames, path), fetchAs: userAgent };
      case 'classic':
      case 'robots-txt-only':
        return this.#decideAs(robots, this.#ownNames, path);
      case 'custom':
        return this.#decideAs(customRobots, this.#ownNames, path);
      case 'first-named':
        return this.#decideAsFirstNamed(robots, path);
      case 'most-favored':
        return this.#chooseMostFavored(
          robots.names.map((name) => ({ ...robots.allowedByName(name, path), group: name, fetchAs: name })),
        );
      case 'most-favored-set':
        return this.#chooseMostFavored(
          userAgents.map((agent) => ({ ...this.#decideAs(robots, agent, path), fetchAs: agent })),
        );
    }
  }

  /** Seconds of Crawl-delay of the deciding groups; of several agents the shortest. */
  crawlDelay(robots: RobotsTxt): number | undefined {
    const { policy, customRobots = RobotsTxt.ALLOW_ALL, userAgents = [] } = this.#options;
    switch (policy) {
      case 'ignore':
        return undefined;
      case 'rfc9309':
        return robots.crawlDelay(this.#ownNames);
      case 'classic':
      case 'robots-txt-only':
        return delayOf(robots, this.#ownNames);
      case 'custom':
        return delayOf(customRobots, this.#ownNames);
      case 'first-named':
        return delayOf(robots, this.#firstNamed(robots));
      case 'most-favored':
        return shortestOf(robots.names.map((name) => robots.crawlDelayByName(name)));
      case 'most-favored-set':
        return shortestOf(userAgents.map((agent) => delayOf(robots, agent)));
    }
  }

  #decideAs(robots: RobotsTxt, agent: string, path: string): PolicyDecision {
    const group = groupNameOf(robots, agent);
    const fetchAs = this.#options.userAgent;
    return group === undefined
      ? { allowed: true, fetchAs }
      : { ...robots.allowedByName(group, path), group, fetchAs };
  }

  #decideAsFirstNamed(robots: RobotsTxt, path: string): PolicyDecision {
    const agent = this.#firstNamed(robots);
    const decision = this.#decideAs(robots, agent, path);
    const masquerades = this.#options.masquerade === true && agent !== this.#ownNames && decision.allowed;
    return masquerades ? { ...decision, fetchAs: agent } : decision;
  }

  /**
   * CRAWL-13.6: the first agent, the crawler itself before those of the set, that the file names; the crawler
   * if it names none.
   */
  #firstNamed(robots: RobotsTxt): string {
    const { userAgents = [] } = this.#options;
    const isNamed = (agent: string): boolean => (groupNameOf(robots, agent) ?? '*') !== '*';
    return [this.#ownNames, ...userAgents].find(isNamed) ?? this.#ownNames;
  }

  /** The first decision that allows; otherwise the first decision. */
  #chooseMostFavored(decisions: readonly PolicyDecision[]): PolicyDecision {
    const { userAgent, masquerade = false } = this.#options;
    const best = decisions.find(({ allowed }) => allowed) ?? decisions[0];
    if (best === undefined) return { allowed: true, fetchAs: userAgent };
    // `*` is not the name of an agent, and a refused path is not fetched.
    const masquerades = masquerade && best.allowed && best.fetchAs !== '*';
    return { ...best, fetchAs: masquerades ? best.fetchAs : userAgent };
  }
}

/**
 * CRAWL-13.2.10: the first name in file order that is part of the user agent's text, without regard to case;
 * otherwise `*`; `undefined` when the file has no rules for this agent.
 */
export function groupNameOf(robots: RobotsTxt, userAgent: string): string | undefined {
  const text = userAgent.toLowerCase();
  const named = robots.names.find((name) => name !== '*' && text.includes(name));
  return named ?? (robots.names.includes('*') ? '*' : undefined);
}

function delayOf(robots: RobotsTxt, userAgent: string): number | undefined {
  const name = groupNameOf(robots, userAgent);
  return name === undefined ? undefined : robots.crawlDelayByName(name);
}

/** The shortest of the delays; undefined when an agent has no delay. */
function shortestOf(delays: readonly (number | undefined)[]): number | undefined {
  if (delays.length === 0 || delays.includes(undefined)) return undefined;
  return Math.min(...delays.filter((delay) => delay !== undefined));
}
