import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
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

interface OutputOptions {
  readonly json: boolean;
}

interface CanonicalCommandOptions extends OutputOptions {
  readonly rules?: readonly string[];
  readonly gatherer: boolean;
}

interface SurtCommandOptions extends OutputOptions {
  readonly prefix: boolean;
  readonly preserveCase: boolean;
}

interface FingerprintCommandOptions extends OutputOptions {
  readonly bits: FingerprintBits;
}

interface ClassCommandOptions extends OutputOptions {
  readonly policy: QueuePolicy;
  readonly via?: string;
  readonly publicSuffixes?: string;
  readonly parallel: number;
}

/** Computes a property of a URI; undefined if the URI is not usable. */
type UriFunction = (uri: string) => string | undefined;

/** The action of `harvest url canonical`. */
export async function printCanonical(
  uris: string[],
  { rules, gatherer, json }: CanonicalCommandOptions,
): Promise<void> {
  await printResults('canonical', uris, json, () => {
    const chosen = rules === undefined ? DEFAULT_SEEN_RULES : seenRules(rules);
    return (uri) => {
      if (gatherer) return canonicalUrl(uri);
      const clean = cleanUri(uri);
      return clean === undefined ? undefined : canonicalString(clean, chosen);
    };
  });
}

/** The action of `harvest url surt`. */
export async function printSurt(
  uris: string[],
  { prefix, preserveCase, json }: SurtCommandOptions,
): Promise<void> {
  await printResults('surt', uris, json, () =>
    prefix ? impliedSurtPrefix : (uri) => surt(uri, { preserveCase }),
  );
}

/** The action of `harvest url fingerprint`. */
export async function printFingerprint(
  uris: string[],
  { bits, json }: FingerprintCommandOptions,
): Promise<void> {
  await printResults('fingerprint', uris, json, () => (uri) => formatWord(fingerprint(uri, bits)));
}

/** The action of `harvest url key`. */
export async function printKey(uris: string[], { json }: OutputOptions): Promise<void> {
  await printResults('key', uris, json, () => (uri) => formatWord(uriKeyHalves(uri)));
}

/** The action of `harvest url class`. */
export async function printClass(uris: string[], options: ClassCommandOptions): Promise<void> {
  const { policy, via, publicSuffixes: file, parallel: parallelQueues, json } = options;
  await printResults('class', uris, json, async () => {
    const publicSuffixes =
      file === undefined ? PublicSuffixes.HEURISTIC : PublicSuffixes.parse(await readFile(file, 'utf8'));
    const assign = queueAssignment({ policy, publicSuffixes, parallelQueues });
    return (uri) => assign({ uri: cleanUri(uri) ?? uri, via });
  });
}

/**
 * Prints one line per URI: the result, or an empty line and a message on standard error if the URI is not
 * usable.
 */
async function printResults(
  field: string,
  uris: readonly string[],
  json: boolean,
  prepare: () => UriFunction | Promise<UriFunction>,
): Promise<void> {
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
  process.exitCode = status;
}

/** Yields the arguments of the command line; if `-` is the only one, the lines of standard input. */
export async function* argumentsOrLines(args: readonly string[]): AsyncGenerator<string, void, undefined> {
  if (args.length === 1 && args[0] === '-') {
    yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  } else yield* args;
}
