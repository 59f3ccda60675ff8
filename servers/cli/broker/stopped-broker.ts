import { StorageError } from '../../../protocols/errors.js';
import { brokerPidFile } from '../../broker/broker-files.js';
import { runningProcess } from '../../host/pid-file.js';

/** Checks that no Broker runs in the directory. @throws StorageError if one runs; `hint` ends the message. */
export async function refuseRunning(directory: string, hint = 'stop it first'): Promise<void> {
  const running = await runningProcess(brokerPidFile(directory));
  if (running === undefined) return;
  throw new StorageError(`a broker is running in ${directory} (process ${running.pid}); ${hint}`);
}
