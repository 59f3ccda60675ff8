import { readFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import {
  type PolicyDecision,
  parseRobots,
  ROBOTS_POLICIES,
  RobotsPolicy,
  type RobotsPolicyName,
} from '../../protocols/robots/index.js';
import { cleanUri } from '../../protocols/urls/index.js';
import { complain, EXIT } from './exit.js';
import { StandardOutput } from './standard-output.js';
import { argumentsOrLines } from './url.js';

const HELP = `
Reports for each URL whether the robots.txt in FILE allows the agent to fetch it. Output is allow or disallow, the URL, the number
of the deciding line and the line, separated by tabs; - if no line applies. A URL may be a path. If - is the only URL, URLs
are lines of standard input.

Policies:
  rfc9309           all groups for the agent's product together, else those for *; the default
  classic           the first group in the file whose name is part of the agent's text, else that of *
  ignore            everything is allowed
  custom            as classic, with --custom-file instead of FILE
  most-favored      allowed if any agent named in the file may fetch it
  most-favored-set  allowed if any agent of --set may; --masquerade also prints the agent to fetch as
  robots-txt-only   as classic; in a crawl, META elements of pages have no effect
  first-named       the first of the agent and those of --set that the file names, else *

Examples:
  harvest robots check --file robots.txt --agent harvest http://www.example.org/private/
  harvest robots check --file robots.txt --agent 'Harvest/1.9 harvest-kit' --policy classic --json - < urls
  harvest robots check --file robots.txt --agent harvest --policy most-favored-set --set a,b --masquerade /x

Exit status: 0 done, whatever the answers; 1 a file or URL could not be read; 2 usage.
`;

interface CheckOptions {
  readonly file: string;
  readonly agent: string;
  readonly policy: RobotsPolicyName;
  readonly customFile?: string;
  readonly set?: string;
  readonly masquerade: boolean;
  readonly json: boolean;
}

/** `harvest robots check` (CRAWL-13, RFC 9309). */
export function robotsCommand(): Command {
  return new Command('robots')
    .summary('test URLs against a robots.txt')
    .description('Evaluates robots.txt files.')
    .addCommand(checkCommand());
}

function checkCommand(): Command {
  return new Command('check')
    .summary('tell whether an agent may fetch URLs, and by which line')
    .description('Reports for each URL whether a robots.txt allows it, and by which line.')
    .argument('<url...>', 'URLs or paths, or - for lines of standard input')
    .requiredOption('--file <file>', 'the robots.txt')
    .requiredOption('--agent <name>', "the agent's name or its User-Agent text")
    .addOption(
      new Option('--policy <name>', 'how the file is interpreted')
        .choices(ROBOTS_POLICIES)
        .default('rfc9309'),
    )
    .option('--custom-file <file>', 'robots.txt that --policy custom uses instead of FILE')
    .option('--set <agents>', 'the agents of --policy most-favored-set, separated by commas')
    .option('--masquerade', 'with the most-favored policies: also print the agent to fetch as', false)
    .option('--json', 'print a JSON object for each URL', false)
    .addHelpText('after', HELP)
    .action(async (urls: string[], options: CheckOptions) => {
      process.exitCode = await check(urls, options);
    });
}

async function check(urls: readonly string[], options: CheckOptions): Promise<number> {
  const { agent, policy, masquerade, json } = options;
  const robots = await readRobots(options.file);
  const robotsPolicy = new RobotsPolicy({
    policy,
    userAgent: agent,
    masquerade,
    userAgents: options.set === undefined ? [] : options.set.split(','),
    ...(options.customFile === undefined ? {} : { customRobots: await readRobots(options.customFile) }),
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
