import { readFile } from 'node:fs/promises';
import {
  type PolicyDecision,
  parseRobots,
  RobotsPolicy,
  type RobotsPolicyName,
} from '../../../../protocols/robots/index.js';
import { cleanUri } from '../../../../protocols/urls/index.js';
import { complain, EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';
import { argumentsOrLines } from './url.js';

interface CheckOptions {
  readonly file: string;
  readonly agent: string;
  readonly policy: RobotsPolicyName;
  readonly customFile?: string;
  readonly set?: string;
  readonly masquerade: boolean;
  readonly json: boolean;
}

/** The action of `harvest robots`; returns the exit status. */
export async function check(urls: readonly string[], options: CheckOptions): Promise<number> {
  const { agent, policy, masquerade, json } = options;
  const robots = await readRobots(options.file);
  const robotsPolicy = new RobotsPolicy({
    policy,
    userAgent: agent,
    masquerade,
    userAgents: options.set === undefined ? [] : options.set.split(','),
    customRobots: options.customFile === undefined ? undefined : await readRobots(options.customFile),
  });
  const output = new StandardOutput();
  let status: number = EXIT.ok;
  for await (const url of argumentsOrLines(urls)) {
    const path = pathOf(url);
    if (path === undefined) {
      status = EXIT.failure;
      complain('robots', `${JSON.stringify(url)} is not a usable URL`);
      continue;
    }
    const decision = robotsPolicy.decide(robots, path);
    if (!(await output.write(`${json ? jsonLine(url, decision) : textLine(url, decision, masquerade)}\n`)))
      break;
  }
  return status;
}

async function readRobots(file: string): Promise<ReturnType<typeof parseRobots>> {
  return parseRobots(await readFile(file, 'utf8'));
}

/** Returns path and query of a URL, escaped (CRAWL-13.2.8); undefined if it is not a URL. */
function pathOf(url: string): string | undefined {
  const clean = cleanUri(url, 'http://robots.invalid/');
  return clean === undefined ? undefined : /^[a-z][a-z0-9+.-]*:\/\/[^/?]*(.*)$/.exec(clean)?.[1];
}

function verdict({ allowed }: PolicyDecision): string {
  return allowed ? 'allow' : 'disallow';
}

function textLine(url: string, decision: PolicyDecision, masquerade: boolean): string {
  const columns = [verdict(decision), url, String(decision.lineNumber ?? '-'), decision.line ?? '-'];
  return (masquerade ? [...columns, decision.fetchAs] : columns).join('\t');
}

function jsonLine(url: string, decision: PolicyDecision): string {
  const { allowed, line = null, lineNumber = null, group = null, fetchAs } = decision;
  return JSON.stringify({ url, verdict: verdict(decision), allowed, lineNumber, line, group, fetchAs });
}
