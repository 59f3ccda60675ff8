// Parses `gatherd.cf`, the access rules of gatherd (GATHERD-9).
import { ConfigError } from '../errors.js';
import { type Address, type AddressRange, isInRange, parseAddress, parseAddressRange } from './addresses.js';
import { readLines, wordsOf } from './values.js';

/** One `Allow` or `Deny` line of gatherd.cf (GATHERD-9.2). */
export interface AccessRule {
  readonly allow: boolean;
  /** Host and domain names, addresses, address ranges, or `all`; as written. */
  readonly names: readonly string[];
  /** 1-based. */
  readonly line: number;
}

/** The rules of a gatherd.cf. */
export interface GatherdAccess {
  readonly rules: readonly AccessRule[];
  /** GATHERD-9.2: path of the gzip program, if the file names one. */
  readonly gzip?: string | undefined;
  readonly warnings: readonly ConfigError[];
  /**
   * Whether a peer may connect (GATHERD-9.3 to 9.5).
   * @param hostName the peer's confirmed name; `undefined` if it has no name
   * @param address its literal address
   */
  decide(hostName: string | undefined, address: string): boolean;
}

/** Parses a gatherd.cf (GATHERD-9). No line is an error: unknown lines are skipped and reported (9.6). */
export function parseGatherdConf(text: string, file: string): GatherdAccess {
  const rules: AccessRule[] = [];
  const warnings: ConfigError[] = [];
  let gzip: string | undefined;
  for (const { text: content, line } of readLines(text)) {
    const words = wordsOf(content);
    // GATHERD-9.6: no name begins with a `#`, so the rest of the line is a comment on the rule.
    const comment = words.findIndex((word) => word.startsWith('#'));
    const [directive = '', ...names] = comment < 0 ? words : words.slice(0, comment);
    const keyword = directive.toLowerCase().replace(/:$/, '');
    if (names.length === 0) {
      warnings.push(new ConfigError(file, line, directive, 'ignored: a name must follow'));
    } else if (keyword === 'allow' || keyword === 'deny') {
      rules.push({ allow: keyword === 'allow', names, line });
      for (const reason of invalidNames(names)) warnings.push(new ConfigError(file, line, directive, reason));
    } else if (keyword === 'gzip') {
      gzip = names.join(' ');
    } else {
      warnings.push(new ConfigError(file, line, directive, 'ignored: unknown directive'));
    }
  }
  const compiled = rules.map(compileRule);
  const decide = (hostName: string | undefined, address: string) => decideBy(compiled, hostName, address);
  return { rules, warnings, decide, gzip };
}

/** Invalid names of a line that have a warning of their own; the others share one. */
const MAX_NAMED = 20;

/** The warnings about the names of one line. */
function invalidNames(names: readonly string[]): string[] {
  const invalid = names.filter(isInvalidAddress);
  const reasons = invalid
    .slice(0, MAX_NAMED)
    .map((name) => `${name} is not a name, address or range: no peer matches it`);
  const others = invalid.length - reasons.length;
  if (others > 0) reasons.push(`${others} more are not names, addresses or ranges: no peer matches them`);
  return reasons;
}

/**
 * Whether a name looks like an address or a range, but is not valid: a `Deny` of it would silently admit every
 * peer.
 */
function isInvalidAddress(name: string): boolean {
  return /^[\d.]+$|[/:]/.test(name) && parseAddressRange(normalizeName(name)) === undefined;
}

/**
 * GATHERD-9.4: the first line with a name of the peer decides; without such a line access is allowed.
 */
export function decideAccess(
  rules: readonly Pick<AccessRule, 'allow' | 'names'>[],
  hostName: string | undefined,
  address: string,
): boolean {
  return decideBy(rules.map(compileRule), hostName, address);
}

/** A rule whose names are parsed once, not for every peer. */
interface CompiledRule {
  readonly allow: boolean;
  readonly names: readonly { readonly plain: string; readonly range: AddressRange | undefined }[];
}

function compileRule({ allow, names }: Pick<AccessRule, 'allow' | 'names'>): CompiledRule {
  const compiled = names.map((name) => {
    const plain = normalizeName(name);
    return { plain, range: parseAddressRange(plain) };
  });
  return { allow, names: compiled };
}

function decideBy(rules: readonly CompiledRule[], hostName: string | undefined, address: string): boolean {
  const peer = {
    name: hostName === undefined ? undefined : normalizeName(hostName),
    address: parseAddress(address),
  };
  return rules.find(({ names }) => names.some((name) => matchesPeer(name, peer)))?.allow ?? true;
}

interface PeerIdentity {
  readonly name: string | undefined;
  readonly address: Address | undefined;
}

function matchesPeer({ plain, range }: CompiledRule['names'][number], peer: PeerIdentity): boolean {
  if (plain === 'all') return true;
  // GATHERD-9.5, G-124: literal addresses and ranges match whether or not the peer has a name.
  if (range !== undefined) return peer.address !== undefined && isInRange(peer.address, range);
  // GATHERD-9.3: the host itself and all below it, by whole labels.
  return peer.name !== undefined && plain !== '' && (peer.name === plain || peer.name.endsWith(`.${plain}`));
}

/** Removes differences without a meaning: case, and the outer dots of `.example.org` and `example.org.`. */
function normalizeName(name: string): string {
  return name.toLowerCase().replace(/^\.|\.$/g, '');
}
