// Tells systemd that a service is ready (Type=notify).
import { spawn } from 'node:child_process';

/**
 * Says that the program serves, if systemd waits for that (`NOTIFY_SOCKET`). Node has no datagram sockets of
 * the file system, so the program `systemd-notify` sends it; a unit needs `NotifyAccess=all`. A failure is
 * systemd's to notice.
 *
 * @param status one line, which `systemctl status` shows
 */
export function notifyReady(status: string): void {
  if (process.env.NOTIFY_SOCKET === undefined) return;
  const child = spawn('systemd-notify', ['--ready', `--pid=${process.pid}`, `--status=${status}`], {
    stdio: 'ignore',
  });
  child.on('error', () => undefined);
  child.unref();
}
