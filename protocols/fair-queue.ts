// The order in which waiting requests of several clients are served, and the recent work by which it is
// decided.

/** Work of a client or a session, of which recent units count more. */
export class RecentWork {
  readonly #halfLife: number;
  #amount = 0;
  #at = 0;

  /** @param halfLife milliseconds after which work counts half */
  constructor(halfLife: number) {
    this.#halfLife = halfLife;
  }

  /** @param now milliseconds of any monotonic clock */
  at(now: number): number {
    return this.#amount === 0 ? 0 : this.#amount * 2 ** ((this.#at - now) / this.#halfLife);
  }

  add(amount: number, now: number): void {
    this.set(this.at(now) + amount, now);
  }

  set(amount: number, now: number): void {
    this.#amount = amount;
    this.#at = now;
  }
}

/** A request that waits in a {@link FairQueue}. */
export interface Waiting<Key, Item> {
  /** Whose request it is, such as a client. */
  readonly key: Key;
  readonly item: Item;
  /** From 0, which goes first. */
  readonly level: number;
  /** Where the rule `key` decides: the smallest of the key goes first. */
  readonly order: number;
}

/**
 * Which request has the next turn:
 * - `level`: of the lowest level, in it of the key with the least work, of that the one that waits longest
 * - `last level`: the same from the highest level
 * - `key`: of the key with the least work whatever the level, of that the one of the smallest order
 * - `oldest`: the one that waits longest
 *
 * An owner that gives every n-th turn to the oldest lets no request starve.
 */
export type TurnRule = 'level' | 'last level' | 'key' | 'oldest';

/**
 * The recent work of a key, or what it holds, from 0. The key with the least goes first, and keys with the same
 * take turns. Infinity excludes the key, such as one that holds its share already.
 */
export type WorkOf<Key> = (key: Key) => number;

type Line<Key, Item> = Set<Waiting<Key, Item>>;

/**
 * The requests that wait, by level and key, so that a client with many of them comes after one with few. The
 * queue decides about the order only: its owner knows the time, counts the work and lets the requests continue.
 */
export class FairQueue<Key, Item> {
  /** In the order of arrival. */
  readonly #all: Line<Key, Item> = new Set();
  /** By level; in each the key that had its turn last is at the end. */
  readonly #levels: Map<Key, Line<Key, Item>>[] = [];
  #arrivals = 0;

  /** Requests that wait. */
  get size(): number {
    return this.#all.size;
  }

  /** Requests of a level that wait. */
  sizeOf(level: number): number {
    let size = 0;
    for (const line of this.#levels[level]?.values() ?? []) size += line.size;
    return size;
  }

  /** The keys that wait; a key that waits in two levels comes twice. */
  *keys(): Generator<Key, void, undefined> {
    for (const lines of this.#levels) yield* lines.keys();
  }

  /** @param order default: that of arrival */
  add(key: Key, item: Item, level = 0, order = ++this.#arrivals): Waiting<Key, Item> {
    const waiting = { key, item, level, order };
    while (this.#levels.length <= level) this.#levels.push(new Map());
    const lines = this.#levels[level];
    const line = lines?.get(key);
    if (line === undefined) lines?.set(key, new Set([waiting]));
    else line.add(waiting);
    this.#all.add(waiting);
    return waiting;
  }

  /** Returns false if the request does not wait any more. */
  remove(waiting: Waiting<Key, Item>): boolean {
    if (!this.#all.delete(waiting)) return false;
    const lines = this.#levels[waiting.level];
    const line = lines?.get(waiting.key);
    line?.delete(waiting);
    if (line?.size === 0) lines?.delete(waiting.key);
    return true;
  }

  /**
   * Returns the request that has the next turn, which waits on. Returns undefined if none may have one. Takes
   * constant time while the work of the first key is 0, except for the rule `key`.
   *
   * @param workOf default: 0 for every key
   */
  next(rule: TurnRule = 'level', workOf: WorkOf<Key> = () => 0): Waiting<Key, Item> | undefined {
    if (rule === 'oldest') return least(this.#all, ({ key }) => (workOf(key) < Infinity ? 0 : Infinity));
    if (rule === 'key') {
      const found = least(this.#all, ({ key }) => workOf(key));
      return found && least(this.#all, ({ key, order }) => (key === found.key ? order : Infinity));
    }
    for (const lines of rule === 'level' ? this.#levels : this.#levels.toReversed()) {
      const [, line] = least(lines, ([key]) => workOf(key)) ?? [];
      if (line !== undefined) return least(line, () => 0);
    }
    return undefined;
  }

  /**
   * Removes the request that has the next turn; then the other keys of its level that have the same work go
   * first.
   */
  take(rule?: TurnRule, workOf?: WorkOf<Key>): Waiting<Key, Item> | undefined {
    const waiting = this.next(rule, workOf);
    if (waiting === undefined) return undefined;
    this.remove(waiting);
    const lines = this.#levels[waiting.level];
    const line = lines?.get(waiting.key);
    if (line !== undefined) {
      lines?.delete(waiting.key);
      lines?.set(waiting.key, line);
    }
    return waiting;
  }
}

/** Returns the item of the smallest value from 0, the first of equal ones; never one of infinity. */
function least<T>(items: Iterable<T>, measure: (item: T) => number): T | undefined {
  let found: T | undefined;
  let smallest = Infinity;
  for (const item of items) {
    const value = measure(item);
    if (value >= smallest) continue;
    found = item;
    smallest = value;
    if (value <= 0) break;
  }
  return found;
}
