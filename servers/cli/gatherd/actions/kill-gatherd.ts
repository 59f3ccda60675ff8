import { gatherdFiles } from '../../../gatherd/files.js';
import { runningProcess, stopProcess } from '../../../host/pid-file.js';
import { complain, EXIT } from '../../output/exit.js';

/** The action of `harvest kill-gatherd`; returns the exit status. */
export async function killGatherd({
  dir,
  pidFile,
  timeout,
}: {
  readonly dir: string;
  readonly pidFile?: string;
  readonly timeout: number;
}): Promise<number> {
  const files = await gatherdFiles(dir, { pid: pidFile });
  const running = await runningProcess(files.pid);
  if (running === undefined) {
    complain('kill-gatherd', `no gatherd is running in ${files.directory}`);
    return EXIT.failure;
  }
  if (!(await stopProcess(running, { timeoutMs: timeout * 1000 }))) {
    complain('kill-gatherd', `process ${running.pid} is still running after ${timeout} seconds`);
    return EXIT.failure;
  }
  process.stdout.write(`stopped gatherd=${running.address} pid=${running.pid}\n`);
  return EXIT.ok;
}
