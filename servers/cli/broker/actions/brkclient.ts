import { BrokerClient } from '../../../../clients/broker/index.js';
import { ResultDecoder } from '../../../../protocols/broker/index.js';
import { ProtocolError } from '../../../../protocols/errors.js';
import { readFirstLine } from '../../options/passwords.js';
import { EXIT, untilTimeout } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';

/** The action of `harvest brkclient`; returns the exit status. */
export async function send(
  host: string,
  port: number,
  given: string,
  { timeout, raw }: { readonly timeout?: number; readonly raw: boolean },
): Promise<number> {
  const message = given === '-' ? await readFirstLine('-') : given;
  const output = new StandardOutput({ raw });
  const client = new BrokerClient({ host, port });
  const detector = new FatalDetector();
  return await untilTimeout('brkclient', { seconds: timeout, late: 'no complete answer' }, async (signal) => {
    for await (const piece of client.raw(message, signal === undefined ? {} : { signal })) {
      detector.push(piece);
      // The reader has closed the pipe.
      if (!(await output.write(piece))) return EXIT.ok;
    }
    return detector.fatal ? EXIT.failure : EXIT.ok;
  });
}

/**
 * Detects a `111` item in a reply that is passed through unchanged. Bytes inside a counted block that look like
 * one do not count (BRK-4.4).
 */
class FatalDetector {
  fatal = false;
  #decoder: ResultDecoder | undefined = new ResultDecoder();

  push(piece: Uint8Array): void {
    try {
      this.fatal ||= this.#decoder?.push(piece).some(({ kind }) => kind === 'fatal') === true;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      // A reply that exceeds the decoder's limits is still shown, but no longer decoded.
      this.#decoder = undefined;
    }
  }
}
