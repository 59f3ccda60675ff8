import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import {
  type PolicyDecision,
  parseRobots,
  RobotsPolicy,
  type RobotsPolicyName,
} from '../../../../protocols/robots/index.js';
import {
  canonicalString,
  canonicalUrl,
  cleanUri,
  DEFAULT_SEEN_RULES,
  type FingerprintBits,
  fingerprint,
  formatWord,
  impliedSurtPrefix,
  PublicSuffixes,
  type QueuePolicy,
  queueAssignment,
  seenRules,
  surt,
  uriKeyHalves,
} from '../../../../protocols/urls/index.js';
import { complain, EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';

/** Computes a property of a URI; undefined if the URI is not usable. */
type UriFunction = (uri: string) => string | undefined;

/** The action of `harvest url canonical`. */
export function printCanonical(
  uris: string[],
  { rules, gatherer, json }: { rules?: readonly string[]; gatherer: boolean; json: boolean },
): Promise<number> {
  return printResults('canonical', uris, json, () => {
    const chosen = rules === undefined ? DEFAULT_SEEN_RULES : seenRules(rules);
    return (uri) => {
      if (gatherer) return canonicalUrl(uri);
      const clean = cleanUri(uri);
      return clean === undefined ? undefined : canonicalString(clean, chosen);
    };
  });
}

/** The action of `harvest url surt`. */
export function printSurt(
  uris: string[],
  { prefix, preserveCase, json }: { prefix: boolean; preserveCase: boolean; json: boolean },
): Promise<number> {
  return printResults('surt', uris, json, () =>
    prefix ? impliedSurtPrefix : (uri) => surt(uri, { preserveCase }),
  );
}

/** The action of `harvest url fingerprint`. */
export function printFingerprint(
  uris: string[],
  { bits, json }: { bits: FingerprintBits; json: boolean },
): Promise<number> {
  return printResults('fingerprint', uris, json, () => (uri) => formatWord(fingerprint(uri, bits)));
}

/** The action of `harvest url key`. */
export function printKey(uris: string[], { json }: { json: boolean }): Promise<number> {
  return printResults('key', uris, json, () => (uri) => formatWord(uriKeyHalves(uri)));
}

interface ClassOptions {
  readonly policy: QueuePolicy;
  readonly via?: string;
  readonly publicSuffixes?: string;
  readonly parallel: number;
  readonly json: boolean;
}

/** The action of `harvest url class`. */
export function printClass(uris: string[], options: ClassOptions): Promise<number> {
  const { policy, via, publicSuffixes: file, parallel: parallelQueues, json } = options;
  return printResults('class', uris, json, async () => {
    const publicSuffixes =
      file === undefined ? PublicSuffixes.HEURISTIC : PublicSuffixes.parse(await readFile(file, 'utf8'));
    const assign = queueAssignment({ policy, publicSuffixes, parallelQueues });
    return (uri) => assign({ uri: cleanUri(uri) ?? uri, via });
  });
}

/**
 * Prints one line per URI: the result, or an empty line and a message on standard error if the URI is not
 * usable. Returns the exit status.
 */
async function printResults(
  field: string,
  uris: readonly string[],
  json: boolean,
  prepare: () => UriFunction | Promise<UriFunction>,
): Promise<number> {
  const output = new StandardOutput();
  const compute = await prepare();
  let status: number = EXIT.ok;
  for await (const uri of argumentsOrLines(uris)) {
    const found = compute(uri);
    if (found === undefined) {
      status = EXIT.failure;
      complain('url', `${JSON.stringify(uri)} is not a usable URI`);
    }
    const line = json ? JSON.stringify({ url: uri, [field]: found ?? null }) : (found ?? '');
    if (!(await output.write(`${line}\n`))) break;
  }
  return status;
}

/** Yields the arguments of the command line; if `-` is the only one, the lines of standard input. */
async function* argumentsOrLines(args: readonly string[]): AsyncGenerator<string, void, undefined> {
  if (args.length === 1 && args[0] === '-') {
    yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  } else yield* args;
}

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
  return parseRobots(await readFile(file));
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
