// Reports a fault to the maintainer by mail (R-57, R-61).
import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { RefererConfig } from '../../protocols/config/referer-conf.js';
import { sendMail } from './smtp.js';

/** A server process that a fault has ended. */
export interface Fault {
  readonly signal: NodeJS.Signals;
  readonly pid: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** Address of the mail relay. */
export interface MailRelay {
  readonly host: string;
  readonly port: number;
}

/**
 * R-57, R-61: reports a fault to the maintainer by mail, unless none is configured or `sendmessages` is 0.
 *
 * @returns whether a message was delivered
 * @throws ConnectionError, PeerError when the delivery failed
 */
export async function reportFault(config: RefererConfig, fault: Fault, relay: MailRelay): Promise<boolean> {
  const { maintainer, sendmessages, progname, referername } = config;
  if (maintainer === undefined || sendmessages === 0) return false;
  const core = await coreFile(config.rootdir, fault);
  await sendMail({
    ...relay,
    clientName: hostname(),
    from: `${progname.replace(/[^\w.-]/g, '-')}@${/^[\d.]+$|:/.test(referername) ? `[${referername}]` : referername}`,
    to: maintainer,
    subject: `${progname}: ${fault.signal} on ${referername}`,
    body: [
      `program: ${progname}`,
      `version: ${config.version}`,
      `server: ${referername}`,
      `pid: ${fault.pid}`,
      `signal: ${fault.signal}`,
      `time: ${fault.endedAt.toISOString().slice(0, 19)}Z`,
      `core: ${core ?? 'not found'}`,
      '',
    ].join('\n'),
    date: fault.endedAt,
    timeoutMs: config.connectimeout * 1000,
  });
  return true;
}

/**
 * Finds a core file in the home directory that is not older than the process; undefined if the system writes it
 * elsewhere.
 */
async function coreFile(directory: string, { pid, startedAt }: Fault): Promise<string | undefined> {
  for (const name of [`core.${pid}`, 'core']) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && found.mtimeMs >= startedAt.getTime()) return path;
  }
  return undefined;
}
