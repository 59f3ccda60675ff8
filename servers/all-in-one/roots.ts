// Turns the roots of a command line into a Gatherer's configuration.
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  DEFAULT_DELAY,
  DEFAULT_HOST_MAX,
  DEFAULT_URL_MAX,
  type GathererConfig,
  type LeafNode,
  parseGathererConf,
  type RootNode,
} from '../../protocols/config/index.js';
import { type ConfigError, messageOf, UsageError } from '../../protocols/errors.js';
import { decodeUrlLines } from '../../protocols/soif/index.js';
import { DEFAULT_TIME_TO_LIVE } from '../../protocols/time.js';
import { accessMethod, canonicalUrl } from '../../protocols/urls/index.js';
import { lifeWarnings } from '../gatherer/configuration/short-lives.js';
import { passwordFileWarning } from '../host/index.js';

/** Limits of RootNodes given on the command line (G-28). Defaults depend on the kind of root. */
export interface RootLimitOptions {
  /** Seconds between contacts with a server. */
  readonly delay?: number;
  /** Steps from the root; 0 is unlimited. */
  readonly depth?: number;
  readonly urls?: number;
  readonly hosts?: number;
  /** Seconds after which a document is due again (G-100), if no configuration file says so. Default: a week. */
  readonly refreshRate?: number | undefined;
  /** Whether hidden files below the roots are left out, if no configuration file says so. Default: false. */
  readonly withoutHidden?: boolean | undefined;
}

/** Time-To-Live in rounds, if the rounds are long. */
const TIME_TO_LIVE_ROUNDS = 4;

/** URL-Max of a directory given on the command line, whose enumeration loads no server. */
const DIRECTORY_URL_MAX = 100_000;

/** URL-Max of a site on this machine: the whole site, unless its server makes up URLs without end. */
const OWN_URL_MAX = 10_000;

/** The configuration for the roots of a command line, with the warnings about its files. */
export interface RootsResult {
  readonly config: GathererConfig;
  readonly warnings: readonly ConfigError[];
  /** The directories among the roots, as `file:` URLs that end in a slash. */
  readonly directories: readonly string[];
}

/**
 * Creates a configuration from the roots of a command line: URLs, directories and original Gatherer
 * configuration files, in any combination. The variables are those of the first configuration file.
 *
 * @throws UsageError when a root is not one of these; ConfigError when a file is wrong
 */
export function configFromRoots(roots: readonly string[], limits: RootLimitOptions): RootsResult {
  const rootNodes: RootNode[] = [];
  const leafNodes: LeafNode[] = [];
  const warnings: ConfigError[] = [];
  const directories: string[] = [];
  let base: GathererConfig | undefined;
  for (const root of roots.map(classifyRoot)) {
    if (root.kind === 'config') {
      const parsed = parse(readConfiguration(root.file), root.file);
      const { httpBasicAuth, ftpAuth } = parsed.config;
      const readable =
        httpBasicAuth.length + ftpAuth.length > 0
          ? passwordFileWarning(root.file, httpBasicAuth.length > 0 ? 'HTTP-Basic-Auth' : 'FTP-Auth')
          : undefined;
      if (readable !== undefined) warnings.push(readable);
      base ??= parsed.config;
      const { rootNodes: roots, leafNodes: leaves } = parsed.config;
      rootNodes.push(...roots);
      leafNodes.push(...leaves);
      warnings.push(
        ...parsed.warnings,
        ...lifeWarnings(parsed.config, root.file, intervalOf(parsed.config, limits)),
      );
    } else {
      rootNodes.push(createRootNode(root.url, limits));
      if (root.isDirectory) directories.push(root.url);
    }
  }
  base ??= parse(ownConfiguration(limits), 'command line').config;
  return { config: { ...base, rootNodes, leafNodes }, warnings, directories };
}

/** The time between two rounds, if it is longer than the Refresh-Rate of a file. */
function intervalOf(
  config: GathererConfig,
  { refreshRate: every = 0 }: RootLimitOptions,
): Parameters<typeof lifeWarnings>[2] {
  return every > config.refreshRate ? { seconds: every, name: 'the time between two rounds' } : undefined;
}

