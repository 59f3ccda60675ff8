import { BrokerClient } from '../../../../clients/broker/index.js';
import { buildAdminCommand } from '../../../../protocols/broker/index.js';
import { ConnectionError, PeerError, ProtocolError, UsageError } from '../../../../protocols/errors.js';
import type { PeerAddress } from '../../options/option-values.js';
import { type PasswordSources, readAdminPassword } from '../../options/passwords.js';
import { complain, EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';

interface AdminOptions extends PasswordSources {
  readonly json?: boolean;
}

/** The action of `harvest broker-restart`; returns the exit status. */
export async function restartBroker(
  { host, port }: PeerAddress,
  otherPort: number | undefined,
  options: PasswordSources,
): Promise<number> {
  return await sendCommand({ host, port: port ?? otherPort }, 'restart', [], options, 'BrokerRestart');
}

/** The action of `harvest broker admin`; returns the exit status. */
export async function sendAdminCommand(
  peer: PeerAddress,
  keyword: string,
  parameters: readonly string[],
  options: AdminOptions,
): Promise<number> {
  return await sendCommand(peer, keyword, parameters, options, 'broker admin');
}

/**
 * Sends a command and prints the broker's reply.
 *
 * @param program the name at the start of error messages
 * @returns the exit status
 * @throws UsageError if the command cannot be sent
 */
async function sendCommand(
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
    if (options.json === true) {
      const outcome = { command: command.kind, ok: status === EXIT.ok, lines };
      await output.write(`${JSON.stringify(error === undefined ? outcome : { ...outcome, error })}\n`);
    } else {
      for (const line of lines) await output.write(`${line}\n`);
    }
    if (error !== undefined) complain(program, error);
    return status;
  };
  try {
    const client = new BrokerClient({ host, port });
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
