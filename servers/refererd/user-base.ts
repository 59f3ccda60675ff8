// The users of the statistics and their passwords.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { UsageError } from '../../protocols/errors.js';

/** Cost of new passwords: 16 MiB and about 50 ms each. */
const COST = { N: 16_384, r: 8, p: 1 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Limits for a list that came over the network. */
const MAX_MEMORY = 64 << 20;
const MAX_PARALLEL = 16;
/** Password checks that may be pending. A check takes memory and time, so only one runs at a time. */
const MAX_PENDING = 64;

interface Secret {
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Decides about checks of passwords: of one address, say. */
export interface CheckGuard {
  /** Whether a password may be compared now. */
  readonly mayCheck: () => boolean;
  /** Called before the next check when the password was wrong. */
  readonly onWrong: () => void;
}

/** The result of {@link UserBase.check}: `busy` when too many checks are pending, `refused` by the guard. */
export type CheckResult = 'right' | 'wrong' | 'busy' | 'refused';

/** the users of the statistics, one `name:$scrypt$N,r,p$salt$hash` per line; `#` begins a comment. */
export class UserBase {
  readonly #users: ReadonlyMap<string, Secret | undefined>;
  #checking: Promise<unknown> = Promise.resolve();
  #pending = 0;

  private constructor(users: ReadonlyMap<string, Secret | undefined>) {
    this.#users = users;
  }

  /** Parses a list. An unknown scheme disables its user; a line without a name is skipped. */
  static parse(text: string): UserBase {
    const users = new Map<string, Secret | undefined>();
    for (const line of text.split('\n')) {
      const match = /^([^:#\s][^:]*):(.*)$/.exec(line.trim());
      if (match !== null) users.set(match[1] ?? '', secretOf(match[2] ?? ''));
    }
    return new UserBase(users);
  }

  static readonly empty = new UserBase(new Map());

  get names(): readonly string[] {
    return [...this.#users.keys()];
  }

  /**
   * Checks a password. Takes the same time for an unknown user. Checks run one at a time, and each asks the
   * guard when its turn comes: so a guard that counts wrong passwords has counted all that came before, also
   * when many arrive at once.
   */
  async check(name: string, password: string, guard?: CheckGuard): Promise<CheckResult> {
    if (guard?.mayCheck() === false) return 'refused';
    if (this.#pending >= MAX_PENDING) return 'busy';
    this.#pending += 1;
    const turn = this.#checking.then(async (): Promise<CheckResult> => {
      if (guard?.mayCheck() === false) return 'refused';
      if (await matches(this.#users.get(name), password)) return 'right';
      guard?.onWrong();
      return 'wrong';
    });
    this.#checking = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#pending -= 1;
    }
  }
}

/** Creates a line of the user base for a new password, without the line end. */
export async function userLine(name: string, password: string): Promise<string> {
  checkUserName(name);
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, { ...COST, salt, hash: Buffer.alloc(HASH_BYTES) });
  const { N, r, p } = COST;
  return `${name}:$scrypt$${N},${r},${p}$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/**
 * Checks the name of a new user. S-43: a name has no colon; ours also have no blanks at their ends and no `#`
 * at the beginning.
 *
 * @throws UsageError for any other name
 */
export function checkUserName(name: string): void {
  if (!/^[^:#\s\0-\x1f\x7f](?:[^:\0-\x1f\x7f]*[^:\s\0-\x1f\x7f])?$/.test(name)) {
    throw new UsageError('a user name must not contain ":" or control characters, or begin with "#"');
  }
}

/** Returns the text of a user base with one user's line replaced, added (`line`) or removed; comments stay. */
export function withUser(text: string, name: string, line: string | undefined): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const kept = lines.filter((known) => !known.trim().startsWith(`${name}:`));
  return [...kept, ...(line === undefined ? [] : [line])].map((known) => `${known}\n`).join('');
}

function secretOf(text: string): Secret | undefined {
  const match = /^\$scrypt\$(\d{1,9}),(\d{1,4}),(\d{1,4})\$([A-Za-z0-9+/]+=*)\$([A-Za-z0-9+/]+=*)$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [N, r, p] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const [salt, hash] = [Buffer.from(match[4] ?? '', 'base64'), Buffer.from(match[5] ?? '', 'base64')];
  const isPower = N > 1 && Number.isInteger(Math.log2(N));
  const affordable = r > 0 && p > 0 && p <= MAX_PARALLEL && 128 * N * r <= MAX_MEMORY;
  if (!isPower || !affordable || hash.length < 16 || hash.length > 128) return undefined;
  return { N, r, p, salt, hash };
}

const UNKNOWN_USER: Secret = { ...COST, salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) };

async function matches(secret: Secret | undefined, password: string): Promise<boolean> {
  const found = await derive(password, secret ?? UNKNOWN_USER);
  return timingSafeEqual(found, (secret ?? UNKNOWN_USER).hash) && secret !== undefined;
}

function derive(password: string, { N, r, p, salt, hash }: Secret): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, hash.length, { N, r, p, maxmem: 2 * MAX_MEMORY }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
