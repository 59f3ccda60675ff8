import { Command } from 'commander';
import { gatherdFiles } from '../gatherd/index.js';
import { runningProcess, stopProcess } from '../host/index.js';
import { complain, EXIT } from './exit.js';
import { secondsOption } from './option-values.js';

const HELP = `
Reads DIR/gatherd.pid, sends SIGTERM to that gatherd and waits until it ends. If another process now has that id, no signal is sent.

Example:
  harvest kill-gatherd -d ./data/gatherer

Exit status: 0 stopped; 1 gatherd is not running, or did not stop in time; 2 usage.
`;

interface KillOptions {
  readonly dir: string;
  readonly pidFile?: string;
  readonly timeout: number;
}

/** `kill-gatherd [-d DIR]` (GATHERD-11.3). */
export function killGatherdCommand(): Command {
  return new Command('kill-gatherd')
    .description('Stops the gatherd that serves a directory.')
    .option('-d, --dir <directory>', "the Gatherer's data directory (-dir)", '.')
    .option('--pid-file <file>', 'file with the process id (default: gatherd.pid)')
    .option('--timeout <seconds>', 'maximum time to wait until it ends', secondsOption, 30)
    .addHelpText('after', HELP)
    .action(async (options: KillOptions) => {
      process.exitCode = await killGatherd(options);
    });
}

async function killGatherd({ dir, pidFile, timeout }: KillOptions): Promise<number> {
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
