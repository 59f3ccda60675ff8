import { check, NotApplicable } from '../case.js';
import { notCrashed } from '../client-bench.js';
import type { ClientEnd } from '../client-under-test.js';
import { printable } from '../printable.js';
import { compressed, inClear, type Part, type Step } from './dialogue.js';
import type { ClientContext, Observation } from './experiment.js';
import { gzipMember, stored } from './gzip-member.js';
import { type Content, PLAIN } from './objects.js';

/** The ordinary session: two objects, compressed if the client requests it. Several cases judge this run. */
export const ORDINARY: Part = {
  update: (isCompressed) => (isCompressed ? compressed(gzipMember(PLAIN.stream, stored)) : inClear(PLAIN)),
};

/** The same with a server without compression (GATHERD-6.9). */
export const WITHOUT_COMPRESSION: Part = {
  compression: ['900 - Compression not available'],
  update: () => inClear(PLAIN),
};

/** The client's lines that begin with this verb, in whatever spelling. */
export function linesOf({ sessions }: Pick<Observation, 'sessions'>, verb: string): string[] {
  return sessions
    .flatMap(({ lines }) => lines.map(({ text }) => text))
    .filter((text) => text.trim().split(/\s+/)[0]?.toUpperCase() === verb);
}

/** Whether the client requested compression. */
export function askedForCompression(observation: Observation): boolean {
  return linesOf(observation, 'SET').some((line) => /compression/i.test(line));
}

/** The transfer was complete: the objects are there, and the client does not say otherwise. @throws Mismatch */
export async function isComplete(
  observation: Observation,
  content: Content,
  context: ClientContext,
): Promise<void> {
  check(linesOf(observation, 'SEND-UPDATE').length > 0, 'the client asks for no update', {
    expected: 'SEND-UPDATE <timestamp>',
    received: commands(observation),
  });
  context.bench.compareOutput(observation, content);
  notCrashed(observation);
  if (observation.status === 0) return;
  // A client whose status never says anything is judged for that once, by the case `session/exit-status`.
  const ordinary = await context.bench.observeOnce(ORDINARY, context).catch(() => undefined);
  check(ordinary?.status !== 0, 'the client says that a complete transfer failed', {
    expected: 'exit status 0',
    received: `exit status ${observation.status}: ${printable(observation.diagnostics.trim())}`,
  });
}

/** GATHERD-11.4: the client says that the transfer failed. @throws Mismatch */
export function saysFailed(end: ClientEnd): void {
  notCrashed(end);
  check(end.status !== 0, 'the client says that an incomplete transfer was complete', {
    expected: 'an exit status other than 0',
    received: 'exit status 0',
  });
}

function commands(observation: Observation): string {
  const lines = observation.sessions.flatMap((session) => session.lines.map(({ text }) => text));
  return lines.length === 0 ? 'no command' : printable(lines.join('\n'));
}

/** What a server without compression plays; the answer to SEND-UPDATE is in clear. */
export function clearPart(content: Content, part: Part = {}): Part {
  return { ...WITHOUT_COMPRESSION, update: () => inClear(content), ...part };
}

/** Runs the client against a server without compression. @throws NotApplicable if the client gives up when compression is refused */
export async function observeInClear(part: Part, context: ClientContext): Promise<Observation> {
  const observation = await context.bench.observe(part, context);
  const refused = askedForCompression(observation) && linesOf(observation, 'SEND-UPDATE').length === 0;
  if (refused) throw new NotApplicable('the client does not continue in clear (see compression/refused)');
  return observation;
}

/**
 * Runs the client against a server that agrees to compression.
 * @param update the answer to SEND-UPDATE if the client has requested compression
 * @throws NotApplicable if the client never requests it
 */
export async function observeCompressed(
  update: readonly Step[],
  part: Part,
  context: ClientContext,
): Promise<Observation> {
  const { bench } = context;
  const ordinary = bench.observed(ORDINARY);
  const observation =
    ordinary !== undefined && !askedForCompression(ordinary)
      ? ordinary
      : await bench.observe({ ...part, update: (agreed) => (agreed ? update : inClear(PLAIN)) }, context);
  if (!askedForCompression(observation)) {
    throw new NotApplicable('the client does not ask for compression');
  }
  return observation;
}