/**
 * The variables without a configuration file. Users of manuals search for the names and examples in CODE, and
 * want each page once.
 */
function ownConfiguration({ refreshRate, withoutHidden }: RootLimitOptions): string {
  const variables =
    'Gatherer-Name: Harvest Kit Gatherer\nEssence-Options: --code --link-text --navigation\nIndex-Duplicates: no\n';
  const name = withoutHidden === true ? `${variables}Hidden-Files: no\n` : variables;
  if (refreshRate === undefined) return name;
  // An object must live until a round has failed two or three times.
  const timeToLive = Math.max(DEFAULT_TIME_TO_LIVE, TIME_TO_LIVE_ROUNDS * refreshRate);
  return `${name}Refresh-Rate: ${refreshRate}\nTime-To-Live: ${timeToLive}\n`;
}

/** Gatherer-Host is this host unless the file names another. */
function parse(text: string, file: string): ReturnType<typeof parseGathererConf> {
  return parseGathererConf(text, file, process.env, { gathererHost: hostname() });
}

function readConfiguration(file: string): string {
  try {
    return decodeUrlLines(readFileSync(file));
  } catch (cause) {
    throw new UsageError(`${file}: cannot be read: ${messageOf(cause)}`, { cause });
  }
}

type Root =
  | { readonly kind: 'url'; readonly url: string; readonly isDirectory: boolean }
  | { readonly kind: 'config'; readonly file: string };

/** A host name, with a port or a path. */
const BARE_HOST = /^(?:localhost|[\da-z-]+(?:\.[\da-z-]+)+)(?::\d+)?(?:\/\S*)?$/i;

function remedyFor(root: string): string {
  if (!BARE_HOST.test(root)) return 'a URL begins with http://';
  return `did you mean http://${root}${root.includes('/') ? '' : '/'}?`;
}

function classifyRoot(root: string): Root {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(root)) {
    const url = canonicalUrl(root);
    if (url === undefined) throw new UsageError(`${root}: not a URL that can be gathered`);
    return { kind: 'url', url, isDirectory: false };
  }
  const path = resolve(root);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(`${root}: no such file or directory; ${remedyFor(root)}`);
  if (found.isDirectory()) return { kind: 'url', url: directoryUrl(path), isDirectory: true };
  return { kind: 'config', file: path };
}

function createRootNode(url: string, limits: RootLimitOptions): RootNode {
  const local = url.startsWith('file:');
  // Parsed like a line of a configuration, for the defaults of G-30.
  const access = local ? 'FILE' : accessMethod(url).toUpperCase() === 'HTTPS' ? 'HTTP' : accessMethod(url);
  const spec = [
    `URL=${limits.urls ?? (local ? DIRECTORY_URL_MAX : isOwnMachine(url) ? OWN_URL_MAX : DEFAULT_URL_MAX)}`,
    `Host=${limits.hosts ?? DEFAULT_HOST_MAX}`,
    `Access=${access}`,
    `Delay=${limits.delay ?? (local ? 0 : DEFAULT_DELAY)}`,
    `Depth=${limits.depth ?? 0}`,
  ].join(' ');
  const text = `Gatherer-Name: command line\n<RootNodes>\n${url} ${spec}\n</RootNodes>\n`;
  const { config, warnings } = parseGathererConf(text, 'command line', {});
  const [node] = config.rootNodes;
  if (node === undefined)
    throw new UsageError(`${url}: cannot be used as a root: ${warnings[0]?.problem ?? ''}`);
  // A pause spares a server of other people.
  return limits.delay === undefined && !local ? { ...node, noLoopbackDelay: true } : node;
}

/** Whether the host of a URL is this machine by its very name; others are known when they are resolved. */
function isOwnMachine(url: string): boolean {
  return /^https?:\/\/(?:[^/@]*@)?(?:localhost|127(?:\.\d+){3}|\[::1\])(?:[:/]|$)/i.test(url);
}

function directoryUrl(path: string): string {
  const { href } = pathToFileURL(`${path}/`);
  return canonicalUrl(href) ?? href;
}
