// Checks of a run that several cases share: complete, or reported as failed.
import { type ConformanceCase, check, must, NotApplicable, type Procedure } from '../case.js';
import { checkExited } from '../client-context.js';
import type { ClientEnd } from '../command-client.js';
import { printable } from '../printable.js';
import type { ClientContext, Observation } from './bench.js';
import { type Behavior, compressed, inClear, type Step } from './dialogue.js';
import { gzipMember, stored } from './gzip-member.js';
import { type Content, PLAIN } from './objects.js';

/** The ordinary session: two objects, compressed if the client requests it. Several cases check this run. */
export const ORDINARY: Behavior = {
  update: (isCompressed) => (isCompressed ? compressed(gzipMember(PLAIN.stream, stored)) : inClear(PLAIN)),
};

/** The same session with a server without compression (GATHERD-6.9). */
export const WITHOUT_COMPRESSION: Behavior = {
  compression: ['900 - Compression not available'],
  update: () => inClear(PLAIN),
};

/** Returns the client's lines that begin with this verb, in any case. */
export function linesOf({ sessions }: Pick<Observation, 'sessions'>, verb: string): string[] {
  return sessions
    .flatMap(({ lines }) => lines.map(({ text }) => text))
    .filter((text) => text.trim().split(/\s+/)[0]?.toUpperCase() === verb);
}

/** Whether the client requested compression. */
export function requestedCompression(observation: Observation): boolean {
  return linesOf(observation, 'SET').some((line) => /compression/i.test(line));
}

/** Checks that the client has received all objects and does not report a failure. @throws Mismatch */
export async function checkComplete(
  observation: Observation,
  content: Content,
  context: ClientContext,
): Promise<void> {
  check(linesOf(observation, 'SEND-UPDATE').length > 0, 'the client does not request an update', {
    expected: 'SEND-UPDATE <timestamp>',
    received: formatCommands(observation),
  });
  context.bench.compareOutput(observation, content);
  checkExited(observation);
  if (observation.status === 0) return;
  // A client whose exit status is never 0 fails only once for that, in `session/exit-status`.
  const ordinary = await context.bench.observeOnce(ORDINARY, context).catch(() => undefined);
  check(ordinary?.status !== 0, 'the client reports a failure after a complete transfer', {
    expected: 'exit status 0',
    received: `exit status ${observation.status}: ${printable(observation.diagnostics.trim())}`,
  });
}

/** GATHERD-11.4: checks that the client reports that the transfer failed. @throws Mismatch */
export function checkReportsFailure(end: ClientEnd): void {
  checkExited(end);
  check(end.status !== 0, 'the client reports success after an incomplete transfer', {
    expected: 'an exit status other than 0',
    received: 'exit status 0',
  });
}

function formatCommands(observation: Observation): string {
  const lines = observation.sessions.flatMap((session) => session.lines.map(({ text }) => text));
  return lines.length === 0 ? 'no command' : printable(lines.join('\n'));
}

/** Returns the behavior of a server without compression. */
function behaviorInClear(content: Content, behavior: Behavior = {}): Behavior {
  return { ...WITHOUT_COMPRESSION, update: () => inClear(content), ...behavior };
}

/**
 * Runs the client against a server without compression.
 * @throws NotApplicable if the client gives up when compression is refused
 */
async function observeInClear(behavior: Behavior, context: ClientContext): Promise<Observation> {
  const observation = await context.bench.observe(behavior, context);
  const refused = requestedCompression(observation) && linesOf(observation, 'SEND-UPDATE').length === 0;
  if (refused) throw new NotApplicable('the client does not continue in clear (see compression/refused)');
  return observation;
}

/**
 * Runs the client against a server that agrees to compression.
 * @param update the answer to SEND-UPDATE if the client has requested compression
 * @throws NotApplicable if the client never requests it
 */
async function observeCompressed(
  update: readonly Step[],
  behavior: Behavior,
  context: ClientContext,
): Promise<Observation> {
  const { bench } = context;
  const ordinary = bench.observed(ORDINARY);
  const observation =
    ordinary !== undefined && !requestedCompression(ordinary)
      ? ordinary
      : await bench.observe({ ...behavior, update: (agreed) => (agreed ? update : inClear(PLAIN)) }, context);
  if (!requestedCompression(observation)) {
    throw new NotApplicable('the client does not request compression');
  }
  return observation;
}

export type ClientCase = ConformanceCase<ClientContext>;

/**
 * Describes a MUST about what the client receives, which its output shows; so a failure may also be one of the
 * output (GATHERD-11.4).
 */
export function mustReceive(id: string, rules: string, source: string): ReturnType<typeof must> {
  return must(id, `${rules} GATHERD-11.4`, source);
}

/** Looks at the ordinary session, which is run once for all cases. */
export function ordinary(
  verify: (observation: Observation, context: ClientContext) => void | Promise<void>,
): Procedure<ClientContext> {
  return async (context) => verify(await context.bench.observeOnce(ORDINARY, context), context);
}

/** Sends a transfer in clear, which the client must receive completely. */
export function complete(content: Content, behavior: Behavior = {}): Procedure<ClientContext> {
  return async (context) => {
    const observation = await observeInClear(behaviorInClear(content, behavior), context);
    await checkComplete(observation, content, context);
  };
}

/**
 * Sends a compressed transfer, which the client must receive completely. Skipped if it never requests
 * compression.
 */
export function completeMember(
  update: readonly Step[],
  content: Content = PLAIN,
  behavior: Behavior = {},
): Procedure<ClientContext> {
  return async (context) => {
    const observation = await observeCompressed(update, behavior, context);
    await checkComplete(observation, content, context);
  };
}

/** Sends a transfer in clear that fails, which the client must report. */
export function broken(...update: readonly Step[]): Procedure<ClientContext> {
  const behavior: Behavior = {
    compression: ['900 - Compression not available'],
    update: () => update,
  };
  return async (context) => checkReportsFailure(await observeInClear(behavior, context));
}

/** Sends a compressed transfer that fails, which the client must report. */
export function brokenMember(...update: readonly Step[]): Procedure<ClientContext> {
  return async (context) => checkReportsFailure(await observeCompressed(update, {}, context));
}
