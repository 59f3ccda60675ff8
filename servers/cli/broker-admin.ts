import { Command } from 'commander';
import { BrokerClient } from '../../clients/broker/index.js';
import { ADMIN_COMMANDS, buildAdminCommand } from '../../protocols/broker/index.js';
import { ConnectionError, PeerError, ProtocolError, UsageError } from '../../protocols/errors.js';
import { PASSWORD_HELP, type PasswordSources, readAdminPassword } from './admin-password.js';
import { complain, EXIT } from './exit.js';
import { type PeerAddress, peerAddress } from './peer-address.js';
import { StandardOutput } from './standard-output.js';

const COMMAND_TABLE = ADMIN_COMMANDS.map(
  ({ kind, parameter, effect }) =>
    `  ${kind.padEnd(19)}${parameter === undefined ? '' : `${parameter}: `}${effect}`,
).join('\n');

const HELP = `
COMMAND is one of these, with or without #:
${COMMAND_TABLE}

A collection, indexing and a restart are only started: the broker's log shows their outcome. A change lasts until the broker
ends; permanent changes go into broker.conf.

${PASSWORD_HELP}

Examples:
  harvest broker admin localhost collection                          port 8501
  harvest broker admin --password-file secret broker.example.org:8501 do-stats
  harvest broker admin localhost rem-object-query 'url : "http://www.example.org/"'
  harvest broker admin localhost set Max-Results 500
  harvest broker admin localhost rem-object-oid 17 18

Exit status: 0 done or started; 1 the broker refused or failed; 2 usage; 3 the broker cannot be reached.
`;

interface AdminOptions extends PasswordSources {
  readonly json: boolean;
}

/** `harvest broker admin HOST[:PORT] COMMAND [PARAMETER...]` (BRK-5.1). */
export function brokerAdminCommand(): Command {
  return new Command('admin')
    .summary('administer a running broker')
    .description('Sends an administrative command to a broker.')
    .argument('<host>', 'host of the broker: HOST or HOST:PORT (default port 8501)', peerAddress)
    .argument('<command>', 'the command')
    .argument('[parameter...]', 'parameters of the command')
    .option('--password-file <file>', 'file whose first line is the password; - is standard input')
    .option('--password <text>', 'the password; visible in the list of processes')
    .option('--json', 'print the outcome as one JSON line', false)
    .addHelpText('after', HELP)
    .action(
      async (
        peer: PeerAddress,
        keyword: string,
        parameters: readonly string[],
        options: AdminOptions,
      ): Promise<void> => {
        process.exitCode = await sendAdminCommand(peer, keyword, parameters, options, 'broker admin');
      },
    );
}

/**
 * Sends a command and prints the broker's reply.
 *
 * @param program the name at the start of error messages
 * @returns the exit status
 * @throws UsageError if the command cannot be sent
 */
export async function sendAdminCommand(
  { host, port }: PeerAddress,
  keyword: string,
  parameters: readonly string[],
  options: AdminOptions,
  program: string,
): Promise<number> {
  const command = readCommand(keyword, parameters);
  const password = await readAdminPassword(options);
  const output = new StandardOutput();
  const finish = async (status: number, lines: readonly string[], error?: string): Promise<number> => {
    if (options.json) {
      const outcome = { command: command.kind, ok: status === EXIT.ok, lines };
      await output.write(`${JSON.stringify(error === undefined ? outcome : { ...outcome, error })}\n`);
    } else {
      for (const line of lines) await output.write(`${line}\n`);
    }
    if (error !== undefined) complain(program, error);
    return status;
  };
  try {
    const client = new BrokerClient({ host, ...(port === undefined ? {} : { port }) });
    return await finish(EXIT.ok, await client.admin(password, command));
  } catch (error) {
    if (error instanceof PeerError) {
      return finish(EXIT.failure, [], error.message.replace(/^ERROR: /, ''));
    }
    if (error instanceof ConnectionError) return finish(EXIT.connection, [], error.message);
    if (error instanceof ProtocolError) return finish(EXIT.failure, [], error.message);
    throw error;
  }
}

function readCommand(keyword: string, parameters: readonly string[]): ReturnType<typeof buildAdminCommand> {
  try {
    return buildAdminCommand(keyword, parameters);
  } catch (error) {
    // The command is the user's input, not a peer's.
    if (error instanceof ProtocolError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
