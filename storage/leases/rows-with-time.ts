// Rows whose time a test decides.
import type { Rows, RowTransaction } from '../rows/contract.js';

/** The same rows, with another clock. */
export function rowsWithTime(rows: Rows, now: () => number): Rows {
  const time = (): Promise<number> => Promise.resolve(now());
  const inChange = (change: RowTransaction): RowTransaction => override(change, { time });
  return override(rows, {
    time,
    exclusive: (work) => rows.exclusive((change) => work(inChange(change))),
    claim: (keys, initial, work, options) =>
      rows.claim(keys, initial, (change, values) => work(inChange(change), values), options),
  });
}

/** An object with some methods replaced; the others are its own. */
function override<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, property) {
      const replaced: unknown = Reflect.get(methods, property);
      if (replaced !== undefined) return replaced;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
