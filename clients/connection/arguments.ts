// Checks what callers pass to a client, before anything is sent: programs in JavaScript have no compiler.
import { editDistance } from '../../protocols/edit-distance.js';
import { UsageError } from '../../protocols/errors.js';
import { MAX_OBJECT_BYTES, type SoifDecoderOptions } from '../../protocols/soif/index.js';
import type { AbortOptions, PeerOptions } from './connection.js';
import type { LargeObjects } from './large-log.js';
import type { ReceiveLimits } from './receive-budget.js';

/** Returns a sentence about a wrong value, which begins with its name; undefined for a right one. */
export type Check = (value: unknown, name: string) => string | undefined;

/** The checks of the properties of an object, one for each. */
export type Shape<T> = { readonly [K in keyof Required<T>]: Check };

export const MAX_PORT = 65_535;
/** The longest time of a timer in milliseconds. */
const MAX_MILLISECONDS = 2 ** 31 - 1;
/** Characters of a wrong value in a sentence. */
const MAX_SHOWN = 40;
/** Changes of letters between a wrong name and the one that is suggested. */
const MAX_TYPOS = 3;

/** @throws UsageError with a sentence, if `check` has an objection to `value` */
export function checkArgument(name: string, value: unknown, check: Check): void {
  const problem = check(value, name);
  if (problem !== undefined) throw new UsageError(problem);
}

/**
 * Checks the options of a call or a class.
 * @throws UsageError for an unknown name, a wrong value, and anything that is not an object
 */
export function checkOptions<T>(where: string, options: T, shape: Shape<T>): void {
  const problem = isObject(options)
    ? problemOf(options, shape, '')
    : `the options must be an object, not ${shown(options)}`;
  if (problem !== undefined) throw new UsageError(`${where}: ${problem}`);
}

/** A value that may be absent, and otherwise is as `check` says. */
export function optional(check: Check): Check {
  return (value, name) => (value === undefined ? undefined : check(value, name));
}

/** An object with properties of that shape and no others. */
export function record<T>(shape: Shape<T>): Check {
  return (value, name) =>
    isObject(value) ? problemOf(value, shape, `${name}.`) : wrong(name, 'an object', value);
}

function problemOf<T>(value: object, shape: Shape<T>, prefix: string): string | undefined {
  const names = Object.keys(shape);
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    return `an option named ${JSON.stringify(prefix + unknown)} does not exist${suggestion(unknown, names)}`;
  }
  const values = value as Readonly<Record<string, unknown>>;
  for (const [name, check] of Object.entries<Check>(shape)) {
    const problem = check(values[name], prefix + name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export const text = matching('a string', (value) => typeof value === 'string');
/** A string that sentences about it do not show. */
export const secret: Check = (value, name) =>
  typeof value === 'string' ? undefined : `${name} must be a string`;
export const filledText = matching(
  'a string that is not empty',
  (value) => typeof value === 'string' && value !== '',
);
export const textOrBytes = matching(
  'a string or a Uint8Array',
  (value) => typeof value === 'string' || value instanceof Uint8Array,
);
export const flag = matching('true or false', (value) => typeof value === 'boolean');
export const callback = matching('a function', (value) => typeof value === 'function');

/** A whole number in a range. */
export function whole(min: number, max: number = Number.MAX_SAFE_INTEGER): Check {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  return matching(
    `a whole number ${range}`,
    (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max,
  );
}

/** A limit that need not be whole and may be infinite. */
export const limit = matching('a number from 0', (value) => typeof value === 'number' && value >= 0);

export const milliseconds = matching(
  `a number of milliseconds from 0 to ${MAX_MILLISECONDS}`,
  (value) => typeof value === 'number' && value >= 0 && value <= MAX_MILLISECONDS,
);

export function oneOf(...values: readonly unknown[]): Check {
  return matching(values.map(shown).join(' or '), (value) => values.includes(value));
}

export function listOf(check: Check): Check {
  return (value, name) => {
    if (!Array.isArray(value)) return wrong(name, 'an array', value);
    for (const [i, item] of value.entries()) {
      const problem = check(item, `${name}[${i}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** An object with these methods, whatever its class. */
export function having(...methods: readonly string[]): Check {
  const what = `an object with ${methods.map((name) => `${name}()`).join(' and ')}`;
  return matching(
    what,
    (value) => isObject(value) && methods.every((name) => typeof Reflect.get(value, name) === 'function'),
  );
}

const signal = matching('an AbortSignal', (value) => value instanceof AbortSignal);

export const ABORT_OPTIONS: Shape<AbortOptions> = { signal: optional(signal) };

export const PEER_OPTIONS: Shape<PeerOptions> = {
  ...ABORT_OPTIONS,
  host: filledText,
  port: optional(whole(1, MAX_PORT)),
  fingerprint: optional(filledText),
  connectTimeoutMs: optional(milliseconds),
  onOpen: optional(callback),
  clock: optional(having('now', 'setTimer')),
};

export const RECEIVE_LIMITS: Shape<ReceiveLimits> = {
  maxReceivedBytes: optional(limit),
  maxDurationMs: optional(limit),
  minBytesPerSecond: optional(limit),
  minRateGraceMs: optional(limit),
};

export const SOIF_OPTIONS: Shape<SoifDecoderOptions> = {
  mode: optional(oneOf('strict', 'lenient')),
  maxObjectBytes: optional(whole(1, MAX_OBJECT_BYTES)),
  maxValueBytes: optional(whole(1, MAX_OBJECT_BYTES)),
  maxNameBytes: optional(whole(1, MAX_OBJECT_BYTES)),
  maxAttributes: optional(whole(1, MAX_OBJECT_BYTES)),
  maxUrlBytes: optional(whole(1, MAX_OBJECT_BYTES)),
  anyUrlByte: optional(flag),
  largeBytes: optional(whole(1, MAX_OBJECT_BYTES)),
  dialect: optional(oneOf('harvest', 'rdm', 'starts')),
};

export const LARGE_OBJECTS: Shape<LargeObjects> = { fromBytes: optional(limit), open: callback };

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function matching(what: string, isRight: (value: unknown) => boolean): Check {
  return (value, name) => (isRight(value) ? undefined : wrong(name, what, value));
}

function wrong(name: string, what: string, value: unknown): string {
  return `${name} must be ${what}, not ${shown(value)}`;
}

/** A value for a sentence: of a long string the beginning, of an object no part. */
function shown(value: unknown): string {
  if (typeof value === 'string') {
    const quoted = JSON.stringify(value.slice(0, MAX_SHOWN));
    return value.length > MAX_SHOWN ? `${quoted}...` : quoted;
  }
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (value instanceof Uint8Array) return 'a Uint8Array';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function suggestion(name: string, names: readonly string[]): string {
  const letters = [...name.toLowerCase()];
  const distance = (other: string) => editDistance(letters, [...other.toLowerCase()], MAX_TYPOS);
  const best = [...names].sort((a, b) => distance(a) - distance(b))[0];
  if (best === undefined || distance(best) > Math.min(MAX_TYPOS, letters.length / 2)) {
    return `; they are ${names.join(', ')}`;
  }
  return `; did you mean ${JSON.stringify(best)}?`;
}
