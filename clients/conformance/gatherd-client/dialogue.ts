// The behavior of a scripted gatherd, and the script that plays it.

import { bytes } from '../printable.js';
import type { ClientLine, Script, ServerSide } from '../scripted-server.js';
import type { Delivery } from '../transcript.js';
import { type Content, DESCRIPTION, PLAIN } from './objects.js';

/** One step of a server's answer: bytes, text, or `close` and `reset`, which end the connection. */
export type Step = Buffer | string | 'close' | 'reset';

/**
 * Behavior of a scripted server. The defaults are the answers of our own daemon. Answers are whole lines
 * without line ends; a server with several lines sends more than it must.
 */
export interface Behavior {
  /** The first lines (GATHERD-3.1). */
  readonly greeting?: readonly string[];
  readonly hello?: readonly string[];
  /** Answer to `SET compression`. Default: agreed. */
  readonly compression?: readonly string[];
  /** Answer to `SET changes`, our extension. Default: the answer of an older server. */
  readonly changes?: readonly string[];
  /** The whole answer to `SEND-UPDATE`, status lines included. */
  readonly update?: (compressed: boolean) => readonly Step[];
  /** The whole answer to `INFO`. Default: the description, as a session for an update may request it, too. */
  readonly info?: readonly Step[];
  /** Answer to `QUIT`; after the last line the server closes. */
  readonly quit?: readonly string[];
  /** Whether the server leaves it to the client to close. Default false. */
  readonly staysOpen?: boolean;
  /** End of the status lines (GATHERD-1.5). Default LF. */
  readonly lineEnd?: '\n' | '\r\n';
  readonly delivery?: Delivery;
}

/** Whether a step is `close` or `reset`, not data. */
function isAction(step: Step): step is 'close' | 'reset' {
  return step === 'close' || step === 'reset';
}

/** The answer to SEND-UPDATE in clear: GATHERD-3.7. */
export function inClear({ stream }: Content, endLine = '499 - Sent all objects'): readonly Step[] {
  return ['400 - Sending all objects', stream, endLine].map((part) =>
    typeof part === 'string' ? `${part}\n` : part,
  );
}

/** The answer to SEND-UPDATE as one gzip member or more: GATHERD-6.2, 6.3. */
export function compressed(...members: readonly Buffer[]): readonly Step[] {
  return ['400 - Sending all objects\n', Buffer.concat(members), '499 - Sent all objects\n'];
}

/** Returns a script that answers any client, command by command (GATHERD-7). */
export function dialogue(behavior: Behavior): Script {
  return async (peer) => {
    const { lineEnd = '\n', delivery = 'whole' } = behavior;
    const sendLines = (lines: readonly string[]) =>
      peer.send(bytes(lines.map((line) => line + lineEnd).join('')), delivery);
    await sendLines(behavior.greeting ?? ['000 - HELLO 1.8 gatherer.example.org']);
    let isCompressed = false;
    for (let line = await peer.line(); line !== undefined; line = await peer.line()) {
      const [verb = '', argument = ''] = words(line);
      switch (verb) {
        case '':
          break;
        case 'HELLO':
          await sendLines(behavior.hello ?? ['100 - HELLO and welcome']);
          break;
        case 'SET': {
          const answer = setAnswer(behavior, argument);
          isCompressed ||= argument === 'COMPRESSION' && (answer.at(-1) ?? '').startsWith('500 ');
          await sendLines(answer);
          break;
        }
        case 'SEND-UPDATE':
          if (await playSteps(peer, behavior, (behavior.update ?? (() => inClear(PLAIN)))(isCompressed)))
            return;
          break;
        case 'INFO':
          if (await playSteps(peer, behavior, behavior.info ?? [DESCRIPTION.bytes, '600 - End of INFO\n']))
            return;
          break;
        case 'SEND-OBJECT':
          await sendLines(['399 - No such object']);
          break;
        case 'HELP':
          await sendLines(['200 - HELLO HELP INFO SEND-OBJECT SEND-UPDATE SET QUIT']);
          break;
        case 'QUIT':
          await sendLines(behavior.quit ?? ['999 - Bye']);
          if (behavior.staysOpen !== true) peer.end();
          return;
        default:
          await sendLines([`900 - Unknown command: ${verb}`]);
      }
    }
  };
}

/**
 * Splits a line into words in upper case, so that a script continues if a client spells verbs and keywords
 * differently.
 */
function words(line: ClientLine): string[] {
  return line.text.trim().toUpperCase().split(/\s+/);
}

function setAnswer(behavior: Behavior, argument: string): readonly string[] {
  if (argument === 'COMPRESSION') return behavior.compression ?? ['500 - Compression enabled'];
  if (argument === 'CHANGES') return behavior.changes ?? ['900 - Bad argument: changes'];
  return ['900 - Bad argument'];
}

/** Plays the steps of an answer in one delivery; true if they end the connection. */
async function playSteps(peer: ServerSide, behavior: Behavior, steps: readonly Step[]): Promise<boolean> {
  const data = steps.filter((step) => !isAction(step));
  const parts = data.map((step) =>
    typeof step === 'string'
      ? bytes(behavior.lineEnd === undefined ? step : step.replace(/\n/g, behavior.lineEnd))
      : step,
  );
  await peer.send(Buffer.concat(parts), behavior.delivery);
  const action = steps.find(isAction);
  if (action === 'reset') peer.reset();
  else if (action === 'close') peer.end();
  return action !== undefined;
}
