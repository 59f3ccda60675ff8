import type { Delivery } from '../recorder.js';
import type { ClientLine, Script, ServerSide } from '../scripted-server.js';
import { bytes, type Content, PLAIN } from './objects.js';

/** One step of a server's answer; `close` and `reset` end the connection. */
export type Step = Buffer | string | 'close' | 'reset';

/**
 * How a server plays its part. The defaults are the answers of our own daemon. Answers are whole lines without line ends;
 * several lines are a server that sends more than it must.
 */
export interface Part {
  /** The first lines (GATHERD-3.1). */
  readonly greeting?: readonly string[];
  readonly hello?: readonly string[];
  /** Answer to `SET compression`. Default: agreed. */
  readonly compression?: readonly string[];
  /** Answer to `SET changes`, our extension. Default: the answer of an older server. */
  readonly changes?: readonly string[];
  /** The whole answer to `SEND-UPDATE`, status lines included. */
  readonly update?: (compressed: boolean) => readonly Step[];
  /** The whole answer to `INFO`. */
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

/** A script of one session after another command by command (GATHERD-7), for any client. */
export function dialogue(part: Part): Script {
  return async (peer) => {
    const { lineEnd = '\n', delivery = 'whole' } = part;
    const say = (lines: readonly string[]) =>
      peer.send(bytes(lines.map((line) => line + lineEnd).join('')), delivery);
    await say(part.greeting ?? ['000 - HELLO 1.8 gatherer.example.org']);
    let isCompressed = false;
    for (let line = await peer.line(); line !== undefined; line = await peer.line()) {
      const [verb = '', argument = ''] = words(line);
      switch (verb) {
        case '':
          break;
        case 'HELLO':
          await say(part.hello ?? ['100 - HELLO and welcome']);
          break;
        case 'SET': {
          const answer = setAnswer(part, argument);
          isCompressed ||= argument === 'COMPRESSION' && (answer.at(-1) ?? '').startsWith('500 ');
          await say(answer);
          break;
        }
        case 'SEND-UPDATE':
          if (await isOver(peer, part, (part.update ?? (() => inClear(PLAIN)))(isCompressed))) return;
          break;
        case 'INFO':
          if (await isOver(peer, part, part.info ?? ['600 - no description\n'])) return;
          break;
        case 'SEND-OBJECT':
          await say(['399 - No such object']);
          break;
        case 'HELP':
          await say(['200 - HELLO HELP INFO SEND-OBJECT SEND-UPDATE SET QUIT']);
          break;
        case 'QUIT':
          await say(part.quit ?? ['999 - Bye']);
          if (part.staysOpen !== true) peer.end();
          return;
        default:
          await say([`900 - Unknown command: ${verb}`]);
      }
    }
  };
}

/** Verbs and keywords are compared in upper case, so that a script continues if a client spells them differently. */
function words(line: ClientLine): string[] {
  return line.text.trim().toUpperCase().split(/\s+/);
}

function setAnswer(part: Part, argument: string): readonly string[] {
  if (argument === 'COMPRESSION') return part.compression ?? ['500 - Compression enabled'];
  if (argument === 'CHANGES') return part.changes ?? ['900 - Bad argument: changes'];
  return ['900 - Bad argument'];
}

/** Plays the steps of an answer in one delivery; true if they end the connection. */
async function isOver(peer: ServerSide, part: Part, steps: readonly Step[]): Promise<boolean> {
  const data = steps.filter((step) => !isAction(step));
  const parts = data.map((step) =>
    typeof step === 'string'
      ? bytes(part.lineEnd === undefined ? step : step.replace(/\n/g, part.lineEnd))
      : step,
  );
  await peer.send(Buffer.concat(parts), part.delivery);
  const action = steps.find(isAction);
  if (action === 'reset') peer.reset();
  else if (action === 'close') peer.end();
  return action !== undefined;
}
