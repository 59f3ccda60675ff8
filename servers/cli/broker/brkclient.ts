import { Command } from 'commander';
import { lazyAction } from '../lazy-action.js';
import { portOption, secondsOption } from '../options/option-values.js';
import { rawOption } from '../output/standard-output.js';

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
    .action(lazyAction(async () => (await import('./actions/brkclient.js')).send));
}
