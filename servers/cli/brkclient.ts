import { Command } from 'commander';
import { BrokerClient } from '../../clients/broker/index.js';
import { ResultDecoder } from '../../protocols/broker/index.js';
import { ProtocolError } from '../../protocols/errors.js';
import { complain, complainOrThrow, EXIT } from './exit.js';
import { readFirstLine } from './hidden-answer.js';
import { portOption, secondsOption } from './option-values.js';
import { rawOption, StandardOutput } from './standard-output.js';

const HELP = `
Sends one message to a broker and writes the reply to standard output, byte for byte as it arrives. The message is one
argument, so put it into single quotes. It is sent unchecked.

Examples:
  brkclient localhost 8501 '#USER #desc #index case insensitive #END linux and kernel'
  brkclient localhost 8501 '#USER #END #allb' | grep -a -c '^120'
  brkclient localhost 8501 - < FILE                a message with a password

Other users can see the command line. harvest broker admin reads the password from a file, too.

Exit status: 0 the broker answered; 1 the answer is an error that ends the results (111); 2 usage; 3 no complete answer.
`;

interface BrkclientOptions {
  readonly timeout?: number;
  readonly raw: boolean;
}

/** `brkclient hostname port command-string` (BRK-6.7). */
export function brkclientCommand(): Command {
  return new Command('brkclient')
    .summary('send one message to a broker, show the reply as it is')
    .argument('<hostname>', 'host of the broker')
    .argument('<port>', 'its TCP port', portOption)
    .argument('<command-string>', 'the message; - is the first line of standard input')
    .option('--timeout <seconds>', 'give up if the answer is not complete by then', secondsOption)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(async (host: string, port: number, message: string, options: BrkclientOptions) => {
      const text = message === '-' ? await readFirstLine('-') : message;
      process.exitCode = await send(host, port, text, options);
    });
}

async function send(
  host: string,
  port: number,
  message: string,
  { timeout, raw }: BrkclientOptions,
): Promise<number> {
  const signal = timeout === undefined ? undefined : AbortSignal.timeout(timeout * 1000);
  const output = new StandardOutput({ raw });
  const client = new BrokerClient({ host, port });
  const detector = new FatalDetector();
  try {
    for await (const piece of client.raw(message, signal === undefined ? {} : { signal })) {
      detector.push(piece);
      // The reader has closed the pipe.
      if (!(await output.write(piece))) return EXIT.ok;
    }
  } catch (error) {
    if (!signal?.aborted) return complainOrThrow('brkclient', error, EXIT.connection);
    complain('brkclient', `no complete answer within ${timeout} s`);
    return EXIT.connection;
  }
  return detector.fatal ? EXIT.failure : EXIT.ok;
}

/** Detects a `111` item in a reply that is passed through unchanged. Bytes inside a counted block that look like one do not count (BRK-4.4). */
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
