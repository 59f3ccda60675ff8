/** The properties of T that have a value. */
export type Defined<T> = { -readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** T with all optional properties present and none undefined. */
export type Complete<T> = { [K in keyof T]-?: Exclude<T[K], undefined> };

/** Returns a copy without the properties that are undefined, so that it can be spread over defaults. */
export function defined<T extends object>(values: T): Defined<T> {
  const copy: Defined<T> = {};
  for (const key in values) {
    const value = values[key];
    if (value !== undefined) copy[key] = value as Exclude<T[typeof key], undefined>;
  }
  return copy;
}
